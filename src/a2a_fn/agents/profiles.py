"""What the HTTP side must know of an agent, by its name and without importing it."""

from __future__ import annotations

from .. import __version__
from ..profile import IAC, Profile, Skill


def profile_of(name: str) -> Profile:
    """The profile of an ``adapter:target`` agent."""
    adapter, _, target = name.partition(":")
    if adapter == "iac":
        return IAC
    if adapter == "echo":
        return Profile(
            name="echo",
            description="Answers with the text of the message.",
            version=__version__,
            skills=(Skill("echo", "Echo", "Says what it was told.", ("echo",)),),
        )
    title = target.rpartition(":")[2] or target
    return Profile(
        name=title,
        description=f"The agent {title}.",
        version=__version__,
        skills=(Skill("chat", title, f"Whatever {title} does.", (adapter,)),),
        input_modes=("text/plain", "application/json", "application/octet-stream"),
        output_modes=("text/plain", "application/json"),
    )


def replies_directly(name: str) -> bool:
    """Whether an agent of this name may answer with a bare Message and no Task."""
    return name.partition(":")[0] in ("executor", "agent")
