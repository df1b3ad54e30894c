"""Can any text break the engine, or get out of the place that it is written to?"""

from __future__ import annotations

import hcl2
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.iac.generate.outputs import dangling_in_ros, dangling_in_terraform, severe

from a2a_fn.iac.generate import Generation, generate
from a2a_fn.iac.generate.languages import languages
from a2a_fn.iac.generate.lexicon import _phrases

PHRASES = sorted({text for code in languages() for text, _, _ in _phrases(code)})
LITERALS = [
    "2",
    "3",
    "443",
    "8080",
    "22",
    "10.0.0.0/16",
    "10.0.1.0/24",
    "0.0.0.0/0",
    "/24",
    "1.2.3.4",
]
LITERALS += [
    "4c8g",
    "80-90",
    "8.0",
    "cn-hangzhou",
    "cn-hangzhou-h",
    "ecs.g7.large",
    ",",
    ".",
    "、",
    "。",
]
LITERALS += ["“x y”", '"a-b"', "{{", "${x}", "%{if}", "\n", "'", "1,000", "/"]

words = st.lists(
    st.sampled_from(PHRASES) | st.sampled_from(LITERALS) | st.text(max_size=4), max_size=14
)
sentences = words.map(" ".join) | words.map("".join)


def check(result: Generation) -> None:
    assert bool(result.files) == bool(result.resources) == (not result.questions)
    if not result.files:
        return
    template = yaml.safe_load(result.files["template.yml"])
    assert set(template) <= {
        "ROSTemplateFormatVersion", "Description", "Parameters", "Resources", "Outputs", "Metadata"
    }  # fmt: skip
    assert set(template["Resources"]) == {resource.name for resource in result.resources}
    assert dangling_in_ros(template) == []
    assert severe(result) == []


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200))
def test_arbitrary_text_never_raises(text: str) -> None:
    check(generate(text))


@settings(max_examples=500, deadline=None)
@given(sentences)
def test_arbitrary_words_of_the_vocabulary_give_sound_templates_or_questions(text: str) -> None:
    result = generate(text, format="ros")
    check(result)
    for word in result.not_understood:
        assert word == "***" or all(part in text for part in word.split())


@settings(max_examples=40, deadline=None)
@given(sentences)
def test_arbitrary_words_give_terraform_that_parses(text: str) -> None:
    result = generate(text, format="terraform")
    if result.files:
        for body in result.files.values():
            hcl2.loads(body)
        assert dangling_in_terraform(dict(result.files)) == []


INJECTIONS = [
    'x"', "x'", "x\nResources: {}", "x: y", "${ALIYUN::StackName}", "{{ x }}", "%{ if true }", "x "
    "#",
    "!Ref x", "&a", "*a", "- x", "x\\n", '"}', "\u2028x", "é\u0000", "'; drop table", "a" * 200,
]  # fmt: skip


@pytest.mark.parametrize("name", INJECTIONS)
@pytest.mark.parametrize("kind", ["VPC", "OSS bucket", "ECS instance", "MySQL database"])
def test_no_name_gets_out_of_its_place(name: str, kind: str) -> None:
    for text in (
        f'a {kind} called "{name}"',
        f"a {kind} called {name}",
        f"a {kind} called “{name}”",
    ):
        for format in ("ros", "terraform"):
            result = generate(text, format=format)
            for body in result.files.values():
                # What is written of a name is a plain word, whatever was said around it.
                assert "drop" not in body and "{{" not in body and "%{" not in body
            if format == "ros":
                check(result)


@settings(max_examples=200, deadline=None)
@given(st.text(min_size=1, max_size=40).filter(lambda name: '"' not in name and "\n" not in name))
def test_a_quoted_name_is_written_as_it_is_or_asked_about(name: str) -> None:
    result = generate(f'a VPC called "{name}"')
    if result.files:
        template = yaml.safe_load(result.files["template.yml"])
        (vpc,) = template["Resources"].values()
        assert vpc["Properties"]["VpcName"] == name
    else:
        assert result.questions
