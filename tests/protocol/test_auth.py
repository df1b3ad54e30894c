"""Who may call: each scheme through a real connection, and the tricks that must not work."""

from __future__ import annotations

import asyncio
import base64
import dataclasses
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Route
from tests.protocol.conftest import Server, listen_with, message, work
from tests.protocol.issuer import (
    AUDIENCE,
    ISSUER,
    Clock,
    key_set,
    public_jwk,
    token,
)

from a2a_fn.errors import Unavailable
from a2a_fn.protocol.auth import LONGEST, authenticator
from a2a_fn.protocol.schemes import Schemes, schemes
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

Headers = list[tuple[str, str]]

EVERYBODY = Settings(
    engine="memory",
    agent="echo:",
    a2a_v03=False,
    token="t0ken-of-the-server",
    basic_username="ann",
    basic_password="pass:wörd with spaces",
    api_key="k3y-of-the-server",
    principals=(
        {"name": "carol", "token": "t0ken-of-carol", "api-key": "k3y-of-carol"},
        {"name": "dave", "password": "pass-of-dave", "tenants": ["red"]},
        {"name": "Ünal", "password": "şifre", "tenants": ["red", "blue"]},
    ),
)


def basic(user: str, password: str) -> str:
    return base64.b64encode(f"{user}:{password}".encode()).decode()


BEARER = ("Authorization", "Bearer t0ken-of-the-server")
BASIC = ("Authorization", f"Basic {basic('ann', 'pass:wörd with spaces')}")
API_KEY = ("X-API-Key", "k3y-of-the-server")
CAROL = ("Authorization", "Bearer t0ken-of-carol")
CAROL_TOO = ("X-API-Key", "k3y-of-carol")
DAVE = ("Authorization", f"Basic {basic('dave', 'pass-of-dave')}")
UENAL = ("Authorization", f"Basic {basic('Ünal', 'şifre')}")


@asynccontextmanager
async def serving(settings: Settings) -> AsyncIterator[Server]:
    """The product with these settings, listening, and a worker."""
    services = build_services(settings)
    worker = asyncio.create_task(work(services))
    try:
        async with listen_with(services.app()) as server:
            yield server
            services.stop()
    finally:
        worker.cancel()
        await asyncio.wait([worker])
        await services.close()


async def call(server: Server, headers: Headers, method: str = "ListTasks", **params: Any) -> Any:
    """The HTTP response to a call with exactly these headers besides what A2A needs."""
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    needed = [("Content-Type", "application/json"), ("A2A-Version", "1.0")]
    sent = [(name, value.encode("latin-1")) for name, value in [*needed, *headers]]
    return await server.http.post(server.url, content=body, headers=sent)


async def knock(server: Server, headers: bytes) -> tuple[int, str]:
    """Status and the rest of the response to a request with these bytes among its headers: what
    a well-bred client would never send."""
    body = b'{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{}}'
    url = server.http.build_request("GET", server.url).url
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(
        b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nA2A-Version: 1.0\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n"
        % len(body)
        + headers
        + b"\r\n"
        + body
    )
    async with asyncio.timeout(5):
        answer = (await reader.read()).decode("latin-1")
    writer.close()
    await writer.wait_closed()
    return int(answer.split(" ", 2)[1]), answer


async def task_of(server: Server, headers: Headers, **params: Any) -> str:
    """The id of a new task of whoever has these credentials."""
    response = await call(server, headers, "SendMessage", message=message(), **params)
    return str(response.json()["result"]["task"]["id"])


async def sees(server: Server, headers: Headers, task: str, **params: Any) -> bool:
    """Whether the task exists for them: by its id, and in their list."""
    got = (await call(server, headers, "GetTask", id=task, **params)).json()
    listed = (await call(server, headers, "ListTasks", **params)).json()
    ids = [each["id"] for each in listed["result"]["tasks"]]
    assert ("result" in got) == (task in ids)
    if "error" in got:
        assert got["error"]["code"] == -32001
    return "result" in got


# ---------------------------------------------------------------- each scheme, and whose tasks


@pytest.mark.parametrize("mine", [BEARER, BASIC, API_KEY, CAROL], ids=lambda value: value[1][:12])
async def test_each_principal_sees_their_own_tasks_only(mine: tuple[str, str]) -> None:
    async with serving(EVERYBODY) as server:
        task = await task_of(server, [mine])
        for other in (BEARER, BASIC, API_KEY, CAROL, CAROL_TOO):
            same = other == mine or {other, mine} == {CAROL, CAROL_TOO}
            assert await sees(server, [other], task) == same
        cancelled = await call(server, [UENAL], "CancelTask", id=task, tenant="red")
        assert cancelled.json()["error"]["code"] == -32001


