"""Where `serve` listens when it asks nobody for credentials."""

from __future__ import annotations

import asyncio
import dataclasses
import socket
from pathlib import Path
from typing import Any

import pytest

from a2a_fn.errors import InvalidSettings
from a2a_fn.hosts import local
from a2a_fn.settings import Settings

OPEN = Settings(engine="memory", agent="echo:", port=0)


def listen(host: str, *, open_to_all: bool = True, **settings: Any) -> str:
    """The address that the host would listen on."""
    listening = local._listening(Settings(host=host, port=0, **settings), open_to_all=open_to_all)
    with listening:
        return str(listening.getsockname()[0])


def has_ipv6() -> bool:
    with socket.socket(socket.AF_INET6) as probe:
        try:
            probe.bind(("::1", 0))
        except OSError:
            return False
        return True


ipv6 = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1.2.3",
        "localhost",
        pytest.param("::1", marks=ipv6),
    ],
)
def test_this_machine_alone_needs_no_credentials(host: str) -> None:
    assert listen(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "", pytest.param("::", marks=ipv6)])
def test_beyond_this_machine_credentials_are_needed_or_a_word(host: str) -> None:
    with pytest.raises(InvalidSettings) as caught:
        listen(host)
    for words in (host or "every address", "token", "127.0.0.1", "allow-anonymous"):
        assert words in str(caught.value)
    assert listen(host, open_to_all=False)
    assert listen(host, allow_anonymous=True)


def test_a_name_is_what_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.create_server

    def create_server(address: tuple[str, int], **more: Any) -> socket.socket:
        places = {"mine.example.com": "127.0.0.1", "localhost": "0.0.0.0"}
        return real((places[address[0]], address[1]), **more)

    monkeypatch.setattr(socket, "create_server", create_server)
    assert listen("mine.example.com") == "127.0.0.1"
    with pytest.raises(InvalidSettings, match="reach localhost"):
        listen("localhost")


async def test_serve_does_not_start_open_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "set_up_logs", lambda mode: None)
    with pytest.raises(InvalidSettings, match="nobody is asked for credentials"):
        await asyncio.wait_for(local.serve(dataclasses.replace(OPEN, host="0.0.0.0")), 5)


async def test_serve_does_not_start_with_half_a_credential(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local, "set_up_logs", lambda mode: None)
    settings = Settings(
        engine="memory", agent="echo:", port=0, basic_username="ann", token=f"file:{tmp_path}/none"
    )
    with pytest.raises(InvalidSettings) as caught:
        await asyncio.wait_for(local.serve(settings), 5)
    assert str(caught.value).splitlines() == [
        "basic-username needs basic-password",
        f"token: file:{tmp_path}/none cannot be read: No such file or directory",
    ]
