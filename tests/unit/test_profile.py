"""Profiles: what settings add to them, and which agent has which."""

from __future__ import annotations

import pytest

from a2a_fn.agents.profiles import profile_of
from a2a_fn.errors import InvalidSettings
from a2a_fn.profile import IAC, Extension, Profile, Skill, showing

SKILL = Skill("s", "S", "d", ("t",))


def test_required_extensions_are_marked_or_added() -> None:
    profile = Profile("n", "d", "1", (SKILL,), extensions=(Extension("urn:a", "A."),))
    assert profile.requiring(()) == profile
    assert profile.requiring({"urn:c", "urn:a", "urn:b"}).extensions == (
        Extension("urn:a", "A.", required=True),
        Extension("urn:b", required=True),
        Extension("urn:c", required=True),
    )


def test_what_a_profile_requires_by_itself_stays_required() -> None:
    profile = Profile("n", "d", "1", (SKILL,), extensions=(Extension("urn:a", required=True),))
    assert profile.requiring({"urn:b"}).required == {"urn:a", "urn:b"}


def test_an_extension_needs_its_uri() -> None:
    with pytest.raises(InvalidSettings, match="uri of an extension"):
        Profile("n", "d", "1", (SKILL,), extensions=(Extension(""),)).check()


def test_an_agent_that_shows_nothing_does_not_speak_of_it() -> None:
    assert showing(IAC, ()) is IAC
    assert profile_of("iac:offline") is IAC
    assert len(profile_of("iac:offline", ("raw-thinking",)).extensions) == 2


@pytest.mark.parametrize(
    ("agent", "name", "url_parts"),
    [
        ("iac:offline", "iac-code", False),
        ("echo:", "echo", False),
        ("tck", "tck", True),
        ("executor:my.module:MyExecutor", "MyExecutor", True),
        ("agent:my.module:Mine", "Mine", True),
    ],
)
def test_every_kind_of_agent_has_a_profile(agent: str, name: str, url_parts: bool) -> None:
    profile = profile_of(agent, ("tool-trace",))
    assert (profile.name, profile.url_parts) == (name, url_parts)
    profile.check()


def test_the_conformance_agent_takes_text_and_json() -> None:
    profile = profile_of("tck")
    assert profile.input_modes == ("text/plain", "application/json")
    assert profile.output_modes == ("text/plain",)