async def test_one_person_with_two_credentials_may_send_both() -> None:
    async with serving(EVERYBODY) as server:
        task = await task_of(server, [CAROL])
        assert await sees(server, [CAROL_TOO], task)
        assert await sees(server, [CAROL, CAROL_TOO], task)


async def test_the_names_of_schemes_and_headers_are_case_insensitive_and_nothing_else() -> None:
    async with serving(EVERYBODY) as server:
        for scheme in ("bearer", "BEARER", "bEaReR"):
            assert (
                await call(server, [("authorization", f"{scheme}  t0ken-of-carol")])
            ).status_code == 200
        assert (
            await call(server, [("AUTHORIZATION", f"bASIC {basic('dave', 'pass-of-dave')}")])
        ).status_code == 200
        assert (await call(server, [("x-api-KEY", "k3y-of-carol")])).status_code == 200
        for wrong in (
            ("Authorization", "Bearer T0KEN-OF-CAROL"),
            ("Authorization", f"Basic {basic('Dave', 'pass-of-dave')}"),
            ("X-API-Key", "K3Y-of-carol"),
        ):
            assert (await call(server, [wrong])).status_code == 401


async def test_the_header_of_api_keys_can_be_named() -> None:
    settings = Settings(engine="memory", agent="echo:", api_key="k3y", api_key_header="X-Agent")
    async with serving(settings) as server:
        assert (await call(server, [("X-Agent", "k3y")])).status_code == 200
        refused = await call(server, [("X-API-Key", "k3y")])
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == 'ApiKey realm="a2a", header="X-Agent"'
        # a gateway's own use of Authorization is nothing to us
        signed = ("Authorization", "AWS4-HMAC-SHA256 Credential=x, Signature=y")
        assert (await call(server, [("X-Agent", "k3y"), signed])).status_code == 200


async def test_nothing_is_asked_for_where_nothing_is_configured() -> None:
    async with serving(Settings(engine="memory", agent="echo:")) as server:
        task = await task_of(server, [BEARER])
        assert await sees(server, [], task)


# ---------------------------------------------------------------- tenants


async def test_a_principal_of_one_tenant_is_in_it_and_in_no_other() -> None:
    async with serving(EVERYBODY) as server:
        task = await task_of(server, [DAVE])
        assert await sees(server, [DAVE], task, tenant="red")
        for tenant in ("blue", "green"):
            refused = await call(server, [DAVE], "GetTask", id=task, tenant=tenant)
            assert (refused.status_code, refused.json()) == (403, {"error": "Forbidden"})


async def test_a_principal_of_two_tenants_names_one_and_has_tasks_in_each() -> None:
    async with serving(EVERYBODY) as server:
        task = await task_of(server, [UENAL], tenant="red")
        assert await sees(server, [UENAL], task, tenant="red")
        assert not await sees(server, [UENAL], task, tenant="blue")
        assert not await sees(server, [DAVE], task)
        assert (await call(server, [UENAL])).status_code == 403


async def test_a_principal_without_tenants_may_name_any_that_exists() -> None:
    settings = Settings(engine="memory", agent="echo:", token="t0ken", tenants=("red", "blue"))
    mine = [("Authorization", "Bearer t0ken")]
    async with serving(settings) as server:
        task = await task_of(server, mine, tenant="red")
        assert await sees(server, mine, task, tenant="red")
        assert not await sees(server, mine, task, tenant="blue")
        assert not await sees(server, mine, task)
        unknown = await call(server, mine, "GetTask", id=task, tenant="green")
        assert unknown.json()["error"]["code"] == -32602


# ---------------------------------------------------------------- what is said to the others


async def test_401_names_every_scheme() -> None:
    async with serving(EVERYBODY) as server:
        refused = await call(server, [])
        assert refused.status_code == 401
        assert refused.json() == {"error": "Unauthorized"}
        assert refused.headers["content-type"] == "application/json"
        assert refused.headers["www-authenticate"] == (
            'Bearer realm="a2a", Basic realm="a2a", charset="UTF-8", '
            'ApiKey realm="a2a", header="X-API-Key"'
        )
        wrong = await call(server, [("Authorization", "Bearer nonsense")])
        assert wrong.headers["www-authenticate"].startswith(
            'Bearer realm="a2a", error="invalid_token", error_description="'
        )


