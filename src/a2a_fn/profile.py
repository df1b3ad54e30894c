"""What an agent says about itself: the facts of its Agent Card that do not depend on where it runs.

``IAC`` is the agent that a2a-fn ships; any other agent gets a ``Profile`` of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from . import __version__
from .errors import InvalidSettings


class Skill(NamedTuple):
    """One thing that the agent can do, as clients and routers read it."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Profile:
    """An agent's identity, skills and media types.

    Everything that A2A marks REQUIRED in a card must be filled: an empty value would be left out
    of the canonical form by some SDKs, and a signature over it would not verify.
    Raises ``InvalidSettings`` naming every field that is missing.
    """

    name: str
    description: str
    version: str
    skills: tuple[Skill, ...]
    input_modes: tuple[str, ...] = ("text/plain",)
    output_modes: tuple[str, ...] = ("text/plain",)
    documentation_url: str = ""
    provider_organization: str = ""
    provider_url: str = ""

    def __post_init__(self) -> None:
        needed = ("name", "description", "version", "skills", "input_modes", "output_modes")
        missing = [field for field in needed if not getattr(self, field)]
        for skill in self.skills:
            missing += [
                f"{field} of skill {skill.id or '?'}"
                for field in ("id", "name", "description", "tags")
                if not getattr(skill, field)
            ]
        if bool(self.provider_organization) != bool(self.provider_url):
            missing.append("provider_organization and provider_url, both or neither")
        if missing:
            raise InvalidSettings(f"the agent's profile needs: {', '.join(missing)}")


IAC = Profile(
    name="iac-code",
    description=(
        "Writes, reviews and converts infrastructure as code: "
        "Alibaba Cloud ROS templates and Terraform."
    ),
    version=__version__,
    skills=(
        Skill(
            id="iac_generation",
            name="IaC generation",
            description="Write a ROS template or Terraform from a description in plain words.",
            tags=("iac", "ros", "terraform", "generation"),
            examples=("Create a VPC with two vSwitches and a security group for HTTPS.",),
        ),
        Skill(
            id="iac_review",
            name="IaC review",
            description=(
                "Find the faults of a template: syntax, references, cycles, networks, secrets."
            ),
            tags=("iac", "review", "security"),
            examples=("Review this ROS template and say what to change.",),
        ),
        Skill(
            id="aliyun_ros_operations",
            name="Alibaba Cloud ROS operations",
            description="Help with ROS stacks: what to validate, preview, create, update.",
            tags=("aliyun", "ros", "stack"),
            examples=("Which steps update this stack without replacing the database?",),
        ),
        Skill(
            id="terraform_ros_conversion",
            name="Terraform to ROS conversion",
            description="Turn Terraform for Alibaba Cloud into a ROS template.",
            tags=("terraform", "ros", "conversion"),
            examples=("Convert this Terraform module to a ROS template.",),
        ),
    ),
    input_modes=(
        "text/plain",
        "application/json",
        "text/markdown",
        "text/yaml",
        "application/yaml",
        "application/x-yaml",
        "image/png",
        "image/jpeg",
        "image/webp",
        "image/gif",
        "audio/mpeg",
        "audio/wav",
        "audio/ogg",
        "application/octet-stream",
    ),
)
"""The Infrastructure-as-Code assistant."""
