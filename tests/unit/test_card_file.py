"""The card file: one's own words on the card, and every fault said with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from a2a_fn.card_file import read_card
from a2a_fn.errors import InvalidSettings
from a2a_fn.profile import IAC, Extension, Profile, Skill

OWN = Profile(
    name="own",
    description="The agent's own words.",
    version="0.1",
    skills=(Skill("a", "A", "Does a.", ("t",)),),
    extensions=(Extension("urn:one", "Mine."), Extension("urn:two")),
    url_parts=True,
)
WHOLE = """\
name: mine
description: Does what I need.
version: "2.0"
provider: {organization: Me, url: https://me.example}
documentationUrl: https://me.example/docs
iconUrl: https://me.example/icon.png
skills:
  - id: s
    name: Skill
    description: It does.
    tags: [one, two]
    examples: [Do it.]
    inputModes: [text/plain]
    outputModes: [image/png]
defaultInputModes: [text/plain, image/png]
defaultOutputModes: [text/plain]
extensions:
  - uri: urn:two
    required: true
  - uri: urn:three
    description: Third.
    params: {limit: 20, share: 0.5, kinds: [a, b], nothing: null}
"""


def written(folder: Path, text: str | bytes, name: str = "card.yml") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def faults(folder: Path, text: str | bytes, name: str = "card.yml") -> list[str]:
    """What is said about the file, without its name, which each line begins with."""
    path = written(folder, text, name)
    with pytest.raises(InvalidSettings) as caught:
        read_card(path, OWN)
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}: ") for line in lines)
    return [line.removeprefix(f"{path}: ") for line in lines]


def test_it_can_say_everything_that_a_profile_has(tmp_path: Path) -> None:
    profile = read_card(written(tmp_path, WHOLE), OWN)
    assert profile == Profile(
        name="mine",
        description="Does what I need.",
        version="2.0",
        skills=(
            Skill("s", "Skill", "It does.", ("one", "two"), ("Do it.",), ("text/plain",),
                  ("image/png",)),
        ),
        input_modes=("text/plain", "image/png"),
        output_modes=("text/plain",),
        documentation_url="https://me.example/docs",
        provider_organization="Me",
        provider_url="https://me.example",
        icon_url="https://me.example/icon.png",
        extensions=(
            Extension("urn:one", "Mine."),
            Extension("urn:two", required=True),
            Extension(
                "urn:three",
                "Third.",
                params={"limit": 20, "share": 0.5, "kinds": ["a", "b"], "nothing": None},
            ),
        ),
        url_parts=True,
    )  # fmt: skip
    assert profile.required == {"urn:two"}


def test_json_says_the_same(tmp_path: Path) -> None:
    import yaml

    as_json = written(tmp_path, json.dumps(yaml.safe_load(WHOLE)), "card.json")
    assert read_card(as_json, OWN) == read_card(written(tmp_path, WHOLE), OWN)


def test_what_it_does_not_say_stays(tmp_path: Path) -> None:
    profile = read_card(written(tmp_path, "name: mine\n"), IAC)
    assert (profile.name, profile.skills, profile.extensions) == (
        "mine",
        IAC.skills,
        IAC.extensions,
    )


def test_every_fault_is_said_at_once(tmp_path: Path) -> None:
    text = """\
name: ""
descripton: x
version: 1.0
provider: {organisation: Me}
iconUrl: me.example/icon.png
skills:
  - {id: s, name: [x], tags: t}
  - {id: s, name: S, description: d, tags: [t, ""], color: red}
  - none
defaultInputModes: []
extensions:
  - {required: "yes"}
  - {uri: urn:x, params: [1]}
  - {uri: urn:x, params: {on: 2026-01-01}}
supportedInterfaces: []
capabilities: {streaming: true}
"""
    assert faults(tmp_path, text) == [
        "name: must be text that is not empty",
        "descripton: there is no such field; did you mean description?",
        "version: must be text: write it in quotes",
        "provider.organisation: there is no such field; did you mean organization?",
        "provider.organization: is missing",
        "provider.url: is missing",
        "iconUrl: must be an http or https URL",
        "skills[0].name: must be text that is not empty",
        "skills[0].tags: must be a list of text that is not empty",
        "skills[0].description: is missing",
        "skills[1].tags[1]: must be text that is not empty",
        "skills[1].color: there is no such field",
        "skills[2]: must be a mapping with id, name, description, tags",
        "skills[1].id: is there twice: s",
        "defaultInputModes: must be a list of text that is not empty",
        "extensions[0].required: must be true or false",
        "extensions[0].uri: is missing",
        "extensions[1].params: must be an object, not an array",
        "extensions[2].params: must be JSON; write dates in quotes",
        "extensions[2].uri: is there twice: urn:x",
        "supportedInterfaces: is made by the server; set public-url for its address",
        "capabilities: is made from the settings; write extensions at the top of this file",
    ]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("card.yml", "- a\n", "must be a mapping with the fields of an agent card"),
        ("card.yml", "", "must be a mapping with the fields of an agent card"),
        ("card.yml", "a: [", "is not YAML: "),
        ("card.yml", "!!python/object:os.system {}", "is not YAML: "),
        ("card.json", "{'name': 1}", "is not JSON: "),
        ("card.json", "[" * 100_000, "is not JSON: "),
        ("card.yml", b"\xff\xfe", "is not UTF-8"),
        ("card.yml", "1: 2\n", "1: there is no such field"),
        ("card.yml", "? [a, b]\n: c\n", "is not YAML: "),
        ("card.yml", "name: null\n", "name: must be text that is not empty"),
        ("card.yml", "iconUrl: 'http://[::1'\n", "iconUrl: must be an http or https URL"),
        ("card.yml", "skills: {}\n", "skills: must be a list of mappings that is not empty"),
        ("card.json", '{"name": "\\ud800"}', "name: has half of a surrogate pair"),
    ],
)
def test_a_file_that_cannot_be_used(
    tmp_path: Path, name: str, text: str | bytes, words: str
) -> None:
    (fault,) = faults(tmp_path, text, name)
    assert fault.startswith(words)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match=r"none\.yml: cannot be read: No such file"):
        read_card(tmp_path / "none.yml", OWN)


def deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"d": value}
    return value


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"n": 2**53 + 1}, "has a number that a double cannot say exactly"),
        ({"n": 10**400}, "must not contain a number outside the range of a double"),
        (deep(30), "must not be nested deeper than 24 levels"),
        ({"s": "\ud800"}, "must be valid Unicode: it has half of a surrogate pair"),
    ],
)
def test_params_that_would_not_arrive_as_they_are(
    tmp_path: Path, params: dict[str, Any], words: str
) -> None:
    text = json.dumps({"extensions": [{"uri": "urn:x", "params": params}]})
    assert faults(tmp_path, text, "card.json") == [f"extensions[0].params: {words}"]
