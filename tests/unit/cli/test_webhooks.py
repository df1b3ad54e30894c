"""Webhooks from the command line: set and really called, over every binding, their secrets kept."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import queue
import socket
import sys
import threading
from typing import NamedTuple

import pytest
import uvicorn
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from a2a_fn.cli.cards import WELL_KNOWN
from a2a_fn.cli.failures import Failure
from a2a_fn.cli.push_config import read_webhook
from a2a_fn.cli.push_options import Push
from a2a_fn.hosts import local
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

from .conftest import ScriptedAgent, serve

SPOKEN = {
    f"{binding}-{version}": ("--binding", binding, "--protocol", version)
    for binding in ("jsonrpc", "http+json")
    for version in ("1.0", "0.3")
}
HOOK = "https://203-0-113-7.example.org/a2a"
SECRETS = ("t0ken-of-pushes", "s3cret-of-pushes", "key-in-the-query")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("PUSH_TOKEN", "PUSH_AUTH"):
        monkeypatch.delenv(f"A2A_FN_CALL_{name}", raising=False)


@pytest.fixture(scope="module")
def our_url(tmp_path_factory):
    """The echo agent under our own server, with workers and pushers."""
    settings = Settings(
        engine="memory",
        agent="echo:",
        data=str(tmp_path_factory.mktemp("data")),
        grace=0.1,
        push_notifications=True,
        push_allow_private=True,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    servers = queue.Queue()

    async def run():
        services = build_services(settings)
        config = uvicorn.Config(services.app(), log_level="critical", lifespan="off")
        server = uvicorn.Server(config)
        async with local._pool(services, 1, asyncio.Event()):
            servers.put(server)
            await server.serve(sockets=[listener])
            services.stop()
        await services.close()

    thread = threading.Thread(target=lambda: asyncio.run(run()), daemon=True)
    thread.start()
    server = servers.get(timeout=10)
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listener.close()
    assert not thread.is_alive()


@pytest.fixture(scope="module")
def sdk_url():
    """An agent under the SDK's own server that keeps webhooks."""
    card = AgentCard(
        name="scripted",
        description="does what it is told",
        version="1.0",
        supported_interfaces=[
            AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
            for version in ("1.0", "0.3")
            for url, binding in (("/", "JSONRPC"), ("/rest", "HTTP+JSON"))
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
    )
    handler = DefaultRequestHandler(
        ScriptedAgent(),
        InMemoryTaskStore(),
        card,
        push_config_store=InMemoryPushNotificationConfigStore(),
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/", enable_v0_3_compat=True),
        *create_rest_routes(handler, path_prefix="/rest", enable_v0_3_compat=True),
    ]
    with serve(Starlette(routes=routes)) as url:
        yield url


class Received(NamedTuple):
    path: str
    headers: dict
    body: dict


@pytest.fixture
def receiver():
    """A receiver of pushes: its url, and what it got."""
    got = queue.Queue()

    async def handle(request):
        body = json.loads(await request.body())
        got.put(Received(request.url.path, dict(request.headers), body))
        return Response()

    with serve(Starlette(routes=[Route("/{path:path}", handle, methods=["POST"])])) as url:
        got.url = url
        yield got


def task_of(result):
    assert result.code == 0, result.err
    return result.err.split("  task ")[1].split()[0]


def ended(push):
    """Whether a push, in the form of either version, says that its task is completed."""
    event = push.body.get("statusUpdate", push.body)
    return event.get("status", {}).get("state") in ("TASK_STATE_COMPLETED", "completed")


class TestCall:
    @pytest.mark.parametrize("stream", [(), ("--no-stream",)], ids=["stream", "wait"])
    @pytest.mark.parametrize("spoken", SPOKEN.values(), ids=SPOKEN)
    def test_the_tasks_events_are_pushed_with_what_was_asked_for(
        self, cli, our_url, receiver, spoken, stream
    ):
        options = ("--push-url", f"{receiver.url}/hook", "--push-id", "mine")
        secret = ("--push-token", "t0ken", "--push-auth", "Basic me:pass word")
        result = cli("call", our_url, "hello", *options, *secret, *spoken, *stream)
        task = task_of(result)
        assert result.out.strip() == "hello"
        pushes = [receiver.get(timeout=10)]
        while not ended(pushes[-1]):
            pushes.append(receiver.get(timeout=10))
        proof = f"Basic {base64.b64encode(b'me:pass word').decode()}"
        for push in pushes:
            assert push.path == "/hook"
            assert task in json.dumps(push.body)
            assert push.headers["authorization"] == proof
            assert push.headers["x-a2a-notification-token"] == "t0ken"
            assert push.headers["a2a-version"] == spoken[-1]
        assert cli("webhooks", "get", our_url, task, "mine", *spoken).code == 0

    @pytest.mark.parametrize("spoken", SPOKEN.values(), ids=SPOKEN)
    def test_another_server_keeps_it_too(self, cli, sdk_url, spoken):
        auth = ("--push-auth", "Bearer s3cret", "--push-token", "t0ken")
        call = cli("call", sdk_url, "ask", "--push-url", HOOK, *auth, *spoken)
        listed = cli("webhooks", "list", sdk_url, task_of(call), "--show-secrets", *spoken)
        assert listed.out.split("\t")[1:] == [HOOK, "Bearer s3cret", "t0ken\n"]

    def test_an_agent_that_does_not_push_is_told_before_anything_is_sent(self, cli):
        asked = []

        async def handle(request):
            asked.append(request.url.path)
            interface = {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            return JSONResponse({"name": "quiet", "supportedInterfaces": [interface]})

        route = Route("/{path:path}", handle, methods=["GET", "POST"])
        with serve(Starlette(routes=[route])) as url:
            for words in (("call", url, "hi", "--push-url", HOOK), ("webhooks", "list", url, "t")):
                result = cli(*words)
                assert (result.code, result.out) == (2, "")
                assert "pushes to no webhooks (pushNotifications)" in result.err
        assert asked == [WELL_KNOWN] * 2

    def test_stdin_holds_one_thing(self, cli):
        nowhere = "http://127.0.0.1:9"
        message = cli("call", nowhere, "-", "--push-url", HOOK, "--push-auth", "Bearer -")
        secrets = cli("call", nowhere, "hi", "--push-url", HOOK, "--push-token", "-", "--token=-")
        assert "stdin holds the message: give the secret as file:PATH" in message.err
        assert "stdin holds one secret: give the others as file:PATH" in secrets.err
        assert message.code == secrets.code == 2

    @pytest.mark.parametrize("option", ["token", "auth", "id"])
    def test_options_of_a_webhook_without_one(self, cli, option):
        result = cli("call", "http://127.0.0.1:9", "hi", f"--push-{option}", "s3cret-value")
        assert result.code == 2
        assert f"--push-{option} goes with --push-url WEBHOOK" in result.err
        assert "s3cret" not in result.err


@pytest.fixture(params=SPOKEN.values(), ids=SPOKEN)
def spoken(request):
    return request.param


class TestWebhooks:
    def test_they_are_set_listed_and_shown(self, cli, our_url, spoken):
        task = task_of(cli("call", our_url, "hello", *spoken))
        assert "no webhooks" in cli("webhooks", "list", our_url, task, *spoken).err
        made = cli("webhooks", "set", our_url, task, HOOK, "--push-id", "a", *spoken)
        assert (made.code, made.out) == (0, f"a\t{HOOK}\t-\t-\n")
        again = cli("webhooks", "set", our_url, task, HOOK, "--push-auth", "Bearer s3cret", *spoken)
        assert again.out == f"{task}\t{HOOK}\tBearer ***\t-\n"  # ours gives it the task's id
        listed = cli("webhooks", "list", our_url, task, *spoken)
        assert sorted(listed.out.splitlines()) == sorted((made.out + again.out).splitlines())
        assert cli("webhooks", "get", our_url, task, *spoken).out == again.out
        assert cli("webhooks", "get", our_url, task, "a", *spoken).out == made.out

    def test_a_deleted_one_is_gone_and_may_be_deleted_again(self, cli, our_url, spoken):
        task = task_of(cli("call", our_url, "hello", *spoken))
        cli("webhooks", "set", our_url, task, HOOK, "--push-id", "a", *spoken)
        for _ in range(2):
            result = cli("webhooks", "delete", our_url, task, "a", *spoken)
            assert (result.code, result.out) == (0, f"deleted  webhook a  task {task}\n")
        assert cli("webhooks", "list", our_url, task, *spoken).out == ""
        gone = cli("webhooks", "get", our_url, task, "a", *spoken)
        assert (gone.code, gone.out) == (2, "")
        assert "or it has no webhook a" in gone.err
        assert cli("webhooks", "delete", our_url, task, "a", "--json", *spoken).out == "{}\n"

    def test_the_sdks_server_is_understood(self, cli, sdk_url, spoken):
        task = task_of(cli("call", sdk_url, "ask", *spoken))
        made = cli("webhooks", "set", sdk_url, task, HOOK, "--push-id", "a", *spoken)
        assert (made.code, made.out) == (0, f"a\t{HOOK}\t-\t-\n")
        default = cli("webhooks", "set", sdk_url, task, HOOK, *spoken)
        assert default.out == f"{task}\t{HOOK}\t-\t-\n"
        assert cli("webhooks", "get", sdk_url, task, "a", *spoken).out == made.out
        assert cli("webhooks", "list", sdk_url, task, *spoken).out.count(HOOK) == 2
        deleted = cli("webhooks", "delete", sdk_url, task, "a", *spoken)
        if spoken == SPOKEN["http+json-0.3"]:
            assert deleted.code == 2
            assert "takes no DELETE (HTTP 404)" in deleted.err
            assert "--binding jsonrpc may" in deleted.err
        else:
            assert deleted.code == 0
            assert cli("webhooks", "list", sdk_url, task, *spoken).out == default.out

    def test_a_task_that_is_not_there_is_bad_input(self, cli, our_url, spoken):
        for command in ("list", "get", "delete"):
            result = cli("webhooks", command, our_url, "a b/c", *spoken)
            assert (result.code, result.out) == (2, "")
        result = cli("webhooks", "set", our_url, "nobody-s", HOOK, *spoken)
        assert (result.code, result.out) == (2, "")
        assert "Task not found" in result.err

    def test_a_webhook_that_the_server_refuses_is_bad_input(self, cli, our_url, spoken):
        task = task_of(cli("call", our_url, "hello", *spoken))
        metadata = "http://169.254.169.254/latest?key-in-the-query"
        result = cli("webhooks", "set", our_url, task, metadata, *spoken)
        assert (result.code, result.out) == (2, "")
        assert "the server refused: " in result.err
        assert "169.254.169.254" in result.err
        assert "key-in-the-query" not in result.err


class TestSecrets:
    @pytest.fixture
    def task(self, cli, our_url):
        task = task_of(cli("call", our_url, "hello"))
        token, secret, key = SECRETS
        auth = ("--push-token", token, "--push-auth", f"ApiKey {secret}")
        made = cli("webhooks", "set", our_url, task, f"{HOOK}?key={key}", *auth, "--push-id", "a")
        assert made.out == f"a\t{HOOK}?***\tApiKey ***\t***\n"
        return task

    @pytest.mark.parametrize("json_", [(), ("--json",)], ids=["text", "json"])
    @pytest.mark.parametrize("command", [("list",), ("get", "a")], ids=["list", "get"])
    def test_they_are_shown_only_if_asked_for(self, cli, our_url, task, command, json_):
        name, *id = command
        words = ("webhooks", name, our_url, task, *id, *json_)
        without, shown = cli(*words), cli(*words, "--show-secrets")
        assert without.code == shown.code == 0
        assert without.out.count("***") == 3
        assert [secret in without.out for secret in SECRETS] == [False] * 3
        assert [secret in shown.out for secret in SECRETS] == [True] * 3
        if json_:
            config = json.loads(shown.out)
            config = config["configs"][0] if name == "list" else config
            assert (config["id"], config["token"]) == ("a", SECRETS[0])

    def test_a_server_that_sends_them_back_does_not_get_them_printed(self, cli):
        async def handle(request):
            if request.method == "GET":
                interface = {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
                can = {"pushNotifications": True}
                card = {"name": "n", "supportedInterfaces": [interface], "capabilities": can}
                return JSONResponse(card)
            error = {"code": -32602, "message": (await request.body()).decode()}
            return JSONResponse({"id": 1, "error": error})

        route = Route("/{path:path}", handle, methods=["GET", "POST"])
        basic = ("--push-token", "t0ken-it-is", "--push-auth", "Basic me:password-it-is")
        with serve(Starlette(routes=[route])) as url:
            called = cli("call", url, "hi", "--push-url", HOOK, *basic)
            made = cli("webhooks", "set", url, "t", HOOK, *basic)
        encoded = base64.b64encode(b"me:password-it-is").decode()
        for result in (called, made):
            assert result.code == 2
            assert HOOK in result.err
            assert result.err.count("***") == 2
            for secret in ("t0ken-it-is", "password-it-is", encoded):
                assert secret not in result.err

    @pytest.mark.parametrize("words", ["Bearer s3cret", "Bearer file:{path}", "file:{path}", "-"])
    def test_they_come_from_where_other_secrets_do(self, tmp_path, monkeypatch, words):
        path = tmp_path / "secret"
        path.write_text("s3cret\n" if words.startswith("Bearer") else "Bearer s3cret\n")
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"Bearer s3cret\n")))
        webhook = read_webhook(Push(HOOK, auth=words.format(path=path)), environ={})
        said = webhook.config.authentication
        assert (said.scheme, said.credentials) == ("Bearer", "s3cret")
        assert "s3cret" in webhook.secrets
        assert "s3cret" not in repr(webhook)

    def test_the_environment_has_them_for_a_webhook_without(self):
        environ = {"A2A_FN_CALL_PUSH_TOKEN": "theirs", "A2A_FN_CALL_PUSH_AUTH": "HMAC of theirs"}
        config = read_webhook(Push(HOOK), environ=environ).config
        said = config.authentication
        assert (config.token, said.scheme, said.credentials) == ("theirs", "HMAC", "of theirs")
        own = read_webhook(Push(HOOK, "mine", "HMAC of mine"), environ=environ).config
        assert (own.token, own.authentication.credentials) == ("mine", "of mine")

    @pytest.mark.parametrize("auth", ["s3cret", "s3cret ", "(s3cret) of mine", "s3cret:\nx y"])
    def test_a_way_that_is_not_one_is_not_repeated(self, auth):
        with pytest.raises(Failure, match='must be "SCHEME CREDENTIALS"') as caught:
            read_webhook(Push(HOOK, auth=auth), environ={})
        assert "s3cret" not in str(caught.value)

    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("", "must be an http"),
            ("hooks.example.org/a2a", "must be an http"),
            ("ftp://hooks.example.org/a2a", "must be an http"),
            ("https:///s3cret", "must be an http"),
            ("https://hooks.example.org:0/", "must be an http"),
            ("https://hooks.example.org:99999/", "must be an http"),
            ("https://[::1/s3cret", "must be an http"),
            ("https://hooks.example.org/s3cret x", "must be an http"),
            ("https://hooks.example.org/s3cret\n", "must be an http"),
            ("https://me:s3cret@hooks.example.org/", "credentials do not belong in the URL"),
        ],
    )
    def test_a_url_that_cannot_be_one_is_told_without_repeating_it(self, url, why):
        with pytest.raises(Failure, match=f"^WEBHOOK:? {why}") as caught:
            read_webhook(Push(url), "WEBHOOK", environ={})
        assert "s3cret" not in str(caught.value)