async def test_the_card_and_health_are_open_and_operations_are_not() -> None:
    async with serving(EVERYBODY) as server:
        for path in ("health", ".well-known/agent-card.json"):
            assert (await server.http.get(server.url + path)).status_code == 200
        for path in ("tasks", "extendedAgentCard", "tasks/x", "tasks/x:subscribe"):
            refused = await server.http.get(server.url + path, headers={"A2A-Version": "1.0"})
            assert (refused.status_code, refused.json()) == (401, {"error": "Unauthorized"})
        refused = await server.http.post(server.url + "a2a", content=b"{}")
        assert refused.status_code == 401


async def test_the_extended_card_is_for_those_who_are_known() -> None:
    async with serving(EVERYBODY) as server:
        card = (await call(server, [CAROL], "GetExtendedAgentCard")).json()["result"]
        assert card["name"]
        public = await server.http.get(server.url + ".well-known/agent-card.json")
        assert public.json()["capabilities"]["extendedAgentCard"] is True
    async with serving(Settings(engine="memory", agent="echo:")) as server:
        assert "error" in (await call(server, [], "GetExtendedAgentCard")).json()


# ---------------------------------------------------------------- tricks


def _tricks() -> dict[str, Headers]:
    key, value = API_KEY
    good = BEARER[1]
    pair = basic("dave", "pass-of-dave")
    return {
        "nothing": [],
        "empty authorization": [("Authorization", "")],
        "scheme alone": [("Authorization", "Bearer")],
        "scheme and space": [("Authorization", "Bearer ")],
        "empty key": [(key, "")],
        "token alone": [("Authorization", "t0ken-of-the-server")],
        "other scheme": [("Authorization", "Token t0ken-of-the-server")],
        "token as password": [("Authorization", "Basic t0ken-of-the-server")],
        "key as token": [("Authorization", "Bearer k3y-of-the-server")],
        "token as key": [(key, "t0ken-of-the-server")],
        "pair in the clear": [("Authorization", "Basic dave:pass-of-dave")],
        "pair as bearer": [("Authorization", f"Bearer {pair}")],
        "user of another": [("Authorization", f"Basic {basic('ann', 'pass-of-dave')}")],
        "no user": [("Authorization", f"Basic {basic('', 'pass-of-dave')}")],
        "no password": [("Authorization", f"Basic {basic('dave', '')}")],
        "no colon": [("Authorization", f"Basic {base64.b64encode(b'dave').decode()}")],
        "cut password": [("Authorization", f"Basic {basic('ann', 'pass')}")],
        "latin-1 pair": [
            ("Authorization", "Basic " + base64.b64encode("Ünal:şifre".encode("cp1254")).decode())
        ],
        "url-safe alphabet": [("Authorization", "Basic " + "-_" * 8)],
        "padding": [("Authorization", f"Basic {pair}====")],
        "line break in base64": [("Authorization", f"Basic {pair[:8]}\t{pair[8:]}")],
        "tab": [("Authorization", "Bearer\tt0ken-of-the-server")],
        "nbsp before": [("Authorization", f"\xa0{good}")],
        "nbsp after": [("Authorization", f"{good}\xa0")],
        "next line after": [(key, f"{value}\x85")],
        "words after": [("Authorization", f"{good} x")],
        "quoted": [("Authorization", 'Bearer "t0ken-of-the-server"')],
        "parameter": [("Authorization", "Bearer token=t0ken-of-the-server")],
        "prefix": [("Authorization", good[:-1])],
        "longer": [("Authorization", good + "x")],
        "twice alike": [BEARER, BEARER],
        "twice in one": [("Authorization", f"{good}, {good}")],
        "wrong then right": [("Authorization", "Bearer wrong"), BEARER],
        "right then wrong": [BEARER, ("Authorization", "Bearer wrong")],
        "keys twice alike": [API_KEY, API_KEY],
        "keys in one": [(key, f"{value},{value}")],
        "key right then empty": [API_KEY, (key, "")],
        "two people": [BEARER, API_KEY],
        "right and wrong key": [CAROL, (key, "wrong")],
        "wrong and right key": [("Authorization", "Bearer wrong"), CAROL_TOO],
        "empty and right key": [("Authorization", ""), CAROL_TOO],
        "unknown scheme and right key": [("Authorization", "Digest x"), CAROL_TOO],
        "underscores": [("X_API_Key", value), ("HTTP-Authorization", good)],
        "other headers": [
            ("Proxy-Authorization", good),
            ("X-Forwarded-Authorization", good),
            ("X-Forwarded-User", "ann"),
            ("Cookie", "Authorization=" + good),
        ],
        "very long": [("Authorization", "Bearer " + "x" * (LONGEST - 7))],
        "too long": [("Authorization", "Bearer " + "x" * (LONGEST - 6))],
        "too long, right at first": [("Authorization", f"{good} {'x' * LONGEST}")],
        "very long key": [(key, "x" * 20_000)],
        "unicode": [("Authorization", "Bearer é")],
        "jwt-like": [("Authorization", "Bearer eyJhbGciOiJub25lIn0.e30.")],
    }


