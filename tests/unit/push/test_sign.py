"""The headers of a delivery: a receiver of nothing but PyJWT believes them, and no credentials can
smuggle anything into them."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time

import jwt
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from a2a_fn.errors import Refused
from a2a_fn.push import keyring, sign
from a2a_fn.push.sign import Credentials, Delivery, audience, check, headers

NOW = 1_796_000_000_000
KEYS = keyring.fresh(NOW)
BODY = '{"statusUpdate":{"taskId":"t-1","status":{"state":"TASK_STATE_COMPLETED"}}} é'.encode()
DELIVERY = Delivery("https://agent.example", "https://hooks.example/in?k=1", "t-1", "c-1", 7, BODY)


NOTHING = Credentials()


def sent(credentials=NOTHING, delivery=DELIVERY, keys=KEYS, **more):
    return headers(delivery, credentials, keys, now=NOW, nonce="n-1", **more)


def jwks(keys=KEYS) -> str:
    return json.dumps({"keys": keyring.public_jwks(keys)})


def verified(token: str, keys: str, audience_="https://hooks.example/in") -> dict:
    """What anybody can do with PyJWT and the agent's key set."""
    kid = jwt.get_unverified_header(token)["kid"]
    key = jwt.PyJWKSet.from_json(keys)[kid]
    return jwt.decode(
        token,
        key,
        algorithms=["ES256"],
        audience=audience_,
        issuer="https://agent.example",
        options={
            "require": ["iss", "aud", "iat", "exp", "jti"],
            "verify_exp": False,  # the delivery has the test's time, not this machine's
            "verify_iat": False,
        },
    )


# ---------------------------------------------------------------- the JWT


def test_a_receiver_of_pyjwt_alone_verifies_it():
    found = sent()
    claims = verified(found["X-A2A-Notification-JWT"], jwks())
    assert claims == {
        "iss": "https://agent.example",
        "aud": "https://hooks.example/in",
        "iat": NOW // 1000,
        "exp": NOW // 1000 + 300,
        "jti": "n-1",
        "taskId": "t-1",
        "configId": "c-1",
        "generation": 7,
        "sha256": hashlib.sha256(BODY).hexdigest(),
    }
    assert jwt.get_unverified_header(found["X-A2A-Notification-JWT"]) == {
        "alg": "ES256",
        "typ": "JWT",
        "kid": KEYS.signing[0].kid,
    }


