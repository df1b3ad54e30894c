"""What the HTTP side must know of an agent, by its name and without importing it."""

from __future__ import annotations

from collections.abc import Collection

from .. import __version__
from ..profile import IAC, Profile, Skill, showing

SHORT = {"tck": "executor:tests.tck:TckExecutor"}
"""Short name -> ``adapter:target``, of agents that are in a checkout of this project only."""


def spelled_out(name: str) -> str:
    """The ``adapter:target`` that a short name stands for; any other name as it is."""
    return SHORT.get(name, name)


def profile_of(name: str, thinking: Collection[str] = ()) -> Profile:
    """The profile of an ``adapter:target`` agent; ``thinking``: the setting thinking-exposure."""
    adapter, _, target = spelled_out(name).partition(":")
    if adapter == "iac":
        return showing(IAC, thinking)
    if adapter == "echo":
        return Profile(
            name="echo",
            description="Answers with the text of the message.",
            version=__version__,
            skills=(Skill("echo", "Echo", "Says what it was told.", ("echo",)),),
        )
    if name == "tck":
        return Profile(
            name="tck",
            description="Does what conformance kits ask it to, as they expect it.",
            version=__version__,
            skills=(Skill("tck", "Conformance", "Follows the script of a test.", ("test",)),),
            input_modes=("text/plain", "application/json"),
            url_parts=True,
        )
    title = target.rpartition(":")[2] or target
    return Profile(
        name=title,
        description=f"The agent {title}.",
        version=__version__,
        skills=(Skill("chat", title, f"Whatever {title} does.", (adapter,)),),
        input_modes=("text/plain", "application/json", "application/octet-stream"),
        output_modes=("text/plain", "application/json"),
        url_parts=True,
    )


def replies_directly(name: str) -> bool:
    """Whether an agent of this name may answer with a bare Message and no Task."""
    return spelled_out(name).partition(":")[0] in ("executor", "agent")
