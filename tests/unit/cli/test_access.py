"""Credentials: sent where they belong and nowhere else, and never shown."""

from __future__ import annotations

import base64
import io
import json
import sys

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from a2a_fn.cli.access import Access
from a2a_fn.cli.cards import WELL_KNOWN
from a2a_fn.cli.credentials import read_credentials
from a2a_fn.cli.failures import Failure
from a2a_fn.settings import load

from .conftest import serve

SECRET = "s3cret-of-the-user"
SCHEMES = {
    "bearerAuth": {"httpAuthSecurityScheme": {"scheme": "bearer"}},
    "apiKeyAuth": {"apiKeySecurityScheme": {"location": "header", "name": "X-Team-Key"}},
}


class Host:
    """Serves a card, one task with an artifact, and keeps the headers of each request."""

    def __init__(self, **card):
        self.card, self.answer, self.artifact, self.seen = card, None, "/file", []

    def headers(self, path):
        """The headers of the last request for a path."""
        return next(headers for place, headers in reversed(self.seen) if place == path)

    async def handle(self, request):
        self.seen.append((request.url.path, request.headers))
        if request.url.path == WELL_KNOWN:
            interface = {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            return JSONResponse({"name": "host", "supportedInterfaces": [interface], **self.card})
        if request.url.path == "/rpc":
            return self.answer or JSONResponse({"jsonrpc": "2.0", "id": 1, "result": self.task()})
        if request.url.path == f"/old{WELL_KNOWN}":
            return RedirectResponse(self.moved + WELL_KNOWN, 301)
        if request.url.path == "/away":
            return RedirectResponse(request.query_params["to"])
        return Response(b"content", media_type="application/zip")

    def task(self):
        part = {"url": self.artifact, "filename": "a.zip"}
        artifact = {"artifactId": "a", "parts": [part]}
        status = {"state": "TASK_STATE_COMPLETED"}
        return {"id": "t", "contextId": "c", "status": status, "artifacts": [artifact]}

    def serve(self):
        route = Route("/{path:path}", self.handle, methods=["GET", "POST"])
        return serve(Starlette(routes=[route]))


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch):
    for name in ("TOKEN", "BASIC", "API_KEY", "API_KEY_HEADER", "HEADERS", "CARD_SECRET"):
        monkeypatch.delenv(f"A2A_FN_CALL_{name}", raising=False)


@pytest.fixture
def host():
    server = Host(securitySchemes=SCHEMES)
    with server.serve() as server.url:
        yield server


@pytest.fixture
def other():
    server = Host()
    with server.serve() as server.url:
        yield server


BASIC = base64.b64encode(b"me:pass:word").decode()


