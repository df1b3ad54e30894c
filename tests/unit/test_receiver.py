"""Whom a receiver of pushes believes: what we send, once, in time, unchanged, and for itself."""

from __future__ import annotations

import ast
import asyncio
import base64
import hashlib
import hmac
import http.server
import json
import logging
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

import a2a_fn.receiver
from a2a_fn.push import keyring
from a2a_fn.push.sign import Credentials, Delivery, headers
from a2a_fn.receiver import MemoryReplays, Receiver, ReceiverMiddleware, Rejected, fetch_jwks

NOW = 1_796_000_000
ISSUER = "https://agent.example"
URL = "https://hooks.example/in"
JWKS_URL = f"{ISSUER}/.well-known/jwks.json"
KEYS = keyring.fresh(NOW * 1000)
SECRET = "0123456789abcdef"
BODY = json.dumps({"statusUpdate": {"taskId": "t-1", "status": {}}}).encode()
NOTHING = Credentials()
DELIVERY = Delivery(ISSUER, f"{URL}?key=1", "t-1", "c-1", 7, BODY)
JWT = "X-A2A-Notification-JWT"


class Clock:
    def __init__(self) -> None:
        self.now = float(NOW)

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def receiver(clock):
    return make(clock)


def jwks(keys=KEYS) -> dict:
    return {"keys": keyring.public_jwks(keys)}


def make(clock, **more) -> Receiver:
    given_ = {"issuer": ISSUER, "audience": URL, "jwks": jwks(), "clock": clock} | more
    return Receiver(**given_)


def by_hmac(clock, **more) -> Receiver:
    return Receiver(hmac_secret=SECRET, clock=clock, **more)


def pushed(delivery=DELIVERY, credentials=NOTHING, keys=KEYS, at=NOW, nonce="n-1", **more):
    return headers(delivery, credentials, keys, now=at * 1000, nonce=nonce, **more)


def signed(header=None, key=None, raw=None, **claims) -> dict[str, str]:
    """Headers with a JWT that differs in some claims (None: left out), in its header or its key."""
    good = jwt.decode(pushed()[JWT], options={"verify_signature": False})
    document = {name: value for name, value in (good | claims).items() if value is not None}
    head = {"alg": "ES256", "kid": KEYS.signing[0].kid, "typ": "JWT"} | (header or {})
    head = {name: value for name, value in head.items() if value is not None}
    payload = json.dumps(document).encode() if raw is None else raw
    data = f"{_base64(json.dumps(head).encode())}.{_base64(payload)}"
    signature = (key or KEYS.signing[0].sign)(data.encode())
    return {JWT: f"{data}.{_base64(signature)}"}


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


async def refused(receiver, fields, body=BODY, status=401) -> str:
    with pytest.raises(Rejected) as caught:
        await receiver.verify(fields, body)
    assert caught.value.status == status, caught.value.reason
    return caught.value.reason


# ---------------------------------------------------------------- what we send


async def test_our_notification_is_believed(receiver):
    found = await receiver.verify(pushed(), BODY)
    assert found == ("t-1", "c-1", 7, json.loads(BODY), "n-1", "t-1/c-1/7")


async def test_in_the_authorization_header_too(receiver):
    fields = pushed()
    fields["authorization"] = fields.pop("Authorization")
    del fields[JWT]
    assert (await receiver.verify(fields, BODY)).task_id == "t-1"


async def test_beside_credentials_of_the_config(receiver):
    fields = pushed(credentials=Credentials("tok", "Bearer", "not-a-jwt"))
    assert (await receiver.verify(fields, BODY)).task_id == "t-1"


async def test_a_retry_is_another_notification_of_the_same_event(receiver):
    first = await receiver.verify(pushed(nonce="a"), BODY)
    again = await receiver.verify(pushed(nonce="b"), BODY)
    assert first.event_id == again.event_id
    assert first.jti != again.jti


@pytest.mark.parametrize(
    "payload",
    [
        {"task": {"id": "t-1"}},
        {"artifactUpdate": {"taskId": "t-1"}},
        {"message": {"taskId": "t-1"}},
        {"message": {"parts": []}},
        {"kind": "task", "id": "t-1"},
        {"kind": "status-update", "taskId": "t-1"},
        {"kind": "artifact-update", "taskId": "t-1"},
        {"kind": "message"},
    ],
)
async def test_whatever_a_push_may_be(receiver, payload):
    body = json.dumps(payload).encode()
    found = await receiver.verify(pushed(DELIVERY._replace(body=body)), body)
    assert (found.task_id, found.payload) == ("t-1", payload)


