"""serve, work and invoke: what they hand to the host, and how its failures are told."""

from __future__ import annotations

import asyncio
import importlib
import json
import sys

import pytest

from a2a_fn import errors
from a2a_fn.hosts import local


@pytest.fixture
def host(monkeypatch):
    """Takes the place of the host and records what it is given."""
    calls = []

    def record(name):
        async def run(settings, *, workers):
            await asyncio.sleep(0)
            calls.append((name, settings, workers))
            return 0

        return run

    monkeypatch.setattr(local, "serve", record("serve"))
    monkeypatch.setattr(local, "work", record("work"))
    return calls


def test_options_become_settings(cli, host, tmp_path):
    config = tmp_path / "a2a.yml"
    config.write_text("port: 1\nlease: 30\n")
    result = cli("serve", "--port", 9, "--data", tmp_path, "--config", config, "--workers", 0)
    ((name, settings, workers),) = host
    assert (name, workers, result.code) == ("serve", 0, 0)
    assert (settings.port, settings.data, settings.lease) == (9, str(tmp_path), 30)
    assert settings.agent == "iac:offline"


def test_an_agent_may_lie_in_the_working_folder(cli, monkeypatch, tmp_path):
    (tmp_path / "my_own_agent.py").write_text("class Mine: pass\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    found = []

    async def serve(settings, *, workers):
        found.append(importlib.import_module("my_own_agent").Mine.__name__)
        return 0

    monkeypatch.setattr(local, "serve", serve)
    assert cli("serve", "--agent", "agent:my_own_agent:Mine").code == 0
    assert found == ["Mine"]


@pytest.mark.parametrize("command", ["serve", "work", "invoke"])
def test_the_help_names_every_kind_of_agent(cli, command):
    shown = "".join(c for c in cli(command, "--help").out if not c.isspace() and c not in "│|")
    for kind in ("iac:offline", "echo:", "agent:package", "executor:package"):
        assert kind in shown


def test_work_needs_no_port(cli, host):
    assert cli("work", "--agent", "echo:").code == 0
    ((name, settings, workers),) = host
    assert (name, settings.agent, workers) == ("work", "echo:", None)


def test_all_faults_of_the_settings_are_on_one_line(cli, host, tmp_path):
    config = tmp_path / "a2a.yml"
    config.write_text("prot: 1\nlease: soon\n")
    result = cli("serve", "--config", config)
    assert result.code == 2
    assert result.err.count("\n") == 1
    assert "prot" in result.err
    assert "lease" in result.err
    assert host == []


@pytest.mark.parametrize(
    ("error", "code", "why"),
    [
        (errors.Unavailable("the database is locked"), 1, "the database is locked"),
        (errors.InvalidSettings("agent: no such module"), 2, "no such module"),
        (OSError(98, "Address already in use"), 1, "Address already in use"),
    ],
)
def test_what_the_host_raises_is_one_line(cli, monkeypatch, error, code, why):
    async def fail(settings, *, workers):
        raise error

    monkeypatch.setattr(local, "serve", fail)
    result = cli("serve")
    assert result.code == code
    assert why in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "why"),
    [(None, "cannot be read"), ("{", "is not JSON"), ("[]", "must hold a JSON object")],
)
def test_an_event_that_is_none(cli, tmp_path, content, why):
    path = tmp_path / "event.json"
    if content is not None:
        path.write_text(content)
    result = cli("invoke", "http", path)
    assert result.code == 2
    assert why in result.err


def test_invoke_hands_the_event_to_the_function_and_prints_its_answer(cli, monkeypatch, tmp_path):
    path = tmp_path / "event.json"
    path.write_text('{"a": 1}')
    calls = []

    def invoke(kind, event, settings):
        calls.append((kind, event, settings.data))
        return {"statusCode": 200}

    monkeypatch.setattr(local, "invoke", invoke)
    result = cli("invoke", "turn", path, "--data", tmp_path)
    assert calls == [("turn", {"a": 1}, str(tmp_path))]
    assert json.loads(result.out) == {"statusCode": 200}
