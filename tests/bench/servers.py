"""Servers in processes of their own, on free ports of the loopback, as their users start them."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from .child import ROOT

PATIENCE = 30.0  # seconds for a server to listen

Process = subprocess.Popen[bytes]


class Server:
    """A server that runs: its port, and what CPU it has used."""

    def __init__(self, process: Process, port: int) -> None:
        self.process = process
        self.port = port

    @property
    def url(self) -> str:
        """Where it is."""
        return f"http://127.0.0.1:{self.port}/"

    def cpu(self) -> float | None:
        """Seconds of CPU of all its threads so far; None where /proc does not tell."""
        try:
            text = Path(f"/proc/{self.process.pid}/stat").read_text()
        except OSError:
            return None
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def ours(
    engine: str,
    agent: str,
    *,
    data: str = "",
    workers: int = 8,
    apart: bool = False,
    settings: Mapping[str, str] | None = None,
) -> Iterator[Server]:
    """``a2a-fn serve``; ``apart``: HTTP in one process and the workers in another one;
    ``settings``: more of them, as variables of the environment."""
    environment = {"A2A_FN_ENGINE": engine, "A2A_FN_AGENT": agent, "A2A_FN_LOG": "json"}
    environment |= settings or {}
    if data:
        environment["A2A_FN_DATA"] = data
    port = _free_port()
    command = ["-m", "a2a_fn"]
    serve = ["serve", "--port", str(port), "--workers", "0" if apart else str(workers)]
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(_process([*command, *serve], environment))
        _listening(process, port)
        if apart:
            work = ["work", "--workers", str(workers)]
            stack.enter_context(_process([*command, *work], environment))
        yield Server(process, port)


@contextlib.contextmanager
def sdk(executor: str, *, push: bool = False) -> Iterator[Server]:
    """The SDK's server; ``executor``: a class of ``agents``; ``push``: with webhooks."""
    port = _free_port()
    command = ["-m", "tests.bench.sdk", str(port), executor, *(["push"] if push else [])]
    with _process(command, {}) as process:
        _listening(process, port)
        yield Server(process, port)


@contextlib.contextmanager
def _process(arguments: list[str], environment: dict[str, str]) -> Iterator[Process]:
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _listening(process: Process, port: int) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise RuntimeError(f"{' '.join(map(str, process.args))} does not listen on port {port}")  # type: ignore[arg-type]