async def test_one_receiver_may_have_several_urls(clock):
    receiver = make(clock, audience=[URL, "https://hooks.example/other"])
    await receiver.verify(pushed(nonce="a"), BODY)
    other = DELIVERY._replace(url="https://hooks.example/other")
    await receiver.verify(pushed(other, nonce="b"), BODY)


# ---------------------------------------------------------------- replayed


async def test_a_replay_is_refused_as_long_as_it_would_be_believed(receiver, clock):
    await receiver.verify(pushed(), BODY)
    for _ in range(36):
        clock.now += 10
        await refused(receiver, pushed(), status=401 if clock.now >= NOW + 360 else 425)
    assert clock.now == NOW + 360


async def test_what_was_refused_is_not_used_up(receiver):
    await refused(receiver, pushed(), BODY + b" ")
    await receiver.verify(pushed(), BODY)


async def test_of_two_at_once_one_is_taken(receiver):
    both = await asyncio.gather(
        receiver.verify(pushed(), BODY), receiver.verify(pushed(), BODY), return_exceptions=True
    )
    assert sorted(type(one).__name__ for one in both) == ["Notification", "Rejected"]


async def test_the_store_of_replays_may_be_another(clock):
    seen = []

    class Elsewhere:
        async def remember(self, jti, until):
            await asyncio.sleep(0)
            seen.append((jti, until))
            return len(seen) == 1

    receiver = make(clock, replays=Elsewhere())
    await receiver.verify(pushed(), BODY)
    await refused(receiver, pushed(nonce="n-2"), status=425)
    assert seen == [("n-1", NOW + 360), ("n-2", NOW + 360)]


def test_the_memory_of_replays_is_bounded_and_empties_itself(clock):
    memory = MemoryReplays(limit=2, clock=clock)
    assert memory.remember("a", NOW + 10)
    assert memory.remember("b", NOW + 5)
    assert not memory.remember("a", NOW + 10)
    with pytest.raises(Rejected) as caught:
        memory.remember("c", NOW + 10)
    assert (caught.value.status, caught.value.retry_after) == (503, 30)
    clock.now += 6
    assert memory.remember("c", NOW + 20)
    assert not memory.remember("a", NOW + 10)


# ---------------------------------------------------------------- altered


@pytest.mark.parametrize(
    "body", [BODY + b" ", BODY.replace(b"t-1", b"t-2"), b"", b"{}", BODY[:-1], b"\xff"]
)
async def test_an_altered_body_is_refused(receiver, body):
    assert "body" in await refused(receiver, pushed(), body)


async def test_any_altered_claim_is_refused(receiver):
    good = jwt.decode(pushed()[JWT], options={"verify_signature": False})
    head, _, signature = pushed()[JWT].split(".")
    for name in good:
        for value in (None, "x", 1, NOW + 10**6, ISSUER + "/"):
            if value != good[name]:
                claims = {k: v for k, v in (good | {name: value}).items() if v is not None}
                payload = _base64(json.dumps(claims).encode())
                assert "signature" in await refused(
                    receiver, {JWT: f"{head}.{payload}.{signature}"}
                )


@pytest.mark.parametrize(
    "header",
    [
        {"alg": "none"},
        {"alg": "None"},
        {"alg": "ES384"},
        {"alg": "HS256"},
        {"alg": ["ES256"]},
        {"alg": None},
        {"kid": None},
        {"kid": 7},
        {"kid": "other"},
        {"typ": "logout+jwt"},
        {"typ": 7},
        {"crit": ["b64"], "b64": False},
        {"crit": ["exp"]},
        {"b64": False},
        {"jwk": jwks()["keys"][0], "kid": "mine"},
        {"jku": "https://evil.example/jwks.json", "kid": "mine"},
    ],
)
async def test_an_altered_header_is_refused(receiver, header):
    await refused(receiver, signed(header))  # signed anew by the right key
    await receiver.verify(signed({}), BODY)  # what differs is the header alone


