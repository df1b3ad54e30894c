"""Where a call ends up: in which tenant and folder, and whether the hints lead there again."""

from __future__ import annotations

import json
import shlex

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from a2a_fn.cli.cards import WELL_KNOWN, unused_path

from .conftest import serve

STATUS = {"state": "TASK_STATE_INPUT_REQUIRED"}
TASK = {"id": "t", "contextId": "c", "status": STATUS}
COMMANDS = {
    "call": ("hi",),
    "watch": ("t",),
    "task": ("t",),
    "tasks": (),
    "cancel": ("t",),
    "card": ("--extended",),
}


class Agent:
    """Has the same task in every tenant, and keeps what it was asked."""

    def __init__(self):
        self.asked = []
        self.interfaces = [
            ("/old", "JSONRPC", "0.3", ""),
            ("/rpc", "JSONRPC", "1.0", "of-the-card"),
            ("/rest", "HTTP+JSON", "1.0", "of-the-card"),
        ]

    async def handle(self, request):
        path = request.url.path
        if path == WELL_KNOWN:
            return JSONResponse(self.card())
        if path.endswith(".json"):
            return JSONResponse({}, 404)
        body = json.loads(await request.body() or b"{}")
        self.asked.append((path, body.get("params", body)))
        method = body.get("method", path)
        result = TASK
        if "xtendedAgentCard" in method:
            result = self.card()
        elif "essage" in method or "ubscribe" in method:
            result = {"task": TASK}
        elif method == "ListTasks" or path.endswith("/tasks"):
            result = {"tasks": []}
        return JSONResponse(result if "method" not in body else {"id": 1, "result": result})

    def card(self):
        names = ("url", "protocolBinding", "protocolVersion", "tenant")
        return {
            "name": "agent",
            "capabilities": {"extendedAgentCard": True},
            "supportedInterfaces": [dict(zip(names, one, strict=True)) for one in self.interfaces],
        }


@pytest.fixture
def agent():
    made = Agent()
    route = Route("/{path:path}", made.handle, methods=["GET", "POST"])
    with serve(Starlette(routes=[route])) as made.url:
        yield made


class TestTenant:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_every_command_asks_in_it(self, cli, agent, command):
        for binding in ("jsonrpc", "http+json"):
            options = ("--tenant", "a b", "--binding", binding)
            cli(command, agent.url, *COMMANDS[command], *options)
        calls = {path: asked for path, asked in agent.asked}
        assert calls.pop("/rpc")["tenant"] == "a b"
        assert calls
        for path, asked in calls.items():
            assert path.startswith("/rest/a b/")
            assert "tenant" not in asked

    def test_without_it_the_card_names_the_tenant(self, cli, agent):
        cli("task", agent.url, "t", "--protocol", "1.0")
        assert agent.asked[-1] == ("/rpc", {"tenant": "of-the-card", "id": "t"})

    def test_an_interface_of_0_3_is_passed_over(self, cli, agent):
        cli("task", agent.url, "t", "--tenant", "acme")
        assert agent.asked[-1][0] == "/rpc"

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (("--tenant", "acme", "--protocol", "0.3"), "A2A 0.3 has no tenants: leave out"),
            (("--tenant", " "), "--tenant is empty"),
            (("--tenant", ""), "--tenant is empty"),
        ],
    )
    def test_mistakes_are_told_before_anything_is_asked(self, cli, agent, options, why):
        result = cli("task", agent.url, "t", *options)
        assert (result.code, result.out, agent.asked) == (2, "", [])
        assert why in result.err

    def test_an_agent_of_0_3_only_has_none(self, cli, agent):
        agent.interfaces = agent.interfaces[:1]
        result = cli("task", agent.url, "t", "--tenant", "acme")
        assert (result.code, agent.asked) == (2, [])
        assert "offers JSONRPC 0.3 (A2A 0.3 has no tenants)" in result.err


def hint(result):
    """The words of the command that goes on."""
    return shlex.split(" ".join(result.err.split()).split("go on: a2a-fn ")[1])


