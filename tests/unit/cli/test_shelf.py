"""Artifacts put together and written: right content, safe places."""

from __future__ import annotations

import hashlib

import pytest
from a2a.types.a2a_pb2 import Artifact, Part, TaskArtifactUpdateEvent
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.cli.failures import Failure
from a2a_fn.cli.shelf import DOWNLOAD_LIMIT, Shelf, label
from a2a_fn.cli.writing import safe_name, write_new


def chunk(text, *, append=False, last=False, **part):
    made = Artifact(artifact_id="a", name="vpc", parts=[Part(text=text, **part)])
    return TaskArtifactUpdateEvent(artifact=made, append=append, last_chunk=last)


class TestContent:
    def test_chunks_are_appended(self, tmp_path):
        shelf = Shelf(tmp_path)
        for event in (chunk("a"), chunk("b", append=True), chunk("c", append=True, last=True)):
            shelf.update(event)
        assert shelf.save(ended=False) == [tmp_path / "vpc.txt"]
        assert (tmp_path / "vpc.txt").read_text() == "abc"

    def test_an_artifact_that_begins_again_replaces_this_runs_file(self, tmp_path):
        shelf = Shelf(tmp_path)
        shelf.update(chunk("old and longer", last=True))
        shelf.save(ended=False)
        shelf.update(chunk("new", last=True))
        shelf.save(ended=False)
        assert [(p.name, p.read_text()) for p in tmp_path.iterdir()] == [("vpc.txt", "new")]

    def test_an_unfinished_artifact_is_written_only_when_the_turn_has_ended(self, tmp_path):
        shelf = Shelf(tmp_path)
        shelf.update(chunk("half"))
        assert shelf.save(ended=False) == []
        assert shelf.save(ended=True) == [tmp_path / "vpc.txt"]
        assert shelf.save(ended=True) == []

    def test_parts_with_names_are_files_of_their_own(self, tmp_path):
        shelf = Shelf(tmp_path)
        shelf.replace(
            Artifact(
                artifact_id="a",
                parts=[
                    Part(text="main", filename="main.tf"),
                    Part(text="vars", filename="modules/net/variables.tf"),
                    Part(text=" more", filename="main.tf"),
                ],
            )
        )
        shelf.save(ended=True)
        assert (tmp_path / "main.tf").read_text() == "main more"
        assert (tmp_path / "modules/net/variables.tf").read_text() == "vars"

    def test_data_is_written_as_json(self, tmp_path):
        part = Part()
        part.data.struct_value.update({"k": "\u4f60"})
        shelf = Shelf(tmp_path)
        shelf.replace(Artifact(artifact_id="a", name="plan", parts=[part]))
        shelf.save(ended=True)
        assert (tmp_path / "plan.json").read_text("utf-8") == '{\n  "k": "\u4f60"\n}\n'

    def test_a_url_is_fetched_and_checked(self, tmp_path):
        part = Part(url="/artifacts/1", filename="a.zip", media_type="application/zip")
        part.metadata.update({"sha256": hashlib.sha256(b"bytes").hexdigest(), "byteSize": 5})
        good = Artifact(artifact_id="a", parts=[part])
        asked = []
        shelf = Shelf(tmp_path, lambda *asking: (asked.append(asking), (b"bytes", ""))[1])
        shelf.replace(good)
        assert shelf.save(ended=True) == [tmp_path / "a.zip"]
        assert asked == [("/artifacts/1", DOWNLOAD_LIMIT, "application/zip")]

    @pytest.mark.parametrize(
        ("data", "kind", "metadata", "why"),
        [
            (b"other", "", {"sha256": hashlib.sha256(b"bytes").hexdigest()}, "SHA-256"),
            (b"byte", "", {"byteSize": 5}, "4 bytes came, not 5"),
            (b"<html>", "text/html; charset=utf-8", {}, "is a page of HTML, not application/zip"),
        ],
    )
    def test_what_is_not_what_was_promised_is_not_saved(self, tmp_path, data, kind, metadata, why):
        part = Part(url="/a?key=secret", filename="a.zip", media_type="application/zip")
        part.metadata.update(metadata)
        shelf = Shelf(tmp_path, lambda *asking: (data, kind))
        shelf.replace(Artifact(artifact_id="a", parts=[part]))
        with pytest.raises(Failure, match=why) as failure:
            shelf.save(ended=True)
        assert "secret" not in str(failure.value)
        assert list(tmp_path.iterdir()) == []

    def test_a_known_artifact_is_not_saved_until_it_grows(self, tmp_path):
        shelf = Shelf(tmp_path)
        shelf.known(chunk("old").artifact)
        assert shelf.save(ended=True) == []
        shelf.update(chunk("+new", append=True))
        shelf.save(ended=True)
        assert (tmp_path / "vpc.txt").read_text() == "old+new"


