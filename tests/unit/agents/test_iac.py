"""The IaC agent: what it makes of a message, and what it answers."""

from __future__ import annotations

import hashlib
import json

import pytest
import yaml
from a2a.types.a2a_pb2 import Message, Part, TaskState
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Value
from tests.unit.world import World

from a2a_fn.agents.iac import IacAgent
from a2a_fn.agents.reading import read

ROS = """\
ROSTemplateFormatVersion: '2015-09-01'
Resources:
  Vpc:
    Type: ALIYUN::ECS::VPC
    Properties:
      CidrBlock: 10.0.0.0/33
"""
TERRAFORM = 'resource "alicloud_vpc" "main" {\n  cidr_block = "10.0.0.0/16"\n}\n'


def message(*parts: Part) -> Message:
    return Message(message_id="m", role="ROLE_USER", parts=parts)


# -------------------------------------------------------------------- reading


def test_a_part_with_a_file_name_is_a_file() -> None:
    request = read(message(Part(text="review it"), Part(text=ROS, filename="net.yml")))
    assert (request.words, dict(request.files)) == ("review it", {"net.yml": ROS})


def test_raw_bytes_are_a_file_if_they_are_text() -> None:
    request = read(
        message(
            Part(raw=ROS.encode(), media_type="application/yaml"),
            Part(raw=b"\x89PNG\xff", filename="logo.png"),
        )
    )
    assert dict(request.files) == {"template.yml": ROS}
    assert [(m.filename, m.size, m.source) for m in request.unread] == [("logo.png", 5, "raw")]
    assert request.unread[0].sha256 == hashlib.sha256(b"\x89PNG\xff").hexdigest()


def test_data_is_a_json_file() -> None:
    data = ParseDict({"ROSTemplateFormatVersion": "2015-09-01"}, Value())
    assert json.loads(read(message(Part(data=data))).files["template.json"]) == {
        "ROSTemplateFormatVersion": "2015-09-01"
    }


@pytest.mark.parametrize(
    ("language", "code", "name"),
    [("yaml", ROS, "template.yml"), ("hcl", TERRAFORM, "main.tf"), ("", TERRAFORM, "main.tf")],
)
def test_code_between_fences_is_a_file(language: str, code: str, name: str) -> None:
    request = read(message(Part(text=f"Please check\n```{language}\n{code}```\nthanks")))
    assert dict(request.files) == {name: code}
    assert request.words.split() == ["Please", "check", "thanks"]


@pytest.mark.parametrize("code", [ROS, TERRAFORM, '{\n  "ROSTemplateFormatVersion": "x"\n}'])
def test_a_template_in_the_text_is_a_file(code: str) -> None:
    request = read(message(Part(text=f"Review this:\n{code}")))
    assert list(request.files.values()) == [code]
    assert request.words.strip() == "Review this:"


def test_two_files_of_one_name_are_two_files() -> None:
    request = read(
        message(Part(text="a: 1", filename="x.yml"), Part(text="b: 2", filename="x.yml"))
    )
    assert dict(request.files) == {"x.yml": "a: 1", "x-2.yml": "b: 2"}


def test_plain_words_are_no_file() -> None:
    assert not read(message(Part(text="Create a VPC and a resource group"))).files


# -------------------------------------------------------------------- answering


async def answer(text: str, *parts: Part, end_state: str = "input-required"):
    world = World()
    from a2a.types.a2a_pb2 import Role

    from a2a_fn.journal import intents

    sent = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text=text), *parts])
    task = (await intents.submit(world.journal, "me", sent)).task
    await world.run(task, IacAgent(end_state=end_state).run)
    return await world.task(task)


async def test_a_review_names_the_fault_with_its_line_and_gives_the_findings_as_data() -> None:
    task = await answer("Review this template", Part(text=ROS, filename="net.yml"))
    assert task.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert "net.yml:6:18 [error]" in task.status.message.parts[0].text
    findings = MessageToDict(task.artifacts[0].parts[0].data)["findings"]
    assert (findings[0]["file"], findings[0]["line"]) == ("net.yml", 6)


async def test_a_template_alone_is_reviewed() -> None:
    task = await answer(TERRAFORM)
    assert "reviewed 1 file" in task.status.message.parts[0].text


async def test_a_wish_becomes_a_template() -> None:
    task = await answer("Create a VPC with two vSwitches")
    made = yaml.safe_load(task.artifacts[0].parts[0].text)
    kinds = sorted(resource["Type"] for resource in made["Resources"].values())
    assert kinds == ["ALIYUN::ECS::VPC", "ALIYUN::ECS::VSwitch", "ALIYUN::ECS::VSwitch"]
    assert (task.artifacts[0].name, task.artifacts[0].parts[0].filename) == ("template.yml",) * 2


async def test_a_review_of_nothing_asks_for_the_template() -> None:
    task = await answer("please review my template")
    assert "Send the template" in task.status.message.parts[0].text
    assert not task.artifacts


async def test_a_file_that_is_no_text_is_named() -> None:
    task = await answer("Review this", Part(raw=b"caf\xe9", filename="latin.yml"))
    said = "Not read, since this agent reads UTF-8 text: latin.yml (application/octet-stream, 4 b"
    assert said in task.status.message.parts[0].text
    assert "Send templates as text" in task.status.message.parts[0].text


async def test_a_conversion_is_declined_honestly() -> None:
    task = await answer("Convert this to ROS", Part(text=TERRAFORM, filename="main.tf"))
    text = task.status.message.parts[0].text
    assert "not part of the offline agent yet" in " ".join(
        [*(p.text for m in task.history for p in m.parts), text]
    )


@pytest.mark.parametrize("text", ["", "  \n"])
async def test_empty_text_fails_the_task(text: str) -> None:
    task = await answer(text)
    assert task.status.state == TaskState.TASK_STATE_FAILED
    assert task.status.message.parts[0].text == "A2A server currently accepts text input only."


async def test_the_end_state_is_a_setting() -> None:
    task = await answer("Create a VPC", end_state="completed")
    assert task.status.state == TaskState.TASK_STATE_COMPLETED


async def test_a_turn_that_resumes_after_its_work_says_nothing_twice() -> None:
    world = World()
    task = await world.submit("Create a VPC")

    async def saved_and_gone(turn) -> None:
        turn.stop()
        await IacAgent(end_state="input-required").run(turn)

    await world.run(task, saved_and_gone)
    await world.run(task, IacAgent(end_state="input-required").run)
    found = await world.task(task)
    assert found.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    texts = [p.text for m in [*found.history, found.status.message] for p in m.parts]
    assert sum("1 VPC" in t for t in texts) == 1
    assert len(found.artifacts) == 1
