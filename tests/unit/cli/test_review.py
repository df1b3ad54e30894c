"""`a2a-fn review`: which files are read, what is printed, and the exit code."""

from __future__ import annotations

import io
import json
import os
import sys

import pytest

from a2a_fn.iac.findings import to_sarif
from a2a_fn.iac.review import review

GOOD = "ROSTemplateFormatVersion: '2015-09-01'\nResources: {}\n"
BROKEN = "ROSTemplateFormatVersion: '2015-09-01'\nResources: {a: [\n"
CLOUDFORMATION = "AWSTemplateFormatVersion: '2010-09-09'\nResources: {}\n"
DEEP = f"ROSTemplateFormatVersion: '2015-09-01'\nDescription: {'[' * 120}{']' * 120}\n"


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder to review, which is also the working folder."""
    monkeypatch.chdir(tmp_path)

    def add(**files):
        for name, content in files.items():
            path = tmp_path / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    add.root = tmp_path
    return add


class TestExitCode:
    def test_0_without_an_error(self, cli, project):
        project(good_dot_yml=GOOD)
        assert cli("review", "good.yml").code == 0

    def test_1_with_an_error_and_its_line_is_named(self, cli, project):
        project(bad_dot_yml=BROKEN)
        result = cli("review", "bad.yml")
        assert result.code == 1
        assert "bad.yml:" in result.out
        assert result.err == ""

    @pytest.mark.parametrize(
        ("arguments", "why"),
        [
            ((), "name what to review"),
            (("none.yml",), "none.yml cannot be read: No such file"),
            (("empty",), "empty holds no template"),
            (("photo.yml",), "photo.yml is not UTF-8 text"),
            (("nul.yml",), "nul.yml is a binary file"),
            (("good.yml", "--format", "xml"), "'xml' is not one of"),
        ],
    )
    def test_2_with_bad_input(self, cli, project, arguments, why):
        project(good_dot_yml=GOOD, photo_dot_yml=b"\xff\xfe\x00", nul_dot_yml=b"a: \0")
        os.mkdir("empty")
        result = cli("review", *arguments)
        assert (result.code, result.out) == (2, "")
        assert why in result.err
        assert result.err.count("\n") == 1

    @pytest.mark.parametrize(
        ("name", "content", "why"),
        [
            ("notes.txt", "dear diary", "neither a ROS template nor Terraform"),
            ("empty.yml", "", "empty"),
            ("cfn.yml", CLOUDFORMATION, "CloudFormation"),
            ("deep.yml", DEEP, "nested deeper"),
        ],
    )
    @pytest.mark.parametrize("piped", [False, True], ids=["file", "stdin"])
    def test_1_if_nothing_was_reviewed(self, cli, tmp_path, monkeypatch, name, content, why, piped):
        (tmp_path / name).write_text(content)
        with (tmp_path / name).open() as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            result = cli("review", "-" if piped else tmp_path / name)
        assert result.code == 1
        assert "not reviewed" in result.out + result.err
        assert why in result.out + result.err

    @pytest.mark.parametrize("format", ["text", "json", "sarif"])
    def test_1_if_nothing_was_reviewed_in_every_format(self, cli, project, format):
        project(cfn_dot_yml=CLOUDFORMATION)
        assert cli("review", "cfn.yml", "--format", format).code == 1


class TestFiles:
    def test_a_directory_is_searched_but_not_its_hidden_parts(self, cli, project):
        project(
            a_dot_yml=BROKEN,
            sub__b_dot_json='{"ROSTemplateFormatVersion": "2015-09-01", "Resources": {',
            sub__c_dot_tf='resource "alicloud_vpc" "x" {',
            _dot_terraform__d_dot_tf='resource "alicloud_vpc" "x" {',
            _dot_git__e_dot_yml=BROKEN,
            _dot_hidden_dot_yml=BROKEN,
        )
        found = json.loads(cli("review", ".", "--format", "json").out)
        assert {finding["file"] for finding in found} == {"a.yml", "sub/b.json", "sub/c.tf"}

    def test_other_files_of_a_directory_are_not_mentioned(self, cli, project):
        project(a_dot_yml=GOOD, package_dot_json='{"name": "x"}', bin_dot_yml=b"\xff\x00")
        result = cli("review", ".")
        assert result.code == 0
        assert "package.json" not in result.out
        assert "bin.yml" not in result.out

    def test_a_directory_of_other_files_only(self, cli, project):
        project(package_dot_json='{"name": "x"}')
        result = cli("review", ".")
        assert result.code == 1
        assert "nothing to review" in result.err

    def test_stdin(self, cli, monkeypatch):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BROKEN.encode())))
        result = cli("review", "-")
        assert result.code == 1
        assert "<stdin>:" in result.out

    def test_a_file_named_twice_is_reviewed_once(self, cli, project):
        project(bad_dot_yml=BROKEN)
        once = json.loads(cli("review", "bad.yml", "--format", "json").out)
        assert (
            json.loads(cli("review", "bad.yml", ".", "./bad.yml", "--format", "json").out) == once
        )


class TestFormats:
    def test_sarif_is_what_the_engine_writes(self, cli, project):
        project(bad_dot_yml=BROKEN)
        result = cli("review", "bad.yml", "--format", "sarif")
        assert result.out == to_sarif(review({"bad.yml": BROKEN}))
        assert result.code == 1

    def test_the_rules_are_listed(self, cli):
        result = cli("review", "--rules")
        assert result.code == 0
        assert all(len(line.split()) >= 3 for line in result.out.splitlines())
