"""A stream that breaks on the wire, with a server that keeps the events of the task."""

from __future__ import annotations

import json

from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from a2a_fn.cli import cards, conversation

from .conftest import serve


class CuttingServer:
    """Sends events with ids, and breaks each connection after `cut` of them."""

    def __init__(self, cut, events):
        self.cut, self.events = cut, events
        self.calls = []  # (method, Last-Event-ID)

    async def card(self, request):
        interface = {"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        return JSONResponse(
            {
                "name": "cutting",
                "supportedInterfaces": [interface],
                "capabilities": {"streaming": True},
            }
        )

    async def rpc(self, request):
        call = json.loads(await request.body())
        last = request.headers.get("last-event-id", "")
        self.calls.append((call["method"], last))
        assert request.headers["a2a-version"] == "1.0"
        start = int(last or 0)

        async def stream():
            yield ": keep-alive\n\n"
            for n in range(start, min(start + self.cut, len(self.events))):
                body = json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": self.events[n]})
                yield f"id: {n + 1}\ndata: {body}\n\n"
            if start + self.cut < len(self.events):
                yield f"id: {start + self.cut + 1}\ndata: half an ev"
                raise ConnectionResetError("cut")

        return StreamingResponse(stream(), media_type="text/event-stream")

    def app(self):
        return Starlette(
            routes=[
                Route(cards.WELL_KNOWN, self.card),
                Route("/", self.rpc, methods=["POST"]),
            ]
        )


def update(state, text=""):
    status = {"state": f"TASK_STATE_{state}"}
    if text:
        status["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": text}]}
    return {"statusUpdate": {"taskId": "t", "contextId": "c", "status": status}}


def test_the_answer_is_whole_although_each_connection_breaks(cli, monkeypatch):
    monkeypatch.setattr(conversation, "_FIRST_WAIT", 0.001)
    task = {"task": {"id": "t", "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"}}}
    words = [update("WORKING", f"{n} ") for n in range(7)]
    server = CuttingServer(3, [task, *words, update("COMPLETED")])
    with serve(server.app()) as url:
        result = cli("call", url, "count")
    assert result.out == "0 1 2 3 4 5 6 \n"
    assert result.code == 0
    assert server.calls == [
        ("SendStreamingMessage", ""),
        ("SubscribeToTask", "3"),
        ("SubscribeToTask", "6"),
    ]
    assert "subscribing again" in result.err


def test_what_breaks_before_the_first_event_is_not_sent_again(cli):
    server = CuttingServer(0, [update("COMPLETED")])
    with serve(server.app()) as url:
        result = cli("call", url, "count", "--message-id", "once")
    assert result.code == 3
    assert "--message-id once" in result.err
    assert len(server.calls) == 1
