"""Names inside a template: logical ids (ROS, PascalCase) and addresses (Terraform, snake_case)."""

from __future__ import annotations

import re


def pascal(name: str) -> str:
    """Return a display name as a PascalCase stem; empty if it holds no ASCII letter or digit."""
    parts = re.findall(r"[A-Za-z]+|[0-9]+", name)
    stem = "".join(part[0].upper() + part[1:] for part in parts)
    return f"N{stem}" if stem[:1].isdigit() else stem


def snake(identifier: str) -> str:
    """Return a logical id in snake_case: `VSwitch1` is `vswitch_1`, `WebVpc` is `web_vpc`."""
    text = identifier.replace("VSwitch", "Vswitch").replace("DB", "Db")
    return re.sub(
        r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=[0-9])", "_", text
    ).lower()


def kebab(identifier: str) -> str:
    """Return a logical id as the suffix of a display name."""
    return snake(identifier).replace("_", "-")
