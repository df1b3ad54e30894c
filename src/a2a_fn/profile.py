"""What an agent says about itself: the facts of its Agent Card that do not depend on where it runs.

``IAC`` is the agent that a2a-fn ships; any other agent gets a ``Profile`` of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from . import __version__
from .errors import InvalidSettings


class Skill(NamedTuple):
    """One thing that the agent can do, as clients and routers read it."""

    id: str
    name: str
    description: str
    tags: tuple[str, ...]
    examples: tuple[str, ...] = ()
    input_modes: tuple[str, ...] = ()
    output_modes: tuple[str, ...] = ()


class Extension(NamedTuple):
    """An extension of A2A that the agent follows. ``required``: clients must ask for it.
    ``params``: a JSON object."""

    uri: str
    description: str = ""
    required: bool = False
    params: Mapping[str, Any] | None = None


class Profile(NamedTuple):
    """An agent's identity, skills, media types and extensions.

    ``url_parts``: it takes parts that are URLs of other servers.
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
    icon_url: str = ""
    extensions: tuple[Extension, ...] = ()
    url_parts: bool = False

    def check(self) -> None:
        """Raises InvalidSettings naming everything that a card needs and that is missing.

        What A2A marks REQUIRED must be filled: an empty value would be left out of the canonical
        form by some SDKs, and a signature over it would not verify.
        """
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
        if not all(extension.uri for extension in self.extensions):
            missing.append("uri of an extension")
        if missing:
            raise InvalidSettings(f"the agent's profile needs: {', '.join(missing)}")

    def requiring(self, uris: Collection[str]) -> Profile:
        """The same, with these extensions required beside those that already are."""
        named = {extension.uri for extension in self.extensions}
        extensions = tuple(
            extension._replace(required=extension.required or extension.uri in uris)
            for extension in self.extensions
        )
        added = tuple(Extension(uri, required=True) for uri in sorted(set(uris) - named))
        return self._replace(extensions=extensions + added)

    @property
    def required(self) -> frozenset[str]:
        """The URIs of the extensions that clients must ask for."""
        return frozenset(one.uri for one in self.extensions if one.required)


ARTIFACT_METADATA = "urn:iac-code:a2a:artifact-metadata:v1"
"""``metadata.iac_code``: progress of tools, permissions, usage, and what artifacts are."""
THINKING_EXPOSURE = "urn:iac-code:a2a:thinking-exposure:v1"
"""``metadata.iac_code.tool`` and ``.thinking``: what the agent shows of its work."""


def showing(profile: Profile, thinking: Collection[str]) -> Profile:
    """The same, saying what it shows of its work: ``tool-trace``, ``raw-thinking``."""
    if not thinking:
        return profile
    extension = Extension(
        THINKING_EXPOSURE,
        "What the agent shows of its work while it works, in the metadata of status updates.",
        params={"enabledTypes": [kind.replace("-", "_") for kind in thinking]},
    )
    return profile._replace(extensions=(*profile.extensions, extension))


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
    extensions=(
        Extension(
            ARTIFACT_METADATA,
            "metadata.iac_code: tools, permissions, tokens used, and what stored artifacts are.",
        ),
    ),
)
"""The Infrastructure-as-Code assistant."""
