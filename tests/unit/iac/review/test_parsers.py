"""The three parsers: what they read, where they place it, what they object to."""

from __future__ import annotations

import json

import hcl2
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.iac.review.templates import MODULE, NETWORK, STACKS, WORKSPACE

from a2a_fn.iac.documents.embedding import embedded
from a2a_fn.iac.documents.hcl import Access, Array, Call, For, Literal, Operation, Template
from a2a_fn.iac.documents.hcltext import read_hcl
from a2a_fn.iac.documents.jsontext import read_json
from a2a_fn.iac.documents.source import Source
from a2a_fn.iac.documents.tree import Map, Scalar, Sequence
from a2a_fn.iac.documents.yamltext import read_yaml


def plain(node):
    """A tree as the usual loaders give it."""
    match node:
        case Scalar():
            return node.value
        case Sequence():
            return [plain(item) for item in node.items]
        case Map():
            return {key: plain(value) for key, value in node.values.items()}


def problem(read, text):
    root, problems = read(Source("t", text))
    assert root is None
    return problems[-1].kind, Source("t", text).position(problems[-1].index)


@pytest.mark.parametrize("text", [NETWORK, STACKS, WORKSPACE])
def test_yaml_reads_what_pyyaml_reads(text):
    root, problems = read_yaml(Source("t", text))
    assert plain(root) == yaml.safe_load(text)
    assert problems == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2015-09-01", "2015-09-01"),
        ("'true'", "true"),
        ("yes", True),
        ("~", None),
        ("", None),
        ("0x1F", "0x1F"),
        ("12", 12),
        ("-1.5", -1.5),
        ("1_000", "1_000"),
        ("9" * 400, "9" * 400),
        ("!Ref a", {"Ref": "a"}),
        ("!GetAtt a.b.c", {"Fn::GetAtt": ["a", "b.c"]}),
        ("!Join ['-', [a]]", {"Fn::Join": ["-", ["a"]]}),
        ("!Sub x", {"Fn::Sub": "x"}),
        ("{<<: {a: 1, b: 2}, b: 3}", {"b": 3, "a": 1}),
        ("{<<: [{a: 1}, {a: 2, c: 3}]}", {"a": 1, "c": 3}),
        ("{1: a, true: b}", {"1": "a", "true": "b"}),
    ],
)
def test_yaml_scalars_and_tags(text, value):
    root, _ = read_yaml(Source("t", f"key: {text}\n"))
    assert plain(root) == {"key": value}


def test_yaml_places():
    source = Source("t", "# é\na:\n  - b: 'c'\n")
    root, _ = read_yaml(source)
    item = root.get("a").items[0]
    assert source.position(root.keys["a"].start) == (2, 1)
    assert source.position(item.start) == (3, 5)
    assert source.position(item.get("b").start) == (3, 8)


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("a: b: c\n", "syntax", (1, 5)),
        ("a: [1\n", "syntax", (2, 1)),
        ("a:\n\tb: 1\n", "syntax", (2, 1)),
        ("a: 1\n---\nb: 2\n", "syntax", (2, 1)),
        ("a: *b\n", "syntax", (1, 4)),
        ("a: &b [*b]\n", "syntax", (1, 8)),
        ("? [a]\n: 1\n", "syntax", (1, 3)),
        ("a: \x01\n", "syntax", (1, 4)),
        ("a: \ud800\n", "syntax", (1, 4)),
        ("a: " + "[" * 120 + "]" * 120, "limit", (1, 103)),
    ],
)
def test_yaml_objections(text, kind, place):
    assert problem(read_yaml, text) == (kind, place)


def test_yaml_duplicate_keys_are_noted_and_the_last_counts():
    root, [found] = read_yaml(Source("t", "a: 1\nb: 2\na: 3\n"))
    assert plain(root) == {"a": 3, "b": 2}
    assert (found.kind, found.message) == ("duplicate-key", "a")
    assert Source("t", "a: 1\nb: 2\na: 3\n").position(found.index) == (3, 1)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_json_reads_what_json_reads(value, ascii_only, indent):
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    root, problems = read_json(Source("t", text))
    assert plain(root) == json.loads(text)
    assert problems == ()


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("", (1, 1)),
        ("{", (1, 2)),
        ('{"a": 1,}', (1, 8)),
        ('{"a" 1}', (1, 6)),
        ('{a: 1}', (1, 2)),
        ('{"a": 1} x', (1, 10)),
        ('["a\nb"]', (1, 2)),
        ('["\\q"]', (1, 3)),
        ("[1 2]", (1, 4)),
        ("[01]", (1, 3)),
        ("// no\n{}", (1, 1)),
        ("[NaN]", (1, 2)),
    ],
)  # fmt: skip
def test_json_objections(text, place):
    assert problem(read_json, text) == ("syntax", place)


