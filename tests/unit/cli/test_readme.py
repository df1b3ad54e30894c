"""The README says what is true: its examples are run, its table is compared."""

from __future__ import annotations

import asyncio
import dataclasses
import re
from pathlib import Path

import pytest

from a2a_fn.settings import Settings

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")

BAD = """\
ROSTemplateFormatVersion: '2015-09-01'
Parameters:
  Password: {Type: String}
Resources:
  Vpc:
    Type: ALIYUN::ECS::VPC
    Properties:
      CidrBlock: 10.0.0.0/33
  VSwitch:
    Type: ALIYUN::ECS::VSwitch
    Properties:
      VpcId: {Ref: Vcp}
      ZoneId: cn-hangzhou-h
      CidrBlock: 10.0.1.0/24
"""


def example(command):
    """What the README shows below `$ command`."""
    return re.search(rf"^\$ {re.escape(command)}\n(.*?)^```", README, re.M | re.S)[1]


def test_the_example_of_a_review(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.yml").write_text(BAD)
    assert cli("review", "bad.yml").out == example("a2a-fn review bad.yml")


def test_the_example_of_a_generation(cli, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = "un VPC et un flux capacitor"
    shown = example(f'a2a-fn generate "{words}" --format terraform --out out')
    assert cli("generate", words, "--format", "terraform", "--out", "out").err == shown


def test_the_example_of_an_agent(monkeypatch):
    code = re.search(r"^# count\.py\n(.*?)^```", README, re.M | re.S)[1]
    scope = {}
    exec(code, scope)

    class Turn:
        checkpoint, said, ended = b"7", "", False

        async def say(self, text):
            self.said += text

        async def save(self, checkpoint):
            self.checkpoint = checkpoint

        async def complete(self):
            self.ended = True

    turn = Turn()
    asyncio.run(scope["Count"]().run(turn))
    assert (turn.said, turn.checkpoint, turn.ended) == ("7 8 9 ", b"10", True)


@pytest.mark.parametrize("setting", dataclasses.fields(Settings), ids=lambda field: field.name)
def test_the_table_of_settings(setting):
    row = re.search(rf"^\| `{setting.name.replace('_', '-')}` \| (.*?) \| (.*?) \|$", README, re.M)
    assert row, f"{setting.name} is not in the README"
    default = str(setting.default)
    if isinstance(setting.default, bool):
        default = default.lower()
    elif isinstance(setting.default, float):
        default = f"{setting.default:g}"
    elif isinstance(setting.default, tuple):
        default = ", ".join(setting.default)
    assert row[1].strip().strip("`") == default
    assert row[2] == setting.metadata["meaning"]


def test_no_setting_in_the_table_is_made_up():
    table = README.split("## Settings")[1].split("\n## ")[0]
    names = re.findall(r"^\| `([a-z0-9-]+)`", table, re.M)
    assert names == [field.name.replace("_", "-") for field in dataclasses.fields(Settings)]
