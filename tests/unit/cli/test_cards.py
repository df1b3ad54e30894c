"""The card: where it is found, which of its interfaces is used, and whether it is believed."""

from __future__ import annotations

import contextlib
import json

import pytest
from a2a.types.a2a_pb2 import (
    AgentCard,
    CancelTaskRequest,
    GetTaskRequest,
    StreamResponse,
    Task,
)
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from google.protobuf.json_format import ParseDict
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from a2a_fn.cli.bindings import binding_for
from a2a_fn.cli.cards import choose, read_card
from a2a_fn.cli.failures import Failure
from a2a_fn.protocol.keys import jwks, load_keys
from a2a_fn.protocol.signing import sign

from .conftest import serve

CARD, OLD = "/.well-known/agent-card.json", "/.well-known/agent.json"


def pages(documents):
    """An app that serves JSON documents by path; what is a number is a status."""

    async def page(request):
        found = documents.get(request.url.path, 404)
        if callable(found):
            found = found()
        return PlainTextResponse("", found) if isinstance(found, int) else JSONResponse(found)

    return Starlette(routes=[Route("/{path:path}", page)])


class TestPlaces:
    @pytest.mark.parametrize(
        ("documents", "url", "name"),
        [
            ({CARD: {"name": "new"}, OLD: {"name": "old"}}, "", "new"),
            ({OLD: {"name": "old"}}, "", "old"),
            ({f"/x{CARD}": {"name": "below"}, CARD: {"name": "root"}}, "/x", "below"),
            ({f"/x{OLD}": {"name": "below"}, CARD: {"name": "root"}}, "/x/", "below"),
            ({CARD: {"name": "root"}}, "/x/rpc?y=z", "root"),
            ({f"/x{CARD}": 401, f"/x{OLD}": 403, CARD: {"name": "root"}}, "/x", "root"),
            (
                {"/cards/mine.json": {"name": "mine"}, CARD: {"name": "root"}},
                "/cards/mine.json",
                "mine",
            ),
        ],
    )
    def test_where_it_is_found(self, cli, documents, url, name):
        with serve(pages(documents)) as root:
            assert json.loads(cli("card", root + url, "--json").out) == {"name": name}

    def test_a_denial_is_told_if_there_is_none_elsewhere(self, cli):
        with serve(pages({CARD: 401})) as root:
            assert "wants credentials" in cli("card", root).err


def card(*interfaces):
    names = ("protocolBinding", "protocolVersion", "url", "tenant")
    offers = [dict(zip(names, interface, strict=False)) for interface in interfaces]
    return read_card({"name": "c", "supportedInterfaces": offers})


class TestChoice:
    BOTH = card(
        ("GRPC", "1.0", "grpc"),
        ("HTTP+JSON", "0.3.0", "a"),
        ("http+json", "1.0", "b"),
        ("JSONRPC", "1.1", "c"),
        ("JSONRPC", "0.3", "d"),
    )

    @pytest.mark.parametrize(
        ("binding", "version", "url", "spoken"),
        [
            ("", "", "a", "0.3"),
            ("", "1.0", "b", "1.0"),
            ("jsonrpc", "", "c", "1.0"),
            ("jsonrpc", "0.3", "d", "0.3"),
        ],
    )
    def test_the_first_that_is_spoken_and_asked_for(self, binding, version, url, spoken):
        chosen = choose(self.BOTH, "http://x/y", binding, version)
        assert (chosen.url, chosen.version) == (f"http://x/{url}", spoken)

    @pytest.mark.parametrize("version", ["2.0", "0.2.6", "10.0", "1.x", "0.30", ""])
    def test_a_version_that_is_not_spoken(self, version):
        with pytest.raises(Failure, match=f"offers JSONRPC {version}"):
            choose(card(("JSONRPC", version, "a")), "http://x")

    def test_what_was_asked_for_is_named(self):
        with pytest.raises(Failure, match=r"http\+json 1.0 was asked for; the card of http://x"):
            choose(card(("JSONRPC", "1.0", "a")), "http://x", "http+json", "1.0")

    def test_a_card_of_0_3(self):
        old = {
            "name": "old",
            "url": "http://a/",
            "preferredTransport": "JSONRPC",
            "protocolVersion": "0.3.0",
            "additionalInterfaces": [{"url": "http://b/", "transport": "HTTP+JSON"}],
            "capabilities": {"streaming": True},
            "supportsAuthenticatedExtendedCard": True,
            "securitySchemes": {"k": {"type": "apiKey", "in": "header", "name": "X-K"}},
        }
        read = read_card(old)
        assert (choose(read, "http://x").url, choose(read, "http://x", "http+json").url) == (
            "http://a/",
            "http://b/",
        )
        assert read.capabilities.streaming
        assert read.capabilities.extended_agent_card
        assert read.security_schemes["k"].api_key_security_scheme.name == "X-K"
        assert old["supportsAuthenticatedExtendedCard"]  # it is shown as it was served

    @pytest.mark.parametrize(
        "odd", [{"capabilities": 3}, {"skills": [1]}, {"securitySchemes": [1]}]
    )
    def test_an_odd_card_of_0_3_is_one_clear_failure(self, odd):
        with pytest.raises(Failure, match="agent card is not valid"):
            read_card({"name": "old", "url": "http://a/", **odd})


