"""One try of one push: what leaves, with which headers, and what is asked of a token server."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import jwt
import pytest
from a2a.types.a2a_pb2 import StreamResponse, TaskPushNotificationConfig

from a2a_fn.engines.keyfile import KeyringSealer
from a2a_fn.errors import Refused, Unavailable, Unsealed
from a2a_fn.journal import webhooks
from a2a_fn.journal.slots import Event
from a2a_fn.ports import Answer
from a2a_fn.push import keyring
from a2a_fn.push.configs import Configs
from a2a_fn.push.deliver import Push
from a2a_fn.push.sender import Sender

URL = "https://hooks.example.com/a2a?key=s3cret"
TOKENS = "https://login.example/token"
GRANT = {"token_url": TOKENS, "client_id": "me", "client_secret": "hush"}


class Clock:
    ms = 1_796_000_000_000

    def now(self) -> int:
        return self.ms


class Post:
    """A courier that notes what leaves and answers what the test says: ``answers`` of webhooks;
    a token server gives a new token each time."""

    def __init__(self) -> None:
        self.left: list[tuple[str, dict[str, str], bytes]] = []
        self.answers: list[Answer | Exception] = [Answer(200)]
        self.asked = 0
        self.refuses = False

    async def check(self, url):
        pass

    async def get(self, url, *, keep=500):
        raise AssertionError("nothing is asked for")

    async def post(self, url, headers, body, *, keep=500):
        if url == TOKENS:
            if self.refuses:
                return Answer(401, text='{"error":"invalid_client"}')
            self.asked += 1
            document = {"access_token": f"at-{self.asked}", "token_type": "bearer"}
            return Answer(200, text=json.dumps(document | {"expires_in": 3600}))
        self.left.append((url, dict(headers), body))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Setting:
    """A sender with everything around it."""

    def __init__(self, *, issuer: str = "https://agent.example", hmac_secret: str = "") -> None:
        self.clock = Clock()
        self.post = Post()
        self.ring = keyring.fresh(self.clock.ms)
        self.configs = Configs(KeyringSealer(lambda: self.ring), self.post)
        nonces = iter(f"nonce-{n}" for n in range(1000))
        self.sender = Sender(
            self.configs,
            self.post,
            self.clock,
            lambda: self.ring,
            self.render,
            lambda: next(nonces),
            issuer=issuer,
            hmac_secret=hmac_secret,
        )

    async def render(self, push: Push) -> bytes:
        return b'{"event":%d}' % push.generation

    async def push(
        self, scheme: str = "", credentials: str = "", token: str = "", *, v03: bool = False
    ) -> Push:
        given = TaskPushNotificationConfig(id="a", url=URL, token=token)
        given.authentication.scheme = scheme
        given.authentication.credentials = credentials
        config = await self.configs.seal(
            given, "me", "t-1", base="https://seen.example", tenant="", v03=v03
        )
        hook = webhooks.started(config, "t-1", 2, "me", "c-1")
        return Push(hook, Event(StreamResponse()), 7, 1)

    def claims(self, token: str) -> dict[str, object]:
        """What a JWT says, verified by PyJWT and the published keys."""
        keys = jwt.PyJWKSet.from_dict({"keys": keyring.public_jwks(self.ring)})
        key = keys[jwt.get_unverified_header(token)["kid"]]
        options = {"verify_aud": False, "verify_exp": False, "verify_iat": False}
        return jwt.decode(token, key, algorithms=["ES256"], options=options)


async def test_a_push_is_posted_and_its_answer_comes_back() -> None:
    setting = Setting()
    setting.post.answers = [Answer(503, 7.0, "later")]
    assert await setting.sender(await setting.push()) == Answer(503, 7.0, "later")
    ((url, headers, body),) = setting.post.left
    assert url == URL
    assert body == b'{"event":7}'
    assert headers["Content-Type"] == "application/a2a+json"
    assert headers["Authorization"] == f"Bearer {headers['X-A2A-Notification-JWT']}"


async def test_the_jwt_speaks_of_this_event_this_webhook_and_this_body() -> None:
    setting = Setting()
    await setting.sender(await setting.push())
    _, headers, body = setting.post.left[0]
    claims = setting.claims(headers["X-A2A-Notification-JWT"])
    now = setting.clock.ms // 1000
    assert claims == {
        "iss": "https://agent.example",
        "aud": "https://hooks.example.com/a2a",
        "iat": now,
        "exp": now + 300,
        "jti": "nonce-0",
        "taskId": "t-1",
        "configId": "a",
        "generation": 7,
        "sha256": hashlib.sha256(body).hexdigest(),
    }


async def test_without_a_public_url_the_issuer_is_where_the_client_sees_the_server() -> None:
    setting = Setting(issuer="")
    await setting.sender(await setting.push())
    claims = setting.claims(setting.post.left[0][1]["X-A2A-Notification-JWT"])
    assert claims["iss"] == "https://seen.example"


async def test_each_try_has_a_nonce_of_its_own() -> None:
    setting = Setting()
    push = await setting.push()
    for _ in range(3):
        await setting.sender(push)
    jtis = [setting.claims(h["X-A2A-Notification-JWT"])["jti"] for _, h, _ in setting.post.left]
    assert len(set(jtis)) == 3


async def test_a_rotated_key_signs_the_next_push() -> None:
    setting = Setting()
    push = await setting.push(token="t0ken")
    await setting.sender(push)
    setting.ring = keyring.rotated(setting.ring, setting.clock.ms)
    await setting.sender(push)
    tokens = [headers["X-A2A-Notification-JWT"] for _, headers, _ in setting.post.left]
    kids = [jwt.get_unverified_header(token)["kid"] for token in tokens]
    assert kids[0] != kids[1]
    for token in tokens:  # both are published
        assert setting.claims(token)["taskId"] == "t-1"
    assert {h["X-A2A-Notification-Token"] for _, h, _ in setting.post.left} == {"t0ken"}


@pytest.mark.parametrize(
    ("scheme", "credentials", "name", "value"),
    [
        ("Bearer", "abc", "Authorization", "Bearer abc"),
        ("bearer", "abc", "Authorization", "Bearer abc"),
        ("Basic", "u:p", "Authorization", "Basic " + base64.b64encode(b"u:p").decode()),
        ("ApiKey", "k3y", "X-API-Key", "k3y"),
        ("ApiKey", "X-My-Key: k3y", "X-My-Key", "k3y"),
    ],
)
async def test_credentials_become_their_header(
    scheme: str, credentials: str, name: str, value: str
) -> None:
    setting = Setting()
    await setting.sender(await setting.push(scheme, credentials))
    headers = setting.post.left[0][1]
    assert headers[name] == value
    assert "X-A2A-Notification-JWT" in headers


@pytest.mark.parametrize(
    ("deployments", "own", "expected"),
    [("deployment-wide-secret", "", b"deployment-wide-secret"),
     ("", "the-webhooks-own-secret", b"the-webhooks-own-secret"),
     ("deployment-wide-secret", "the-webhooks-own-secret", b"the-webhooks-own-secret")],
)  # fmt: skip
async def test_an_hmac_is_over_time_nonce_and_body(
    deployments: str, own: str, expected: bytes
) -> None:
    setting = Setting(hmac_secret=deployments)
    await setting.sender(await setting.push("HMAC" if own else "", own))
    _, headers, body = setting.post.left[0]
    stamp, nonce = (headers[f"X-A2A-Notification-{x}"] for x in ("Timestamp", "Nonce"))
    assert int(stamp) == setting.clock.ms // 1000
    mac = hmac.new(expected, f"{stamp}.{nonce}.".encode() + body, "sha256").hexdigest()
    assert headers["X-A2A-Notification-Signature"] == f"sha256={mac}"


async def test_a_receiver_of_0_3_is_told_so() -> None:
    setting = Setting()
    await setting.sender(await setting.push(v03=True))
    headers = setting.post.left[0][1]
    assert (headers["Content-Type"], headers["A2A-Version"]) == ("application/json", "0.3")


# ------------------------------------------------------------------ OAuth 2.0


async def test_an_access_token_is_fetched_once_for_many_pushes() -> None:
    setting = Setting()
    push = await setting.push("OAuth2", json.dumps(GRANT))
    for _ in range(3):
        await setting.sender(push)
    assert setting.post.asked == 1
    assert {h["Authorization"] for _, h, _ in setting.post.left} == {"Bearer at-1"}


async def test_a_token_that_was_withdrawn_is_replaced_at_once() -> None:
    setting = Setting()
    push = await setting.push("OAuth2", json.dumps(GRANT))
    await setting.sender(push)
    setting.post.answers = [Answer(401), Answer(200)]
    assert (await setting.sender(push)).status == 200
    assert [h["Authorization"] for _, h, _ in setting.post.left] == [
        "Bearer at-1",
        "Bearer at-1",
        "Bearer at-2",
    ]


async def test_a_second_401_is_the_answer() -> None:
    setting = Setting()
    setting.post.answers = [Answer(401)]
    assert (await setting.sender(await setting.push("OAuth2", json.dumps(GRANT)))).status == 401
    assert len(setting.post.left) == 2


async def test_a_401_without_oauth_is_not_tried_again() -> None:
    setting = Setting()
    setting.post.answers = [Answer(401)]
    assert (await setting.sender(await setting.push("Bearer", "x"))).status == 401
    assert len(setting.post.left) == 1


async def test_a_token_server_that_says_no_ends_it_before_anything_is_sent() -> None:
    setting = Setting()
    setting.post.refuses = True
    with pytest.raises(Refused) as caught:
        await setting.sender(await setting.push("OAuth2", json.dumps(GRANT)))
    assert setting.post.left == []
    assert "hush" not in str(caught.value)


# ------------------------------------------------------------------ what goes wrong


async def test_a_key_that_is_gone_sends_nothing() -> None:
    setting = Setting()
    push = await setting.push("Bearer", "abc")
    setting.ring = keyring.fresh(setting.clock.ms)
    with pytest.raises(Unsealed):
        await setting.sender(push)
    assert setting.post.left == []


async def test_a_receiver_that_does_not_answer_is_said_so() -> None:
    setting = Setting()
    setting.post.answers = [Unavailable("no answer")]
    with pytest.raises(Unavailable):
        await setting.sender(await setting.push())


@pytest.mark.parametrize(
    ("scheme", "credentials"),
    [
        ("", ""),
        ("Bearer", "sesame-open"),
        ("Basic", "user:sesame-open"),
        ("ApiKey", "X-My-Key: sesame-open"),
        ("HMAC", "sesame-open-sesame"),
        ("OAuth2", json.dumps(GRANT | {"client_secret": "sesame-open"})),
    ],
)
async def test_what_a_receiver_echoes_is_kept_without_our_secrets(
    scheme: str, credentials: str
) -> None:
    setting = Setting()

    class Echo(Post):
        async def post(self, url, headers, body, *, keep=500):
            answer = await super().post(url, headers, body, keep=keep)
            said = " ".join(f"{name}={value}" for name, value in headers.items())
            return answer if url == TOKENS else Answer(403, None, f"no: {said} {credentials}")

    setting.post = Echo()
    setting.sender._courier = setting.sender._tokens._courier = setting.post
    answer = await setting.sender(await setting.push(scheme, credentials, "notify-token"))
    headers = setting.post.left[0][1]
    assert answer.text.startswith("no: Content-Type=")
    for secret in ("sesame", "notify-token", "at-1", headers["X-A2A-Notification-JWT"]):
        assert secret not in answer.text
    assert base64.b64encode(b"user:sesame-open").decode() not in answer.text
