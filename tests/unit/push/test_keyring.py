"""The keyring's document: what is read, what a rotation makes of it, what never leaves it."""

from __future__ import annotations

import base64
import json
import sys

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
)
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.errors import InvalidSettings
from a2a_fn.protocol.keys import thumbprint
from a2a_fn.push import keyring

NOW = 1_796_000_000_000


def document(keys: keyring.Keyring | None = None) -> dict:
    return json.loads(keyring.write(keys or keyring.fresh(NOW)))


def pem(key, encryption=None) -> str:
    encryption = encryption or NoEncryption()
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption).decode()


# ---------------------------------------------------------------- reading and writing


def test_what_is_written_is_read_again():
    keys = keyring.rotated(keyring.fresh(NOW), NOW + 1000)
    text = keyring.write(keys)
    again = keyring.read(text)
    assert keyring.write(again) == text
    assert [key.kid for key in again.signing] == [key.kid for key in keys.signing]
    assert again.sealing == keys.sealing
    assert again.signing[0].created == "2026-11-30T00:53:21Z"


def test_the_name_of_a_signing_key_is_its_thumbprint():
    (jwk,) = keyring.public_jwks(keyring.fresh(NOW))
    assert jwk["kid"] == thumbprint(jwk)


def test_a_signing_key_may_be_a_jwk():
    keys = document()
    private = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256)
    loaded = private.prepare_key(keys["signing"][0]["key"])
    as_pem = keyring.read(json.dumps(keys))
    keys["signing"][0]["key"] = jwt.algorithms.ECAlgorithm.to_jwk(loaded, as_dict=True)
    as_jwk = keyring.read(json.dumps(keys))
    assert as_jwk.signing[0].kid == as_pem.signing[0].kid
    assert as_jwk.signing[0].sign(b"x") == as_pem.signing[0].sign(b"x")


def test_every_fault_is_told_at_once():
    good = document()
    bad = {
        "signing": [good["signing"][0], good["signing"][0], {"kid": "a"}, 7],
        "sealing": [{"id": "a b", "created": "2026-12-01T00:00:00Z", "key": "A"}],
        "spare": [],
    }
    with pytest.raises(InvalidSettings) as caught:
        keyring.read(json.dumps(bad), "push-keys: file:x")
    told = str(caught.value).splitlines()
    assert len(told) == 5
    assert all(line.startswith("push-keys: file:x: ") for line in told)
    assert all(word in str(caught.value) for word in ("spare", "[2]", "[3]", "id", "twice"))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d.pop("signing"), "signing must be a list"),
        (lambda d: d.update(sealing=[]), "sealing must be a list"),
        (lambda d: d.update(sealing=d["sealing"] * 257), "sealing must be a list of 1 to"),
        (lambda d: d["signing"][0].update(kid="mine"), "thumbprint"),
        (lambda d: d["signing"][0].update(created=5), "created"),
        (lambda d: d["signing"][0].update(note="x"), "nothing else"),
        (lambda d: d["signing"][0].update(key="-----BEGIN"), "not a private key"),
        (lambda d: d["signing"][0].update(key=pem(ed25519.Ed25519PrivateKey.generate())), "P-256"),
        (
            lambda d: d["signing"][0].update(key=pem(ec.generate_private_key(ec.SECP384R1()))),
            "P-256",
        ),
        (
            lambda d: d["signing"][0].update(
                key=pem(ec.generate_private_key(ec.SECP256R1()), BestAvailableEncryption(b"p"))
            ),
            "passphrase",
        ),
        (lambda d: d["sealing"][0].update(key=base64.b64encode(b"k" * 16).decode()), "32 bytes"),
        (lambda d: d["sealing"][0].update(key=["k"]), "32 bytes"),
        (lambda d: d["sealing"].append(d["sealing"][0]), "twice"),
    ],
)
def test_what_is_no_keyring_says_why(change, why):
    bad = document()
    change(bad)
    with pytest.raises(InvalidSettings, match=why):
        keyring.read(json.dumps(bad))


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "[" * 40_000, " " * 70_000, '"x"'])
def test_what_is_not_even_an_object(text):
    with pytest.raises(InvalidSettings, match="is no"):
        keyring.read(text)


