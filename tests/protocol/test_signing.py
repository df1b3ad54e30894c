"""Can whoever reads a card be sure who wrote it, whichever way they verify?

The verifiers here are the a2a-sdk's, two written from the specification's text, and our own.
"""

from __future__ import annotations

import base64
import copy
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import jwt
import pytest
import rfc8785
from a2a.client import A2ACardResolver
from a2a.types.a2a_pb2 import AgentCard
from a2a.utils.signing import (
    InvalidSignaturesError,
    create_agent_card_signer,
    create_signature_verifier,
)
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from google.api.field_behavior_pb2 import FieldBehavior, field_behavior
from google.protobuf.json_format import MessageToDict, ParseDict
from tests.protocol.conftest import listen_with

from a2a_fn.errors import InvalidSettings
from a2a_fn.hosts import local
from a2a_fn.profile import Extension, Profile, Skill
from a2a_fn.protocol import keys, signing
from a2a_fn.protocol.card import Cards, agent_card
from a2a_fn.protocol.gate import Gate
from a2a_fn.protocol.operations import Capabilities
from a2a_fn.protocol.schemes import Schemes
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

CARD = ".well-known/agent-card.json"
JWKS = ".well-known/jwks.json"
ROOT = "https://agent.example/a"
SECRET = "a secret of at least thirty-two bytes"
PRIVATE = {
    "ES256": ec.generate_private_key(ec.SECP256R1()),
    "RS256": rsa.generate_private_key(65537, 2048),
    "EdDSA": ed25519.Ed25519PrivateKey.generate(),
}
PROFILE = Profile(
    name="Agent – ünïcode \U0001f600",
    description='"quoted" \\ and \u2028 lines',
    version="1.2.3",
    skills=(Skill("s", "S", "d", ("t",), examples=("e",)),),
    extensions=(
        Extension("urn:x", params={"empty": "", "none": None, "n": 20, "f": 1e-7, "off": False}),
    ),
)
GATE = Gate(v03=True, public_url=ROOT, capabilities=Capabilities(extended_card=True))
EVERY = Schemes(True, True, "X-Key", "https://issuer.example", ("a", "b"))


def pem(key: Any, form: PrivateFormat = PrivateFormat.PKCS8) -> str:
    return key.private_bytes(Encoding.PEM, form, NoEncryption()).decode()


def loaded(*algorithms: str, secret: str = "") -> tuple[keys.SigningKey, ...]:
    return keys.load_keys(secret, [pem(PRIVATE[alg]) for alg in algorithms])


ALL = loaded(*PRIVATE, secret=SECRET)
PUBLIC = keys.jwks(ALL)


def served(*signing_keys: keys.SigningKey, gate: Gate = GATE) -> dict[str, Any]:
    """The card as a client gets it."""
    cards = Cards(PROFILE, gate, schemes=EVERY, keys=lambda: signing_keys)
    return json.loads(cards.public(ROOT).body)


@asynccontextmanager
async def product(**settings: Any) -> AsyncIterator[Any]:
    """The product itself with these settings, listening."""
    services = build_services(Settings(engine="memory", public_url=ROOT, **settings))
    async with listen_with(services.app()) as server:
        yield server
    await services.close()


# --- verifiers that are not ours ----------------------------------------------------------------


