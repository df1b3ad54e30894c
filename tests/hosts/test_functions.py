"""Every function on its sample event, through the very handler that is deployed."""

from __future__ import annotations

import base64
import json
import runpy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.hooks import hook

from a2a_fn.errors import InvalidSettings
from a2a_fn.hosts.lambda_batch import PushFunction, SweepFunction, TurnFunction
from a2a_fn.hosts.lambda_http import HttpFunction
from a2a_fn.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
Function = Callable[[dict[str, Any], Any], dict[str, Any]]


class Context:
    """A Lambda context with so much time left."""

    aws_request_id = "r-1"

    def __init__(self, seconds: float) -> None:
        self._millis = int(seconds * 1000)

    def get_remaining_time_in_millis(self) -> int:
        return self._millis


def event(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(
        data=str(tmp_path / "data"),
        agent="echo:",
        lease=0.3,
        clock_skew=0,
        push_notifications=True,
        push_allow_private=True,
    )


@pytest.fixture
def make(settings: Settings) -> Iterator[Callable[[type], Any]]:
    made = []

    def function(kind: type) -> Any:
        made.append(kind(settings))
        return made[-1]

    yield function
    for one in reversed(made):  # they share the process's loop, which ends with the first
        one.close()


def rpc(function: Any, method: str, **params: Any) -> dict[str, Any]:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = function(dict(event("http-send"), body=json.dumps(call)), Context(60))
    assert answer["statusCode"] == 200
    return json.loads(answer["body"])["result"]


async def wake_up(function: TurnFunction) -> str:
    """The body of the next wake-up in the queue."""
    return (await function._services.turns.receive(1, 0))[0].body.decode()


def test_a_card_leaves_as_text_and_offers_no_streaming(make: Callable[[type], Any]) -> None:
    answer = make(HttpFunction)(event("http-card"), Context(60))
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (200, False)
    card = json.loads(answer["body"])
    assert card["capabilities"]["streaming"] is False
    assert card["supportedInterfaces"][0]["url"].startswith("https://abcdefgh.lambda-url.")


def test_a_message_is_taken_by_one_function_and_worked_on_by_another(
    make: Callable[[type], Any],
) -> None:
    http, turn = make(HttpFunction), make(TurnFunction)
    sent = json.loads(http(event("http-send"), Context(60))["body"])["result"]["task"]
    assert sent["status"]["state"] == "TASK_STATE_SUBMITTED"
    record = event("turn")["Records"][0]
    from a2a_fn.hosts.loop import process_loop

    record["body"] = process_loop().run_until_complete(wake_up(turn))
    assert turn({"Records": [record]}, Context(60)) == {"batchItemFailures": []}
    done = rpc(http, "GetTask", id=sent["id"])
    assert done["status"]["state"] == "TASK_STATE_COMPLETED"
    assert done["status"]["message"]["parts"][0]["text"].strip() == (
        "Create a VPC with two vSwitches"
    )
    listed = json.loads(http(event("http-list"), Context(60))["body"])["result"]
    assert [task["id"] for task in listed["tasks"]] == [sent["id"]]


def test_only_the_record_that_failed_comes_back(make: Callable[[type], Any]) -> None:
    http, turn = make(HttpFunction), make(TurnFunction)
    http(event("http-send"), Context(60))
    from a2a_fn.hosts.loop import process_loop

    body = process_loop().run_until_complete(wake_up(turn))
    record = event("turn")["Records"][0]
    records = [
        dict(record, messageId="good", body=body),
        dict(record, messageId="bad", body="not json"),
        dict(record, messageId="odd", body="{}"),
    ]
    answer = turn({"Records": records}, Context(60))
    assert answer == {"batchItemFailures": [{"itemIdentifier": "bad"}, {"itemIdentifier": "odd"}]}


def test_the_push_function_sends_what_its_records_mean(make: Callable[[type], Any]) -> None:
    http, turn, push = make(HttpFunction), make(TurnFunction), make(PushFunction)
    from a2a_fn.hosts.loop import process_loop

    def records() -> list[dict[str, Any]]:
        sample = event("push")["Records"][0]
        taken = process_loop().run_until_complete(push._outbox.queue.receive(10, 0))
        return [dict(sample, messageId=each.handle, body=each.body.decode()) for each in taken]

    with hook() as receiver:
        call = json.loads(event("http-send")["body"])
        call["params"]["configuration"]["taskPushNotificationConfig"] = {"url": receiver.url}
        http(dict(event("http-send"), body=json.dumps(call)), Context(60))
        waiting = records()
        bad = dict(event("push")["Records"][0], messageId="bad", body="[]")
        assert push({"Records": [*waiting, bad]}, Context(60)) == {
            "batchItemFailures": [{"itemIdentifier": "bad"}]
        }
        assert [one.state for one in receiver.got] == ["SUBMITTED"]
        body = process_loop().run_until_complete(wake_up(turn))
        turn({"Records": [dict(event("turn")["Records"][0], body=body)]}, Context(60))
        waiting = records()
        assert push({"Records": waiting}, Context(9)) == {"batchItemFailures": []}
        assert len(receiver.got) == 1  # too little time for a try: put back, for later
        assert records() == []
        assert push({"Records": waiting}, Context(60)) == {"batchItemFailures": []}
        assert [one.state for one in receiver.got] == ["SUBMITTED", "WORKING", "COMPLETED"]


def test_a_push_function_where_nothing_is_pushed_says_so() -> None:
    with pytest.raises(InvalidSettings, match="push-notifications"):
        PushFunction(Settings(engine="memory"))


def test_the_sweep_finds_a_message_whose_wake_up_was_lost(make: Callable[[type], Any]) -> None:
    http, turn, sweep = make(HttpFunction), make(TurnFunction), make(SweepFunction)
    http(event("http-send"), Context(60))
    from a2a_fn.hosts.loop import process_loop

    process_loop().run_until_complete(wake_up(turn))  # received, and its receiver died
    rung = 0
    while not rung:  # the alarm is due after the lease of 0.3 s
        rung = sweep(event("sweep"), Context(60))["rung"]
    body = process_loop().run_until_complete(wake_up(turn))
    record = dict(event("turn")["Records"][0], body=body)
    assert turn({"Records": [record]}, Context(60)) == {"batchItemFailures": []}
    tasks = rpc(http, "ListTasks")["tasks"]
    assert [t["status"]["state"] for t in tasks] == ["TASK_STATE_COMPLETED"]


def test_a_waiting_call_is_answered_before_the_function_is_killed(
    make: Callable[[type], Any],
) -> None:
    http = make(HttpFunction)
    call = json.loads(event("http-send")["body"])
    call["params"]["configuration"]["returnImmediately"] = False
    answer = http(dict(event("http-send"), body=json.dumps(call)), Context(2.2))
    task = json.loads(answer["body"])["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"


def test_streaming_methods_are_refused_on_a_buffered_front(make: Callable[[type], Any]) -> None:
    call = json.loads(event("http-send")["body"])
    call["method"] = "SendStreamingMessage"
    answer = make(HttpFunction)(dict(event("http-send"), body=json.dumps(call)), Context(60))
    assert json.loads(answer["body"])["error"]["code"] == -32004


@pytest.mark.parametrize("name", ["http", "turn", "push", "sweep"])
def test_the_deployed_files_make_their_handler_from_the_environment(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A2A_FN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("A2A_FN_AGENT", "echo:")
    monkeypatch.setenv("A2A_FN_PUSH_NOTIFICATIONS", "true")
    monkeypatch.setattr("a2a_fn.logs.set_up_logs", lambda mode: None)
    handler = runpy.run_path(str(ROOT / "functions" / f"{name}.py"))["handler"]
    try:
        assert isinstance(handler(event({"http": "http-list"}.get(name, name)), Context(60)), dict)
    finally:
        handler.close()


def test_a_handler_file_is_one_page() -> None:
    for path in (ROOT / "functions").glob("*.py"):
        assert len(path.read_text().splitlines()) <= 30


def test_every_sample_event_is_used() -> None:
    used = Path(__file__).read_text()
    for path in (ROOT / "events").glob("*.json"):
        assert f'"{path.stem}"' in used
    assert base64.b64decode(event("http-list")["body"]).startswith(b"{")