def attribute(text):
    body, problems = read_hcl(Source("t", text))
    assert problems == ()
    return body.attributes[0].value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"a\\tb\\u00e9\\"\\\\"', 'a\tbé"\\'),
        ('"$${a} %%{b} %"', "${a} %{b} %"),
        ("-3", -3),
        ("1.5e1", 15.0),
        ("true", True),
        ("null", None),
        ("<<E\n a\\n\n  b\nE", " a\\n\n  b\n"),
        ("<<-E-1\nEE\n  E-1", "EE\n"),
        ("<<E\nE", ""),
        ("( # why\n 1 /* x */\n)", 1),
    ],
)
def test_hcl_constants(text, value):
    expr = attribute(f"a = {text}\n")
    assert isinstance(expr, Literal)
    assert expr.value == value


def test_hcl_expressions():
    kinds = {
        "var.a[0].b": Access,
        "a.*.b": Access,
        "f(x, y...)": Call,
        "f({}).x": Access,
        "provider::aws::f(1)": Call,
        "a ? b : c ? d : e": Operation,
        "!a && -b >= 3": Operation,
        "[1,\n 2,\n]": Array,
        "[for k, v in m : v if v != null]": For,
        "{ for k, v in m : k => v... }": For,
        '"a${b}c%{ if d ~} e %{~ else }f%{ endif }"': Template,
        '"${f("${x}")}"': Template,
        "{ for = 1 }": None,
    }
    for text, kind in kinds.items():
        expr = attribute(f"a = {text}\n")
        assert kind is None or isinstance(expr, kind), text
    assert attribute("a = var.x.y[0].z\n").names() == ["var", "x", "y"]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = \n", (1, 5)),
        ("a\n", (1, 2)),
        ("a {\n", (1, 1)),
        ("a = 1 b = 2\n", (1, 7)),
        ('a = "b\n', (1, 5)),
        ('a = "${b"\n', (1, 9)),
        ('a = "\\q"\n', (1, 6)),
        ("a = <<E\nx\n", (1, 5)),
        ("a = [1 2]\n", (1, 8)),
        ("a = { b 1 }\n", (1, 9)),
        ("a = 1 +\n", (1, 8)),
        ("a = (1\n", (2, 1)),
        ("a = b ? c\n", (1, 10)),
        ("}\n", (1, 1)),
        ('a = "%{ what }"\n', (1, 9)),
        ("a = \0\n", (1, 5)),
    ],
)
def test_hcl_objections(text, place):
    assert problem(read_hcl, text) == ("syntax", place)


def count(text):
    body, problems = read_hcl(Source("t", text))
    assert problems == ()
    return sorted(
        (block.type, tuple(label.text for label in block.labels), len(block.body.attributes))
        for block in body.blocks
    )


@pytest.mark.parametrize("name", sorted(MODULE))
def test_hcl_sees_the_blocks_that_another_parser_sees(name):
    def walk(kind, value, labels=()):
        if isinstance(value, list):
            for item in value:
                yield from walk(kind, item, labels)
        elif value.get("__is_block__"):
            names = [k for k, v in value.items() if not k.startswith("__")]
            inner = [k for k in names if not is_block(value[k])]
            yield kind, labels, len(inner)
        else:
            for label, inner in value.items():
                yield from walk(kind, inner, (*labels, label.strip('"')))

    def is_block(value):
        return isinstance(value, list) and value and isinstance(value[0], dict) and any(
            k == "__is_block__" or is_block(v) or isinstance(v, dict) for k, v in value[0].items()
        )  # fmt: skip

    other = hcl2.loads(MODULE[name])
    found = [row for kind, value in other.items() if not kind.startswith("__")
             for row in walk(kind, value)]  # fmt: skip
    assert count(MODULE[name]) == sorted(found)


def test_a_literal_block_points_into_the_file_around_it():
    source = Source("t.yml", "a:\n  b: |\n\n    one\n      two\n")
    root, _ = read_yaml(source)
    inner = embedded(source, root.get("a").get("b"), "x.tf")
    assert inner.name == "t.yml"
    assert inner.position(inner.text.index("one")) == (4, 5)
    assert inner.position(inner.text.index("two")) == (5, 7)


@pytest.mark.parametrize("text", ['a: "x\\ny"\n', "a: >\n  x\n  y\n"])
def test_other_texts_have_places_of_their_own(text):
    source = Source("t.yml", text)
    root, _ = read_yaml(source)
    inner = embedded(source, root.get("a"), "x.tf")
    assert inner.name == "t.yml:x.tf"
    assert inner.position(0) == (1, 1)


def test_lines_end_as_editors_think():
    source = Source("t", "a\r\nb\rc\nd")
    assert [source.position(source.text.index(c)) for c in "abcd"] == [
        (1, 1),
        (2, 1),
        (3, 1),
        (4, 1),
    ]
    assert source.position(2) == (1, 2)  # inside the line's end
    assert [source.row_text(n) for n in range(5)] == ["a", "b", "c", "d", ""]