def octets(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def bare(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def holds(signature: dict[str, str], payload: bytes, jwks: dict[str, Any]) -> bool:
    """RFC 7515 from scratch, on PyJWT's algorithms only."""
    header = json.loads(octets(signature["protected"]))
    jwk = next(one for one in jwks["keys"] if one["kid"] == header["kid"])
    assert header["alg"] == jwk["alg"]
    algorithm = jwt.get_algorithm_by_name(header["alg"])
    data = f"{signature['protected']}.{bare(payload)}".encode()
    return algorithm.verify(data, algorithm.from_jwk(jwk), octets(signature["signature"]))


def specified(message: Any) -> dict[str, Any]:
    """8.4.1 word for word, from the descriptors: REQUIRED stays, `optional` stays if set, other
    defaults go."""
    result: dict[str, Any] = {}
    for field in message.DESCRIPTOR.fields:
        required = FieldBehavior.REQUIRED in field.GetOptions().Extensions[field_behavior]
        value = getattr(message, field.name)
        if field.has_presence:
            present = message.HasField(field.name)
        elif field.is_repeated:
            present = bool(len(value))
        else:
            present = value != field.default_value
        if present or (required and not field.has_presence):
            result[field.json_name] = plain(field, value)
    return result


def plain(field: Any, value: Any) -> Any:
    kind = field.message_type
    if kind is None:
        return list(value) if field.is_repeated else value
    if kind.GetOptions().map_entry:
        inner = kind.fields_by_name["value"].message_type
        return {key: value[key] if inner is None else specified(value[key]) for key in value}
    if field.is_repeated:
        return [specified(item) for item in value]
    return MessageToDict(value) if kind.full_name == "google.protobuf.Struct" else specified(value)


def by_specification(document: dict[str, Any]) -> bytes:
    card = ParseDict(document, AgentCard(), ignore_unknown_fields=True)
    card.ClearField("signatures")
    return rfc8785.dumps(specified(card))


def as_it_came(document: dict[str, Any]) -> bytes:
    return rfc8785.dumps({k: v for k, v in document.items() if k != "signatures"})


def sdk_verifier(jwks: dict[str, Any], algorithms: list[str]) -> Any:
    def key(kid: str | None, jku: str | None) -> jwt.PyJWK:
        assert jku == f"{ROOT}/{JWKS}"
        return jwt.PyJWK(next(one for one in jwks["keys"] if one["kid"] == kid))

    return create_signature_verifier(key, algorithms)


# --- others verify what we sign -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", PRIVATE)
@pytest.mark.parametrize("v03", [True, False])
async def test_the_sdk_takes_the_card_off_the_wire_and_verifies_it(algorithm, v03):
    settings = {"signing_keys": (pem(PRIVATE[algorithm]),), "a2a_v03": v03}
    async with product(**settings, token="t" * 20, api_key="k" * 20) as server:
        jwks = (await server.http.get(f"{server.url}{JWKS}")).json()
        card = await A2ACardResolver(server.http, server.url).get_agent_card(
            signature_verifier=sdk_verifier(jwks, [algorithm])
        )
        card.description += "."
        with pytest.raises(InvalidSignaturesError):
            sdk_verifier(jwks, [algorithm])(card)


async def test_the_sdk_verifies_a_shared_secret():
    async with product(signing_secret=SECRET) as server:
        verify = create_signature_verifier(
            lambda kid, jku: SECRET if (kid, jku) == ("default", None) else "", ["HS256"]
        )
        await A2ACardResolver(server.http, server.url).get_agent_card(signature_verifier=verify)
        assert (await server.http.get(f"{server.url}{JWKS}")).json() == {"keys": []}


@pytest.mark.parametrize("form", [by_specification, as_it_came])
@pytest.mark.parametrize("algorithm", PRIVATE)
async def test_who_follows_the_text_of_the_specification_verifies_it(form, algorithm):
    document = served(*loaded(algorithm))
    assert any(holds(one, form(document), PUBLIC) for one in document["signatures"])
    document["skills"][0]["name"] += "."
    assert not any(holds(one, form(document), PUBLIC) for one in document["signatures"])


def test_the_first_signature_is_the_specifications():
    document = served(*loaded("EdDSA"))
    assert holds(document["signatures"][0], by_specification(document), PUBLIC)


def test_the_header_names_key_type_and_where_the_keys_are():
    headers = [json.loads(octets(one["protected"])) for one in served(*ALL)["signatures"]]
    assert {header["alg"] for header in headers} == {"HS256", *PRIVATE}
    assert {header["typ"] for header in headers} == {"JOSE"}
    for header in headers:
        shared = header["alg"] == "HS256"
        assert (header["kid"] == "default") == shared
        assert header.get("jku") == (None if shared else f"{ROOT}/{JWKS}")


def test_forms_that_are_alike_are_signed_once():
    plain_card = Profile("n", "d", "1", (Skill("s", "S", "d", ("t",)),))
    cards = Cards(plain_card, Gate(public_url=ROOT), keys=lambda: loaded("EdDSA"))
    assert len(json.loads(cards.public(ROOT).body)["signatures"]) == 1
    assert len(served(*loaded("EdDSA"))["signatures"]) == 3


def test_the_canonical_form_keeps_what_is_required_and_what_is_set():
    card = AgentCard(name="Example Agent")
    card.capabilities.streaming = False
    card.capabilities.push_notifications = False
    assert json.loads(signing.canonical(card)) == {
        "name": "Example Agent",
        "description": "",
        "version": "",
        "supportedInterfaces": [],
        "capabilities": {"streaming": False, "pushNotifications": False},
        "defaultInputModes": [],
        "defaultOutputModes": [],
        "skills": [],
    }


def test_every_instance_serves_the_same_bytes():
    first, second = (
        Cards(PROFILE, GATE, schemes=EVERY, keys=lambda: loaded(*PRIVATE, secret=SECRET))
        for _ in range(2)
    )
    assert first.public(ROOT) == second.public(ROOT)


async def test_the_extended_card_is_signed_for_both_forms():
    settings = {"token": "t" * 20, "signing_keys": (pem(PRIVATE["ES256"]),)}
    ask = b'{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}'
    async with product(**settings) as server:
        answer = await server.post(ask, Authorization=f"Bearer {'t' * 20}")
    document = answer.json()["result"]
    assert document["skills"][-1]["id"] == "iac_code_runtime_details"
    assert any(holds(one, by_specification(document), PUBLIC) for one in document["signatures"])
    assert signing.verify(document, signing.keys_of(PUBLIC)).card == {
        name: value for name, value in document.items() if name != "signatures"
    }
    sdk_verifier(PUBLIC, ["ES256"])(ParseDict(document, AgentCard()))


# --- we verify what others sign -----------------------------------------------------------------


@pytest.mark.parametrize("algorithm", PRIVATE)
def test_what_the_sdk_signs_verifies(algorithm):
    card = agent_card(PROFILE, ROOT, GATE, EVERY)
    header: Any = {"kid": "theirs", "alg": algorithm, "typ": "JOSE", "jku": None}
    create_agent_card_signer(PRIVATE[algorithm], header)(card)
    from a2a_fn.protocol.outputs import encode

    public = {**keys.jwks(loaded(algorithm))["keys"][0], "kid": "theirs"}
    found = signing.verify(encode(card), signing.keys_of({"keys": [public]}))
    assert (found.kid, found.alg, found.card["name"]) == ("theirs", algorithm, PROFILE.name)


def test_a_signature_is_checked_by_the_key_that_it_names():
    for key in ALL:
        document = served(key)
        known = (*signing.keys_of(PUBLIC), signing.shared_key(SECRET))
        assert signing.verify(document, known)[:2] == (key.kid, key.alg)


def test_in_a_rotation_either_key_is_enough():
    document = served(*loaded("ES256", "EdDSA"))
    for algorithm in ("ES256", "EdDSA"):
        known = signing.keys_of(keys.jwks(loaded(algorithm)))
        assert signing.verify(document, known).alg == algorithm


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where every value of the document is, the containers' too."""
    yield at
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from paths(value[key], (*at, key))


def changed(document: dict[str, Any], at: tuple[Any, ...]) -> dict[str, Any]:
    """The document with another value there."""
    result = copy.deepcopy(document)
    *above, last = at
    parent: Any = result
    for step in above:
        parent = parent[step]
    value = parent[last]
    if isinstance(value, str):
        parent[last] = value + "x"
    elif isinstance(value, bool):
        parent[last] = not value
    elif isinstance(value, int | float):
        parent[last] = value + 1
    else:
        del parent[last]
    return result


def test_a_change_anywhere_in_the_document_is_not_vouched_for():
    """Either nothing verifies, or what does leaves the change out (as a client of 1.0 does with
    members of 0.3)."""
    document = served(*loaded("EdDSA"))
    known = signing.keys_of(PUBLIC)
    genuine = {name: value for name, value in document.items() if name != "signatures"}
    specification = json.loads(by_specification(document))
    refused = 0
    for at in paths(genuine):
        if not at:
            continue
        forged = changed(document, at)
        try:
            covered = signing.verify(forged, known).card
        except signing.Unverified:
            refused += 1
            continue
        assert covered in (specification, without_empty(specification)), at
    assert refused > 60


EMPTY = ("", [], {}, None)


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in kept.items() if item not in EMPTY}
    if isinstance(value, list):
        return [item for one in value if (item := without_empty(one)) not in EMPTY]
    return value


def test_what_is_added_is_not_vouched_for():
    document = served(*loaded("EdDSA")) | {"url": "https://evil.example/"}
    assert "url" not in signing.verify(document, signing.keys_of(PUBLIC)).card


@pytest.mark.parametrize("part", ["protected", "signature"])
def test_a_changed_signature_fails(part):
    document = served(*loaded("RS256"))
    for one in document["signatures"]:
        text = one[part]
        one[part] = text[:-5] + ("A" if text[-5] != "A" else "B") + text[-4:]
    with pytest.raises(signing.Unverified):
        signing.verify(document, signing.keys_of(PUBLIC))


# --- attacks ------------------------------------------------------------------------------------


def forged(header: dict[str, Any], key: bytes | None) -> dict[str, Any]:
    """A card that an attacker signed with HMAC, or not at all."""
    document = served()
    document.pop("signatures", None)
    protected = bare(json.dumps(header).encode())
    data = f"{protected}.{bare(rfc8785.dumps(document))}".encode()
    mac = b"" if key is None else hmac.new(key, data, hashlib.sha256).digest()
    return document | {"signatures": [{"protected": protected, "signature": bare(mac)}]}


def reason(document: dict[str, Any], known: Any = None, **more: Any) -> str:
    with pytest.raises(signing.Unverified) as caught:
        signing.verify(document, signing.keys_of(PUBLIC) if known is None else known, **more)
    return str(caught.value)


@pytest.mark.parametrize("alg", ["none", "None", "NONE", "", "HS384", "x" * 1000])
def test_an_algorithm_that_is_none_is_refused(alg):
    document = forged({"alg": alg, "kid": PUBLIC["keys"][0]["kid"]}, None)
    assert "is not accepted" in reason(document)
    assert len(reason(document)) < 100


@pytest.mark.parametrize("algorithm", PRIVATE)
def test_a_public_key_is_no_shared_secret(algorithm):
    public = PRIVATE[algorithm].public_key()
    kid = loaded(algorithm)[0].kid
    for secret in (
        public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo),
        json.dumps(keys.jwks(loaded(algorithm))["keys"][0]).encode(),
    ):
        assert "is not for HS256" in reason(forged({"alg": "HS256", "kid": kid}, secret))


