"""tasks, task, watch, cancel, card, and what goes wrong, against the SDK's own server."""

from __future__ import annotations

import json
import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from a2a_fn.cli import cards

from .conftest import serve


@pytest.fixture
def asked(cli, agent_url):
    """A task that waits for input: (task id, context id)."""
    err = cli("call", agent_url, "ask").err
    return err.split("  task ")[1].split()[0], err.split("  context ")[1].split()[0]


class TestTasks:
    def test_one_line_a_task_with_tabs_when_piped(self, cli, agent_url, asked):
        result = cli("tasks", agent_url, "--context", asked[1])
        state, _, task, context, words = result.out.rstrip("\n").split("\t")
        assert (state, task, context) == ("input-required", *asked)
        assert words == "which region?"

    def test_all_pages_are_read(self, cli, agent_url, asked):
        cli("call", agent_url, "ask")
        page = cli("tasks", agent_url, "--page-size", 1)
        assert len(page.out.splitlines()) == 1
        assert "--all shows the rest" in page.err
        every = json.loads(cli("tasks", agent_url, "--page-size", 1, "--all", "--json").out)
        ids = [task["id"] for task in every["tasks"]]
        assert len(ids) == len(set(ids)) >= 2
        assert asked[0] in ids

    @pytest.mark.parametrize(
        "word", ["input-required", "INPUT_REQUIRED", "TASK_STATE_INPUT_REQUIRED"]
    )
    def test_status_in_any_spelling(self, cli, agent_url, asked, word):
        lines = cli("tasks", agent_url, "--status", word).out.splitlines()
        assert lines
        assert all(line.startswith("input-required\t") for line in lines)

    def test_a_status_that_does_not_exist(self, cli, agent_url):
        result = cli("tasks", agent_url, "--status", "asleep")
        assert result.code == 2
        assert "no such state, only submitted, working, completed" in result.err


class TestTask:
    def test_it_shows_state_and_messages(self, cli, agent_url, asked):
        result = cli("task", agent_url, asked[0])
        assert result.out.startswith(f"input-required  task {asked[0]}  context {asked[1]}\n")
        assert result.out.endswith("\n[you]\nask\n\n[agent]\nwhich region?\n")

    def test_it_saves_the_artifacts(self, cli, agent_url, tmp_path):
        made = cli("call", agent_url, "artifact")
        task = made.err.split("  task ")[1].split()[0]
        assert f"a2a-fn task {agent_url} {task} --out DIR" in made.err
        result = cli("task", agent_url, task, "--out", tmp_path)
        assert "artifact vpc.yml" in result.out
        assert (tmp_path / "vpc.yml").read_text() == "a: 1\nb: 2\n"

    def test_history_zero_shows_no_messages_but_the_last(self, cli, agent_url, asked):
        assert "[you]" not in cli("task", agent_url, asked[0], "--history", 0).out

    def test_an_unknown_task_is_bad_input(self, cli, agent_url):
        for command in ("task", "watch", "cancel"):
            result = cli(command, agent_url, "none")
            assert (result.code, result.out) == (2, "")
            assert "ask not found" in result.err


class TestWatch:
    def test_a_task_that_waits_is_shown_and_left(self, cli, agent_url, asked):
        result = cli("watch", agent_url, asked[0])
        assert (result.out, result.code) == ("which region?\n", 0)

    def test_a_task_that_has_ended_is_shown(self, cli, agent_url):
        task = cli("call", agent_url, "fail").err.split("  task ")[1].split()[0]
        result = cli("watch", agent_url, task)
        assert (result.out, result.code) == ("no such zone\n", 1)


class TestCancel:
    def test_a_waiting_task(self, cli, agent_url, asked):
        result = cli("cancel", agent_url, asked[0])
        assert (result.out, result.code) == (f"canceled  task {asked[0]}\n", 0)

    def test_a_task_that_has_ended_cannot_be_canceled(self, cli, agent_url):
        task = cli("call", agent_url, "stream").err.split("  task ")[1].split()[0]
        result = cli("cancel", agent_url, task)
        assert result.code == 1
        assert result.err.startswith("a2a-fn: the server refused: ")


class TestCard:
    def test_as_text(self, cli, agent_url):
        assert cli("card", agent_url).out.splitlines()[:2] == [
            "scripted 1.0",
            "does what it is told",
        ]

    def test_as_it_is_served(self, cli, agent_url):
        assert json.loads(cli("card", agent_url, "--json").out)["name"] == "scripted"

    def test_by_the_cards_own_url(self, cli, agent_url):
        result = cli("call", f"{agent_url}/.well-known/agent-card.json", "greet")
        assert result.out == "hello, no task\n"


