"""Pushes as their receivers see them: every proof, and nothing lost by kills, stops and faults."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import jwt
import pytest

from .hooks import HANG, Authority, Got, Hook, hook
from .server import ROOT, Process

Start = Callable[..., Process]
PUSHES = {
    "A2A_FN_PUSH_NOTIFICATIONS": "1",
    "A2A_FN_PUSH_ALLOW_PRIVATE": "1",
    "A2A_FN_CLOCK_SKEW": "0",
    "A2A_FN_SWEEP_INTERVAL": "0.3",
}
STEPS = ("--agent", "agent:tests.e2e.agents:Steps")
ECHO = ("--agent", "echo:")


@pytest.fixture
def receiver() -> Iterator[Hook]:
    with hook() as made:
        yield made


@pytest.fixture
def serve(start: Start) -> Callable[..., Process]:
    """Start a server that pushes."""

    def run(*arguments: str, **env: str) -> Process:
        return start("serve", *(arguments or ECHO), **{**PUSHES, **env})

    return run


def rpc(url: str, method: str, params: dict[str, Any], version: str = "1.0") -> Any:
    call = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = httpx.post(url, json=call, headers={"A2A-Version": version}, timeout=30)
    document = answer.json()
    assert "result" in document, document
    return document["result"]


def send(url: str, text: str, config: dict[str, Any] | None = None, **message: Any) -> str:
    """Send a message with a webhook; the task's id."""
    params: dict[str, Any] = {
        "message": {
            "messageId": f"m-{text}",
            "role": "ROLE_USER",
            "parts": [{"text": text}],
            **message,
        },
        "configuration": {"returnImmediately": True},
    }
    if config:
        params["configuration"]["taskPushNotificationConfig"] = config
    return rpc(url, "SendMessage", params)["task"]["id"]


def a2a_fn(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "a2a_fn", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )


def in_order(got: list[Got]) -> bool:
    """Each event from the first to the last, in order, perhaps some again right away."""
    generations = [one.generation for one in got]
    again = list(dict.fromkeys(generations))
    return generations == sorted(generations) and again == list(range(1, len(again) + 1))


# ------------------------------------------------------------------ what arrives