class TestSending:
    @pytest.mark.parametrize(
        ("options", "name", "value"),
        [
            (("--token", SECRET), "authorization", f"Bearer {SECRET}"),
            (("--basic", "me:pass:word"), "authorization", f"Basic {BASIC}"),
            (("--api-key", SECRET), "x-team-key", SECRET),
            (("--api-key", SECRET, "--api-key-header", "X-Mine"), "x-mine", SECRET),
            (("--header", f"X-Any: {SECRET}"), "x-any", SECRET),
        ],
    )
    def test_each_kind_goes_along_with_every_call(self, cli, host, options, name, value):
        assert cli("task", host.url, "t", *options).code == 0
        assert host.headers("/rpc")[name] == value

    def test_the_card_itself_may_want_them(self, cli, host):
        cli("card", host.url, "--token", SECRET, "--api-key", "key-1234")
        assert host.headers(WELL_KNOWN)["authorization"] == f"Bearer {SECRET}"
        assert host.headers(WELL_KNOWN)["x-api-key"] == "key-1234"  # its name is not known yet

    @pytest.mark.parametrize(
        ("variable", "text", "name", "value"),
        [
            ("TOKEN", SECRET, "authorization", f"Bearer {SECRET}"),
            ("BASIC", "me:pass:word", "authorization", f"Basic {BASIC}"),
            ("API_KEY", SECRET, "x-team-key", SECRET),
            ("HEADERS", f"X-A: 1234\n\nX-Any: {SECRET}\n", "x-any", SECRET),
        ],
    )
    def test_from_the_environment(self, cli, host, monkeypatch, variable, text, name, value):
        monkeypatch.setenv(f"A2A_FN_CALL_{variable}", text)
        cli("task", host.url, "t")
        assert host.headers("/rpc")[name] == value

    def test_from_a_file(self, cli, host, tmp_path):
        (tmp_path / "token").write_text(f"\ufeff{SECRET}\n", "utf-8")
        cli("task", host.url, "t", "--token", f"file:{tmp_path / 'token'}")
        assert host.headers("/rpc")["authorization"] == f"Bearer {SECRET}"

    def test_from_stdin(self, cli, host, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{SECRET}\nmore"))
        cli("task", host.url, "t", "--token", "-")
        assert host.headers("/rpc")["authorization"] == f"Bearer {SECRET}"

    def test_stdin_holds_one_thing(self, cli, host):
        result = cli("call", host.url, "-", "--token", "-")
        assert result.code == 2
        assert "stdin holds the message" in result.err
        assert host.seen == []

    def test_without_credentials_none_are_sent(self, cli, host):
        cli("task", host.url, "t")
        assert "authorization" not in host.headers("/rpc")


class TestNotSending:
    def test_an_interface_of_another_origin_gets_none(self, cli, host, other):
        interface = {"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        host.card["supportedInterfaces"] = [{"url": f"{other.url}/rpc", **interface}]
        result = cli("task", host.url, "t", "--token", SECRET)
        assert result.code == 0
        assert "authorization" not in other.headers("/rpc")
        assert f"no credentials are sent to {other.url}/rpc" in " ".join(result.err.split())
        trusted = cli("task", host.url, "t", "--token", SECRET, "--trust-url")
        assert other.headers("/rpc")["authorization"] == f"Bearer {SECRET}"
        assert "no credentials" not in trusted.err

    def test_nor_is_it_said_when_there_are_none(self, cli, host, other):
        interface = {"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        host.card["supportedInterfaces"] = [{"url": f"{other.url}/rpc", **interface}]
        assert "credentials" not in cli("task", host.url, "t").err

    def test_a_denial_there_says_why(self, cli, host, other):
        interface = {"protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        host.card["supportedInterfaces"] = [{"url": f"{other.url}/rpc", **interface}]
        other.answer = JSONResponse({"error": "Unauthorized"}, 401)
        result = cli("task", host.url, "t", "--token", SECRET)
        assert result.code == 2
        assert f"got none, since it is not {host.url}: --trust-url" in result.err

    def test_an_artifact_here_gets_them(self, cli, host, tmp_path):
        cli("task", host.url, "t", "--out", tmp_path, "--api-key", SECRET)
        assert host.headers("/file")["x-team-key"] == SECRET
        assert (tmp_path / "a.zip").read_bytes() == b"content"

    @pytest.mark.parametrize("place", ["{}/file?X-Signature=abc", "/away?to={}/file"])
    def test_an_artifact_elsewhere_gets_none(self, cli, host, other, tmp_path, place):
        host.artifact = place.format(other.url)
        options = ("--token", SECRET, "--header", "X-Any: 1234", "--api-key", "key-1234")
        assert cli("task", host.url, "t", "--out", tmp_path, *options).code == 0
        assert (tmp_path / "a.zip").read_bytes() == b"content"
        sent = other.headers("/file")
        assert not {"authorization", "x-any", "x-api-key", "x-team-key"} & set(sent)

    @pytest.mark.parametrize(
        "place", ["http://10.0.0.1/x", "file:///etc/passwd", "/away?to=http://169.254.169.254/x"]
    )
    def test_an_artifact_at_an_odd_place_is_not_fetched(self, cli, host, tmp_path, place):
        host.artifact = place
        result = cli("task", host.url, "t", "--out", tmp_path)
        assert result.code == 2
        assert "not fetched" in result.err or "is not an http(s) URL" in result.err
        assert list(tmp_path.iterdir()) == []

    def test_a_call_follows_no_redirect(self, cli, host, other):
        host.answer = RedirectResponse(f"{other.url}/rpc?x={SECRET}", 307)
        result = cli("task", host.url, "t", "--token", SECRET)
        assert result.code == 2
        assert f"has moved to {other.url}/rpc (HTTP 307)" in result.err
        assert other.seen == []

    def test_a_card_that_moved_is_followed_without_them(self, cli, host, other):
        host.moved = other.url
        assert cli("card", f"{host.url}/old", "--token", SECRET).out.startswith("host")
        ((path, headers),) = other.seen
        assert path == WELL_KNOWN
        assert "authorization" not in headers


class TestDenials:
    @pytest.mark.parametrize(
        ("status", "options", "why"),
        [
            (
                401,
                (),
                "wants credentials (HTTP 401); the card announces "
                "an API key in X-Team-Key (--api-key), or bearer (--token)",
            ),
            (401, ("--token", "wrong"), "refuses these credentials (HTTP 401); the card announces"),
            (403, ("--token", "wrong"), "does not allow this with these credentials (HTTP 403)"),
        ],
    )
    def test_they_say_what_to_do(self, cli, host, status, options, why):
        host.answer = JSONResponse({"error": "no"}, status)
        result = cli("task", host.url, "t", *options)
        assert (result.code, result.out) == (2, "")
        assert why in result.err
        assert result.err.count("\n") == 1

    def test_a_challenge_helps_where_there_is_no_card(self, cli):
        async def never(request):
            return Response("", 401, {"WWW-Authenticate": 'Bearer realm="x"'})

        with serve(Starlette(routes=[Route("/{path:path}", never)])) as url:
            assert 'it asks for Bearer realm="x"' in cli("card", url).err

    def test_too_many_requests(self, cli, host):
        host.answer = JSONResponse({}, 429, {"Retry-After": "7"})
        result = cli("task", host.url, "t")
        assert result.code == 3
        assert "gets too many requests (HTTP 429); try again in 7 s" in result.err

    def test_what_the_server_sends_back_is_not_printed(self, cli, host):
        for said in (
            f"bad Bearer {SECRET}",
            f"bad {base64.b64encode(b'me:' + SECRET.encode()).decode()}",
        ):
            error = {"code": -32602, "message": said}
            host.answer = JSONResponse({"jsonrpc": "2.0", "id": 1, "error": error})
            for options in (("--token", SECRET), ("--basic", f"me:{SECRET}")):
                result = cli("task", host.url, "t", *options)
                assert "the server refused: bad" in result.err
                assert SECRET not in result.err
        assert "bad ***" in result.err


class TestMistakes:
    @pytest.mark.parametrize(
        ("options", "why"),
        [
            ({"token": SECRET, "basic": f"me:{SECRET}"}, "given twice"),
            ({"token": SECRET, "header": [f"authorization: {SECRET}"]}, "given twice"),
            ({"token": f"{SECRET}\nX-Evil: 1"}, "printable ASCII"),
            ({"token": f"{SECRET}\u20ac"}, "printable ASCII"),
            ({"api_key": f"{SECRET} \x00 x"}, "printable ASCII"),
            ({"basic": SECRET}, "USER:PASSWORD"),
            ({"header": [SECRET]}, '"Name: value"'),
            ({"header": [f"Content-Length: {SECRET}"]}, "sets this header itself"),
            ({"api_key": SECRET, "api_key_header": "a b"}, "not the name of a header"),
            ({"token": "file:/does/not/exist"}, "cannot be read"),
            ({"token": " "}, "nothing in it"),
        ],
    )
    def test_they_are_told_without_the_secret(self, options, why):
        with pytest.raises(Failure) as failure:
            read_credentials(Access(**options), {})
        assert why in str(failure.value)
        assert SECRET not in str(failure.value)

    def test_credentials_do_not_show_themselves(self):
        credentials = read_credentials(Access(token=SECRET, api_key="key-1234"), {})
        assert SECRET not in repr(credentials)
        assert "key-1234" not in repr(credentials)

    @pytest.mark.parametrize("name", ["", "Host", "a b", "x\r\ny: z", "content-length"])
    def test_a_card_cannot_name_any_header(self, name):
        assert read_credentials(Access(api_key="key-1234"), {}).sent(name) == {
            "X-API-Key": "key-1234"
        }


REQUIRED = {"extensions": [{"uri": "urn:x:1", "required": True}, {"uri": "urn:x:2"}]}


class TestExtensions:
    def test_a_required_one_that_was_not_asked_for_stops_the_call(self, cli, host):
        host.card["capabilities"] = REQUIRED
        result = cli("task", host.url, "t")
        assert result.code == 2
        assert "not asked for: --extension urn:x:1\n" in result.err
        assert [path for path, _ in host.seen] == [WELL_KNOWN]

    def test_those_asked_for_are_sent(self, cli, host):
        host.card["capabilities"] = REQUIRED
        asked = ("--extension", "urn:x:1", "--extension", "urn:x:3")
        assert cli("task", host.url, "t", *asked).code == 0
        assert host.headers("/rpc")["a2a-extensions"] == "urn:x:1, urn:x:3"

    def test_0_3_knows_the_header_by_another_name(self, cli, host):
        interface = {"url": "/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "0.3.0"}
        host.card["supportedInterfaces"] = [interface]
        host.answer = JSONResponse(
            {
                "jsonrpc": "2.0",
                "id": 1,
                "result": {
                    "kind": "task",
                    "id": "t",
                    "contextId": "c",
                    "status": {"state": "completed"},
                },
            }
        )
        assert cli("task", host.url, "t", "--extension", "urn:x:1").code == 0
        assert host.headers("/rpc")["x-a2a-extensions"] == "urn:x:1"
        assert host.headers("/rpc")["a2a-version"] == "0.3"

    def test_not_a_uri(self, cli, host):
        assert "is not the URI" in cli("task", host.url, "t", "--extension", "a, b").err


def test_a_server_does_not_take_them_for_settings():
    load(environ={"A2A_FN_CALL_TOKEN": SECRET})


def test_help_shows_no_secret(cli, monkeypatch):
    monkeypatch.setenv("A2A_FN_CALL_TOKEN", SECRET)
    result = cli("call", "--help")
    assert "--trust-url" in result.out
    assert SECRET not in result.out + json.dumps(result.err)
