"""Every command over every binding and version, against the SDK's own server."""

from __future__ import annotations

import json

import pytest

from a2a_fn.cli import conversation

from .conftest import sdk_app, serve

SPOKEN = {
    f"{binding}-{version}": ("--binding", binding, "--protocol", version)
    for binding in ("jsonrpc", "http+json")
    for version in ("1.0", "0.3")
}
TASK = "  task "


@pytest.fixture(params=SPOKEN.values(), ids=SPOKEN)
def speak(request, cli, agent_url):
    """Run a command against the agent over one of its interfaces: speak("call", "text")."""

    def go(command, *arguments):
        return cli(command, agent_url, *arguments, *request.param)

    go.version = request.param[-1]
    return go


def test_a_stream_is_printed_as_it_comes(speak):
    result = speak("call", "stream")
    assert (result.out, result.code) == ("one two three\nnext message\n", 0)


def test_a_blocking_answer_is_printed_once(speak):
    result = speak("call", "ask", "--no-stream")
    assert (result.out, result.code) == ("which region?\n", 0)
    assert "input-required  task " in result.err


def test_an_answer_without_a_task(speak):
    for options in ((), ("--no-stream",)):
        assert speak("call", "greet", *options).out == "hello, no task\n"


def test_a_failed_task(speak):
    result = speak("call", "fail")
    assert (result.out, result.code) == ("no such zone\n", 1)


def test_artifacts(speak, tmp_path):
    assert speak("call", "artifact", "--out", tmp_path).code == 0
    # A text part of 0.3 has no name.
    name = "vpc.yml" if speak.version == "1.0" else "a.txt"
    assert (tmp_path / name).read_text() == "a: 1\nb: 2\n"
    assert (tmp_path / "evil.bin").read_bytes() == b"\x00\x01"


def test_files_arrive_whatever_they_hold(speak, tmp_path):
    (tmp_path / "a.yml").write_text("x: 1")
    (tmp_path / "c.bin").write_bytes(b"\x89\x00")
    files = ("--file", tmp_path / "a.yml", "--file", tmp_path / "c.bin")
    lines = speak("call", "files", *files).out.splitlines()
    # A text part of 0.3 has neither a name nor a type.
    named = "a.yml application/yaml" if speak.version == "1.0" else " "
    assert lines == ["text  ", f"text {named}", "raw c.bin application/octet-stream"]


def test_a_task_is_gone_on_with_shown_watched_and_canceled(speak):
    task = speak("call", "ask").err.split(TASK)[1].split()[0]
    assert speak("task", task).out.endswith("[agent]\nwhich region?\n")
    watched = speak("watch", task)
    assert (watched.out, watched.code) == ("which region?\n", 0)
    canceled = speak("cancel", task)
    assert (canceled.out, canceled.code) == (f"canceled  task {task}\n", 0)
    assert speak("cancel", task).code == 1
    assert speak("watch", task).code == 1


def test_a_task_that_is_not_there_is_bad_input(speak):
    for command in ("task", "cancel", "watch"):
        result = speak(command, "a:b c")
        assert (result.code, result.out) == (2, "")
        assert "ask not found" in result.err


def test_the_tasks_of_a_context(speak):
    made = speak("call", "ask").err
    task, context = made.split(TASK)[1].split()[0], made.split("  context ")[1].split()[0]
    result = speak("tasks", "--context", context, "--after", "2020-01-01", "--page-size", 1)
    if speak.version == "1.0":
        assert result.out.split("\t")[2] == task
        assert "[context" not in result.err
    else:
        assert result.code == 2
        assert "A2A 0.3 has no ListTasks" in result.err


def test_the_extended_card(speak):
    result = speak("card", "--extended", "--json")
    assert json.loads(result.out)["name"] == "scripted, in full"
    assert speak("card", "--extended").out.startswith("scripted, in full 1.0\n")


def test_an_authorisation_given_meanwhile_does_not_end_the_turn(speak):
    result = speak("call", "permit")
    assert result.out == "log in first\nthank you\n"
    assert result.code == 0
    assert result.err.count("waits for authorisation") == 1
    assert "completed  task " in result.err


class Cutting:
    """Breaks each of the first connections of an app's streams after so many events."""

    def __init__(self, app, cuts):
        self.app, self.cuts, self.broken = app, list(cuts), 0

    async def __call__(self, scope, receive, send):
        cut = None

        async def cutting(message):
            nonlocal cut
            if message["type"] == "http.response.start":
                kind = dict(message["headers"]).get(b"content-type", b"")
                if kind.startswith(b"text/event-stream") and self.cuts:
                    cut = self.cuts.pop(0)
            elif b"data:" in message.get("body", b"") and cut is not None:
                cut -= 1
                if cut < 0:
                    self.broken += 1
                    raise ConnectionResetError("cut")
            await send(message)

        await self.app(scope, receive, cutting)


@pytest.mark.parametrize("spoken", SPOKEN.values(), ids=SPOKEN)
@pytest.mark.parametrize("cuts", [(1,), (2,), (3, 0), (4, 1, 1), (5,)])
def test_a_server_without_ids_is_resumed_from_its_task(cli, monkeypatch, cuts, spoken):
    monkeypatch.setattr(conversation, "_FIRST_WAIT", 0.001)
    app = Cutting(sdk_app(), cuts)
    with serve(app) as url:
        result = cli("call", url, "stream", *spoken)
    assert result.out == "one two three\nnext message\n"
    assert result.code == 0
    assert app.broken >= 1
    assert "subscribing again" in result.err