async def test_no_trick_opens_the_door() -> None:
    async with serving(EVERYBODY) as server:
        for name, headers in _tricks().items():
            raw = "".join(f"{key}: {value}\r\n" for key, value in headers).encode("latin-1")
            status, answer = await knock(server, raw)
            assert (name, status) == (name, 401)
            assert answer.endswith('\r\n\r\n{"error":"Unauthorized"}')
            assert '\r\nwww-authenticate: Bearer realm="a2a"' in answer
        for query in ("access_token=t0ken-of-the-server", "api_key=k3y-of-the-server"):
            refused = await server.http.post(f"{server.url}?{query}", content=b"{}")
            assert refused.status_code == 401
        for good in ([BEARER], [API_KEY], [CAROL, CAROL_TOO]):
            assert (await call(server, good)).status_code == 200  # the door is not painted on


@pytest.mark.parametrize(
    "raw",
    [
        b"Authorization: Bearer t0ken-of-\x00the-server",
        b"Authorization: Bearer t0ken-of-the-server\x00",
        b"Authorization: Bearer t0ken-of-the-server\r\n  x",
        b"Authorization : Bearer t0ken-of-the-server",
        b"Authorization\x00: Bearer t0ken-of-the-server",
        b" Authorization: Bearer t0ken-of-the-server",
        b"Authorization: Bearer t0ken-of-the-server\rX-API-Key: k3y-of-the-server",
        b"X-API-Key: k3y-of-the-server\x0b",
        "Authorization: Bearer t0ken\u2010of\u2010the\u2010server".encode(),
        b"\xef\xbb\xbfAuthorization: Bearer t0ken-of-the-server",
    ],
)
async def test_what_is_no_header_at_all_is_no_credential(raw: bytes) -> None:
    async with serving(EVERYBODY) as server:
        status, answer = await knock(server, raw + b"\r\n")
        assert status in (400, 401)
        assert "result" not in answer
        good = b"Authorization: \t Bearer t0ken-of-the-server \t\r\n"
        assert (await knock(server, good))[0] == 200


async def _no_fetch(url: str) -> bytes:
    raise Unavailable(url)


VALUES = st.one_of(
    st.binary(max_size=40),
    st.sampled_from(["Bearer", "bearer", "Basic", "ApiKey", ""]).flatmap(
        lambda scheme: st.binary(max_size=20).map(lambda rest: scheme.encode() + b" " + rest)
    ),
    st.binary(max_size=30).map(lambda raw: b"Basic " + base64.b64encode(raw)),
    st.sampled_from([value.encode("latin-1") for _, value in (BEARER, BASIC, API_KEY, CAROL)]),
    st.sampled_from([value.encode("latin-1") for _, value in (BEARER, BASIC, API_KEY)]).flatmap(
        lambda good: st.binary(min_size=1, max_size=2).flatmap(
            lambda extra: st.sampled_from([good + extra, extra + good, good[1:], good[:-1]])
        )
    ),
    st.just(b"Bearer " + b"x" * 20_000),
    st.text(max_size=20).map(lambda text: f"Bearer {text}".encode()),
)
NAMES = st.sampled_from([b"authorization", b"x-api-key", b"x_api_key", b"cookie", b"a"])
SECRETS = {
    (b"authorization", b"bearer t0ken-of-the-server"): "bearer",
    (b"authorization", b"bearer t0ken-of-carol"): "principal:carol",
    (b"authorization", BASIC[1].lower().encode()): "basic:ann",
    (b"x-api-key", b"k3y-of-the-server"): "api-key",
}