class TestTenant:
    def test_it_is_in_the_params_or_in_the_path(self):
        request = GetTaskRequest(id="a/b", history_length=0)
        rpc, rest = (
            binding_for(one.interface, one.url, one.version).ask("GetTask", request)
            for one in (
                choose(card(("JSONRPC", "1.0", "http://x/rpc", "t 1")), "http://x"),
                choose(card(("HTTP+JSON", "1.0", "http://x/rest/?k=v", "t 1")), "http://x"),
            )
        )
        assert json.loads(rpc.body)["params"] == {"id": "a/b", "historyLength": 0, "tenant": "t 1"}
        assert rest.url == "http://x/rest/t%201/tasks/a%2Fb?k=v&historyLength=0"

    @pytest.mark.parametrize(("task", "path"), [("..", "%2E%2E"), ("a?b#c", "a%3Fb%23c")])
    def test_a_task_cannot_leave_its_place(self, task, path):
        one = choose(card(("HTTP+JSON", "1.0", "http://x")), "http://x")
        ask = binding_for(one.interface, one.url, "1.0").ask(
            "CancelTask", CancelTaskRequest(id=task)
        )
        assert ask.url == f"http://x/tasks/{path}:cancel"


NAMES = [
    "kind", "id", "contextId", "status", "state", "message", "messageId", "parts", "role", "text",
    "result", "error", "code", "data", "task", "statusUpdate", "artifact", "taskId",
    "final", "msg", "content", "type", "details", "reason",
]  # fmt: skip
ODD = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(NAMES) | st.text(max_size=2),
            inner | st.sampled_from(["task", "message", "status-update", "completed", "agent"]),
            max_size=4,
        )
    ),
    max_leaves=8,
)


@pytest.mark.parametrize("version", ["1.0", "0.3"])
@pytest.mark.parametrize("binding", ["JSONRPC", "HTTP+JSON"])
@given(body=ODD)
@example(body={"kind": []})
@settings(max_examples=150, deadline=None)
def test_whatever_a_server_answers_is_an_answer_or_one_clear_failure(binding, version, body):
    one = choose(card((binding, version, "/")), "http://x")
    spoken = binding_for(one.interface, one.url, one.version)
    for document, into in ((body, StreamResponse()), ({"result": body}, Task())):
        with contextlib.suppress(Failure):
            assert spoken.result("GetTask", spoken.document(document), into) is into


def pem():
    key = ec.generate_private_key(ec.SECP256R1())
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


SECRET = "a secret of thirty-two bytes or more"
DOCUMENT = {
    "name": "signed",
    "description": "d",
    "version": "1",
    "supportedInterfaces": [{"url": "/", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}],
    "capabilities": {"streaming": True},
    "defaultInputModes": ["text/plain"],
    "defaultOutputModes": ["text/plain"],
    "skills": [{"id": "s", "name": "s", "description": "s", "tags": ["t"]}],
}


def signed(*keys):
    signatures = sign(ParseDict(DOCUMENT, AgentCard()), DOCUMENT, keys, jku="http://x/jwks")
    return {**DOCUMENT, "signatures": signatures}


@pytest.fixture(scope="module")
def keys():
    """A shared secret, and two keys of the agent."""
    return load_keys(SECRET, [pem(), pem()])