async def test_no_signature_is_no_proof(receiver):
    head, payload, signature = pushed()[JWT].split(".")
    none = _base64(b'{"alg":"none","kid":"%s"}' % KEYS.signing[0].kid.encode())
    for token in (
        f"{none}.{payload}.",
        f"{head}.{payload}.",
        f"{head}.{payload}",
        f"{head}.{payload}.{signature}.{signature}",
        f"{head}..{signature}",
        f"{head}.{payload}.{_base64(bytes(64))}",
        f"{head}.{payload}.{_base64(b'x' * 63)}",
        f"{head}.{payload}.{signature[:-2]}é",
    ):
        await refused(receiver, {JWT: token})


async def test_the_public_key_is_no_shared_secret(receiver):
    (public,) = jwks()["keys"]
    key = jwt.PyJWK(public).key
    for secret in (
        key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint),
        json.dumps(public).encode(),
    ):
        forged = signed({"alg": "HS256"}, lambda data, s=secret: hmac.digest(s, data, "sha256"))
        assert "ES256" in await refused(receiver, forged)
        forged = signed({}, lambda data, s=secret: hmac.digest(s, data, "sha256"))
        await refused(receiver, forged)


@pytest.mark.parametrize(
    "name",
    ["iss", "aud", "iat", "exp", "jti", "taskId", "configId", "generation", "sha256"],
)
@pytest.mark.parametrize("value", [None, "", [], {}, True, "x" * 300, -1, 1e300, 0])
async def test_a_claim_that_is_missing_or_odd_is_refused(receiver, name, value):
    await refused(receiver, signed(**{name: value}))


@pytest.mark.parametrize("raw", [b"", b"[]", b"null", b"{", b"\xff", b'"x"', b"[" * 3000])
async def test_what_is_signed_must_be_claims(receiver, raw):
    await refused(receiver, signed(raw=raw))


async def test_a_token_that_is_too_long_is_not_looked_at(receiver):
    assert "too long" in await refused(receiver, signed(extra="x" * 8000))
    await receiver.verify(signed(extra="x" * 4000), BODY)


@pytest.mark.parametrize("exp", [float("nan"), float("inf")])
async def test_a_time_that_is_no_number_is_refused(receiver, exp):
    await refused(receiver, signed(exp=exp))


# ---------------------------------------------------------------- late and early


@pytest.mark.parametrize(
    ("at", "why"),
    [
        (NOW - 360, "expired"),
        (NOW - 86_400, "expired"),
        (NOW + 61, "not valid yet"),
        (NOW + 86_400, "not valid yet"),
    ],
)
async def test_late_and_early_ones_are_refused(receiver, at, why):
    assert why in await refused(receiver, pushed(at=at))


@pytest.mark.parametrize("at", [NOW - 359, NOW + 60])
async def test_clocks_may_be_a_minute_apart(receiver, at):
    await receiver.verify(pushed(at=at), BODY)


async def test_a_long_life_does_not_make_it_fresh(receiver):
    assert "expired" in await refused(receiver, signed(iat=NOW - 360, exp=NOW + 86_400))


async def test_nbf_counts(receiver):
    assert "not valid yet" in await refused(receiver, signed(nbf=NOW + 61))


async def test_the_window_may_be_another(clock):
    receiver = make(clock, window=10, leeway=1)
    assert "expired" in await refused(receiver, pushed(at=NOW - 11))
    await receiver.verify(pushed(at=NOW - 10), BODY)


# ---------------------------------------------------------------- foreign


@pytest.mark.parametrize(
    "url", ["https://hooks.example/", "https://hooks.example/in/", "http://hooks.example/in"]
)
async def test_one_for_another_webhook_is_refused(receiver, url):
    assert "audience" in await refused(receiver, pushed(DELIVERY._replace(url=url)))


async def test_a_list_with_us_in_it_is_another_audience(receiver):
    await refused(receiver, signed(aud=[URL, "https://evil.example/"]))


async def test_one_of_another_agent_is_refused(receiver):
    theirs = DELIVERY._replace(issuer="https://evil.example")
    assert "issuer" in await refused(receiver, pushed(theirs))


async def test_one_by_another_key_is_refused(receiver):
    assert "not known" in await refused(receiver, pushed(keys=keyring.fresh(NOW)))
    other = keyring.fresh(NOW).signing[0]
    assert "signature" in await refused(receiver, signed({}, other.sign))  # under our key's name


async def test_one_about_another_task_than_its_body_is_refused(receiver):
    theirs = DELIVERY._replace(task="t-2")
    assert "another task" in await refused(receiver, pushed(theirs))


