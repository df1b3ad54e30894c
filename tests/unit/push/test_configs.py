"""What clients say of webhooks: checked, challenged, sealed, and shown again to their owner."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from a2a_fn.engines.keyfile import KeyringSealer
from a2a_fn.errors import Refused, Unavailable, Unsealed
from a2a_fn.journal import webhooks
from a2a_fn.journal.webhooks import Webhook
from a2a_fn.ports import Answer
from a2a_fn.push import keyring
from a2a_fn.push.configs import Configs, Rejected

NOW = 1_796_000_000_000
URL = "https://hooks.example.com/a2a"
GRANT = {"token_url": "https://login.example/token", "client_id": "me", "client_secret": "s3cret!"}


class Gatekeeper:
    """A courier that refuses some hosts, and answers challenges as the test says."""

    def __init__(self, *refused: str) -> None:
        self.refused = refused
        self.checked: list[str] = []
        self.asked: list[str] = []
        self.answer = lambda token: Answer(200, text=token)

    async def check(self, url):
        self.checked.append(url)
        if urlsplit(url).hostname in self.refused:
            raise Refused("that host is not for webhooks")

    async def post(self, url, headers, body, *, keep=500):
        raise AssertionError("nothing is posted when a webhook is set")

    async def get(self, url, *, keep=500):
        self.asked.append(url)
        answer = self.answer(parse_qs(urlsplit(url).query)["validationToken"][-1])
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.fixture
def gatekeeper() -> Gatekeeper:
    return Gatekeeper()


@pytest.fixture
def configs(gatekeeper: Gatekeeper) -> Configs:
    ring = keyring.fresh(NOW)
    return Configs(KeyringSealer(lambda: ring), gatekeeper)


@pytest.fixture
def challenging(gatekeeper: Gatekeeper) -> Configs:
    ring = keyring.fresh(NOW)
    return Configs(KeyringSealer(lambda: ring), gatekeeper, lambda: "n0nce")


def config(
    url: str = URL, *, token: str = "", scheme: str = "", credentials: str = "", name: str = ""
) -> TaskPushNotificationConfig:
    given = TaskPushNotificationConfig(id=name, url=url, token=token)
    if scheme or credentials:
        given.authentication.scheme = scheme
        given.authentication.credentials = credentials
    return given


async def sealed(configs: Configs, given: TaskPushNotificationConfig, **more) -> Webhook:
    who = {"owner": "me", "task": "t-1"} | more
    made = await configs.seal(
        given, who["owner"], who["task"], base="https://agent.example", tenant="", v03=False
    )
    return webhooks.started(made, who["task"], 3, who["owner"], "c-1")


# ------------------------------------------------------------------ what is refused, and where


@pytest.mark.parametrize(
    ("given", "field"),
    [
        (config(url=""), "url"),
        (config(url="https://evil.example/"), "url"),
        (config(token="two\nlines"), "token"),
        (config(scheme="Bearer", credentials="two\r\nlines"), "authentication.credentials"),
        (config(scheme="no scheme", credentials="x"), "authentication.scheme"),
        (config(scheme="Basic", credentials="no colon"), "authentication.credentials"),
        (config(scheme="HMAC", credentials="short"), "authentication.credentials"),
        (config(scheme="OAuth2", credentials="{}"), "authentication.credentials"),
        (
            config(
                scheme="OAuth2",
                credentials=json.dumps(GRANT | {"token_url": "https://evil.example/token"}),
            ),
            "authentication.credentials",
        ),
    ],
)
async def test_what_cannot_be_pushed_to_is_refused_by_its_field(
    configs: Configs, gatekeeper: Gatekeeper, given: TaskPushNotificationConfig, field: str
) -> None:
    gatekeeper.refused = ("evil.example",)
    with pytest.raises(Rejected) as caught:
        await configs.vet(given)
    assert caught.value.field == field
    said = given.authentication.credentials
    assert not said or said not in str(caught.value)


async def test_a_good_one_is_checked_with_its_token_server(
    configs: Configs, gatekeeper: Gatekeeper
) -> None:
    await configs.vet(config(scheme="OAuth2", credentials=json.dumps(GRANT)))
    assert gatekeeper.checked == [URL, GRANT["token_url"]]
    assert gatekeeper.asked == []  # no challenge unless the settings say so


# ------------------------------------------------------------------ the challenge


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        (URL, f"{URL}?validationToken=n0nce"),
        (f"{URL}?k=v", f"{URL}?k=v&validationToken=n0nce"),
        (f"{URL}#part", f"{URL}?validationToken=n0nce"),
    ],
)
async def test_who_echoes_the_challenge_is_accepted(
    challenging: Configs, gatekeeper: Gatekeeper, url: str, asked: str
) -> None:
    await challenging.vet(config(url))
    assert gatekeeper.asked == [asked]


@pytest.mark.parametrize(
    "answer",
    [
        Answer(200, text="something else"),
        Answer(200, text="n0nce and more"),
        Answer(200),
        Answer(404, text="n0nce"),
        Answer(302, text="n0nce"),
        Refused("it leads inside"),
        Unavailable("no answer"),
    ],
)
async def test_who_does_not_is_refused(
    challenging: Configs, gatekeeper: Gatekeeper, answer
) -> None:
    gatekeeper.answer = lambda token: answer
    with pytest.raises(Rejected) as caught:
        await challenging.vet(config())
    assert caught.value.field == "url"
    assert "n0nce" not in str(caught.value)


async def test_what_the_guard_refuses_is_not_even_asked(
    challenging: Configs, gatekeeper: Gatekeeper
) -> None:
    gatekeeper.refused = ("hooks.example.com",)
    with pytest.raises(Rejected):
        await challenging.vet(config())
    assert gatekeeper.asked == []


# ------------------------------------------------------------------ sealed, opened, shown


async def test_secrets_are_sealed_and_the_owner_is_shown_what_was_set(configs: Configs) -> None:
    given = config(token="t0ken", scheme="Bearer", credentials="s3cret", name="mine")
    hook = await sealed(configs, given)
    assert "t0ken" not in repr(hook)
    assert "s3cret" not in repr(hook)
    shown = await configs.shown(hook)
    given.task_id = "t-1"
    assert shown == given
    opened = await configs.opened(hook)
    assert (opened.token, opened.scheme, opened.credentials) == ("t0ken", "Bearer", "s3cret")


async def test_without_an_id_it_has_the_tasks(configs: Configs) -> None:
    hook = await sealed(configs, config())
    assert hook.config.id == "t-1"
    shown = await configs.shown(hook)
    assert (shown.id, shown.task_id) == ("t-1", "t-1")
    assert not shown.HasField("authentication")


async def test_nothing_secret_needs_no_key(gatekeeper: Gatekeeper) -> None:
    class NoKeys:
        async def seal(self, data, bound):
            raise AssertionError

        open = seal

    configs = Configs(NoKeys(), gatekeeper)
    hook = await sealed(configs, config(scheme="Bearer"))
    assert (await configs.shown(hook)).authentication.scheme == "Bearer"


@pytest.mark.parametrize(
    "other", [{"owner": "you"}, {"task": "t-2"}, {"config": "b"}, {"owner": "me1", "task": "-1"}]
)
async def test_what_is_sealed_for_one_webhook_opens_for_no_other(
    configs: Configs, other: dict[str, str]
) -> None:
    hook = await sealed(configs, config(token="t0ken", name="a"))
    moved = hook._replace(
        owner=other.get("owner", hook.owner),
        task=other.get("task", hook.task),
        config=hook.config._replace(id=other.get("config", "a")),
    )
    with pytest.raises(Unsealed):
        await configs.opened(moved)


async def test_what_cannot_be_opened_is_shown_without_its_secrets(
    gatekeeper: Gatekeeper, caplog: pytest.LogCaptureFixture
) -> None:
    one, other = keyring.fresh(NOW), keyring.fresh(NOW)
    hook = await sealed(
        Configs(KeyringSealer(lambda: one), gatekeeper),
        config(token="t0ken", scheme="Bearer", credentials="s3cret"),
    )
    shown = await Configs(KeyringSealer(lambda: other), gatekeeper).shown(hook)
    assert (shown.url, shown.token, shown.authentication.credentials) == (URL, "", "")
    assert shown.authentication.scheme == "Bearer"
    assert "s3cret" not in caplog.text
    assert [r.levelname for r in caplog.records] == ["WARNING"]


async def test_what_was_sealed_before_a_rotation_opens_after_it(gatekeeper: Gatekeeper) -> None:
    ring = [keyring.fresh(NOW)]
    configs = Configs(KeyringSealer(lambda: ring[0]), gatekeeper)
    hook = await sealed(configs, config(token="t0ken"))
    for n in range(3):
        ring[0] = keyring.rotated(ring[0], NOW + n + 1)
        assert (await configs.opened(hook)).token == "t0ken"