def oracle(headers: list[tuple[bytes, bytes]]) -> str | None:
    """Who is in, told in the plainest way; scheme names are lowered, nothing else matters."""
    counted = [
        (name, value.strip(b" \t"))
        for name, value in headers
        if name in (b"authorization", b"x-api-key")
    ]
    if len({name for name, _ in counted}) != len(counted):
        return None
    people = set()
    for name, value in counted:
        scheme, space, rest = value.partition(b" ")
        spelled = scheme.lower() + space + rest.lstrip(b" ")
        plain = value if name == b"x-api-key" else spelled
        known = {
            (key, each.lower() if each.startswith(b"basic") else each): who
            for (key, each), who in SECRETS.items()
        }
        if plain.startswith(b"basic "):
            plain = plain.lower() if rest.strip(b" ") == BASIC[1].encode()[6:] else b"?"
        people.add(known.get((name, plain)))
    return people.pop() if len(people) == 1 else None


@settings(max_examples=500, deadline=None)
@given(st.lists(st.tuples(NAMES, VALUES), max_size=4))
@example([(b"authorization", b"BeArEr   t0ken-of-carol")])
@example([(b"authorization", BASIC[1].encode()), (b"cookie", b"x")])
@example([(b"authorization", b"Bearer t0ken-of-carol\x0b")])  # no white space of HTTP's
@example([(b"x-api-key", b"\x0ck3y-of-the-server\r\n")])
def test_who_is_in_is_what_the_plainest_reading_says(headers: list[tuple[bytes, bytes]]) -> None:
    authenticate = authenticator(EVERYBODY, fetch=_no_fetch)
    assert authenticate is not None
    try:
        found = asyncio.run(authenticate({"headers": headers})).name  # type: ignore[arg-type]
    except HTTPException as refused:
        assert refused.status_code == 401
        found = None
    assert found == oracle(headers)


LINES = st.tuples(
    st.sampled_from([b"Authorization", b"authorization", b"X-API-Key", b"x-api-key", b"X_API_Key"]),
    st.sampled_from([b":", b": ", b":\t", b" : ", b": Bearer ", b": basic ", b":\r\n "]),
    st.binary(max_size=40).map(lambda value: value.replace(b"\n", b"")),
).map(b"".join)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.lists(LINES, min_size=1, max_size=4), min_size=1, max_size=12))
def test_no_bytes_in_the_place_of_headers_give_5xx_or_open_the_door(
    requests: list[list[bytes]],
) -> None:
    """Through the server's own parser: what it lets through, and what it makes of it."""

    async def all_of_them() -> None:
        async with serving(EVERYBODY) as server:
            for lines in requests:
                status, answer = await knock(server, b"".join(line + b"\r\n" for line in lines))
                assert status in (400, 401), answer

    asyncio.run(all_of_them())


# ---------------------------------------------------------------- JWT


@asynccontextmanager
async def issuing(document: dict[str, Any]) -> AsyncIterator[str]:
    """An issuer whose keys are at the URL; ``document`` has the body and the status."""

    async def keys(request: Any) -> Response:
        document["asked"] = document.get("asked", 0) + 1
        return Response(document["body"], document.get("status", 200))

    async with listen_with(Starlette(routes=[Route("/keys", keys)])) as server:
        yield f"{server.url}keys"