@pytest.mark.parametrize("is_async", [False, True])
async def test_one_about_a_task_that_is_not_ours_is_refused(clock, is_async):
    async def later(task):
        await asyncio.sleep(0)
        return task == "t-9"

    tasks = later if is_async else {"t-9"}.__contains__
    receiver = make(clock, tasks=tasks)
    await refused(receiver, pushed(), status=403)
    body = BODY.replace(b"t-1", b"t-9")
    await receiver.verify(pushed(DELIVERY._replace(task="t-9", body=body)), body)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"Authorization": "Basic eDp5"},
        {"Authorization": "Bearer"},
        {JWT: ""},
        {JWT: "a.b.c"},
        {JWT: "x" * 9000},
        {JWT: "\udcff.\udcff.\udcff"},
        {JWT: f"{_base64(b'[' * 5000)}.e30.e30"},
        {JWT: f"{_base64(b'[]')}.e30.e30"},
    ],
)
async def test_what_proves_nothing_is_refused(receiver, fields):
    await refused(receiver, fields)


@given(st.text(max_size=60), st.binary(max_size=60), st.sampled_from([JWT, "Authorization"]))
async def test_any_other_request_is_rejected(text, body, name):
    for receiver in (make(Clock()), by_hmac(Clock())):
        with pytest.raises(Rejected):
            await receiver.verify({name: text}, body)


async def test_two_different_tokens_are_one_too_many(receiver):
    fields = pushed() | {JWT.lower(): "x"}
    assert "twice" in await refused(receiver, fields, status=400)


@pytest.mark.parametrize(
    "body",
    [
        b"[]",
        b"{}",
        b"x",
        b'{"task":{}}',
        b'{"task":{"id":7}}',
        b'{"task":"t-1"}',
        b'{"task":{"id":"t-1"},"message":{}}',
        b'{"statusUpdate":{"taskId":""}}',
        b'{"kind":"other","id":"t-1"}',
        b'{"kind":["task"],"id":"t-1"}',
        b'{"message":{"taskId":7}}',
        b"[" * 50_000,
    ],
)
async def test_a_body_that_is_no_notification_is_refused(receiver, body):
    await refused(receiver, pushed(DELIVERY._replace(body=body)), body, status=400)


async def test_a_reason_repeats_nothing_of_the_request(receiver):
    for fields in (pushed(keys=keyring.fresh(NOW)), signed(iss="https://evil.example/x")):
        reason = await refused(receiver, fields)
        assert fields[JWT][:20] not in reason and "evil" not in reason


# ---------------------------------------------------------------- HMAC


async def test_an_hmac_alone_is_a_proof_of_its_body(clock):
    receiver = by_hmac(clock)
    found = await receiver.verify(pushed(hmac_secret=SECRET), BODY)
    assert found == ("t-1", "", 0, json.loads(BODY), "n-1", "")
    await refused(receiver, pushed(hmac_secret=SECRET), status=425)


async def test_a_secret_may_be_changing(clock):
    receiver = Receiver(hmac_secret=["another secret!!", SECRET], clock=clock)
    await receiver.verify(pushed(hmac_secret=SECRET), BODY)


async def test_with_keys_and_a_secret_both_are_asked_for(clock):
    receiver = make(clock, hmac_secret=SECRET)
    assert "HMAC" in await refused(receiver, pushed())
    both = pushed(hmac_secret=SECRET)
    assert "JWT" in await refused(
        receiver, {k: v for k, v in both.items() if k not in (JWT, "Authorization")}
    )
    await receiver.verify(both, BODY)


@pytest.mark.parametrize(
    "change",
    [
        {"X-A2A-Notification-Signature": "sha256=" + "0" * 64},
        {"X-A2A-Notification-Signature": ""},
        {"X-A2A-Notification-Signature": "é"},
        {"X-A2A-Notification-Signature": "\udcff"},
        {"X-A2A-Notification-Timestamp": str(NOW + 1)},
        {"X-A2A-Notification-Timestamp": "²"},
        {"X-A2A-Notification-Timestamp": "9" * 5000},
        {"X-A2A-Notification-Nonce": "n-2"},
        {"X-A2A-Notification-Nonce": ""},
    ],
)
async def test_an_altered_hmac_is_refused(clock, change):
    await refused(by_hmac(clock), pushed(hmac_secret=SECRET) | change)


