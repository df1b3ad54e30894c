"""Access tokens for webhooks: how they are asked for, how long they are kept, what goes wrong."""

from __future__ import annotations

import asyncio
import base64
import gc
import json
from urllib.parse import parse_qs, unquote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.errors import Refused, Unavailable
from a2a_fn.ports import Answer
from a2a_fn.push import oauth
from a2a_fn.push.oauth import Grant, Tokens

GRANT = Grant("https://login.example/token", "id:1", "s+cr%et é")


class Clock:
    def __init__(self) -> None:
        self.ms = 1_796_000_000_000

    def now(self) -> int:
        return self.ms


class TokenServer:
    """A courier that only reaches one token server, which does what the test says."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, str], bytes, int]] = []
        self.answers: list[Answer | Exception] = []
        self.open = asyncio.Event()
        self.open.set()

    async def check(self, url):
        raise AssertionError("not asked for")

    async def get(self, url, *, keep=500):
        raise AssertionError("not asked for")

    async def post(self, url, headers, body, *, keep=500):
        self.asked.append((url, dict(headers), body, keep))
        await self.open.wait()
        answer = self.answers.pop(0) if self.answers else granted(f"token-{len(self.asked)}")
        if isinstance(answer, Exception):
            raise answer
        return answer


def granted(token: object, **more: object) -> Answer:
    document = {"access_token": token, "token_type": "Bearer", "expires_in": 3600} | more
    return Answer(200, text=json.dumps(document))


@pytest.fixture
def server():
    return TokenServer()


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tokens(server, clock):
    return Tokens(server, clock)


# ---------------------------------------------------------------- asking


async def test_the_client_says_who_it_is_as_basic(server, tokens):
    assert await tokens.token(GRANT) == "token-1"
    ((url, headers, body, keep),) = server.asked
    assert url == GRANT.token_url
    assert headers["Content-Type"] == "application/x-www-form-urlencoded"
    user, _, password = (
        base64.b64decode(headers["Authorization"].removeprefix("Basic ")).decode().partition(":")
    )
    assert (unquote_plus(user), unquote_plus(password)) == ("id:1", "s+cr%et é")
    assert parse_qs(body.decode()) == {"grant_type": ["client_credentials"]}
    assert keep == 16 * 1024


async def test_or_in_the_body(server, tokens):
    await tokens.token(GRANT._replace(style="body", scope="a b", audience="https://x/"))
    ((_, headers, body, _),) = server.asked
    assert "Authorization" not in headers
    assert parse_qs(body.decode()) == {
        "grant_type": ["client_credentials"],
        "client_id": ["id:1"],
        "client_secret": ["s+cr%et é"],
        "scope": ["a b"],
        "audience": ["https://x/"],
    }


# ---------------------------------------------------------------- keeping


async def test_a_token_is_used_until_a_minute_before_its_end(server, clock, tokens):
    assert await tokens.token(GRANT) == "token-1"
    clock.ms += 3_539_000
    assert await tokens.token(GRANT) == "token-1"
    clock.ms += 1_000
    assert await tokens.token(GRANT) == "token-2"


@pytest.mark.parametrize(
    ("given_life", "seconds"),
    [
        ("3600", 3540),
        (None, 240),
        ("soon", 240),
        (60, 30),
        (10, 5),
        (0, 0),
        (-5, 0),
        (1e12, 86_340),
        (float("nan"), 0),
        (float("inf"), 86_340),
        ([], 240),
    ],
)
async def test_how_long_it_is_kept(server, clock, tokens, given_life, seconds):
    server.answers = [granted("first", expires_in=given_life)]
    await tokens.token(GRANT)
    if seconds:
        clock.ms += seconds * 1000 - 1
        assert await tokens.token(GRANT) == "first"
        clock.ms += 1
    assert await tokens.token(GRANT) == "token-2"


@pytest.mark.parametrize("field", ["token_url", "client_id", "client_secret", "scope", "audience"])
async def test_another_grant_gets_another_token(server, tokens, field):
    assert await tokens.token(GRANT) == "token-1"
    assert await tokens.token(GRANT._replace(**{field: "https://other/"})) == "token-2"
    assert await tokens.token(GRANT) == "token-1"


async def test_what_the_webhook_did_not_take_is_forgotten(server, tokens):
    old = await tokens.token(GRANT)
    tokens.forget(GRANT, old)
    new = await tokens.token(GRANT)
    assert new == "token-2"
    tokens.forget(GRANT, old)  # by one who was slow to hear of it
    assert await tokens.token(GRANT) == new


async def test_the_cache_is_bounded_and_drops_what_is_used_least(server, tokens, monkeypatch):
    monkeypatch.setattr(oauth, "KEPT", 2)
    a, b, c = (GRANT._replace(client_id=name) for name in "abc")
    for grant in (a, b, a, c):
        await tokens.token(grant)
    assert len(server.asked) == 3
    assert await tokens.token(a) == "token-1"
    assert await tokens.token(b) == "token-4"


async def test_the_cache_holds_no_client_secret(server, tokens):
    secret = "a-secret-of-a-client"
    await tokens.token(GRANT._replace(client_secret=secret))
    assert secret not in str([tuple(key) for key in tokens._kept])


async def test_those_who_come_together_share_one_request(server, tokens):
    server.open.clear()
    waiting = [asyncio.create_task(tokens.token(GRANT)) for _ in range(5)]
    while not server.asked:
        await asyncio.sleep(0)
    waiting[0].cancel()  # the first to leave takes it from nobody
    await asyncio.sleep(0)
    server.open.set()
    assert await asyncio.gather(*waiting[1:]) == ["token-1"] * 4
    assert len(server.asked) == 1


# ---------------------------------------------------------------- what goes wrong


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408, 425])
async def test_a_server_in_trouble_is_asked_again(server, tokens, status):
    server.answers = [Answer(status, text="x")]
    with pytest.raises(Unavailable, match=str(status)):
        await tokens.token(GRANT)
    assert await tokens.token(GRANT) == "token-2"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(401, text='{"error":"invalid_client"}'), "401 invalid_client$"),
        (Answer(400, text='{"error":"s%cret"}'), "400$"),
        (Answer(400, text='{"error":["x"]}'), "400$"),
        (Answer(302, text=""), "302$"),
        (Answer(200, text="{"), "without an access token"),
        (Answer(200, text="[" * 20_000), "without an access token"),
        (Answer(200, text="[]"), "without an access token"),
        (granted(7), "without an access token"),
        (granted(""), "without an access token"),
        (granted("a\r\nX-Evil: 1"), "without an access token"),
        (granted("t", token_type="mac"), "not a bearer"),
        (granted("t", token_type=None), "not a bearer"),
    ],
)
async def test_a_server_that_says_no_is_the_end(server, tokens, answer, why):
    server.answers = [answer]
    with pytest.raises(Refused, match=why):
        await tokens.token(GRANT)


async def test_a_refused_token_url_is_refused(server, tokens):
    server.answers = [Refused("it is private")]
    with pytest.raises(Refused, match="it is private"):
        await tokens.token(GRANT)


async def test_a_failure_that_nobody_waits_for_disturbs_nobody(server, tokens):
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, what: complaints.append(what))
    server.open.clear()
    server.answers = [Unavailable("no")]
    waiting = asyncio.create_task(tokens.token(GRANT))
    while not server.asked:
        await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    server.open.set()
    while tokens._asking:
        await asyncio.sleep(0)
    gc.collect()
    assert not complaints
    assert await tokens.token(GRANT) == "token-2"


# ---------------------------------------------------------------- credentials of a config


def test_the_credentials_become_a_grant():
    text = json.dumps(
        {
            "token_url": "https://t/",
            "client_id": "i",
            "client_secret": "s",
            "scope": "a",
            "audience": "b",
            "auth_style": "body",
        }
    )
    assert oauth.read(text) == Grant("https://t/", "i", "s", "a", "b", "body")


GOOD = {"token_url": "https://t/", "client_id": "ident", "client_secret": "hush-hush"}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (GOOD | {"client_secret": ""}, "needs client_secret"),
        ({name: GOOD[name] for name in ("client_id", "client_secret")}, "needs token_url"),
        (GOOD | {"client_secret": ["hush-hush"]}, "client_secret must be a text"),
        (GOOD | {"scope": "hush-hush\n"}, "scope must be a text"),
        (GOOD | {"audience": "hush-hush" * 300}, "audience must be a text"),
        (GOOD | {"hush-hush": "x"}, "nothing else"),
        (GOOD | {"auth_style": "hush-hush"}, "basic or body"),
        ([GOOD], "JSON object"),
        ("x" * 20_000, "at most"),
    ],
)
def test_what_is_no_grant_says_why_and_no_more(document, why):
    with pytest.raises(ValueError, match=why) as caught:
        oauth.read(json.dumps(document))
    assert str(caught.value).startswith("authentication.credentials: ")
    assert "hush" not in str(caught.value)


@given(st.text() | st.dictionaries(st.sampled_from([*GOOD, "x"]), st.text()).map(json.dumps))
def test_any_text_is_a_grant_or_a_fault(text):
    try:
        assert oauth.read(text).client_secret
    except ValueError as error:
        assert str(error).startswith("authentication.credentials: ")


def test_a_grant_does_not_show_its_secret():
    assert "hush" not in repr(oauth.read(json.dumps(GOOD)))