def jwt_settings(url: str, **more: Any) -> Settings:
    return Settings(
        engine="memory",
        agent="echo:",
        jwt_issuer=ISSUER,
        jwt_jwks_url=url,
        jwt_audience=AUDIENCE,
        **more,
    )


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def _now(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the services, by hand, at the time of the issuer's tokens."""
    clock = Clock()
    monkeypatch.setattr("a2a_fn.clock.SystemClock.now", lambda self: clock.now())
    return clock


def bearer(**changed: Any) -> Headers:
    return [("Authorization", f"Bearer {token(**changed)}")]


async def test_jwts_of_two_subjects_are_two_principals(_now: Clock) -> None:
    document = {"body": key_set(public_jwk("RS256", "k1"), public_jwk("ES256", "k2"))}
    async with issuing(document) as url, serving(jwt_settings(url, token="t0ken")) as server:
        task = await task_of(server, bearer(sub="ann"))
        assert await sees(server, bearer(alg="ES256", kid="k2", sub="ann"), task)
        assert not await sees(server, bearer(sub="bob"), task)
        assert not await sees(server, [("Authorization", "Bearer t0ken")], task)
        assert document["asked"] == 1
        refused = await call(server, bearer(exp=1))
        assert (refused.status_code, refused.json()) == (401, {"error": "Unauthorized"})
        assert refused.headers["www-authenticate"] == (
            'Bearer realm="a2a", error="invalid_token", '
            'error_description="The token: it has expired"'
        )


async def test_keys_rotate_without_a_restart_and_a_dead_issuer_opens_no_door(_now: Clock) -> None:
    document: dict[str, Any] = {"body": b"", "status": 500}
    async with issuing(document) as url, serving(jwt_settings(url)) as server:
        for _ in range(3):
            down = await call(server, bearer())
            assert down.status_code == 503
            assert down.headers["retry-after"] == "1"
            assert url not in down.text
        assert document["asked"] == 1
        document.update(body=key_set(public_jwk("RS256", "k1")), status=200)
        _now.pass_by(5)
        assert (await call(server, bearer())).status_code == 200
        document.update(body=key_set(public_jwk("RS256", "k9", which=1)))
        _now.pass_by(30)
        assert (await call(server, bearer(kid="k9", which=1))).status_code == 200
        assert (await call(server, bearer())).status_code == 401
        document.update(status=404)
        _now.pass_by(500)
        assert (await call(server, bearer(kid="k9", which=1))).status_code == 200


async def test_a_dead_issuer_is_503_at_every_door(_now: Clock) -> None:
    artifact = f"artifacts/{'a' * 16}-{uuid.uuid4()}/{'b' * 64}/x.yml"
    doors = [
        *(
            ("POST", path)
            for path in ("", "a2a", "message:send", "message:stream", "red/message:send")
        ),
        *(
            ("GET", path)
            for path in ("tasks", "tasks/x", "extendedAgentCard", "v1/tasks/x", artifact)
        ),
    ]
    headers = {**dict(bearer()), "A2A-Version": "1.0", "Content-Type": "application/json"}
    async with (
        issuing({"body": b"", "status": 500}) as url,
        serving(dataclasses.replace(jwt_settings(url), a2a_v03=True)) as server,
    ):
        for method, path in doors:
            down = await server.http.request(method, server.url + path, headers=headers)
            assert (path, down.status_code) == (path, 503)
            assert down.headers["retry-after"] == "1"
            refused = await server.http.request(method, server.url + path)
            assert (path, refused.status_code) == (path, 401)
            assert refused.json() == {"error": "Unauthorized"}


async def test_scopes_and_tenants_of_a_jwt(_now: Clock) -> None:
    document = {"body": key_set(public_jwk("RS256", "k1"))}
    more = {"jwt_scopes": ("a2a.use", "a2a.more"), "jwt_tenant_claim": "org"}
    async with issuing(document) as url, serving(jwt_settings(url, **more)) as server:
        poor = await call(server, bearer(scope="a2a.use", org="red"))
        assert (poor.status_code, poor.json()) == (403, {"error": "Forbidden"})
        assert poor.headers["www-authenticate"] == (
            'Bearer realm="a2a", error="insufficient_scope", scope="a2a.use a2a.more"'
        )
        scope = "a2a.more a2a.use"
        assert (await call(server, bearer(scope=scope, org="red"))).status_code == 200
        refused = await call(server, bearer(scope=scope, org="red"), tenant="blue")
        assert (refused.status_code, refused.json()) == (403, {"error": "Forbidden"})
        assert (await call(server, bearer(scope=scope))).status_code == 403


# ---------------------------------------------------------------- what is announced


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        (Settings(), Schemes()),
        (Settings(token="t"), Schemes(bearer=True)),
        (Settings(basic_username="u", basic_password="p"), Schemes(basic=True)),
        (Settings(api_key="k", api_key_header="X-Y"), Schemes(api_key_header="X-Y")),
        (Settings(principals=({"name": "a", "token": "t"},)), Schemes(bearer=True)),
        (
            Settings(principals=({"name": "a", "password": "t"}, {"name": "b", "api-key": "k"})),
            Schemes(basic=True, api_key_header="X-API-Key"),
        ),
        (
            jwt_settings("https://issuer.example.com/keys", jwt_scopes=("s",)),
            Schemes(jwt_issuer=ISSUER, scopes=("s",)),
        ),
        (Settings(token="file:/nowhere"), Schemes(bearer=True)),  # announced, not looked up
    ],
)
def test_the_schemes_of_the_settings(settings: Settings, expected: Schemes) -> None:
    assert schemes(settings) == expected