def test_an_unknown_key_is_said_and_may_be_fetched_again():
    with pytest.raises(signing.Unverified, match="there is no key") as caught:
        signing.verify(served(*loaded("EdDSA")), signing.keys_of({"keys": []}))
    assert caught.value.unknown_key
    wrong = signing.shared_key("another secret of thirty-two bytes!")
    with pytest.raises(signing.Unverified, match="does not fit") as caught:
        signing.verify(served(*loaded(secret=SECRET)), [wrong])
    assert not caught.value.unknown_key


def test_a_key_is_used_for_its_own_algorithm_only():
    document = served(*loaded("RS256"))
    for one in document["signatures"]:
        header = json.loads(octets(one["protected"])) | {"alg": "PS256"}
        one["protected"] = bare(json.dumps(header).encode())
    assert "is not for PS256" in reason(document)


def test_who_verifies_says_which_algorithms_count():
    assert "'RS256' is not accepted" in reason(served(*loaded("RS256")), algorithms=["ES256"])


def test_an_extension_of_jws_is_refused():
    header = {"alg": "HS256", "kid": "default", "crit": ["b64"], "b64": False}
    known = [signing.shared_key(SECRET)]
    assert "extension of JWS" in reason(forged(header, SECRET.encode()), known)
    assert signing.verify(forged({"alg": "HS256", "kid": "default"}, SECRET.encode()), known)