async def test_an_hmac_of_another_body_or_secret_is_refused(clock):
    await refused(by_hmac(clock), pushed(hmac_secret=SECRET), BODY + b" ")
    await refused(by_hmac(clock), pushed(hmac_secret="another secret!!"))


async def test_a_nonce_cannot_be_stretched_into_the_body(clock):
    body = b"x." + BODY
    fields = pushed(DELIVERY._replace(body=body), hmac_secret=SECRET)
    await refused(by_hmac(clock), fields | {"X-A2A-Notification-Nonce": "n-1.x"}, BODY)


@pytest.mark.parametrize("at", [NOW - 361, NOW + 361])
async def test_a_late_or_early_hmac_is_refused(clock, at):
    await refused(by_hmac(clock), pushed(hmac_secret=SECRET, at=at))


# ---------------------------------------------------------------- keys


class Issuer:
    """Where the agent's keys are served, or not."""

    def __init__(self, keys=KEYS) -> None:
        self.document: object = jwks(keys)
        self.asked = 0
        self.open = asyncio.Event()
        self.open.set()

    async def fetch(self, url):
        assert url == JWKS_URL
        self.asked += 1
        await self.open.wait()
        if isinstance(self.document, Exception):
            raise self.document
        return json.dumps(self.document).encode()


@pytest.fixture
def issuer():
    return Issuer()


def fetching(clock, issuer, **more) -> Receiver:
    return make(clock, jwks_url=JWKS_URL, fetch=issuer.fetch, **{"jwks": None} | more)


async def test_keys_are_fetched_once_for_many(clock, issuer):
    receiver = fetching(clock, issuer)
    issuer.open.clear()
    many = [asyncio.create_task(receiver.verify(pushed(nonce=f"n{i}"), BODY)) for i in range(5)]
    while not issuer.asked:
        await asyncio.sleep(0)
    many[0].cancel()
    await asyncio.sleep(0)
    issuer.open.set()
    assert len(await asyncio.gather(*many[1:])) == 4
    await receiver.verify(pushed(), BODY)
    assert issuer.asked == 1


async def test_rotation_old_and_new_keys_are_believed_the_third_is_not(clock, issuer):
    first = KEYS
    second = keyring.rotated(first, NOW)
    third = keyring.rotated(second, NOW)
    receiver = fetching(clock, issuer)
    await receiver.verify(pushed(keys=first, nonce="a"), BODY)
    issuer.document = jwks(third)
    clock.now += 61
    for keys in (third, second):
        await receiver.verify(pushed(keys=keys, nonce=keys.signing[0].kid), BODY)
    assert issuer.asked == 2
    await refused(receiver, pushed(keys=first, nonce="b"), status=503)


async def test_an_unknown_key_is_asked_for_once_a_minute(clock, issuer):
    receiver = fetching(clock, issuer)
    foreign = pushed(keys=keyring.fresh(NOW))
    await refused(receiver, foreign, status=503)
    assert issuer.asked == 1  # that was just now
    clock.now += 61
    for _ in range(5):
        await refused(receiver, foreign, status=503)
    assert issuer.asked == 2


async def test_without_an_address_an_unknown_key_is_the_end(receiver):
    await refused(receiver, pushed(keys=keyring.fresh(NOW)), status=401)


@pytest.mark.parametrize(
    "answer", [OSError("down"), {}, [], {"keys": []}, {"keys": "x"}, RuntimeError("odd")]
)
async def test_a_dead_issuer_loses_nothing(clock, issuer, answer, caplog):
    receiver = fetching(clock, issuer)
    issuer.document, good = answer, issuer.document
    with caplog.at_level(logging.WARNING):
        await refused(receiver, pushed(), status=503)
    assert JWKS_URL in caplog.text
    await refused(receiver, pushed(), status=503)
    assert issuer.asked == 1
    issuer.document = good
    clock.now += 6
    await receiver.verify(pushed(), BODY)
    issuer.document = answer
    for age in (601, 3600, 80_000):
        clock.now += age
        await receiver.verify(pushed(at=int(clock.now), nonce=f"n{age}"), BODY)
    clock.now += 86_400
    await refused(receiver, pushed(at=int(clock.now), nonce="last"), status=503)


