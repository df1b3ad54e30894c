"""`a2a-fn call` against the SDK's own server."""

from __future__ import annotations

import io
import json
import sys

import pytest


def test_streamed_pieces_of_one_message_stay_on_one_line(cli, agent_url):
    result = cli("call", agent_url, "stream")
    assert result.out == "one two three\nnext message\n"
    assert result.code == 0


@pytest.mark.parametrize(
    ("words", "state", "options"),
    [("ask", "input-required", ()), ("authorise", "auth-required", ("--no-stream",))],
)
def test_a_task_that_waits_is_gone_on_with_by_its_own_id(cli, agent_url, words, state, options):
    result = cli("call", agent_url, words, *options)
    assert result.code == 0
    task = result.err.split(f"{state}  task ")[1].split()[0]
    assert f'go on: a2a-fn call {agent_url} "..." --task {task}\n' in result.err


@pytest.mark.parametrize("words", ["stream", "fail"])
def test_a_task_that_has_ended_is_gone_on_with_by_its_context(cli, agent_url, words):
    result = cli("call", agent_url, words)
    context = result.err.split("  context ")[1].split()[0]
    assert f'go on: a2a-fn call {agent_url} "..." --context {context}\n' in result.err


def test_going_on_with_a_task_does_not_print_its_earlier_messages(cli, agent_url):
    asked = cli("call", agent_url, "ask")
    task = asked.err.split("  task ")[1].split()[0]
    context = asked.err.split("  context ")[1].split()[0]
    result = cli("call", agent_url, "stream", "--task", task, "--context", context)
    assert result.out == "one two three\nnext message\n"
    assert f"completed  task {task}" in result.err


def test_without_streaming_the_whole_answer_is_printed_once(cli, agent_url):
    result = cli("call", agent_url, "ask", "--no-stream")
    assert result.out == "which region?\n"
    assert result.code == 0


def test_a_failed_task_is_exit_code_1(cli, agent_url):
    result = cli("call", agent_url, "fail")
    assert (result.out, result.code) == ("no such zone\n", 1)
    assert "failed  task " in result.err


def test_an_answer_without_a_task(cli, agent_url):
    result = cli("call", agent_url, "greet")
    assert (result.out, result.code) == ("hello, no task\n", 0)
    assert "no task" in result.err


def test_artifacts_are_saved_below_the_directory_only(cli, agent_url, tmp_path):
    out = tmp_path / "deep" / "out"
    result = cli("call", agent_url, "artifact", "--out", out)
    assert result.code == 0
    saved = {p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert saved == {"deep/out/vpc.yml", "deep/out/evil.bin"}
    assert (out / "vpc.yml").read_text() == "a: 1\nb: 2\n"
    assert (out / "evil.bin").read_bytes() == b"\x00\x01"
    assert f"saved {out / 'vpc.yml'}" in result.err


def test_files_go_along_as_text_or_raw(cli, agent_url, tmp_path):
    (tmp_path / "a.yml").write_text("x: 1")
    (tmp_path / "b.tf").write_text("# terraform")
    (tmp_path / "c.png").write_bytes(b"\x89PNG\x00")
    files = [
        argument for name in ("a.yml", "b.tf", "c.png") for argument in ("--file", tmp_path / name)
    ]
    result = cli("call", agent_url, "files", *files)
    assert result.out.splitlines() == [
        "text  ",
        "text a.yml application/yaml",
        "text b.tf text/plain",
        "raw c.png application/octet-stream",
    ]


def test_a_dash_reads_the_message_from_stdin(cli, agent_url, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"greet\n")))
    assert cli("call", agent_url, "-").out == "hello, no task\n"


def test_json_is_one_event_a_line_and_the_task_last(cli, agent_url):
    result = cli("call", agent_url, "stream", "--json")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [next(iter(line)) for line in lines] == ["task", *["statusUpdate"] * 5, "task"]
    assert lines[-1]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
    assert result.err == ""


def test_a_message_to_a_finished_task_is_refused_in_one_line(cli, agent_url):
    done = cli("call", agent_url, "stream")
    task = done.err.split("  task ")[1].split()[0]
    result = cli("call", agent_url, "stream", "--task", task)
    assert result.code == 2
    assert result.err.startswith("a2a-fn: the server refused: ")
    assert result.err.count("\n") == 1