def test_what_the_unprotected_header_says_counts_for_nothing():
    document = served(*loaded("EdDSA"))
    for one in document["signatures"]:
        one["header"] = {"alg": "none", "kid": "other", "jku": "https://evil.example"}
    assert signing.verify(document, signing.keys_of(PUBLIC)).alg == "EdDSA"


@pytest.mark.parametrize(
    "signatures",
    [
        None,
        [],
        {},
        "x",
        [None],
        [{}],
        [{"protected": 1, "signature": 2}],
        [{"protected": "e30", "signature": "AA"}],
        [{"protected": "W10", "signature": "AA"}],
        [{"protected": "!!", "signature": "AA"}],
        [{"protected": bare(b'{"kid":1,"alg":"ES256"}'), "signature": "AA"}],
        [{"protected": bare(b'{"kid":"a","alg":["ES256"]}'), "signature": "AA"}],
        [{"protected": bare(b"\xff\xfe"), "signature": "AA"}],
        [{"protected": bare(b"[" * 100_000), "signature": "AA"}],
        [{"protected": "A", "signature": "A"}],
        [{"protected": "e30", "signature": "AA"}] * 1000,
    ],
)
def test_signatures_that_are_none_are_a_clear_refusal(signatures):
    assert len(reason(served() | {"signatures": signatures})) < 200