def test_every_page_is_listed_and_a_server_that_repeats_itself_is_left(cli):
    asked = []

    async def handle(request):
        if request.method == "GET" and request.url.path == WELL_KNOWN:
            interface = {"url": "/", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
            can = {"pushNotifications": True}
            return JSONResponse(
                {"name": "n", "supportedInterfaces": [interface], "capabilities": can}
            )
        token = request.query_params.get("pageToken", "0")
        asked.append((request.url.path, token))
        configs = [{"id": f"w{token}", "taskId": "t", "url": "https://u@h.example/\x1b[2J\tx#y"}]
        return JSONResponse({"configs": configs, "nextPageToken": str(min(int(token) + 1, 2))})

    route = Route("/{path:path}", handle, methods=["GET"])
    with serve(Starlette(routes=[route])) as url:
        result = cli("webhooks", "list", url, "t", "--tenant", "a b")
    path = "/a b/tasks/t/pushNotificationConfigs"
    assert asked == [(path, "0"), (path, "1"), (path, "2")]
    rows = [line.split("\t") for line in result.out.splitlines()]
    assert [row[0] for row in rows] == ["w0", "w1", "w2"]
    assert {row[1] for row in rows} == {"https://***@h.example/[2J x?***"}


@pytest.mark.parametrize("answer", [{"jsonrpc": "2.0", "id": 1}, {"id": 1, "result": None}, None])
def test_a_deletion_may_be_answered_with_nothing(cli, answer):
    binding = "JSONRPC" if answer else "HTTP+JSON"

    async def handle(request):
        if request.method == "GET":
            interface = {"url": "/", "protocolBinding": binding, "protocolVersion": "1.0"}
            can = {"pushNotifications": True}
            return JSONResponse(
                {"name": "n", "supportedInterfaces": [interface], "capabilities": can}
            )
        return JSONResponse(answer) if answer else Response(status_code=204)

    route = Route("/{path:path}", handle, methods=["GET", "POST", "DELETE"])
    with serve(Starlette(routes=[route])) as url:
        result = cli("webhooks", "delete", url, "t", "a")
    assert (result.code, result.out) == (0, "deleted  webhook a  task t\n")
