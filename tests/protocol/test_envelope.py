"""What does a call look like that JSON-RPC or A2A refuses, and how is it refused?"""

from __future__ import annotations

import json
from typing import Any

import pytest

from a2a_fn.protocol.operations import OPERATIONS

GET = {"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "t"}}


def raw(**changes: Any) -> bytes:
    return json.dumps({**GET, **changes}).encode()


BROKEN = {
    "empty": (b"", -32700),
    "not JSON": (b"{'id': 1}", -32700),
    "cut off": (b'{"jsonrpc": "2.0", "id": 1', -32700),
    "not UTF-8": (b'{"jsonrpc": "2.0", "id": "\xff"}', -32700),
    "UTF-16": ('{"jsonrpc": "2.0"}'.encode("utf-16"), -32700),
    "NaN": (b'{"jsonrpc": "2.0", "id": NaN}', -32700),
    "Infinity in the params": (raw(params={"id": float("inf")}), -32700),
    "NUL": (b'{"jsonrpc": "2.0", "id": "\x00"}', -32700),
    "an endless integer": (b'{"id": ' + b"9" * 5000 + b"}", -32700),
    "too deep": (b"[" * 200_000, -32700),
    "too deep in the params": (b'{"jsonrpc":"2.0","params":' + b'{"a":' * 100_000, -32700),
    "a name twice": (b'{"jsonrpc": "2.0", "method": "GetTask", "method": "CancelTask"}', -32700),
    "a batch": (b"[" + raw() + b"]", -32600),
    "an empty batch": (b"[]", -32600),
    "a string": (b'"GetTask"', -32600),
    "null": (b"null", -32600),
    "no version of JSON-RPC": (b'{"id": 1, "method": "GetTask"}', -32600),
    "JSON-RPC 1.0": (raw(jsonrpc="1.0"), -32600),
    "a number for the version": (raw(jsonrpc=2.0), -32600),
    "no method": (b'{"jsonrpc": "2.0", "id": 1}', -32600),
    "a method that is no string": (raw(method=["GetTask"]), -32600),
    "an id that is an object": (raw(id={"a": 1}), -32600),
    "an id that is a boolean": (raw(id=True), -32600),
    "an id beyond a double": (raw(id="@").replace(b'"@"', b"1e999"), -32600),
    "half a surrogate pair as the id": (raw(id="\ud800"), -32600),
    "params that are a string": (raw(params="t"), -32600),
    "params by position": (raw(params=["t"]), -32602),
    "an unknown method": (raw(method="tasks/get"), -32601),
    "a method with half a surrogate pair": (raw(method="\ud800"), -32601),
}


@pytest.mark.parametrize(("body", "code"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_call_is_refused_with_the_right_code(server, checked, body, code):
    envelope = checked(await server.post(body))
    assert envelope["error"]["code"] == code


@pytest.mark.parametrize("call_id", ["x", "", "é", 0, -1, 7, 2**70, 1.5, None])
async def test_the_id_comes_back_as_it_was(server, checked, call_id):
    assert checked(await server.post(raw(id=call_id)))["id"] == call_id
    assert checked(await server.post(raw(id=call_id, method="No")))["id"] == call_id
    assert checked(await server.post(raw(id=call_id, jsonrpc="1")))["id"] == call_id


@pytest.mark.parametrize(
    ("largest", "larger"),
    [
        ("x" * 256, "x" * 257),
        ("\u00e9" * 256, "\u00e9" * 257),
        (10**256 - 1, 10**256),
        (1 - 10**256, -(10**256)),
    ],
    ids=["a string", "letters of more than a byte", "a number", "a negative number"],
)
async def test_an_id_has_a_limit(server, checked, largest, larger):
    assert checked(await server.post(raw(id=largest)))["id"] == largest
    refused = checked(await server.post(raw(id=larger)))
    assert (refused["id"], refused["error"]["code"]) == (None, -32600)


async def test_a_call_without_an_id_is_answered_with_null(server, checked):
    call = {key: value for key, value in GET.items() if key != "id"}
    envelope = checked(await server.post(json.dumps(call).encode()))
    assert envelope["id"] is None
    assert envelope["error"]["code"] == -32001


async def test_a_byte_order_mark_is_harmless(server, checked):
    envelope = checked(await server.post(b"\xef\xbb\xbf" + raw()))
    assert envelope["error"]["code"] == -32001


async def test_params_may_be_left_out_where_none_are_required(server):
    assert (await server.call("ListTasks"))["result"]["tasks"] == []


async def test_unknown_fields_are_ignored(server, message):
    sent = message(future={"a": 1})
    answer = await server.call("SendMessage", {"message": sent, "alsoNew": 1}, extra=True)
    assert answer["result"]["task"]["id"]


# --- media types --------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["text/plain", "application/xml", "application/jsonx", ""])
async def test_another_media_type_is_refused_before_the_body_is_parsed(server, checked, given):
    envelope = checked(await server.post(b"not JSON", Content_Type=given))
    assert envelope["error"]["code"] == -32005
    assert envelope["error"]["data"][0]["reason"] == "CONTENT_TYPE_NOT_SUPPORTED"


@pytest.mark.parametrize(
    "given", ["application/json", "Application/JSON; charset=utf-8", "application/a2a+json"]
)
async def test_json_by_any_of_its_names_is_taken(server, checked, given):
    envelope = checked(await server.post(raw(), Content_Type=given))
    assert envelope["error"]["code"] == -32001


# --- versions -----------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["1.0", "1.0.3"])
async def test_the_version_that_is_served_is_taken(server, checked, given):
    assert checked(await server.post(raw(), A2A_Version=given))["error"]["code"] == -32001


@pytest.mark.parametrize("given", ["", "0.3", "1", "1.1", "2.0", "1.0-rc", "v1.0", "x" * 5000])
async def test_any_other_version_is_refused_and_the_right_one_named(server, checked, given):
    envelope = checked(await server.post(raw(), A2A_Version=given))
    assert envelope["error"]["code"] == -32009
    assert envelope["id"] == 1
    assert envelope["error"]["data"][0]["metadata"] == {"supportedVersions": "1.0"}
    assert "A2A-Version: 1.0" in envelope["error"]["message"]
    assert "xxx" not in envelope["error"]["message"]


@pytest.mark.parametrize(("query", "code"), [("1.0", -32001), ("0.3", -32009), ("", -32009)])
async def test_the_version_may_come_in_the_query(server, query, code):
    response = await server.http.post(f"{server.url}?A2A-Version={query}", json=GET)
    assert response.json()["error"]["code"] == code


async def test_a_call_of_version_0_3_learns_what_to_send(server, checked):
    old = {"jsonrpc": "2.0", "id": 1, "method": "message/send", "params": {}}
    envelope = checked(await server.http.post(server.url, json=old))
    assert envelope["error"]["code"] == -32009
    assert envelope["error"]["message"].startswith("A2A version 0.3, which a request without")


async def test_the_header_wins_over_the_query(server):
    response = await server.http.post(
        f"{server.url}?A2A-Version=0.3", json=GET, headers={"A2A-Version": "1.0"}
    )
    assert response.json()["error"]["code"] == -32001


# --- what the card says that there is not -------------------------------------------------------


@pytest.mark.parametrize("method", [m for m in OPERATIONS if "Push" in m])
async def test_push_configs_are_refused(server, method):
    answer = await server.call(method, {"taskId": "t"})
    assert answer["error"]["code"] == -32003


async def test_the_extended_card_is_refused(server):
    assert (await server.call("GetExtendedAgentCard", {}))["error"]["code"] == -32004


@pytest.mark.parametrize("method", [m for m in OPERATIONS if OPERATIONS[m].streams])
async def test_streaming_that_is_off_is_refused_and_the_card_says_so(
    listen, handler, message, method
):
    async with listen(handler, streaming=False) as server:
        params = {"id": "t"} if OPERATIONS[method].resumes else {"message": message()}
        assert (await server.call(method, params))["error"]["code"] == -32004
        card = (await server.http.get(f"{server.url}.well-known/agent-card.json")).json()
    assert card["capabilities"]["streaming"] is False


# --- HTTP ---------------------------------------------------------------------------------------


async def test_only_posts_are_calls(server):
    response = await server.http.get(server.url)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert response.json() == {"error": "Method Not Allowed"}


@pytest.mark.parametrize("path", ["nothing", "health/", ".well-known/", "//"])
async def test_other_paths_are_not_found_and_not_redirected(server, path):
    response = await server.http.get(f"{server.url}{path}")
    assert response.status_code == 404
    assert response.json() == {"error": "Not Found"}


async def test_health_says_nothing_else(server):
    response = await server.http.get(f"{server.url}health")
    assert response.content == b'{"status":"healthy"}'
    head = await server.http.head(f"{server.url}health")
    assert (head.status_code, head.content) == (200, b"")
    assert (await server.http.post(f"{server.url}health")).status_code == 405
