"""JWTs: which are believed, and how the issuer's keys are got and kept."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.protocol.issuer import (
    AUDIENCE,
    ISSUER,
    NOW,
    Clock,
    claims,
    key_set,
    part,
    private_key,
    public_jwk,
    signed,
    token,
)

from a2a_fn.errors import Unavailable
from a2a_fn.protocol.callers import Principal
from a2a_fn.protocol.tokens import Keys, Rejected, Rules, ScopeMissing, Tokens

RULES = Rules(ISSUER, AUDIENCE)
ALL = key_set(
    public_jwk("RS256", "k1"), public_jwk("ES256", "k2"), public_jwk("EdDSA", "k3", alg="EdDSA")
)


class Endpoint:
    """Where the keys are: what it answers now, and how often it was asked."""

    def __init__(self, document: bytes | Exception = ALL) -> None:
        self.document = document
        self.asked = 0
        self.open = asyncio.Event()
        self.open.set()

    async def __call__(self) -> bytes:
        self.asked += 1
        await self.open.wait()
        if isinstance(self.document, Exception):
            raise self.document
        return self.document


def tokens(
    rules: Rules = RULES, endpoint: Endpoint | None = None, clock: Clock | None = None
) -> Tokens:
    clock = clock or Clock()
    return Tokens(rules, Keys(endpoint or Endpoint(), clock), clock)


DOWN = Unavailable("down")


# ---------------------------------------------------------------- which tokens are believed


@pytest.mark.parametrize(("alg", "kid"), [("RS256", "k1"), ("ES256", "k2"), ("EdDSA", "k3")])
async def test_a_good_token_gives_its_subject(alg: str, kid: str) -> None:
    assert await tokens().principal(token(alg, kid)) == Principal(f"jwt:{ISSUER}#ann")


@pytest.mark.parametrize(
    "changed",
    [
        {"aud": ["other", AUDIENCE]},
        {"nbf": NOW},
        {"iat": None},
        {"exp": NOW + 0.5},
        {"exp": NOW - 29},
        {"nbf": NOW + 30},
        {"iat": NOW + 30},
        {"sub": "x" * 255},
        {"sub": "日本"},
        {"header": {"typ": None}},
        {"header": {"typ": "at+jwt"}},
        {"header": {"typ": "application/AT+JWT"}},
        {"extra": {"deep": [1]}},
    ],
)
async def test_what_a_token_may_say(changed: dict[str, Any]) -> None:
    subject = changed.get("sub", "ann")
    assert (await tokens().principal(token(**changed))).name == f"jwt:{ISSUER}#{subject}"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"iss": "https://issuer.example.com"}, "another issuer"),
        ({"iss": None}, "another issuer"),
        ({"iss": [ISSUER]}, "another issuer"),
        ({"aud": "agents"}, "another audience"),
        ({"aud": None}, "another audience"),
        ({"aud": []}, "another audience"),
        ({"aud": {AUDIENCE: 1}}, "another audience"),
        ({"exp": NOW - 30}, "expired"),
        ({"exp": None}, "its exp is not"),
        ({"exp": True}, "its exp is not"),
        ({"exp": str(NOW + 60)}, "its exp is not"),
        ({"exp": (NOW + 60) * 1000}, "its exp is not"),
        ({"exp": float("inf")}, "its exp is not"),
        ({"exp": float("nan")}, "its exp is not"),
        ({"exp": 10**400}, "its exp is not"),
        ({"nbf": NOW + 31}, "not valid yet"),
        ({"iat": NOW + 31}, "not valid yet"),
        ({"nbf": "soon"}, "its nbf is not"),
        ({"sub": None}, "no subject"),
        ({"sub": ""}, "no subject"),
        ({"sub": 7}, "no subject"),
        ({"sub": "x" * 256}, "no subject"),
        ({"sub": "a\nb"}, "no subject"),
        ({"sub": "a\x00"}, "no subject"),
        ({"sub": "\ud800"}, "no subject"),
        ({"scope": 1}, "its scope"),
        ({"scp": [1]}, "its scp"),
        ({"header": {"typ": "logout+jwt"}}, "kind of token"),
        ({"header": {"typ": 1}}, "kind of token"),
        ({"header": {"crit": ["b64"], "b64": False}}, "kind of token"),
        ({"header": {"kid": 7}}, "header"),
        ({"header": {"kid": ["k1"]}}, "header"),
        ({"kid": "k9"}, "not by a key"),
        ({"which": 1}, "not by a key"),
        ({"alg": "ES256", "kid": "k1"}, "not by a key"),  # the name of the RSA key
    ],
)
async def test_what_a_token_may_not_say(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(Rejected, match=why):
        await tokens().principal(token(**changed))


async def test_a_token_does_not_choose_its_algorithm() -> None:
    pem = (
        private_key("RS256")
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    unsigned = token("RS256", header={"alg": "none"}).rpartition(".")[0]
    jwk = json.dumps(public_jwk("RS256", "k1")).encode()
    forged = [
        f"{unsigned}.",
        f"{unsigned}.AA",
        *(
            signed({"alg": alg, "kid": "k1"}, claims(), "RS256", private_key("RS256"))
            for alg in ("none", "None", "NONE", "", "HS256", "rs256", "RS512", "PS256", 1, None, [])
        ),
        *(
            _hmac({"alg": alg, "kid": "k1"}, key)
            for alg in ("HS256", "RS256")
            for key in (pem, jwk)
        ),
    ]
    for each in forged:
        with pytest.raises(Rejected):
            await tokens().principal(each)


def _hmac(header: dict[str, Any], key: bytes) -> str:
    """Signed with what everybody can read, as a secret: the oldest trick of all."""
    import hmac

    body = f"{part(json.dumps(header).encode())}.{part(json.dumps(claims()).encode())}"
    return f"{body}.{part(hmac.digest(key, body.encode(), 'sha256'))}"


async def test_an_algorithm_that_the_key_could_do_but_is_not_accepted() -> None:
    curve = ec.generate_private_key(ec.SECP384R1())
    algorithm = jwt.get_algorithm_by_name("ES384")
    jwk = {**algorithm.to_jwk(curve.public_key(), as_dict=True), "kid": "k4"}
    endpoint = Endpoint(key_set(public_jwk("RS256", "k1"), jwk))
    for alg, kid, key in (("PS256", "k1", private_key("RS256")), ("ES384", "k4", curve)):
        with pytest.raises(Rejected, match="algorithm"):
            await tokens(endpoint=endpoint).principal(
                signed({"alg": alg, "kid": kid}, claims(), alg, key)
            )


async def test_a_token_does_not_bring_its_own_key() -> None:
    own = public_jwk("RS256", "own", which=1)
    header = {"jwk": own, "jku": "https://evil.example.com/keys", "x5u": "https://evil.example.com"}
    endpoint = Endpoint()
    for kid in ("own", "k1", None):
        with pytest.raises(Rejected, match="not by a key"):
            await tokens(endpoint=endpoint).principal(token(kid=kid, which=1, header=header))


@pytest.mark.parametrize(
    "jwk",
    [
        {"kty": "oct", "k": part(b"secret" * 8), "kid": "k"},
        public_jwk("RS256", "k", use="enc"),
        public_jwk("RS256", "k", alg="PS256"),
        {**public_jwk("ES256", "k"), "y": part(b"\x01" * 32)},
        {"kty": ["RSA"], "kid": "k"},
        {"kty": "RSA", "n": "!", "e": "AQAB", "kid": "k"},
    ],
)
async def test_a_key_that_is_not_for_this_is_passed_over(jwk: dict[str, Any]) -> None:
    endpoint = Endpoint(key_set(jwk, public_jwk("EdDSA", "k3")))
    good = await tokens(endpoint=endpoint).principal(token("EdDSA", "k3"))
    assert good.name.endswith("#ann")
    for alg in ("RS256", "ES256"):
        with pytest.raises(Rejected):
            await tokens(endpoint=endpoint).principal(token(alg, "k"))


async def test_a_short_rsa_key_is_passed_over() -> None:
    weak = rsa.generate_private_key(public_exponent=65537, key_size=1024)
    jwk = jwt.get_algorithm_by_name("RS256").to_jwk(weak.public_key(), as_dict=True)
    endpoint = Endpoint(key_set({**jwk, "kid": "k"}))
    with pytest.raises(Rejected, match="not by a key"):
        await tokens(endpoint=endpoint).principal(
            signed({"alg": "RS256", "kid": "k"}, claims(), "RS256", weak)
        )


async def test_a_token_without_kid_needs_the_only_key_of_its_kind() -> None:
    one = Endpoint(key_set(public_jwk("RS256", "k1"), public_jwk("ES256", "k2")))
    two = Endpoint(key_set(public_jwk("RS256", "k1"), public_jwk("RS256", "k2", which=1)))
    assert (await tokens(endpoint=one).principal(token(kid=None))).name.endswith("#ann")
    with pytest.raises(Rejected, match="not by a key"):
        await tokens(endpoint=two).principal(token(kid=None))


@pytest.mark.parametrize(
    ("changed", "passes"),
    [
        ({"scope": "a2a.write a2a.read more"}, True),
        ({"scp": ["a2a.read", "a2a.write"]}, True),
        ({"scp": "a2a.read a2a.write"}, True),
        ({"scope": "a2a.read", "scp": ["a2a.write"]}, True),
        ({"scope": "a2a.read"}, False),
        ({"scope": "a2a.read a2a.writer"}, False),
        ({"scope": "A2A.READ A2A.WRITE"}, False),
        ({"scope": "a2a.read,a2a.write"}, False),
        ({}, False),
    ],
)
async def test_every_configured_scope_is_needed(changed: dict[str, Any], passes: bool) -> None:
    checked = tokens(Rules(ISSUER, AUDIENCE, ("a2a.read", "a2a.write")))
    if passes:
        assert (await checked.principal(token(**changed))).name.endswith("#ann")
        return
    with pytest.raises(ScopeMissing):
        await checked.principal(token(**changed))


async def test_a_bad_token_is_no_good_token_without_scope() -> None:
    checked = tokens(Rules(ISSUER, AUDIENCE, ("a2a.read",)))
    with pytest.raises(Rejected, match="expired"):
        await checked.principal(token(exp=NOW - 60))


@pytest.mark.parametrize(
    ("claim", "tenants"),
    [
        ("red", {"red"}),
        (["red", "blue"], {"red", "blue"}),
        ([], set()),
        (None, set()),
        ("", set()),
        (["red", "../x", "a/b", "", "é"], {"red"}),
    ],
)
async def test_the_tenant_claim_names_the_only_tenants(claim: Any, tenants: set[str]) -> None:
    checked = tokens(Rules(ISSUER, AUDIENCE, tenant_claim="org"))
    assert (await checked.principal(token(org=claim))).tenants == tenants
    assert (await tokens().principal(token(org=claim))).tenants is None


@pytest.mark.parametrize("claim", [7, [7], {"red": 1}, True])
async def test_a_tenant_claim_must_be_text_or_a_list_of_it(claim: Any) -> None:
    with pytest.raises(Rejected, match="tenants"):
        await tokens(Rules(ISSUER, AUDIENCE, tenant_claim="org")).principal(token(org=claim))


GOOD = token("EdDSA", "k3")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_string_but_the_token_itself_is_believed(data: st.DataObject) -> None:
    """Neither cut, nor changed, nor spelled another way; and nothing but Rejected comes of it."""
    alphabet = st.sampled_from("Aa0_-.=+/ %\x00é")
    at, cut = data.draw(st.integers(0, len(GOOD))), data.draw(st.integers(0, 3))
    heads = [b"{}", b"[" * 5000, b"null", b"\xff", b'{"alg":"EdDSA"}', b"NaN"]
    forged = data.draw(
        st.one_of(
            st.text(alphabet, max_size=60),
            st.text(alphabet, max_size=3).map(lambda new: GOOD[:at] + new + GOOD[at + cut :]),
            st.just(GOOD[:at]),
            st.tuples(st.sampled_from(heads), st.sampled_from([b"{}", b"1" * 5000, b""])).map(
                lambda pair: f"{part(pair[0])}.{part(pair[1])}.{GOOD.rpartition('.')[2]}"
            ),
        )
    )
    if forged == GOOD:
        return
    with pytest.raises(Rejected):
        asyncio.run(tokens().principal(forged))


async def test_a_token_has_one_spelling() -> None:
    for last in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_":
        if last == GOOD[-1]:
            continue  # 15 of the others stand for the same signature
        with pytest.raises(Rejected):
            await tokens().principal(GOOD[:-1] + last)


async def test_a_signed_payload_that_is_no_object_is_rejected() -> None:
    for payload in ([], "x", 1, None):
        forged = signed({"alg": "EdDSA", "kid": "k3"}, payload, "EdDSA", private_key("EdDSA"))
        with pytest.raises(Rejected):
            await tokens().principal(forged)


# ---------------------------------------------------------------- how keys are got and kept


def keys_of(endpoint: Endpoint) -> tuple[Keys, Clock]:
    clock = Clock()
    return Keys(endpoint, clock), clock


async def test_keys_are_fetched_once_and_again_after_five_minutes() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    for kid, alg in (("k1", "RS256"), ("k2", "ES256"), ("k1", "RS256")):
        assert await keys.find(kid, alg)
    clock.pass_by(299.9)
    assert await keys.find("k1", "RS256")
    assert endpoint.asked == 1
    clock.pass_by(0.1)
    assert await keys.find("k1", "RS256")
    assert endpoint.asked == 2


async def test_a_withdrawn_key_is_good_for_five_minutes_at_most() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    assert await keys.find("k1", "RS256")
    endpoint.document = key_set(public_jwk("ES256", "k2"))
    clock.pass_by(300)
    assert await keys.find("k1", "RS256") is None


async def test_a_new_key_is_found_without_a_restart() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    assert await keys.find("k1", "RS256")
    endpoint.document = key_set(public_jwk("RS256", "new", which=1))
    clock.pass_by(30)
    assert await keys.find("new", "RS256")
    assert await keys.find("k1", "RS256") is None
    assert endpoint.asked == 2


async def test_unknown_keys_make_one_question_every_half_minute_whoever_asks() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    for second in range(120):
        for n in range(5):
            assert await keys.find(f"{second}-{n}", "RS256") is None
        clock.pass_by(1)
    assert endpoint.asked == 4


async def test_callers_who_come_together_share_one_fetch() -> None:
    endpoint = Endpoint()
    endpoint.open.clear()
    keys, _ = keys_of(endpoint)
    callers = [asyncio.create_task(keys.find("k1", "RS256")) for _ in range(20)]
    await _until(lambda: endpoint.asked > 0)
    callers[0].cancel()  # who began the fetch leaves: the others still get it
    await asyncio.wait([callers[0]])
    endpoint.open.set()
    assert all(await asyncio.gather(*callers[1:]))
    assert callers[0].cancelled()
    assert endpoint.asked == 1


@pytest.mark.parametrize(
    "broken",
    [DOWN, b"", b"<html>", b"[]", b'{"keys":{}}', b"{}", b"\xff\xfe", b"[" * 100_000, b"1" * 5000],
    ids=lambda value: str(value)[:12],
)
async def test_without_the_issuer_nobody_gets_in(broken: bytes | Exception) -> None:
    endpoint = Endpoint(broken)
    keys, clock = keys_of(endpoint)
    for _ in range(3):
        with pytest.raises(Unavailable):
            await keys.find("k1", "RS256")
    assert endpoint.asked == 1  # and it is not asked at each request
    endpoint.document = ALL
    clock.pass_by(5)
    assert await keys.find("k1", "RS256")


async def test_known_keys_outlive_a_dead_issuer_by_an_hour() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    assert await keys.find("k1", "RS256")
    endpoint.document = DOWN
    for _ in range(119):
        clock.pass_by(30)
        assert await keys.find("k1", "RS256")
    clock.pass_by(30)
    with pytest.raises(Unavailable):
        await keys.find("k1", "RS256")
    assert endpoint.asked < 120
    endpoint.document = ALL
    clock.pass_by(30)
    assert await keys.find("k1", "RS256")


async def test_an_unknown_key_of_a_dead_issuer_is_not_known_to_be_false() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    assert await keys.find("k1", "RS256")
    endpoint.document = DOWN
    clock.pass_by(30)
    with pytest.raises(Unavailable):
        await keys.find("new", "RS256")
    assert await keys.find("k1", "RS256")


async def test_an_issuer_without_keys_is_believed() -> None:
    keys, _ = keys_of(Endpoint(key_set()))
    assert await keys.find("k1", "RS256") is None


async def test_a_clock_that_is_set_back_does_not_keep_keys_for_ever() -> None:
    endpoint = Endpoint()
    keys, clock = keys_of(endpoint)
    assert await keys.find("k1", "RS256")
    clock.pass_by(-7200)
    endpoint.document = key_set()
    assert await keys.find("k1", "RS256") is None


async def test_at_most_64_keys_are_read() -> None:
    jwks = [public_jwk("EdDSA", f"k{n}") for n in range(65)]
    keys, _ = keys_of(Endpoint(key_set(*jwks)))
    assert await keys.find("k63", "EdDSA")
    assert await keys.find("k64", "EdDSA") is None


async def _until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not true():
            await asyncio.sleep(0)