def test_a_jwk_whose_halves_are_of_two_keys_is_refused():
    keys, other = document(), document()
    load = jwt.algorithms.ECAlgorithm(jwt.algorithms.ECAlgorithm.SHA256).prepare_key
    mine = jwt.algorithms.ECAlgorithm.to_jwk(load(keys["signing"][0]["key"]), as_dict=True)
    theirs = jwt.algorithms.ECAlgorithm.to_jwk(load(other["signing"][0]["key"]), as_dict=True)
    keys["signing"][0]["key"] = mine | {"d": theirs["d"]}
    with pytest.raises(InvalidSettings, match="not a private key"):
        keyring.read(json.dumps(keys))


@given(st.recursive(st.none() | st.integers() | st.text(max_size=5), lambda inner: st.lists(
    inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["signing", "sealing", "kid", "id", "created", "key", "kty", "crv", "x", "y", "d"]
    ), inner, max_size=4), max_leaves=12))  # fmt: skip
def test_any_other_json_is_an_invalid_setting(value):
    with pytest.raises(InvalidSettings):
        keyring.read(json.dumps(value))


def test_without_cryptography_it_says_what_to_install(monkeypatch):
    text = keyring.write(keyring.fresh(NOW))
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric", None)
    for use in (lambda: keyring.read(text), lambda: keyring.fresh(NOW)):
        with pytest.raises(InvalidSettings, match=r"pip install 'a2a-fn\[push\]'"):
            use()


# ---------------------------------------------------------------- rotation


def test_after_a_rotation_the_old_signing_key_is_still_published():
    first = keyring.fresh(NOW)
    second = keyring.rotated(first, NOW)
    third = keyring.rotated(second, NOW)
    kids = [jwk["kid"] for jwk in keyring.public_jwks(third)]
    assert kids == [third.signing[0].kid, second.signing[0].kid]
    assert len({first.signing[0].kid, *kids}) == 3
    assert len(third.signing) == 2


def test_every_sealing_key_is_kept():
    first = keyring.fresh(NOW)
    third = keyring.rotated(keyring.rotated(first, NOW), NOW)
    assert len(third.sealing) == 3
    assert third.sealing[-1] == first.sealing[0]


def test_a_full_keyring_is_not_rotated_into_one_that_cannot_be_read():
    keys = keyring.fresh(NOW)
    many = tuple(
        keyring.SealingKey(f"k{i}", keys.sealing[0].created, bytes([i]) * 32) for i in range(256)
    )
    full = keys._replace(sealing=many, signing=keyring.rotated(keys, NOW).signing)
    assert keyring.read(keyring.write(full)).sealing == many
    with pytest.raises(InvalidSettings, match="256 sealing keys"):
        keyring.rotated(full, NOW)


def test_signing_keys_beyond_two_are_not_published():
    keys = keyring.fresh(NOW)
    signing = tuple(keyring.fresh(NOW).signing[0] for _ in range(3))
    assert len(keyring.public_jwks(keys._replace(signing=signing))) == 2


# ---------------------------------------------------------------- secrecy


def secrets_of(keys: keyring.Keyring) -> list[str]:
    """What must not be seen: pieces of every private key."""
    lines = [line for key in keys.signing for line in key.pem.splitlines() if "---" not in line]
    return lines + [base64.b64encode(key.key).decode() for key in keys.sealing]


def test_nothing_private_is_shown_by_a_repr_or_published():
    keys = keyring.rotated(keyring.fresh(NOW), NOW)
    shown = repr(keys) + repr(list(keys.signing)) + str(keyring.public_jwks(keys))
    assert not [secret for secret in secrets_of(keys) if secret in shown]
    assert repr(keys.sealing[0].key) not in shown
    assert all("d" not in jwk for jwk in keyring.public_jwks(keys))


def test_no_fault_repeats_a_key():
    keys = keyring.fresh(NOW)
    parts = document(keys)
    pem_text, sealing = parts["signing"][0]["key"], parts["sealing"][0]["key"]
    wrong = [
        {"signing": pem_text, "sealing": sealing},
        {"signing": [pem_text], "sealing": [sealing]},
        {
            "signing": [{"kid": pem_text, "created": pem_text, "key": pem_text[:-30]}],
            "sealing": [{"id": sealing, "created": "2026-12-01T00:00:00Z", "key": sealing[:-4]}],
        },
        {
            "signing": [
                {"kid": pem_text, "created": "2026-12-01T00:00:00Z", "key": pem_text[:-30]}
            ],
            "sealing": [{"id": "a", "created": sealing, "key": sealing + "AAAA"}],
        },
    ]
    for document_ in wrong:
        with pytest.raises(InvalidSettings) as caught:
            keyring.read(json.dumps(document_))
        assert not [secret for secret in secrets_of(keys) if secret in str(caught.value)]
