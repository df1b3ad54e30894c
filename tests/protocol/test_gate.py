"""The gate's own rules, without HTTP: tenants and owners."""

from __future__ import annotations

import pytest
from a2a.utils.errors import InvalidParamsError
from hypothesis import given
from hypothesis import strategies as st
from starlette.exceptions import HTTPException

from a2a_fn.protocol.callers import Caller, Principal
from a2a_fn.protocol.gate import Gate, owner
from a2a_fn.protocol.rules import NO_TENANTS


def caller(name: str = "bearer", *tenants: str) -> Caller:
    return Caller(principal=Principal(name, frozenset(tenants) if tenants else None))


@pytest.mark.parametrize("name", ["principal:x", "a/b", "a:b", ".a", "a b", "ä", "a" * 129, "/"])
def test_what_is_no_name_of_a_tenant_is_refused_wherever_it_comes_from(name: str) -> None:
    with pytest.raises(InvalidParamsError, match="tenant"):
        Gate().enter(caller(), name)


@pytest.mark.parametrize("name", sorted(NO_TENANTS))
def test_a_name_that_paths_begin_with_is_no_tenant(name: str) -> None:
    with pytest.raises(InvalidParamsError, match="tenant"):
        Gate().enter(caller(), name)


def test_a_principal_of_tenants_is_in_one_of_them() -> None:
    assert Gate().enter(caller("p", "red"), "").tenant == "red"
    assert Gate().enter(caller("p", "red", "blue"), "blue").owner == "blue/p"
    for tenant in ("", "green"):
        with pytest.raises(HTTPException) as caught:
            Gate().enter(caller("p", "red", "blue"), tenant)
        assert caught.value.status_code == 403


def test_a_tenant_that_does_not_exist() -> None:
    gate = Gate(tenants=frozenset({"red"}))
    assert gate.enter(caller(), "red").owner == "red/bearer"
    with pytest.raises(InvalidParamsError, match="names none that exists"):
        gate.enter(caller(), "blue")


names = st.sampled_from(["bearer", "api-key", ""]) | st.text(min_size=1, max_size=6).map(
    lambda rest: f"principal:{rest}"
)
tenants = st.just("") | st.text("ab.-_1", min_size=1, max_size=4).filter(lambda t: t[0] in "ab1")


@given(one=st.tuples(names, tenants), other=st.tuples(names, tenants))
def test_no_two_callers_share_an_owner(one: tuple[str, str], other: tuple[str, str]) -> None:
    assert (owner(*one) == owner(*other)) == (one == other)
