"""Messages as JSON: numbers as they were written."""

from __future__ import annotations

import json

import pytest
from a2a.types.a2a_pb2 import Artifact, Part, StreamResponse, Task
from google.protobuf.json_format import ParseDict

from a2a_fn.cli.plain import to_json
from a2a_fn.cli.shelf import Shelf
from a2a_fn.cli.transcript import message_text


@pytest.mark.parametrize("text", ["1613", "-5", "0", "0.5", "1e+300", "9007199254740991", "true"])
def test_a_number_leaves_as_it_came(text):
    document = {"id": "t", "metadata": {"a": {"b": [json.loads(text)]}}}
    out = json.dumps(to_json(ParseDict(document, Task())))
    assert out == json.dumps(document)


@pytest.mark.parametrize("value", [7, [1, 2.5], {"n": 3}, "7.0", None])
def test_so_does_the_data_of_a_part_wherever_it_goes(tmp_path, value):
    part = ParseDict({"data": value, "filename": "d.json"}, Part())
    told = message_text(
        ParseDict({"message": {"parts": [{"data": value}]}}, StreamResponse()).message
    )
    shelf = Shelf(tmp_path)
    shelf.replace(Artifact(artifact_id="a", parts=[part]))
    shelf.save(ended=True)
    written = json.dumps(value, indent=2)
    assert (told, (tmp_path / "d.json").read_text()) == (written, written + "\n")
