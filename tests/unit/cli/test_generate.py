"""`a2a-fn generate`: the template on stdout or in files, the rest on stderr."""

from __future__ import annotations

import json

import pytest
import yaml


def test_the_template_is_alone_on_stdout(cli):
    result = cli("generate", "Create a VPC with two vSwitches")
    types = [r["Type"] for r in yaml.safe_load(result.out)["Resources"].values()]
    assert types == ["ALIYUN::ECS::VPC", "ALIYUN::ECS::VSwitch", "ALIYUN::ECS::VSwitch"]
    assert "vSwitches" in result.err
    assert result.code == 0


def test_several_files_have_a_comment_line_each(cli):
    result = cli("generate", "a VPC", "--format", "terraform")
    assert result.out.startswith("# ---- main.tf\n")
    assert "\n# ---- variables.tf\n" in result.out


def test_files_are_saved_and_what_was_changed_by_hand_is_kept(cli, tmp_path):
    first = cli("generate", "a VPC", "--out", tmp_path)
    template = tmp_path / "template.yml"
    assert first.out == ""
    assert f"saved {template}" in first.err
    template.write_text("mine")
    cli("generate", "a VPC", "--out", tmp_path)
    assert template.read_text() == "mine"
    assert "ALIYUN::ECS::VPC" in (tmp_path / "template-2.yml").read_text()


@pytest.mark.parametrize("text", ["hello", "Create a VPC 10.0.0.0/16 and a vSwitch 192.168.0.0/24"])
def test_words_that_do_not_make_a_template_are_exit_code_1(cli, text):
    result = cli("generate", text)
    assert (result.out, result.code) == ("", 1)
    assert result.err.strip()


def test_json_has_files_and_what_was_not_understood(cli):
    result = cli("generate", "a VPC and a flux capacitor", "--json")
    made = json.loads(result.out)
    assert "ALIYUN::ECS::VPC" in made["files"]["template.yml"]
    assert "capacitor" in " ".join(made["notUnderstood"])
    assert result.err == ""


def test_no_words(cli):
    result = cli("generate", " ")
    assert result.code == 2
    assert "say what you want" in result.err