@pytest.mark.parametrize(
    "document",
    [
        {"name": 5},
        {"capabilities": {"streaming": "x"}},
        {"skills": "x"},
        {"supportedInterfaces": {"a": 1}},
        {"securitySchemes": [1]},
        {"name": "\ud800"},
        {"more": 2**60},
        {"more": float("nan")},
        {"capabilities": {"extensions": [{"params": {"n": float("inf")}}]}},
    ],
)
def test_a_document_that_is_no_card_is_refused(document):
    signed = {"signatures": served(*loaded("EdDSA"))["signatures"]}
    assert reason(document | signed) in (
        "the document is not an Agent Card",
        "the card has no canonical form",
    )


def test_a_bottomless_document_is_refused():
    deep: Any = {}
    for _ in range(3000):
        deep = {"d": deep}
    signatures = served(*loaded("EdDSA"))["signatures"]
    for document in ({"more": deep}, {"capabilities": {"extensions": [{"params": deep}]}}):
        assert reason(document | {"signatures": signatures})


# --- key sets -----------------------------------------------------------------------------------

OCT = {"kty": "oct", "k": bare(SECRET.encode()), "kid": "default"}


def test_a_secret_in_a_key_set_counts_only_if_the_set_is_ones_own():
    document = served(*loaded(secret=SECRET))
    assert signing.verify(document, signing.keys_of({"keys": [OCT]}, local=True)).alg == "HS256"
    assert "there is no key" in reason(document, signing.keys_of({"keys": [OCT]}))


def test_a_key_without_an_id_goes_by_its_thumbprint():
    unnamed = [{k: v for k, v in jwk.items() if k != "kid"} for jwk in PUBLIC["keys"]]
    assert [key.kid for key in signing.keys_of({"keys": unnamed})] == [
        jwk["kid"] for jwk in PUBLIC["keys"]
    ]


def test_the_thumbprint_is_the_one_of_the_rfc():
    modulus = (  # RFC 7638, 3.1
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJEC"
        "PebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY"
        "368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM"
        "4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"
    )
    jwk = {"kty": "RSA", "n": modulus, "e": "AQAB", "alg": "RS256", "kid": "2011-04-29"}
    assert keys.thumbprint(jwk) == "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"