async def test_a_withdrawn_key_lives_ten_minutes(clock, issuer):
    receiver = fetching(clock, issuer)
    await receiver.verify(pushed(), BODY)
    issuer.document = jwks(keyring.fresh(NOW))
    clock.now += 599
    await receiver.verify(pushed(at=int(clock.now), nonce="n-2"), BODY)
    clock.now += 1
    await refused(receiver, pushed(at=int(clock.now), nonce="n-3"), status=503)


async def test_keys_may_be_given_and_renewed(clock, issuer):
    receiver = fetching(clock, issuer, jwks=jwks())
    await receiver.verify(pushed(), BODY)
    assert issuer.asked == 0
    after = keyring.rotated(KEYS, NOW)
    issuer.document = jwks(after)
    await receiver.verify(pushed(keys=after, nonce="n-2"), BODY)
    assert issuer.asked == 1


async def test_a_key_set_may_hold_what_is_not_for_us(clock):
    (good,) = jwks()["keys"]
    p384 = json.loads(jwt.algorithms.ECAlgorithm.to_jwk(_public(ec.SECP384R1())))
    number = rsa.generate_private_key(65537, 2048).public_key()
    rs256 = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(number))
    others = [
        7,
        {"kty": "oct", "kid": "shared", "k": _base64(SECRET.encode() * 2)},
        p384 | {"kid": "p384"},
        rs256 | {"kid": "rsa"},
        good | {"kid": "for-encryption", "use": "enc"},
        good | {"kid": "another-alg", "alg": "ES384"},
        good | {"kid": "broken", "x": "AAAA"},
        good | {"kid": "odd", "x": 7},
        {name: value for name, value in good.items() if name != "kid"},
    ]
    receiver = make(clock, jwks={"keys": [*others, good]})
    for kid in ("for-encryption", "another-alg", "broken", "odd", "p384", "rsa"):
        assert "not known" in await refused(receiver, signed({"kid": kid}))
    forged = signed(
        {"kid": "shared"}, lambda data: hmac.digest(SECRET.encode() * 2, data, "sha256")
    )
    await refused(receiver, forged)
    await receiver.verify(pushed(), BODY)


def _public(curve):
    return ec.generate_private_key(curve).public_key()


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({}, "nothing can be verified"),
        ({"issuer": ISSUER, "audience": URL}, "nothing can be verified"),
        ({"jwks": jwks(), "issuer": ISSUER}, "issuer and audience"),
        ({"jwks": jwks(), "audience": URL}, "issuer and audience"),
        ({"jwks": jwks(), "issuer": ISSUER, "audience": ""}, "issuer and audience"),
        ({"jwks": {}, "issuer": ISSUER, "audience": URL}, "no key for ES256"),
        ({"hmac_secret": ""}, "empty"),
        ({"hmac_secret": []}, "nothing can be verified"),
        ({"hmac_secret": SECRET, "issuer": ISSUER}, "nothing can be verified"),
        ({"jwks": jwks(), "issuer": ISSUER, "audience": URL, "hmac_secret": ""}, "empty"),
        ({"jwks": jwks(), "issuer": ISSUER, "audience": URL, "hmac_secret": []}, "empty"),
    ],
)
def test_a_receiver_that_would_believe_too_much_is_not_made(given_, why):
    with pytest.raises(ValueError, match=why):
        Receiver(**given_)


@pytest.mark.parametrize("package", ["jwt", "cryptography"])
def test_without_a_package_it_says_what_to_install(clock, issuer, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package} is not installed: pip install"):
        fetching(clock, issuer)
    by_hmac(clock)


@pytest.fixture
def site():
    """A web site on this machine: path -> (status, headers, body)."""
    pages: dict[str, tuple[int, dict[str, str], bytes]] = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            status, fields, body = pages[self.path]
            self.send_response(status)
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            """Tests print nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield pages, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(30)
    server.server_close()


async def test_without_a_fetch_of_its_own_it_asks_by_http(clock, site, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    pages, url = site
    pages["/jwks.json"] = (200, {}, json.dumps(jwks()).encode())
    receiver = make(clock, jwks=None, jwks_url=f"{url}/jwks.json")
    assert (await receiver.verify(pushed(), BODY)).task_id == "t-1"


async def test_a_redirect_an_error_or_too_much_is_no_key_set(site, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    pages, url = site
    pages["/ok"] = (200, {}, b"x")
    pages["/moved"] = (302, {"Location": "/ok"}, b"")
    pages["/none"] = (404, {}, b"")
    pages["/large"] = (200, {}, b"x" * 70_000)
    assert await fetch_jwks(f"{url}/ok") == b"x"
    for path in ("/moved", "/none", "/large"):
        with pytest.raises((OSError, ValueError)):
            await fetch_jwks(url + path)
    for other in ("file:///etc/hostname", "ftp://127.0.0.1/x", ""):
        with pytest.raises(ValueError, match="http"):
            await fetch_jwks(other)


# ---------------------------------------------------------------- the middleware


class Inner:
    """An application that says what reached it."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, object, bytes]] = []

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            self.seen.append((scope["type"], None, b""))
            return
        body, more = b"", True
        while more:
            message = await receive()
            body += message["body"]
            more = message["more_body"]
        self.seen.append((scope["path"], scope.get("state", {}).get("a2a_notification"), body))
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body", "body": b""})