def test_a_receiver_gets_the_task_and_each_change_verified(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve()
    receiver.verify(server.url)
    task = send(server.url, "one two", {"url": receiver.url, "id": "mine"})
    got = receiver.wait_for_end()
    assert [one.state for one in got] == ["SUBMITTED", "WORKING", "COMPLETED"]
    assert got[0].json["task"]["history"][0]["parts"][0]["text"] == "one two"
    assert {one.verified.task_id for one in got} == {task}
    assert {one.verified.config_id for one in got} == {"mine"}
    assert [one.verified.generation for one in got] == sorted(one.generation for one in got)
    assert all(one.headers["content-type"] == "application/a2a+json" for one in got)


@pytest.mark.parametrize("events", ["state", "terminal"])
def test_who_gets_no_pieces_gets_the_agents_words_with_the_end(
    serve: Callable[..., Process], receiver: Hook, events: str
) -> None:
    server = serve(A2A_FN_PUSH_EVENTS=events)
    send(server.url, "one two", {"url": receiver.url})
    end = receiver.wait_for_end()[-1].json["statusUpdate"]["status"]
    assert "".join(part["text"] for part in end["message"]["parts"]).strip() == "one two"


def test_a_receiver_that_has_only_pyjwt_and_the_key_set_verifies_us(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve()
    task = send(server.url, "hello", {"url": f"{receiver.url}?key=v"})
    client = jwt.PyJWKClient(f"{server.url}/.well-known/jwks.json")
    seen = set()
    for one in receiver.wait_for_end():
        token = one.headers["authorization"].removeprefix("Bearer ")
        claims = jwt.decode(
            token,
            client.get_signing_key_from_jwt(token),
            algorithms=["ES256"],
            audience=receiver.url,
            issuer=server.url,
            options={"require": ["iss", "aud", "iat", "exp", "jti"]},
        )
        assert claims["taskId"] == task
        assert claims["sha256"] == hashlib.sha256(one.body).hexdigest()
        seen.add(claims["jti"])
    assert len(seen) == len(receiver.got)


@pytest.mark.parametrize(
    ("authentication", "token", "header", "value"),
    [
        ({"scheme": "Bearer", "credentials": "abc"}, "", "authorization", "Bearer abc"),
        (
            {"scheme": "Basic", "credentials": "me:hush"},
            "",
            "authorization",
            "Basic " + base64.b64encode(b"me:hush").decode(),
        ),
        ({"scheme": "ApiKey", "credentials": "X-My-Key: k3y"}, "", "x-my-key", "k3y"),
        (None, "t0ken", "x-a2a-notification-token", "t0ken"),
    ],
    ids=["bearer", "basic", "apikey", "token"],
)
def test_credentials_prove_the_sender_beside_the_signature(
    serve: Callable[..., Process],
    receiver: Hook,
    authentication: dict[str, str] | None,
    token: str,
    header: str,
    value: str,
) -> None:
    server = serve()
    receiver.verify(server.url)
    config = {"url": receiver.url, "token": token}
    if authentication:
        config["authentication"] = authentication
    send(server.url, "hello", config)
    got = receiver.wait_for_end()
    assert {one.headers[header] for one in got} == {value}
    assert all(one.verified for one in got)
    secret = (authentication or {}).get("credentials", "") or token
    assert secret not in json.dumps(server.lines)


def test_a_shared_secret_verifies_beside_the_signature(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve(A2A_FN_PUSH_HMAC_SECRET="a-secret-that-both-sides-have")
    receiver.verify(server.url, hmac_secret="a-secret-that-both-sides-have")
    send(server.url, "hello", {"url": receiver.url})
    assert len(receiver.wait_for_end()) == 3
    own = {"scheme": "HMAC", "credentials": "of-this-webhook-only"}
    receiver.verify(server.url, hmac_secret="of-this-webhook-only")
    send(server.url, "again", {"url": receiver.url, "authentication": own})
    assert len(receiver.wait_for(lambda got: len(got) >= 6)) == 6


def test_oauth2_asks_the_token_server_and_again_when_the_token_is_withdrawn(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve()
    issued: list[str] = []

    def answer(got: Got) -> int | tuple[int, dict[str, str], bytes]:
        if got.path == "/token":
            basic = base64.b64decode(got.headers["authorization"].removeprefix("Basic "))
            form = parse_qs(got.body.decode())
            if basic != b"me:hush" or form["grant_type"] != ["client_credentials"]:
                return 401
            issued.append(f"at-{len(issued) + 1}")
            document = {"access_token": issued[-1], "token_type": "Bearer", "expires_in": 600}
            return 200, {"content-type": "application/json"}, json.dumps(document).encode()
        withdrawn = len(receiver.got) == 3 and issued[-1] == "at-1"
        good = got.headers["authorization"] == f"Bearer {issued[-1]}" and not withdrawn
        return 200 if good else 401

    receiver.answer = answer
    grant = {"token_url": f"{receiver.origin}/token", "client_id": "me", "client_secret": "hush"}
    authentication = {"scheme": "OAuth2", "credentials": json.dumps(grant)}
    send(server.url, "hello", {"url": receiver.url, "authentication": authentication})
    got = receiver.wait_for_end()
    assert [one.path for one in got] == ["/token", "/a2a", "/a2a", "/token", "/a2a"]
    assert "hush" not in json.dumps(server.lines)


def test_mutual_tls_shows_our_certificate_to_a_receiver_that_asks(
    serve: Callable[..., Process], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    ours, key, _ = authority.issue("agent")
    _, _, theirs = authority.issue("hook")
    with hook(certificate=theirs, clients=authority.pem) as receiver:
        server = serve(
            A2A_FN_PUSH_CA=f"file:{authority.pem}",
            A2A_FN_PUSH_CLIENT_CERT=f"file:{ours}",
            A2A_FN_PUSH_CLIENT_KEY=f"file:{key}",
        )
        send(server.url, "hello", {"url": receiver.url})
        assert len(receiver.wait_for_end()) == 3
        server.kill()  # or the connection would wait for its side of the farewell


def test_a_receiver_whose_certificate_is_not_known_gets_nothing(
    serve: Callable[..., Process], tmp_path: Path
) -> None:
    authority = Authority(tmp_path)
    _, _, theirs = authority.issue("hook")
    with hook(certificate=theirs) as receiver:
        server = serve(A2A_FN_PUSH_MAX_ATTEMPTS="1")
        send(server.url, "hello", {"url": receiver.url})
        assert "certificate" in str(server.wait_for("gave up")["reason"])
        assert receiver.tries == []
        server.kill()


def test_a_client_of_0_3_gets_the_task_as_0_3_has_it(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve()
    receiver.verify(server.url)
    rpc(
        server.url,
        "message/send",
        {
            "message": {
                "kind": "message",
                "messageId": "m1",
                "role": "user",
                "parts": [{"kind": "text", "text": "one two"}],
            },
            "configuration": {
                "blocking": False,
                "pushNotificationConfig": {"url": receiver.url, "token": "t0ken"},
            },
        },
        version="0.3",
    )
    got = receiver.wait_for(
        lambda got: any(one.json["status"]["state"] == "completed" for one in got)
    )
    assert [one.json["kind"] for one in got] == ["task"] * 3
    assert [one.json["status"]["state"] for one in got] == ["submitted", "working", "completed"]
    assert got[-1].json["status"]["message"]["parts"][0]["text"].strip() == "one two"
    assert {one.headers["x-a2a-notification-token"] for one in got} == {"t0ken"}
    assert all(one.headers["content-type"] == "application/json" for one in got)
    assert all(one.verified for one in got)


def test_the_address_of_a_pushed_artifact_can_be_followed(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve("--agent", "iac:offline")
    send(server.url, "Create a VPC", {"url": receiver.url})
    got = receiver.wait_for_end("INPUT_REQUIRED")
    updates = [one.json["artifactUpdate"] for one in got if "artifactUpdate" in one.json]
    urls = [part["url"] for update in updates for part in update["artifact"]["parts"]]
    assert urls
    for url in urls:
        assert url.startswith(server.url)
        assert "ALIYUN::ECS::VPC" in httpx.get(url).raise_for_status().text


def test_a_challenge_is_answered_by_the_middleware_and_a_stranger_is_refused(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve(A2A_FN_PUSH_CHALLENGE="1")
    params = {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]},
        "configuration": {"taskPushNotificationConfig": {"url": receiver.url}},
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": params}
    answer = httpx.post(server.url, json=call, headers={"A2A-Version": "1.0"}, timeout=30)
    assert answer.json()["error"]["code"] == -32602
    receiver.verify(server.url)
    send(server.url, "hello", {"url": receiver.url})
    assert receiver.wait_for_end()


# ------------------------------------------------------------------ nothing is lost


@pytest.mark.slow
def test_a_receiver_that_comes_back_gets_everything_in_order(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve(*STEPS, A2A_FN_PUSH_EVENTS="all")
    down = [503]
    receiver.answer = lambda got: down.pop() if down else 200
    send(server.url, "go", {"url": receiver.url})
    got = receiver.wait_for_end()
    assert in_order(got)
    assert [one.generation for one in receiver.tries[:2]] == [1, 1]


def test_a_server_that_is_killed_while_a_push_waits_sends_it_after_the_restart(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    env = {"A2A_FN_PUSH_EVENTS": "all"}
    first = serve(*STEPS, **env)
    receiver.verify(first.url)
    receiver.answer = lambda got: 200 if got.generation <= 3 else 503
    send(first.url, "go", {"url": receiver.url})
    receiver.wait_for(lambda tries: any(one.generation > 3 for one in tries), tries=True)
    first.wait_for("push failed")
    with hook() as other:  # once this is done, the pause of the first is on the disk
        send(first.url, "meanwhile", {"url": other.url})
        other.wait_for(lambda got: got)
    first.kill()
    receiver.answer = lambda got: 200
    serve(*STEPS, "--port", first.url.rpartition(":")[2], **env)
    assert in_order(receiver.wait_for_end())


@pytest.mark.slow
def test_kills_in_the_middle_of_many_lose_nothing(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    env = {"A2A_FN_PUSH_TIMEOUT": "0.5", "A2A_FN_LEASE": "1"}
    server, tasks = serve(**env), []
    receiver.verify(server.url)
    port = server.url.rpartition(":")[2]
    for n in range(60):
        tasks.append(send(server.url, f"{n}", {"url": receiver.url}))
        if n in (20, 40):
            receiver.wait_for(lambda got, n=n: len(got) >= n)
            server.kill()
            server = serve("--port", port, *ECHO, **env)
            assert server.url
    whole = ["SUBMITTED", "WORKING", "COMPLETED"]
    receiver.wait_for(
        lambda got: {one.verified.task_id for one in got if one.state == "COMPLETED"} == set(tasks),
        seconds=60,
    )
    for task in tasks:
        mine = [one for one in receiver.got if one.verified.task_id == task]
        generations = [one.generation for one in mine]
        assert generations == sorted(generations)
        assert list(dict.fromkeys(one.state for one in mine)) == whole


@pytest.mark.slow  # a push that a killed process has in hand is free after its time-out and 5 s
def test_a_server_that_is_killed_with_a_push_under_way_sends_it_again(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    env = {"A2A_FN_PUSH_EVENTS": "all", "A2A_FN_PUSH_TIMEOUT": "0.5"}
    first = serve(*STEPS, **env)
    receiver.verify(first.url)
    receiver.answer = lambda got: 200 if got.generation <= 3 else HANG
    send(first.url, "go", {"url": receiver.url})
    receiver.wait_for(lambda got: any(one.generation > 3 for one in got))
    first.kill()
    receiver.answer = lambda got: 200
    serve(*STEPS, "--port", first.url.rpartition(":")[2], **env)
    receiver.wait_for(lambda got: any(one.state == "COMPLETED" for one in got), seconds=60)
    assert in_order(receiver.got)


@pytest.mark.slow
def test_a_server_stops_while_a_receiver_hangs_and_the_next_one_sends_it(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    env = {"A2A_FN_PUSH_TIMEOUT": "1"}
    first = serve(**env)
    receiver.answer = lambda got: HANG
    task = send(first.url, "hello", {"url": receiver.url})
    receiver.wait_for(lambda got: len(got) == 1)
    assert first.stop() == 0
    receiver.answer = lambda got: 200
    receiver.got.clear()
    second = serve("--port", first.url.rpartition(":")[2], *ECHO, **env)
    got = receiver.wait_for_end()
    assert [one.state for one in got] == ["SUBMITTED", "WORKING", "COMPLETED"]
    assert rpc(second.url, "GetTask", {"id": task})["status"]["state"] == "TASK_STATE_COMPLETED"


def test_a_receiver_that_hangs_delays_no_other(
    serve: Callable[..., Process], receiver: Hook
) -> None:
    server = serve(A2A_FN_PUSH_CONCURRENCY="2")
    with hook() as slow:
        slow.answer = lambda got: HANG
        for n in range(5):
            send(server.url, f"slow {n}", {"url": slow.url})
        slow.wait_for(lambda got: len(got) >= 2)
        for n in range(5):
            send(server.url, f"fast {n}", {"url": receiver.url})
        receiver.wait_for(lambda got: [one.state for one in got].count("COMPLETED") == 5)
        assert len(slow.got) <= 4
        server.kill()


def test_deletion_stops_what_waits(serve: Callable[..., Process], receiver: Hook) -> None:
    server = serve()
    receiver.answer = lambda got: 503
    task = send(server.url, "hello", {"url": receiver.url, "id": "a"})
    receiver.wait_for(lambda tries: tries, tries=True)
    rpc(server.url, "DeleteTaskPushNotificationConfig", {"taskId": task, "id": "a"})
    receiver.answer = lambda got: 200
    tried = len(receiver.tries)
    other = send(server.url, "other", {"url": receiver.url})  # long enough for a second try
    receiver.wait_for_end()
    assert {one.json.get("task", {}).get("id", other) for one in receiver.got} == {other}
    assert len(receiver.tries) == tried + 3


# ------------------------------------------------------------------ the operator


def test_keys_are_rotated_while_pushes_go_on(
    serve: Callable[..., Process], receiver: Hook, tmp_path: Path
) -> None:
    server = serve()
    receiver.verify(server.url)
    kids = set()
    for n in range(2):
        sent = len(receiver.got)
        secret = {"scheme": "Bearer", "credentials": "abc"}
        send(server.url, f"hello {n}", {"url": receiver.url, "authentication": secret})
        got = receiver.wait_for(lambda got, sent=sent: len(got) == sent + 3)
        token = got[-1].headers["x-a2a-notification-jwt"]
        kids.add(jwt.get_unverified_header(token)["kid"])
        assert all(one.verified for one in got)
        if n == 0:
            done = a2a_fn("keys", "rotate", "--data", str(tmp_path / "data"))
            assert done.returncode == 0, done.stderr
            receiver.verify(server.url)  # another receiver, who has not asked for keys yet
    assert len(kids) == 2
    keys = httpx.get(f"{server.url}/.well-known/jwks.json").json()["keys"]
    assert {key["kid"] for key in keys} >= kids


def test_what_was_given_up_is_listed_and_redriven(
    serve: Callable[..., Process], receiver: Hook, tmp_path: Path
) -> None:
    server = serve()
    receiver.answer = lambda got: (404, {}, b"no such hook")
    task = send(server.url, "hello", {"url": f"{receiver.url}?key=s3cret", "id": "mine"})
    server.wait_for("gave up")
    data = ("--data", str(tmp_path / "data"))
    listed = a2a_fn("push", "dead", *data)
    assert listed.returncode == 0, listed.stderr
    assert task in listed.stdout
    assert "404 no such hook" in listed.stdout
    assert "s3cret" not in listed.stdout + json.dumps(server.lines)
    receiver.answer = lambda got: 200
    redriven = a2a_fn("push", "redrive", "--all", *data)
    assert redriven.returncode == 0, redriven.stderr
    got = receiver.wait_for_end()
    assert [one.state for one in got] == ["SUBMITTED", "WORKING", "COMPLETED"]
    assert a2a_fn("push", "dead", *data).stdout == ""


def test_a_cancel_by_another_process_is_pushed_by_the_workers(
    start: Start, receiver: Hook, tmp_path: Path, gate: Callable[[int], None]
) -> None:
    env = {**PUSHES, "A2A_TEST_GATE": str(tmp_path / "gate")}
    http = start("serve", *STEPS, "--workers", "0", **env)
    start("work", *STEPS, **env)
    other = start("serve", *STEPS, "--workers", "0", **env)
    task = send(http.url, "go", {"url": receiver.url})
    receiver.wait_for(lambda got: any(one.state == "WORKING" for one in got))
    rpc(other.url, "CancelTask", {"id": task})
    got = receiver.wait_for_end("CANCELED")
    assert [one.state for one in got] == ["SUBMITTED", "WORKING", "CANCELED"]