class TestPath:
    def test_one_that_is_not_used_is_told_and_is_not_in_the_hints(self, cli, agent):
        result = cli("call", f"{agent.url}/acme", "hi", "--protocol", "1.0")
        told = f"the card is that of {agent.url}; /acme is not used: --tenant acme names a tenant"
        assert " ".join(result.err.split()).count(told) == 1
        assert hint(result) == ["call", agent.url, "...", "--task", "t"]

    def test_json_is_told_too(self, cli, agent):
        result = cli("card", f"{agent.url}/acme", "--json")
        assert json.loads(result.out) == agent.card()
        assert "/acme is not used" in " ".join(result.err.split())

    def test_a_hint_has_the_tenant_and_works(self, cli, agent):
        first = cli("call", f"{agent.url}/x", "hi", "--tenant", "a b")
        assert "names a tenant" not in " ".join(first.err.split())
        command, *rest = hint(first)
        agent.asked.clear()
        assert cli(command, *rest).code == 0
        ((path, params),) = agent.asked
        assert (path, params["tenant"], params["message"]["taskId"]) == ("/rpc", "a b", "t")

    @pytest.mark.parametrize(
        ("url", "place", "interface", "unused"),
        [
            ("http://h/acme", "", "/rpc", "/acme"),
            ("http://h/a/b/", "", "/a/bc", "/a/b"),
            ("http://h/rpc", "", "/rpc", ""),  # the URL of an interface names the agent, too
            ("http://h/rpc/", "", "http://proxy/rpc/v1", ""),
            ("http://h/", "", "/rpc", ""),
            ("http://h?x=y", "", "/rpc", ""),
            ("http://h/acme", "/acme", "/rpc", ""),
            ("http://h" + WELL_KNOWN, "", "/rpc", ""),
            ("http://h/acme", "", "http://[", ""),  # and choosing it is a failure
        ],
    )
    def test_when_one_is_not_used(self, url, place, interface, unused):
        offer = {"url": interface, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
        document = {"name": "n", "supportedInterfaces": [offer]}
        assert unused_path(url, f"http://h{place}{WELL_KNOWN}", document) == unused

    def test_an_interface_without_a_url_is_one_clear_failure(self, cli, agent):
        agent.interfaces = [("http://[", "JSONRPC", "1.0", "")]
        result = cli("task", agent.url, "t")
        assert result.code == 3
        assert "names 'http://[', which is not a URL" in result.err


class TestFolder:
    @pytest.mark.parametrize("binding", ["jsonrpc", "http+json"])
    @pytest.mark.parametrize(
        ("options", "folder"),
        [
            (("--cwd", "/srv/./iac"), {"cwd": "/srv/./iac"}),
            (("--cwd", "C:\\iac", "--create-cwd"), {"cwd": "C:\\iac", "createCwd": True}),
        ],
    )
    def test_it_goes_along_as_given(self, cli, agent, binding, options, folder):
        cli("call", agent.url, "hi", *options, "--protocol", "1.0", "--binding", binding)
        assert agent.asked[0][1]["message"]["metadata"] == {"iac_code": folder}

    def test_0_3_says_it_the_same_way(self, cli, agent):
        cli("call", agent.url, "hi", "--cwd", "/srv", "--create-cwd")
        ((path, params),) = agent.asked
        assert path == "/old"
        assert params["message"]["metadata"] == {"iac_code": {"cwd": "/srv", "createCwd": True}}

    def test_without_it_there_is_no_metadata(self, cli, agent):
        cli("call", agent.url, "hi", "--protocol", "1.0")
        assert "metadata" not in agent.asked[0][1]["message"]

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (("--cwd", "iac"), "must be absolute"),
            (("--cwd", ""), "must be absolute"),
            (("--create-cwd",), "name it"),
        ],
    )
    def test_mistakes_are_told_before_anything_is_asked(self, cli, agent, options, why):
        result = cli("call", agent.url, "hi", *options)
        assert (result.code, result.out, agent.asked) == (2, "", [])
        assert why in result.err