@pytest.mark.parametrize(
    "jwk",
    [
        None,
        {},
        {"kty": "RSA"},
        {"kty": ["RSA"]},
        {"kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"},
        {"kty": "EC", "crv": {"a": 1}},
        {"kty": "OKP", "crv": "Ed448", "x": "AA"},
        {"kty": "oct", "k": ""},
        {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
        {**PUBLIC["keys"][0], "use": "enc"},
        {**PUBLIC["keys"][0], "alg": "HS256"},
        {**PUBLIC["keys"][1], "alg": "RS1"},
    ],
)
def test_a_key_of_no_use_is_passed_over(jwk):
    known = signing.keys_of({"keys": [jwk, *PUBLIC["keys"]]}, local=True)
    assert [key.kid for key in known] == [one["kid"] for one in PUBLIC["keys"]]


@pytest.mark.parametrize("document", [None, [], "x", {}, {"keys": {}}, {"keys": None}])
def test_a_document_that_is_no_key_set_is_said_to_be_none(document):
    with pytest.raises(ValueError, match="is not a JSON Web Key Set"):
        signing.keys_of(document)


def test_private_parts_are_never_published():
    for jwk in PUBLIC["keys"]:
        assert set(jwk) <= {"kty", "crv", "x", "y", "n", "e", "kid", "use", "alg"}
    assert "default" not in json.dumps(PUBLIC)
    assert SECRET not in repr(ALL) + repr(signing.shared_key(SECRET))


# --- settings -----------------------------------------------------------------------------------


def test_every_fault_of_the_keys_is_said_and_no_key():
    encrypted = PRIVATE["ES256"].private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"pass")
    )
    public = (
        PRIVATE["ES256"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    given = [
        encrypted.decode(),
        public.decode(),
        pem(ec.generate_private_key(ec.SECP384R1())),
        pem(rsa.generate_private_key(65537, 1024)),
        "hunter2",
        pem(PRIVATE["EdDSA"]).replace("MC4C", "hunt"),
        pem(PRIVATE["EdDSA"]),
        pem(PRIVATE["EdDSA"]),
    ]
    with pytest.raises(InvalidSettings) as caught:
        keys.load_keys("hunter2", given)
    kid = loaded("EdDSA")[0].kid
    assert str(caught.value).splitlines() == [
        "signing-secret: must have at least 32 bytes",
        "signing-keys[0]: is encrypted: give it without a passphrase",
        "signing-keys[1]: has no private key in PEM",
        "signing-keys[2]: must be EC on P-256, RSA of at least 2048 bits, or Ed25519",
        "signing-keys[3]: must be EC on P-256, RSA of at least 2048 bits, or Ed25519",
        "signing-keys[4]: has no private key in PEM",
        "signing-keys[5]: is not a private key in PEM",
        f"signing-keys: the key {kid} is there twice",
    ]


@pytest.mark.parametrize("form", [PrivateFormat.PKCS8, PrivateFormat.TraditionalOpenSSL])
def test_keys_are_read_however_they_are_written(form):
    text = pem(PRIVATE["ES256"], form) + pem(PRIVATE["RS256"], form)
    parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    for given in (text, parameters + text, text.replace("\n", "\\n"), text.replace("\n", "\r\n")):
        assert [key.kid for key in keys.load_keys("", [given])] == [
            key.kid for key in loaded("ES256", "RS256")
        ]


@pytest.mark.parametrize("setting", [{"signing_secret": SECRET}, {"signing_keys": ("x",)}])
def test_a_signed_card_needs_a_public_url(setting):
    with pytest.raises(InvalidSettings, match="public-url: a signed card needs it"):
        build_services(Settings(engine="memory", **setting)).app()


async def test_serve_says_so_before_it_listens(monkeypatch, tmp_path):
    monkeypatch.setattr(local, "set_up_logs", lambda mode: None)
    settings = Settings(data=str(tmp_path), public_url=ROOT, signing_keys=("none",), port=0)
    with pytest.raises(InvalidSettings, match=r"signing-keys\[0\]: has no private key in PEM"):
        await local.serve(settings, workers=0)


async def test_keys_may_be_kept_in_files(tmp_path):
    for algorithm, key in PRIVATE.items():
        (tmp_path / f"{algorithm}.pem").write_text(pem(key))
    files = tuple(f"file:{tmp_path}/{algorithm}.pem" for algorithm in PRIVATE)
    async with product(signing_keys=files) as server:
        found = (await server.http.get(f"{server.url}{JWKS}")).json()
    assert found == keys.jwks(loaded(*PRIVATE))


@pytest.mark.parametrize(
    ("setting", "module"),
    [
        ({"signing_keys": (pem(PRIVATE["EdDSA"]),)}, "cryptography.hazmat.primitives"),
        ({"signing_keys": (pem(PRIVATE["EdDSA"]),)}, "jwt.utils"),
        ({"signing_secret": SECRET}, "rfc8785"),
    ],
)
def test_without_the_packages_it_says_what_to_install(monkeypatch, setting, module):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    services = build_services(Settings(engine="memory", public_url=ROOT, **setting))
    with pytest.raises(InvalidSettings, match=r"pip install 'a2a-fn\[jwt\]'"):
        services.cards.public(ROOT)