class TestFailures:
    def test_nobody_listens(self, cli):
        with socket.create_server(("127.0.0.1", 0)) as free:
            url = f"http://127.0.0.1:{free.getsockname()[1]}"
        result = cli("call", url, "hi")
        assert (result.code, result.out) == (3, "")
        assert "is the server running there?" in result.err
        assert result.err.count("\n") == 1

    def test_a_server_that_never_answers_ends_with_the_time_out(self, cli):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            result = cli("call", url, "hi", "--timeout", "0.2")
        assert result.code == 3
        assert "did not answer in time" in result.err

    @pytest.mark.parametrize("url", ["ftp://x", "http://", "http://[", ""])
    def test_not_a_url(self, cli, url):
        result = cli("call", url, "hi")
        assert result.code == 2
        assert "URL" in result.err

    def test_a_url_with_a_password_is_refused_and_not_repeated(self, cli):
        result = cli("call", "http://me:secret@127.0.0.1:1", "hi")
        assert result.code == 2
        assert "secret" not in result.err + result.out

    def test_a_directory_that_is_none_is_told_before_anything_is_sent(
        self, cli, agent_url, tmp_path
    ):
        (tmp_path / "file").write_text("")
        before = cli("tasks", agent_url, "--all").out
        result = cli("call", agent_url, "artifact", "--out", tmp_path / "file" / "out")
        assert (result.code, result.out) == (2, "")
        assert f"{tmp_path / 'file'} is not a directory" in result.err
        assert cli("tasks", agent_url, "--all").out == before

    def test_an_empty_message(self, cli, agent_url):
        result = cli("call", agent_url, "  ")
        assert result.code == 2
        assert "the message is empty" in result.err

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda p: None, "cannot be read: No such file"),
            (lambda p: p.mkdir(), "is a directory"),
            (
                lambda p: p.write_bytes(b"x" * ((1 << 20) + 1)),
                "1,048,577 bytes of text, the limit is 1,048,576 bytes",
            ),
            (lambda p: p.write_bytes(b"\0" * ((5 << 20) + 1)), "larger than 5,242,880 bytes"),
        ],
    )
    def test_a_file_that_cannot_go_along(self, cli, agent_url, tmp_path, make, why):
        path = tmp_path / "f.yml"
        make(path)
        result = cli("call", agent_url, "files", "--file", path)
        assert (result.code, result.out) == (2, "")
        assert f"{path}" in result.err
        assert why in result.err

    def test_a_message_larger_than_servers_take(self, cli, agent_url, tmp_path):
        files = []
        for n in range(3):
            path = tmp_path / f"{n}.bin"
            path.write_bytes(b"\0" * (4 << 20))
            files += ["--file", path]
        result = cli("call", agent_url, "files", *files)
        assert result.code == 2
        assert "servers take 10,485,760 bytes" in result.err

    @pytest.mark.parametrize(
        ("response", "code", "why"),
        [
            (PlainTextResponse("no", 404), 2, "there is no agent card at"),
            (PlainTextResponse("who?", 401), 2, "wants credentials (HTTP 401): see --token"),
            (PlainTextResponse("", 503, {"Retry-After": "7"}), 3, "try again in 7 s"),
            (PlainTextResponse("<html>"), 2, "did not answer with JSON"),
            (JSONResponse([1]), 2, "is not an agent card"),
            (JSONResponse({"name": 7}), 3, "agent card is not valid"),
            (
                JSONResponse({"name": "old", "url": "http://x/", "protocolVersion": "0.2.6"}),
                2,
                "offers JSONRPC 0.2.6",
            ),
            (JSONResponse({"name": "none"}), 2, "offers no interface"),
        ],
    )
    def test_a_server_that_is_no_agent(self, cli, response, code, why):
        async def card(request):
            return response

        with serve(Starlette(routes=[Route("/{path:path}", card)])) as url:
            result = cli("call", url, "hi")
        assert (result.code, result.out) == (code, "")
        assert why in result.err
        assert result.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("answer", "code", "why"),
        [
            (PlainTextResponse("boom", 500), 3, "cannot answer now (HTTP 500)"),
            (PlainTextResponse("big", 413), 2, "larger than"),
            (JSONResponse({"hello": 1}), 3, "not JSON-RPC"),
            (
                JSONResponse({"error": {"code": -32603, "message": "x \x1b[2J"}}),
                3,
                "refused: x [2J",
            ),
            (
                JSONResponse(
                    {
                        "error": {
                            "code": -32602,
                            "message": "bad",
                            "data": [
                                {"fieldViolations": [{"field": "m.id", "description": "empty"}]}
                            ],
                        }
                    }
                ),
                2,
                "refused: bad (m.id: empty)",
            ),
            (
                JSONResponse(
                    {
                        "error": {
                            "code": -32602,
                            "message": "m.id must be short",
                            "data": [
                                {
                                    "fieldViolations": [
                                        {"field": "m.id", "description": "must be short"}
                                    ]
                                }
                            ],
                        }
                    }
                ),
                2,
                "refused: m.id must be short\n",
            ),
            (JSONResponse({"result": {"task": 5}}), 3, "not valid"),
            (JSONResponse({"result": None}), 3, "not valid"),
            (JSONResponse({"error": {"data": 5}}), 3, "refused: error -32603"),
            (
                JSONResponse({"error": {"code": -32603}}, 503, {"Retry-After": "2"}),
                3,
                "try again in 2 s",
            ),
        ],
    )
    def test_an_answer_that_is_none(self, cli, answer, code, why):
        async def card(request):
            interface = {"url": "rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            return JSONResponse(
                {
                    "name": "odd",
                    "supportedInterfaces": [interface],
                    "capabilities": {"streaming": True},
                    "aFieldOfLater": 1,
                }
            )

        async def rpc(request):
            return answer

        routes = [Route(cards.WELL_KNOWN, card), Route("/rpc", rpc, methods=["POST"])]
        with serve(Starlette(routes=routes)) as url:
            result = cli("call", url, "hi")
        assert (result.code, result.out) == (code, "")
        assert why in result.err
        assert result.err.count("\n") == 1
