"""Calls as API Gateway (payload format 2.0) hands them to a function."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

_numbers = count(1)
TEXT = "What would it cost to run this in two zones instead"
CARD = "/.well-known/agent-card.json"


def event(method: str, path: str, body: str = "") -> dict[str, Any]:
    """The event of one HTTP request."""
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": "",
        "headers": {
            "host": "agent.example.com",
            "content-type": "application/json",
            "a2a-version": "1.0",
            "x-forwarded-proto": "https",
            "x-forwarded-for": "203.0.113.7",
        },
        "requestContext": {
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "203.0.113.7",
            },
            "requestId": "2b6a1f0e-6b43-4d55-8d0a-3f6f0a5f9c11",
            "stage": "$default",
        },
        "body": body,
        "isBase64Encoded": False,
    }


def call(method: str, params: dict[str, Any]) -> str:
    """A JSON-RPC call's body."""
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def send(text: str = TEXT, *, at_once: bool) -> str:
    """The body of a SendMessage; each is another message."""
    message = {
        "messageId": f"bench-{next(_numbers)}",
        "role": "ROLE_USER",
        "parts": [{"text": text}],
    }
    configuration = {"returnImmediately": True} if at_once else {}
    return call("SendMessage", {"message": message, "configuration": configuration})


def result(answer: dict[str, Any]) -> dict[str, Any]:
    """The result in a function's answer; an error is no measurement."""
    document = json.loads(answer["body"])
    if answer["statusCode"] != 200 or "error" in document:
        raise RuntimeError(f"{answer['statusCode']}: {answer['body'][:400]}")
    found: dict[str, Any] = document.get("result", document)
    return found