@pytest.fixture
def inner():
    return Inner()


def web(inner, receiver, path="/in", **more):
    app = ReceiverMiddleware(inner, receiver, path, **more)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="https://hooks.example")


@pytest.mark.parametrize("path", ["/in%0A", "/in%0D%0A", "/in%20", "/%0Ain", "/in%00/x"])
async def test_a_path_that_a_router_may_take_for_ours_is_ours(inner, receiver, path):
    async with web(inner, receiver) as client:
        assert (await client.post(path, content=BODY)).status_code == 401
    assert not inner.seen


async def test_a_root_is_taken_off_at_a_slash_only(inner, receiver):
    app = ReceiverMiddleware(inner, receiver, "/a2a")
    transport = httpx.ASGITransport(app, root_path="/a")
    async with httpx.AsyncClient(transport=transport, base_url="https://h.example") as client:
        assert (await client.post("/a2a", content=BODY)).status_code == 401
        assert (await client.post("/a/a2a", content=BODY)).status_code == 401
    assert not inner.seen


async def test_a_verified_notification_reaches_the_application(inner, receiver):
    async with web(inner, receiver) as client:
        answer = await client.post("/in?key=1", content=BODY, headers=pushed())
    assert answer.status_code == 204
    ((path, notification, body),) = inner.seen
    assert (path, body) == ("/in", BODY)
    assert notification.event_id == "t-1/c-1/7"


async def test_a_rejected_one_does_not(inner, receiver):
    async with web(inner, receiver) as client:
        answer = await client.post("/in", content=BODY)
        assert (answer.status_code, answer.json()) == (401, {"error": "there is no JWT"})
        assert answer.headers["www-authenticate"] == "Bearer"
        await client.post("/in", content=BODY, headers=pushed())
        answer = await client.post("/in", content=BODY, headers=pushed())
        assert answer.status_code == 425
    assert len(inner.seen) == 1


async def test_what_cannot_be_known_now_is_to_be_tried_again(inner, clock, issuer):
    issuer.document = OSError("down")
    async with web(inner, fetching(clock, issuer)) as client:
        answer = await client.post("/in", content=BODY, headers=pushed())
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")


@pytest.mark.parametrize("path", ["/in", "/in/", "/in/deeper", "/in?x=1"])
async def test_everything_below_its_path_is_guarded(inner, receiver, path):
    async with web(inner, receiver) as client:
        assert (await client.post(path, content=BODY)).status_code == 401
    assert not inner.seen


@pytest.mark.parametrize("path", ["/", "/inside", "/health"])
async def test_other_paths_pass_without_a_notification(inner, receiver, path):
    async with web(inner, receiver) as client:
        assert (await client.post(path, content=b"x", headers=pushed())).status_code == 204
    assert inner.seen == [(path, None, b"x")]


async def test_without_a_path_everything_is_guarded(inner, receiver):
    async with web(inner, receiver, "/") as client:
        for path in ("/", "/a", "/a/b"):
            assert (await client.post(path, content=BODY)).status_code == 401


async def test_a_mounted_one_knows_its_path(inner, receiver):
    from starlette.applications import Starlette
    from starlette.routing import Mount

    app = Starlette(routes=[Mount("/hooks", ReceiverMiddleware(inner, receiver, "/in"))])
    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="https://hooks.example") as client:
        assert (await client.post("/hooks/in", content=BODY)).status_code == 401
        assert (await client.post("/hooks/in", content=BODY, headers=pushed())).status_code == 204


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "OPTIONS"])
async def test_a_notification_is_a_post(inner, receiver, method):
    async with web(inner, receiver) as client:
        answer = await client.request(method, "/in", headers=pushed())
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, POST")
    assert not inner.seen


