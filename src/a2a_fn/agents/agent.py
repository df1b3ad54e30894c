"""The port that an agent fills, and how one is chosen: ``adapter:target``."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, cast

from ..errors import InvalidSettings
from ..media import MediaTypes
from ..turns.turn import Turn
from .profiles import SHORT, spelled_out

if TYPE_CHECKING:
    from .places import Place


class Agent(Protocol):
    """Works on one turn at a time; is called anew, perhaps on another machine, for each.

    When ``run`` returns without having ended the turn, the task is COMPLETED. An a2a-sdk error
    that it raises fails the task with that message; any other exception fails it with a reference
    id. After a crash ``run`` is called again with the last checkpoint that it saved: whatever it
    does to the outside must bear a second time.
    """

    async def run(self, turn: Turn) -> None:
        """Do the turn's work."""
        ...


def load_agent(
    name: str,
    *,
    end_state: str = "input-required",
    place: Place | None = None,
    types: MediaTypes | None = None,
) -> Agent:
    """The agent of an ``adapter:target`` name. Raises InvalidSettings that says what is wrong.

    ``iac:offline`` · ``echo:`` · ``executor:package.module:Name`` (an a2a-sdk AgentExecutor) ·
    ``agent:package.module:Name`` (an Agent) · ``tck``, which a checkout of this project has for
    conformance kits. Nothing is imported before it is asked for.
    ``end_state``, ``place``, ``types``: the IaC agent's, see there.
    """
    adapter, _, target = spelled_out(name).partition(":")
    if adapter == "iac" and target == "offline":
        from .iac import IacAgent

        return IacAgent(end_state=end_state, place=place, types=types)
    if adapter == "echo" and not target:
        from .echo import EchoAgent

        return EchoAgent()
    if adapter == "executor":
        from .executor import ExecutorAgent

        return ExecutorAgent(_imported(name, target))
    if adapter == "agent":
        agent = _imported(name, target)
        if not callable(getattr(agent, "run", None)):
            raise InvalidSettings(f"agent: {target!r} has no run(turn)")
        return cast("Agent", agent)
    raise InvalidSettings(
        f"agent: {name!r} is none of iac:offline, echo:, executor:package.module:Name, "
        "agent:package.module:Name"
    )


def _imported(name: str, target: str) -> object:
    """The object at ``package.module:Name``; a class or function is called without arguments."""
    module_name, _, attribute = target.partition(":")
    if not module_name or not attribute:
        raise InvalidSettings(f"agent: {name!r} names no package.module:Name after its adapter")
    try:
        module = importlib.import_module(module_name)
    except Exception as error:  # whatever is wrong with their module is theirs to mend
        hint = f"; {name} needs a checkout of a2a-fn: start it in its folder"
        raise InvalidSettings(
            f"agent: cannot import {module_name!r}: {type(error).__name__}: {error}"
            f"{hint if name in SHORT else ''}"
        ) from error
    found = getattr(module, attribute, None)
    if found is None:
        raise InvalidSettings(f"agent: module {module_name!r} has no {attribute!r}")
    if not callable(found):
        return found
    try:
        return cast("Callable[[], object]", found)()
    except Exception as error:  # whatever their constructor raises is theirs to mend
        raise InvalidSettings(
            f"agent: {target!r} cannot be made: {type(error).__name__}: {error}"
        ) from error
