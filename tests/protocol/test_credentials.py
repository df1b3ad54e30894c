"""The settings of who may call: what is wrong with them is said at once, and without a secret."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.errors import InvalidSettings
from a2a_fn.protocol import credentials as module
from a2a_fn.protocol.callers import Principal
from a2a_fn.protocol.credentials import LONGEST, Ring, credentials
from a2a_fn.protocol.gate import owner
from a2a_fn.settings import Settings

SECRET = "hunter2-hunter2"


def as_it_is(setting: str, text: str) -> str:
    return text


def faults(settings: Settings, reveal: Any = as_it_is) -> list[str]:
    """What is wrong with the settings; checked to repeat no secret."""
    with pytest.raises(InvalidSettings) as caught:
        credentials(settings, reveal)
    assert SECRET not in str(caught.value)
    assert SECRET not in repr(settings)
    return str(caught.value).splitlines()


def ann(**entry: Any) -> dict[str, Any]:
    return {"name": "ann", "token": SECRET, **entry}


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"basic_username": "u"}, "basic-username needs basic-password"),
        ({"basic_password": SECRET}, "basic-password needs basic-username"),
        ({"basic_username": "a:b", "basic_password": SECRET}, "without a colon"),
        ({"basic_username": "a\nb", "basic_password": SECRET}, "must be printable"),
        ({"basic_username": "a\udc80", "basic_password": SECRET}, "must be printable"),
        ({"basic_username": "u", "basic_password": f"{SECRET}\n"}, "control characters"),
        ({"token": f"{SECRET} x"}, "token: must be of visible ASCII"),
        ({"token": f"{SECRET}é"}, "token: must be of visible ASCII"),
        ({"api_key": f"{SECRET}\udc80"}, "api-key: must be of visible ASCII"),
        ({"api_key": SECRET * LONGEST}, "api-key: must have at most 4096"),
        ({"api_key": SECRET, "api_key_header": "authorization"}, "api-key-header: must be"),
        ({"jwt_audience": "a"}, "jwt-audience needs jwt-issuer"),
        ({"jwt_scopes": ("a",)}, "jwt-scopes needs jwt-issuer"),
        ({"jwt_tenant_claim": "a"}, "jwt-tenant-claim needs jwt-issuer"),
        ({"tenants": ("red", "a/b")}, "tenants: 'a/b' is no tenant"),
        ({"tenants": ("",)}, "tenants: '' is no tenant"),
        ({"principals": (ann(tokn="x"),)}, "principals[0]: there is no tokn; there are name"),
        ({"principals": ({"name": "ann"},)}, "principals[0]: needs one of token"),
        ({"principals": ({"token": SECRET},)}, "principals[0].name: must be"),
        ({"principals": (ann(name=["ann"]),)}, "principals[0].name: must be"),
        ({"principals": (ann(name=" ann"),)}, "principals[0].name: must be"),
        ({"principals": (ann(name="a" * 129),)}, "principals[0].name: must be"),
        ({"principals": (ann(token=12345),)}, "principals[0].token: must be text"),
        ({"principals": (ann(token=""),)}, "principals[0].token: must be text"),
        ({"principals": (ann(**{"api-key": [SECRET]}),)}, "principals[0].api-key: must be text"),
        ({"principals": (ann(tenants="red"),)}, "principals[0].tenants: must be a list"),
        ({"principals": (ann(tenants=[]),)}, "principals[0].tenants: must be a list"),
        ({"principals": (ann(tenants=["a/b"]),)}, "principals[0].tenants: 'a/b' is no tenant"),
        ({"principals": (ann(tenants=[1]),)}, "principals[0].tenants: '1' is no tenant"),
        (
            {"principals": (ann(tenants=["blue"]),), "tenants": ("red",)},
            "principals[0].tenants: blue is not among the setting tenants",
        ),
        (
            {"principals": (ann(), {"name": "ann", "token": "other"})},
            "principals[1].name: ann is there twice",
        ),
        (
            {"principals": (ann(), {"name": "bob", "token": SECRET})},
            "principals[1].token: is somebody else's already",
        ),
        ({"token": SECRET, "principals": (ann(),)}, "principals[0].token: is somebody else's"),
        (
            {
                "basic_username": "ann",
                "basic_password": SECRET,
                "principals": ({"name": "ann", "password": "other"},),
            },
            "principals[0].name: the user ann has a password already",
        ),
        (
            {"principals": ({"name": "a:b", "password": SECRET},)},
            "principals[0].name: a user's name must be printable, without a colon",
        ),
    ],
)
def test_what_is_wrong_is_said_where_it_is(settings: dict[str, Any], words: str) -> None:
    said = faults(Settings(**settings))
    assert len(said) == 1
    assert words in said[0]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    def reveal(setting: str, text: str) -> str:
        if text.startswith("file:"):
            raise InvalidSettings(f"{setting}: {text} cannot be read")
        return text

    settings = Settings(
        token="file:/nowhere",
        basic_username="u",
        principals=(ann(**{"api-key": "file:/nowhere/else"}), {"nome": "x"}),
        jwt_issuer="https://issuer.example.com",
        tenants=("/",),
    )
    assert faults(settings, reveal) == [
        "basic-username needs basic-password",
        "token: file:/nowhere cannot be read",
        "principals[0].api-key: file:/nowhere/else cannot be read",
        "principals[1]: there is no nome; there are name, token, api-key, password, tenants",
        "principals[1].name: must be 1 to 128 printable characters",
        "principals[1]: needs one of token, api-key, password",
        "tenants: '/' is no tenant: 1 to 128 letters, digits, or any of _ . -, first a letter or "
        "digit",
        "jwt-issuer needs jwt-jwks-url",
        "jwt-issuer needs jwt-audience",
    ]


JWT = Settings(jwt_issuer="i", jwt_jwks_url="https://issuer.example.com/keys", jwt_audience="a")


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://issuer.example.com/keys", True),
        ("http://127.0.0.1:8000/keys", True),
        ("http://[::1]/keys", True),
        ("http://localhost/keys", True),
        ("http://issuer.example.com/keys", False),
        ("http://localhost.example.com/keys", False),
        ("http://127.0.0.1.example.com/keys", False),
        ("http://127.0.0.1@issuer.example.com/keys", False),
        ("http://10.0.0.1/keys", False),
    ],
)
def test_keys_come_by_https_unless_from_this_machine(url: str, good: bool) -> None:
    settings = dataclasses.replace(JWT, jwt_jwks_url=url)
    if good:
        credentials(settings, as_it_is)
    else:
        assert faults(settings) == [
            "jwt-jwks-url: must be https: whoever can change the keys can be anyone"
        ]


@pytest.mark.parametrize("scope", ["a b", 'a"', "a\\", "", "é"])
def test_a_scope_is_a_word(scope: str) -> None:
    assert "jwt-scopes" in faults(dataclasses.replace(JWT, jwt_scopes=("ok", scope)))[0]


def test_jwts_without_their_packages_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None if name == "jwt" else object())
    assert faults(JWT) == [
        "jwt-issuer needs packages that are not installed: pip install 'a2a-fn[jwt]'"
    ]


def test_principals_are_named_after_their_scheme_or_by_their_name() -> None:
    known = credentials(
        Settings(
            token="t",
            basic_username="u",
            basic_password="p",
            api_key="k",
            principals=({"name": "é/:#", "token": "t2", "api-key": "k", "tenants": ["red"]},),
        ),
        lambda setting, text: "k2" if setting == "principals[0].api-key" else text,
    )
    carol = Principal("principal:é/:#", frozenset({"red"}))
    assert known.tokens.find(b"t") == Principal("bearer")
    assert known.passwords.find(b"u:p") == Principal("basic:u")
    assert known.api_keys.find(b"k") == Principal("api-key")
    assert known.tokens.find(b"t2") == known.api_keys.find(b"k2") == carol
    assert known.api_key_header == b"x-api-key"


NAMES = st.one_of(
    st.sampled_from(["", "bearer", "api-key"]),
    st.tuples(st.sampled_from(["basic:", "principal:", "jwt:"]), st.text("a/:#.")).map("".join),
)
TENANTS = st.sampled_from(["", "a", "bearer", "basic", "jwt", "principal", "a.b-c_"])


@given(NAMES, TENANTS, NAMES, TENANTS)
def test_no_two_principals_or_tenants_have_one_owner(a: str, s: str, b: str, t: str) -> None:
    assert (owner(a, s) == owner(b, t)) == ((a, s) == (b, t))


def test_a_ring_keeps_no_secret() -> None:
    ring = Ring()
    assert ring.add(SECRET, Principal("a"))
    assert not ring.add(SECRET, Principal("b"))
    assert SECRET not in repr(vars(ring))
    assert ring.find(SECRET.encode()) == Principal("a")
    assert ring.find(SECRET.encode() + b"\x00") is None


def test_a_ring_compares_with_every_secret_whichever_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append(len(a) == len(b))
        return a == b

    ring = Ring()
    for n in range(5):
        ring.add(f"secret-{n}", Principal(str(n)))
    monkeypatch.setattr(module.hmac, "compare_digest", compare)
    for guess in (b"secret-0", b"secret-4", b"", b"x" * 10_000):
        compared.clear()
        ring.find(guess)
        assert compared == [True] * 5