class TestSignatures:
    def test_by_a_secret(self, cli, keys):
        with serve(pages({CARD: signed(keys[0])})) as url:
            good = cli("card", url, "--verify-card-secret", SECRET, "--require-card-signature")
            bad = cli("card", url, "--verify-card-secret", "another secret of thirty-two bytes")
        assert (good.code, good.err) == (0, "")
        assert (bad.code, bad.out) == (2, "")
        assert bad.err.startswith("a2a-fn: A2A Agent Card verification failed: ")
        assert "another secret" not in bad.err

    def test_by_a_local_key_set(self, cli, keys, tmp_path):
        (tmp_path / "mine.json").write_text(json.dumps(jwks(keys[1:2])))
        (tmp_path / "other.json").write_text(json.dumps(jwks(keys[2:])))
        (tmp_path / "none.json").write_text("[")
        with serve(pages({CARD: signed(keys[1])})) as url:
            results = [
                cli("card", url, "--verify-card-jwks", tmp_path / f"{name}.json")
                for name in ("mine", "other", "none")
            ]
        assert [result.code for result in results] == [0, 2, 2]
        assert "verification failed: there is no key" in results[1].err
        assert "none.json: is not JSON" in results[2].err

    def test_by_a_key_set_that_is_fetched_again_once_for_an_unknown_key(self, cli, keys):
        sets = [jwks(keys[2:]), jwks(keys[1:2])]  # the agent has a new key since the first
        fetched = []

        def key_set():
            fetched.append(1)
            return sets[min(len(fetched), 2) - 1]

        with serve(pages({CARD: signed(keys[1]), "/jwks": key_set})) as url:
            options = ("--verify-card-jwks-url", f"{url}/jwks", "--require-card-signature")
            assert cli("card", url, *options).code == 0
            assert len(fetched) == 2
            cli("card", url, *options)
            assert len(fetched) == 3
            sets[1] = sets[0]
            assert "verification failed" in cli("card", url, *options).err
            assert len(fetched) == 5

    def test_what_no_signature_covers_is_not_believed(self, cli, keys):
        card = {**signed(keys[0]), "aFieldOfLater": "from anybody"}
        with serve(pages({CARD: card})) as url:
            result = cli("card", url, "--json", "--verify-card-secret", SECRET)
            assert "from anybody" not in result.out
            assert "from anybody" in cli("card", url, "--json").out

    def test_a_card_that_was_changed_is_refused_before_a_call(self, cli, keys):
        card = {**signed(keys[0]), "name": "another"}
        with serve(pages({CARD: card})) as url:
            result = cli("call", url, "hi", "--verify-card-secret", SECRET)
        assert result.code == 2
        assert "verification failed: the signature of key 'default' does not fit" in result.err

    @pytest.mark.parametrize("signatures", [{}, {"signatures": []}, {"signatures": None}])
    @pytest.mark.parametrize("option", ["secret", "jwks", "jwks-url"])
    def test_a_card_that_is_not_signed_is_refused_whichever_key_is_named(
        self, cli, keys, tmp_path, option, signatures
    ):
        (tmp_path / "jwks").write_text(json.dumps(jwks(keys[1:])))
        documents = {CARD: {**DOCUMENT, **signatures}, "/jwks": jwks(keys[1:])}
        with serve(pages(documents)) as url:
            places = {"secret": SECRET, "jwks": tmp_path / "jwks", "jwks-url": f"{url}/jwks"}
            named = cli("call", url, "hi", f"--verify-card-{option}", places[option])
            assert cli("card", url).code == 0
        assert (named.code, named.out) == (2, "")
        assert named.err.endswith("verification failed: the card is not signed\n")

    def test_a_secret_is_no_key_for_a_signature_by_another_kind_of_key(self, cli, keys):
        with serve(pages({CARD: signed(keys[1]), "/jwks": jwks(keys[1:2])})) as url:
            secret = ("--verify-card-secret", SECRET)
            alone = cli("card", url, *secret)
            both = cli("card", url, *secret, "--verify-card-jwks-url", f"{url}/jwks")
        assert alone.err.endswith(f"verification failed: there is no key {keys[1].kid!r}\n")
        assert both.code == 0

    @pytest.mark.parametrize(
        ("options", "why"),
        [
            (("--require-card-signature",), "needs a key"),
            (("--verify-card-jwks-url", "http://keys.example/"), "must be https"),
        ],
    )
    def test_options_that_prove_nothing(self, cli, options, why):
        result = cli("card", "http://127.0.0.1:9", *options)
        assert result.code == 2
        assert why in result.err