def test_it_is_in_time_by_the_clock_of_the_receiver_too():
    found = headers(DELIVERY, Credentials(), KEYS, now=time.time_ns() // 1_000_000, nonce="n")
    key = jwt.PyJWK(keyring.public_jwks(KEYS)[0])
    jwt.decode(
        found["X-A2A-Notification-JWT"],
        key,
        algorithms=["ES256"],
        audience="https://hooks.example/in",
        issuer="https://agent.example",
    )


def test_old_and_new_keys_verify_and_one_before_does_not():
    first = KEYS
    second = keyring.rotated(first, NOW)
    third = keyring.rotated(second, NOW)
    published = jwks(third)
    for keys in (third, second):
        assert verified(sent(keys=keys)["X-A2A-Notification-JWT"], published)["jti"] == "n-1"
    with pytest.raises(KeyError):
        verified(sent(keys=first)["X-A2A-Notification-JWT"], published)


def test_one_signing_costs_less_than_a_millisecond():
    costs = []
    for _ in range(50):
        begun = time.perf_counter()
        sent()
        costs.append(time.perf_counter() - begun)
    assert min(costs) < 0.001


@pytest.mark.parametrize(
    ("url", "aud"),
    [
        ("https://h.example", "https://h.example"),
        ("https://h.example/", "https://h.example/"),
        ("https://u:p@h.example:8443/a/b?token=s#f", "https://h.example:8443/a/b"),
        ("https://h.example?token=s", "https://h.example"),
        ("http://h.example/a@b", "http://h.example/a@b"),
        ("https://h.example#a?b", "https://h.example"),
        ("https://u@v@h.example/x", "https://h.example/x"),
    ],
)
def test_the_audience_has_nothing_that_may_be_secret(url, aud):
    assert audience(url) == aud


# ---------------------------------------------------------------- other headers


def test_what_every_delivery_says():
    found = sent(Credentials(token="tok"))
    assert found["Content-Type"] == "application/a2a+json"
    assert found["A2A-Version"] == "1.0"
    assert found["X-A2A-Notification-Token"] == "tok"


def test_without_a_token_there_is_no_such_header():
    assert "X-A2A-Notification-Token" not in sent()


def test_a_receiver_of_0_3_is_told_so():
    found = sent(delivery=DELIVERY._replace(v03=True))
    assert (found["Content-Type"], found["A2A-Version"]) == ("application/json", "0.3")


@pytest.mark.parametrize("scheme", ["", "Bearer", "bearer"])
def test_without_credentials_the_jwt_is_the_bearer_token(scheme):
    found = sent(Credentials(scheme=scheme))
    assert found["Authorization"] == f"Bearer {found['X-A2A-Notification-JWT']}"


ENCODED = base64.b64encode("ann:pä:ss".encode()).decode()


@pytest.mark.parametrize(
    ("scheme", "credentials", "name", "value"),
    [
        ("Bearer", "abc.def", "Authorization", "Bearer abc.def"),
        ("BEARER", "abc", "Authorization", "Bearer abc"),
        ("Basic", "ann:pä:ss", "Authorization", f"Basic {ENCODED}"),
        ("basic", ENCODED, "Authorization", f"Basic {ENCODED}"),
        ("ApiKey", "k3y", "X-API-Key", "k3y"),
        ("ApiKey", "sk:live:abc", "X-API-Key", "sk:live:abc"),
        ("ApiKey", "YWJjZA==", "X-API-Key", "YWJjZA=="),
        ("ApiKey", "a-b==", "X-API-Key", "a-b=="),
        ("apikey", "X-Hook-Key: k3y", "X-Hook-Key", "k3y"),
        ("apikey", "apikey: k3y", "apikey", "k3y"),
        ("apikey", "X-Hook-Key=k3y=", "X-Hook-Key", "k3y="),
        ("Custom", "a b, c", "Authorization", "Custom a b, c"),
    ],
)
def test_credentials_go_where_their_scheme_says(scheme, credentials, name, value):
    found = sent(Credentials(scheme=scheme, credentials=credentials))
    assert found[name] == value
    if name != "Authorization":
        assert "Authorization" not in found


def test_an_access_token_is_the_bearer_token_of_oauth2():
    grant = json.dumps({"token_url": "https://t/", "client_id": "i", "client_secret": "s"})
    credentials = Credentials(scheme="OAuth2", credentials=grant)
    assert sent(credentials, access_token="at")["Authorization"] == "Bearer at"
    assert sign.grant_of(credentials).client_id == "i"
    assert sign.grant_of(Credentials(scheme="Bearer", credentials=grant)) is None
    for token in ("", "a\r\nb", "a\x00"):
        with pytest.raises(Refused):
            sent(credentials, access_token=token)


# ---------------------------------------------------------------- the HMAC

SECRET = "0123456789abcdef"


@pytest.mark.parametrize(
    ("credentials", "more"),
    [
        (Credentials(), {"hmac_secret": SECRET}),
        (Credentials(scheme="Bearer", credentials="x"), {"hmac_secret": SECRET}),
        (Credentials(scheme="HMAC", credentials=SECRET), {}),
        (Credentials(scheme="hmac-sha256", credentials=SECRET), {"hmac_secret": "the other one"}),
    ],
)
def test_the_hmac_is_over_time_nonce_and_body(credentials, more):
    found = sent(credentials, **more)
    stamp, nonce = found["X-A2A-Notification-Timestamp"], found["X-A2A-Notification-Nonce"]
    signed = f"{stamp}.{nonce}.".encode() + BODY
    digest = hmac.new(SECRET.encode(), signed, hashlib.sha256).hexdigest()
    assert found["X-A2A-Notification-Signature"] == f"sha256={digest}"
    assert (stamp, nonce) == (str(NOW // 1000), "n-1")


def test_without_a_secret_there_is_no_hmac():
    assert not [name for name in sent() if "Signature" in name or "Nonce" in name]


def test_the_secret_of_an_hmac_is_not_sent():
    assert SECRET not in str(sent(Credentials(scheme="HMAC", credentials=SECRET)))


@pytest.mark.parametrize("nonce", ["", "a.b", "a b", "n" * 129])
def test_a_nonce_that_could_be_read_in_two_ways_is_a_fault(nonce):
    with pytest.raises(ValueError, match="nonce"):
        headers(DELIVERY, Credentials(), KEYS, now=NOW, nonce=nonce)


# ---------------------------------------------------------------- what a config may say


@pytest.mark.parametrize(
    ("scheme", "credentials", "token", "field"),
    [
        ("", "", "a\r\nX-Evil: 1", "token"),
        ("", "", "a\x00", "token"),
        ("", "", "t" * 4097, "token"),
        ("", "", "tök", "token"),
        ("", "", " t", "token"),
        ("", "x", "", "authentication.scheme"),
        ("Bea rer", "x", "", "authentication.scheme"),
        ("X\r\nHost: a", "x", "", "authentication.scheme"),
        ("s" * 65, "x", "", "authentication.scheme"),
        ("Basic", "", "", "authentication.credentials"),
        ("HMAC", "", "", "authentication.credentials"),
        ("HMAC", "short", "", "authentication.credentials"),
        ("Basic", "nocolon", "", "authentication.credentials"),
        ("Basic", "YWJj", "", "authentication.credentials"),
        ("Basic", "a:b\n", "", "authentication.credentials"),
        ("Basic", "a:" + "b" * 4000, "", "authentication.credentials"),
        ("Bearer", "a\nb", "", "authentication.credentials"),
        ("Bearer", "a ", "", "authentication.credentials"),
        ("Bearer", " a", "", "authentication.credentials"),
        ("Bearer", "ключ", "", "authentication.credentials"),
        ("Bearer", "x" * 5000, "", "authentication.credentials"),
        ("ApiKey", "Host: internal", "", "authentication.credentials"),
        ("ApiKey", "content-length: 0", "", "authentication.credentials"),
        ("ApiKey", "Transfer-Encoding=chunked", "", "authentication.credentials"),
        ("ApiKey", "Connection: close", "", "authentication.credentials"),
        ("ApiKey", "X-A2A-Notification-JWT: forged", "", "authentication.credentials"),
        ("ApiKey", "Metadata-Flavor: Google", "", "authentication.credentials"),
        ("ApiKey", "X-Forwarded-For: 127.0.0.1", "", "authentication.credentials"),
        ("ApiKey", "X-Key: a\r\nHost: b", "", "authentication.credentials"),
        ("OAuth2", "{}", "", "authentication.credentials"),
        ("OAuth2", "not json", "", "authentication.credentials"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_the_name_of_its_field(scheme, credentials, token, field):
    with pytest.raises(ValueError, match=rf"^{field}: ") as caught:
        check(scheme, credentials, token)
    for value in (credentials, token):
        assert len(value) < 5 or value not in str(caught.value)
    with pytest.raises(Refused):
        sent(Credentials(token, scheme, credentials))


SCHEMES = st.sampled_from(["", "Bearer", "Basic", "ApiKey", "HMAC", "OAuth2", "Digest"]) | st.text()
HOSTILE = st.text(
    st.sampled_from('ab:= -\r\n\t\0\x7f\x85é\u2028\ud800{}",.Ａ') | st.characters(), max_size=30
)


@given(SCHEMES, HOSTILE | HOSTILE.map(lambda text: f"X-Key: {text}"), HOSTILE)
@example("ApiKey", "X-Key: \n", "")
@example("Basic", "\ud800:", "")
def test_no_credentials_break_out_of_their_header(scheme, credentials, token):
    try:
        check(scheme, credentials, token)
    except ValueError as error:
        assert str(error).split(":")[0].partition(".")[0] in ("token", "authentication")
        return
    found = sent(Credentials(token, scheme, credentials), access_token="at")
    for name, value in found.items():
        assert name.isascii() and name.replace("-", "").isalnum()
        assert value.isascii() and value.isprintable() and value == value.strip() != ""
    names = [name.lower() for name in found]
    assert len(names) == len(set(names))
    assert "host" not in names and "content-length" not in names
    assert (found["Content-Type"], found["A2A-Version"]) == ("application/a2a+json", "1.0")


def test_credentials_are_not_in_their_repr():
    shown = repr(Credentials("tok-en", "Bearer", "secr-et"))
    assert "tok-en" not in shown and "secr-et" not in shown and "Bearer" in shown