async def test_the_challenge_is_answered(inner, receiver):
    async with web(inner, receiver) as client:
        answer = await client.get("/in", params={"key": "1", "validationToken": "aZ_-09"})
    assert (answer.status_code, answer.text) == (200, "aZ_-09")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not inner.seen


@pytest.mark.parametrize(
    "query",
    [
        "validationToken=",
        "validationToken=%3Cscript%3E",
        "validationToken=a%0A",
        f"validationToken={'x' * 129}",
        "validationToken=a&validationToken=b",
        "validationToken=%FF",
    ],
)
async def test_what_is_no_challenge_is_not_repeated(inner, receiver, query):
    async with web(inner, receiver) as client:
        answer = await client.get(f"/in?{query}")
    assert answer.status_code == 400
    assert "script" not in answer.text and "xxx" not in answer.text


async def test_a_body_over_the_limit_is_refused_unread(inner, receiver):
    async def drops():
        for _ in range(100):
            yield b"x" * 10

    async with web(inner, receiver, body_limit=99) as client:
        large = await client.post("/in", content=b"x" * 100, headers=pushed())
        endless = await client.post("/in", content=drops(), headers=pushed())
        exact = await client.post("/in", content=b"x" * 99, headers=pushed())
    assert (large.status_code, endless.status_code, exact.status_code) == (413, 413, 401)


@pytest.mark.parametrize("length", ["9" * 5000, "²", "-1", "x"])
async def test_an_odd_content_length_is_no_fault_of_ours(inner, receiver, length):
    scope = _scope(headers=[(b"content-length", length.encode())])
    sent = []

    async def receive():
        return {"type": "http.request", "body": b"x", "more_body": False}

    async def send(message):
        sent.append(message)

    await ReceiverMiddleware(inner, receiver)(scope, receive, send)
    assert sent[0]["status"] in (401, 413)


async def test_a_proof_that_is_there_twice_is_refused(inner, receiver):
    fields = [*pushed().items(), (JWT, pushed()[JWT])]
    async with web(inner, receiver) as client:
        answer = await client.post("/in", content=BODY, headers=fields)
    assert answer.status_code == 400


async def test_a_sender_who_leaves_is_no_notification(inner, receiver):
    async def receive():
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError(message)

    await ReceiverMiddleware(inner, receiver)(_scope(), receive, send)
    assert not inner.seen


async def test_what_is_not_http_passes(inner, receiver):
    await ReceiverMiddleware(inner, receiver)({"type": "lifespan"}, None, None)
    assert inner.seen == [("lifespan", None, b"")]


async def test_the_application_still_hears_when_the_sender_leaves(receiver):
    heard = []

    async def app(scope, receive, send):
        heard.extend([await receive(), await receive()])

    messages = [
        {"type": "http.request", "body": BODY[:5], "more_body": True},
        {"type": "http.request", "body": BODY[5:]},
        {"type": "http.disconnect"},
    ]

    async def receive():
        return messages.pop(0)

    fields = [(name.encode(), value.encode()) for name, value in pushed().items()]
    await ReceiverMiddleware(app, receiver)(_scope(headers=fields), receive, None)
    assert [message["type"] for message in heard] == ["http.request", "http.disconnect"]
    assert heard[0]["body"] == BODY


def _scope(**more):
    scope = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []}
    return scope | more


# ---------------------------------------------------------------- alone


def test_it_needs_nothing_else_of_the_package():
    folder = Path(a2a_fn.receiver.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert node.level <= 1, path
                assert node.level or not (node.module or "").startswith("a2a_fn"), path
    code = "import a2a_fn.receiver, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {name for name in loaded if name.startswith("a2a_fn.")} == {
        "a2a_fn.receiver",
        *(f"a2a_fn.receiver.{path.stem}" for path in folder.glob("*.py") if path.stem[0] != "_"),
    }
    roots = {name.partition(".")[0] for name in loaded}
    assert not roots & {"httpx", "starlette", "a2a", "google", "cryptography", "jwt"}


def test_the_digest_that_is_signed_is_of_the_bytes_as_they_came():
    claims = jwt.decode(pushed()[JWT], options={"verify_signature": False})
    assert claims["sha256"] == hashlib.sha256(BODY).hexdigest()
