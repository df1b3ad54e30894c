"""A silence is remarked once, wherever the command waits, and never after its end."""

from __future__ import annotations

import asyncio
import json
import threading

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from a2a_fn.cli import cards, session
from a2a_fn.cli.silence import AFTER, REMARK, Silence

from .conftest import serve


class Silent:
    """A silence of 10 s on a clock that its own pauses move. `heard` says how many seconds into
    the first pause, the second, ... something is heard."""

    def __init__(self, *heard):
        self.now, self.pauses, self.told_at = 0.0, [], []
        self.told = threading.Event()
        self.heard = list(heard)
        self.silence = Silence(self.tell, 10.0, lambda: self.now, self.pause)

    def pause(self, seconds):
        self.pauses.append(seconds)
        end = self.now + seconds
        if self.heard:
            self.now += self.heard.pop(0)
            self.silence.heard()
        self.now = end
        return False

    def tell(self):
        self.told_at.append(self.now)
        self.told.set()

    def run(self):
        with self.silence:
            assert self.told.wait(10)
        return self.pauses, self.told_at


def test_it_is_told_once_when_nothing_came():
    assert Silent().run() == ([10.0], [10.0])


def test_what_is_heard_begins_the_silence_anew():
    assert Silent(4.0, 3.0).run() == ([10.0, 4.0, 9.0], [23.0])


def test_nothing_is_told_after_the_end():
    told = []
    before = threading.active_count()
    with Silence(lambda: told.append(1), 3600.0):
        assert threading.active_count() == before + 1
    assert threading.active_count() == before
    assert told == []


def test_a_closed_stderr_is_no_error():
    done = threading.Event()

    def tell():
        done.set()
        raise BrokenPipeError

    with Silence(tell, 0.0):
        assert done.wait(10)


class SlowServer:
    """Answers no message before `told` is set; a stream has its first event at once."""

    def __init__(self):
        self.told = threading.Event()

    async def card(self, request):
        interface = {"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return JSONResponse(
            {
                "name": "slow",
                "supportedInterfaces": [interface],
                "capabilities": {"streaming": True},
            }
        )

    async def rpc(self, request):
        call = json.loads(await request.body())
        task = {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_WORKING"}}
        done = {**task, "status": {"state": "TASK_STATE_COMPLETED"}}

        def answer(task):
            return {"jsonrpc": "2.0", "id": call["id"], "result": {"task": task}}

        async def stream():
            yield f"data: {json.dumps(answer(task))}\n\n"
            await asyncio.to_thread(self.told.wait, 10)
            yield f"data: {json.dumps(answer(done))}\n\n"

        if call["method"] == "SendStreamingMessage":
            return StreamingResponse(stream(), media_type="text/event-stream")
        await asyncio.to_thread(self.told.wait, 10)
        return JSONResponse(answer(done))

    def app(self):
        return Starlette(
            routes=[
                Route(cards.WELL_KNOWN, self.card),
                Route("/", self.rpc, methods=["POST"]),
            ]
        )


@pytest.mark.parametrize("options", [(), ("--no-stream",)], ids=["stream", "blocking"])
def test_a_call_that_hears_nothing_says_so_once_and_goes_on(cli, monkeypatch, options):
    server = SlowServer()

    def silence(tell):
        return Silence(lambda: (tell(), server.told.set()), 0.05)

    monkeypatch.setattr(session, "Silence", silence)
    with serve(server.app()) as url:
        result = cli("call", url, "go", *options)
    assert result.code == 0
    assert server.told.is_set()
    assert result.err.count(REMARK) == 1
    assert result.err.index(REMARK) < result.err.index("completed  task t")


def test_with_json_nothing_is_remarked(cli, monkeypatch):
    server = SlowServer()
    monkeypatch.setattr(
        session, "Silence", lambda tell: Silence(lambda: (tell(), server.told.set()), 0.05)
    )
    with serve(server.app()) as url:
        result = cli("call", url, "go", "--json")
    assert (result.code, result.err) == (0, "")
    assert server.told.is_set()


def test_a_quick_answer_brings_no_remark(cli, agent_url):
    assert AFTER >= 5
    assert "still waiting" not in cli("call", agent_url, "stream").err
