"""What a secret looks like: by its name, and by its own shape."""

from __future__ import annotations

import re
from collections.abc import Iterable

from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.findings import Finding, Rule, Severity

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SECRET_ENDS = (
    ("password",),
    ("passwd",),
    ("pwd",),
    ("passphrase",),
    ("secret", "key"),
    ("secret", "access", "key"),
    ("access", "key", "secret"),
    ("client", "secret"),
    ("app", "secret"),
    ("private", "key"),
    ("api", "key"),
    ("pre", "shared", "key"),
    ("access", "token"),
    ("auth", "token"),
)
_PLACEHOLDER = re.compile(
    r"\{\{.*\}\}|.*\$\{.*|<.*>|\[.*\]|your[\W_].*|[*x.\s-]+|null|none|true|false|yes|no",
    re.I | re.S,
)

# Shapes that only a real credential has. Each is followed by a check that it is no example.
_SHAPES = (
    ("an Alibaba Cloud access key id", re.compile(r"\bLTAI[A-Za-z0-9]{12,26}\b")),
    ("an AWS access key id", re.compile(r"\b(?:AKIA|ASIA)[A-Z2-7]{16}\b")),
    ("a GitHub token", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36}\b")),
    ("a Google API key", re.compile(r"\bAIza[0-9A-Za-z_-]{35}(?![0-9A-Za-z_-])")),
    ("a Slack token", re.compile(r"\bxox[abprs]-[0-9]{8,}-[0-9A-Za-z-]{16,}")),
    (
        "a private key",
        re.compile(r"-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----(?:\\n|\s)+[A-Za-z0-9+/=:, -]{24,}"),
    ),
)
_EXAMPLE = re.compile(r"example|your|xxxx|1234567|abcdef|placeholder", re.I)

CREDENTIAL = Rule(
    id="credential-in-clear",
    severity=Severity.ERROR,
    title="A credential stands in the file",
    why="Whoever can read the file, its history or its copies can use the credential. It has a "
    "shape that only real keys have, so it counts as leaked: take it out and revoke it.",
    bad="Resources:\n"
    "  Job:\n"
    "    Type: ALIYUN::ECS::Command\n"
    "    Properties:\n"
    "      Type: RunShellScript\n"
    "      CommandContent: aliyun configure set --access-key-id LTAI" + "5tQm8ZrW2kPv9LcB3nHd\n",
    good="Resources:\n"
    "  Job:\n"
    "    Type: ALIYUN::ECS::Command\n"
    "    Properties:\n"
    "      Type: RunShellScript\n"
    "      CommandContent: aliyun configure set --mode EcsRamRole --ram-role-name deploy\n",
)
RULES = (CREDENTIAL,)


def is_secret_name(name: str) -> bool:
    """Say if something of this name holds a secret: `DBPassword`, `access_key_secret`.

    The name has to end with it: `PasswordPolicy`, `SecretName` and the like are no secrets.
    """
    words = tuple(word.lower() for word in _WORDS.findall(name[:200]))
    return any(words[-len(end) :] == end for end in _SECRET_ENDS)


def is_clear(value: object) -> bool:
    """Say if a value is a text that could be a secret, not a placeholder or a reference."""
    return isinstance(value, str) and bool(value) and not _PLACEHOLDER.fullmatch(value[:4096])


def credentials(source: Source) -> Iterable[Finding]:
    """Find credentials by their shape, anywhere in a text, comments included."""
    for what, shape in _SHAPES:
        for match in shape.finditer(source.text):
            if _is_real(match[0]):
                yield CREDENTIAL.at(
                    source,
                    match.start(),
                    f"{what} stands here in clear",
                    fix="revoke it, and use a role or a secret parameter in its place",
                )


def _is_real(text: str) -> bool:
    return len(set(text)) >= 9 and not _EXAMPLE.search(text)


def redact(text: str) -> str:
    """Return a text without anything that has the shape of a credential."""
    for _, shape in _SHAPES:
        text = shape.sub("***", text)
    return text
