"""The README's two commands, and the others, as a person types them."""

from __future__ import annotations

import ipaddress
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from .server import ROOT, Process

Start = Callable[..., Process]

FAULTY = """\
ROSTemplateFormatVersion: '2015-09-01'
Resources:
  Vpc:
    Type: ALIYUN::ECS::VPC
    Properties:
      CidrBlock: 10.0.0.0/16
  Switch:
    Type: ALIYUN::ECS::VSwitch
    Properties:
      VpcId: !Ref Vcp
      ZoneId: cn-hangzhou-h
      CidrBlock: 10.0.1.0/24
"""


def a2a_fn(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "a2a_fn", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_a_wish_becomes_a_template_on_disk(start: Start, tmp_path: Path) -> None:
    server, out = start("serve"), tmp_path / "out"
    done = a2a_fn("call", server.url, "Create a VPC with two vSwitches", "--out", str(out))
    assert done.returncode == 0, done.stderr
    assert "ROS template" in done.stdout
    made = yaml.safe_load((out / "template.yml").read_text())["Resources"].values()
    vpcs = [r for r in made if r["Type"] == "ALIYUN::ECS::VPC"]
    switches = [r for r in made if r["Type"] == "ALIYUN::ECS::VSwitch"]
    assert (len(vpcs), len(switches)) == (1, 2)
    ranges = [ipaddress.ip_network(r["Properties"]["CidrBlock"]) for r in switches]
    assert not ranges[0].overlaps(ranges[1])
    whole = ipaddress.ip_network(vpcs[0]["Properties"]["CidrBlock"])
    assert all(r.subnet_of(whole) for r in ranges)


def test_a_review_names_the_fault_and_its_line(start: Start, tmp_path: Path) -> None:
    server, bad = start("serve"), tmp_path / "bad.yml"
    bad.write_text(FAULTY)
    done = a2a_fn("call", server.url, "Review this template", "--file", str(bad))
    assert done.returncode == 0, done.stderr
    assert 'bad.yml:10:14 [error] ros-unresolved-ref: there is no parameter or resource "Vcp"' in (
        done.stdout
    )
    offline = a2a_fn("review", str(bad), "--format", "json")
    assert offline.returncode == 1
    assert json.loads(offline.stdout)[0]["line"] == 10


def test_tasks_can_be_listed_read_watched_and_canceled(start: Start) -> None:
    server = start("serve", "--agent", "echo:")
    assert a2a_fn("call", server.url, "one two").stdout.strip() == "one two"
    listed = json.loads(a2a_fn("tasks", server.url, "--json").stdout)
    task = listed["tasks"][0]["id"]
    read = json.loads(a2a_fn("task", server.url, task, "--json").stdout)
    assert read["status"]["state"] == "TASK_STATE_COMPLETED"
    refused = a2a_fn("cancel", server.url, task)
    assert refused.returncode == 1
    assert "Traceback" not in refused.stderr
    watched = a2a_fn("watch", server.url, task)  # it has ended: how it ended is the answer
    assert watched.returncode == 0
    assert "completed" in watched.stderr
    card = json.loads(a2a_fn("card", server.url, "--json").stdout)
    assert card["name"] == "echo"


@pytest.mark.slow
@pytest.mark.parametrize("binding", ["jsonrpc", "http+json"])
@pytest.mark.parametrize("protocol", ["1.0", "0.3"])
def test_credentials_open_every_interface(
    start: Start, tmp_path: Path, binding: str, protocol: str
) -> None:
    server = start("serve", A2A_FN_TOKEN="open-sesame")
    (tmp_path / "token").write_text("open-sesame\n")
    out, way = tmp_path / "out", ("--binding", binding, "--protocol", protocol)
    told = ("--token", f"file:{tmp_path / 'token'}", *way)
    shut = a2a_fn("call", server.url, "Create a VPC", *way)
    assert shut.returncode == 2
    assert "the card announces Bearer (--token)" in shut.stderr
    done = a2a_fn("call", server.url, "Create a VPC", "--out", str(out), *told)
    assert done.returncode == 0, done.stderr
    assert "ALIYUN::ECS::VPC" in (out / "template.yml").read_text()
    task = done.stderr.split("  task ")[1].split()[0]
    shown = a2a_fn("task", server.url, task, *told)
    assert shown.stdout.startswith(f"input-required  task {task}")
    watched = a2a_fn("watch", server.url, task, *told)
    assert (watched.returncode, watched.stdout) == (0, done.stdout)
    card = a2a_fn("card", server.url, "--extended", *told)
    assert "iac_code_runtime_details" in card.stdout


@pytest.mark.slow
@pytest.mark.parametrize(("binding", "protocol"), [("http+json", "1.0"), ("jsonrpc", "0.3")])
def test_a_server_that_is_killed_costs_no_line(
    start: Start, gate: Callable[[int], None], tmp_path: Path, binding: str, protocol: str
) -> None:
    settings = {"A2A_TEST_GATE": str(tmp_path / "gate"), "A2A_FN_CLOCK_SKEW": "0"}
    settings["A2A_FN_SWEEP_INTERVAL"] = "0.3"
    agent = ("--agent", "agent:tests.e2e.agents:Steps")
    first = start("serve", *agent, **settings)
    way = ("--binding", binding, "--protocol", protocol, "--timeout", "60")
    call = subprocess.Popen(
        [sys.executable, "-m", "a2a_fn", "call", first.url, "go", *way],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert call.stdout is not None
    gate(1)
    line = call.stdout.readline()
    first.kill()
    start("serve", *agent, "--port", first.url.rpartition(":")[2], **settings)
    for n in range(2, 7):
        gate(n)
    out, err = call.communicate(timeout=60)
    assert call.returncode == 0, err
    # The line that the crash cut may be there in part before it is said again.
    assert [w for w in (line + out).splitlines() if w.endswith(".")] == [
        f"line {n}, done {n}." for n in range(1, 7)
    ]
    assert "subscribing again" in err


def test_a_failed_task_is_a_failed_command(start: Start) -> None:
    server = start("serve", "--agent", "agent:tests.e2e.agents:Fails")
    done = a2a_fn("call", server.url, "hello")
    assert done.returncode == 1
    assert "failed" in done.stderr


def test_a_server_that_is_not_there_is_one_clear_line() -> None:
    done = a2a_fn("call", "http://127.0.0.1:9", "hello")
    assert done.returncode == 3
    assert len(done.stderr.strip().splitlines()) == 1
    assert "127.0.0.1:9" in done.stderr


def test_a_port_in_use_is_one_clear_line(start: Start, tmp_path: Path) -> None:
    server = start("serve", "--agent", "echo:")
    port = server.url.rpartition(":")[2]
    done = a2a_fn("serve", "--port", port, "--data", str(tmp_path / "other"))
    assert done.returncode == 2
    assert "Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_functions_work_on_their_events_one_after_the_other(tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "data"))
    sent = json.loads(a2a_fn("invoke", "http", "events/http-send.json", *data).stdout)
    task = json.loads(sent["body"])["result"]["task"]
    assert task["status"]["state"] == "TASK_STATE_SUBMITTED"
    turned = json.loads(a2a_fn("invoke", "turn", "events/turn.json", *data).stdout)
    assert turned == {"batchItemFailures": []}
    listed = json.loads(a2a_fn("invoke", "http", "events/http-list.json", *data).stdout)
    found = json.loads(listed["body"])["result"]["tasks"]
    assert [t["id"] for t in found] == [task["id"]]
    assert found[0]["status"]["state"] == "TASK_STATE_INPUT_REQUIRED"
    swept = json.loads(a2a_fn("invoke", "sweep", "events/sweep.json", *data).stdout)
    assert swept == {"rung": 0}
