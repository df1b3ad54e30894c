"""How an agent is chosen by its name, and what is said when it cannot be."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from a2a.types.a2a_pb2 import TaskState
from tests.unit.world import World

from a2a_fn.agents.agent import load_agent
from a2a_fn.errors import InvalidSettings

GOOD = """
class Agent:
    made = 0
    def __init__(self):
        Agent.made += 1
    async def run(self, turn):
        await turn.complete("from " + type(self).__name__)

class Executor:
    async def execute(self, context, event_queue):
        pass
    async def cancel(self, context, event_queue):
        pass

class HalfAnExecutor:
    async def execute(self, context, event_queue):
        pass

class Needs:
    def __init__(self, region):
        pass

class Refuses:
    def __init__(self):
        raise RuntimeError("no region is set")

class NotRunnable:
    run = "fast"

agent = Agent()
executor = Executor()
nothing = None
number = 3

def factory():
    return Agent()

def executors():
    return Executor()
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules that a user might have."""
    (tmp_path / "good_agents.py").write_text(GOOD)
    (tmp_path / "bad_agents.py").write_text("def run(:\n")
    (tmp_path / "late_agents.py").write_text("import surely_no_such_module\n")
    (tmp_path / "dead_agents.py").write_text("raise ValueError('no key')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("good_agents", "bad_agents", "late_agents", "dead_agents"):
        monkeypatch.delitem(sys.modules, name, raising=False)


async def answer(name: str, **more: str) -> tuple[int, str]:
    """State and last words of a turn of this agent."""
    world = World()
    task = await world.submit("Create a VPC")
    await world.run(task, load_agent(name, **more).run)
    found = await world.task(task)
    return found.status.state, "".join(part.text for part in found.status.message.parts)


async def test_echo_says_what_it_is_told() -> None:
    state, text = await answer("echo:")
    assert (state, text.strip()) == (TaskState.TASK_STATE_COMPLETED, "Create a VPC")


@pytest.mark.parametrize(
    ("end_state", "state"),
    [
        ("input-required", TaskState.TASK_STATE_INPUT_REQUIRED),
        ("completed", TaskState.TASK_STATE_COMPLETED),
    ],
)
async def test_the_iac_agent_ends_a_turn_as_it_is_told(end_state: str, state: int) -> None:
    assert (await answer("iac:offline", end_state=end_state))[0] == state


@pytest.mark.parametrize("target", ["Agent", "agent", "factory"])
async def test_an_agent_may_be_a_class_an_instance_or_a_factory(target: str) -> None:
    state, text = await answer(f"agent:good_agents:{target}")
    assert (state, text) == (TaskState.TASK_STATE_COMPLETED, "from Agent")


@pytest.mark.parametrize("target", ["Executor", "executor", "executors"])
async def test_an_executor_may_be_a_class_an_instance_or_a_factory(target: str) -> None:
    assert (await answer(f"executor:good_agents:{target}"))[0] == TaskState.TASK_STATE_COMPLETED


def test_an_instance_is_used_as_it_is_and_a_class_is_made_once() -> None:
    module = importlib.import_module("good_agents")
    assert load_agent("agent:good_agents:agent") is module.agent
    assert module.Agent.made == 1
    assert load_agent("agent:good_agents:Agent") is not module.agent
    assert module.Agent.made == 2


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("agent:surely_no_such:A", "cannot import 'surely_no_such': ModuleNotFoundError"),
        ("executor:surely_no_such:A", "cannot import 'surely_no_such': ModuleNotFoundError"),
        ("agent:late_agents:A", "cannot import 'late_agents': .*'surely_no_such_module'"),
        ("agent:bad_agents:A", "cannot import 'bad_agents': SyntaxError"),
        ("agent:dead_agents:A", "cannot import 'dead_agents': ValueError: no key"),
        ("agent:good_agents:Absent", "module 'good_agents' has no 'Absent'"),
        ("agent:good_agents:nothing", "module 'good_agents' has no 'nothing'"),
        ("agent:good_agents:Needs", "'good_agents:Needs' cannot be made: TypeError: .*region"),
        ("agent:good_agents:Refuses", "cannot be made: RuntimeError: no region is set"),
        ("agent:good_agents:Executor", r"'good_agents:Executor' has no run\(turn\)"),
        ("agent:good_agents:NotRunnable", r"'good_agents:NotRunnable' has no run\(turn\)"),
        ("agent:good_agents:number", r"'good_agents:number' has no run\(turn\)"),
        ("executor:good_agents:Agent", r"Agent has no execute\(\) and cancel\(\)"),
        ("executor:good_agents:HalfAnExecutor", r"HalfAnExecutor has no execute\(\) and cancel"),
        ("agent:", "'agent:' names no package.module:Name after its adapter"),
        ("agent:good_agents", "'agent:good_agents' names no package.module:Name"),
        ("executor:good_agents:", "'executor:good_agents:' names no package.module:Name"),
        ("executor::Agent", "'executor::Agent' names no package.module:Name"),
        ("iac:", "'iac:' is none of iac:offline, echo:"),
        ("iac:online", "'iac:online' is none of"),
        ("echo:loud", "'echo:loud' is none of"),
        ("", "'' is none of"),
        ("good_agents:Agent", "'good_agents:Agent' is none of"),
    ],
)
def test_an_agent_that_cannot_be_had_is_one_line_that_says_why(name: str, why: str) -> None:
    with pytest.raises(InvalidSettings, match=f"^agent: .*{why}") as told:
        load_agent(name)
    assert "\n" not in str(told.value)


def test_no_other_adapter_is_imported() -> None:
    code = (
        "import sys; from a2a_fn.agents.agent import load_agent; load_agent('echo:'); "
        "sys.exit(any(n in sys.modules for n in ('a2a_fn.agents.iac', 'a2a_fn.agents.executor')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=30).returncode == 0