class TestNames:
    @pytest.mark.parametrize(
        ("name", "safe"),
        [
            ("vpc.yml", "vpc.yml"),
            ("../../etc/passwd", "etc/passwd"),
            ("/etc/passwd", "etc/passwd"),
            ("..\\..\\win.ini", "win.ini"),
            ("C:\\x", "C/x"),
            (".ssh/authorized_keys", "ssh/authorized_keys"),
            ("a\x00b\n.yml", "ab.yml"),
            ("...", "artifact"),
            ("", "artifact"),
            ("\u6a21\u677f.yml", "\u6a21\u677f.yml"),
        ],
    )
    def test_examples(self, name, safe):
        assert safe_name(name) == safe

    @given(st.text())
    def test_no_name_leads_out_of_the_directory(self, name):
        steps = safe_name(name).split("/")
        assert steps
        for step in steps:
            assert step not in ("", ".", "..")
            assert not step.startswith(".")
            assert len(step.encode()) <= 200
            assert not set(step) & set("\x00\\:")

    def test_the_label_of_an_artifact_is_its_files(self):
        assert label(Artifact(artifact_id="x", name="net", parts=[Part(text="t")])) == "net.txt"
        assert label(Artifact(artifact_id="x\x1b[2J")) == "x[2J"


class TestPlaces:
    def test_the_same_content_is_left_alone_and_other_content_gets_another_name(self, tmp_path):
        assert write_new(tmp_path, "a.yml", b"mine") == tmp_path / "a.yml"
        assert write_new(tmp_path, "a.yml", b"mine") == tmp_path / "a.yml"
        assert write_new(tmp_path, "a.yml", b"theirs") == tmp_path / "a-2.yml"
        assert write_new(tmp_path, "a.yml", b"third") == tmp_path / "a-3.yml"
        assert (tmp_path / "a.yml").read_bytes() == b"mine"

    def test_a_link_is_not_written_through(self, tmp_path):
        out, secret = tmp_path / "out", tmp_path / "secret"
        out.mkdir()
        secret.write_text("keep")
        (out / "a.yml").symlink_to(secret)
        (out / "dangling").symlink_to(tmp_path / "new")
        assert write_new(out, "a.yml", b"x") == out / "a-2.yml"
        assert write_new(out, "dangling", b"x") == out / "dangling-2"
        assert secret.read_text() == "keep"
        assert not (tmp_path / "new").exists()

    def test_a_linked_directory_is_refused(self, tmp_path):
        out, other = tmp_path / "out", tmp_path / "other"
        out.mkdir()
        other.mkdir()
        (out / "sub").symlink_to(other)
        with pytest.raises(Failure, match="is a link"):
            write_new(out, "sub/deep/a.yml", b"x")
        assert list(other.iterdir()) == []

    def test_a_directory_that_is_a_file_is_one_clear_failure(self, tmp_path):
        (tmp_path / "out").write_text("")
        with pytest.raises(Failure, match="cannot be written"):
            write_new(tmp_path / "out", "a", b"x")
