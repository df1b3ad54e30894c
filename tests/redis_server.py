"""A real ``redis-server`` for the tests: on a free loopback port, with nothing kept on the disk."""

from __future__ import annotations

import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

MISSING = (
    "redis-server is not installed (Debian: apt install redis-server),"
    " so what is true of Redis was not tested"
)


class RedisServer:
    """A server that can be stopped, started again, and asked by a plain blocking client."""

    def __init__(self, program: str, folder: str, *options: str) -> None:
        self._command = [program, "--bind", "127.0.0.1", "--dir", folder, "--save", "", *options]
        for left in (2, 1, 0):  # another process may take the port meanwhile
            self.port = _free_port()
            try:
                self.start()
                return
            except RuntimeError:
                if not left:
                    raise

    @property
    def url(self) -> str:
        """Where it is."""
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        """Start it and wait until it answers."""
        self._process = subprocess.Popen(
            [*self._command, "--port", str(self.port)], stdout=subprocess.DEVNULL
        )
        end = time.monotonic() + 10
        while not self._answers():
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0.01)
            if self._process.returncode is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"redis-server did not start on port {self.port}")

    def stop(self) -> None:
        """Kill it; all that it had is gone."""
        self._process.kill()
        self._process.wait()

    def freeze(self) -> None:
        """Let it stand still: connections are taken, and nothing is answered."""
        self._process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on with what has been asked meanwhile."""
        self._process.send_signal(signal.SIGCONT)

    def ask(self, *words: object) -> object:
        """The answer to a command, for a test that looks behind the engine."""
        import redis

        with redis.Redis(port=self.port, protocol=2, socket_timeout=10) as client:
            return client.execute_command(*words)

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(5) == b"+PONG"
        except OSError:
            return False


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def running(*options: str) -> Iterator[RedisServer]:
    """A server with these options of its command line; skips the test when there is none."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip(MISSING)
    pytest.importorskip("redis", reason="the package redis is not installed")
    with tempfile.TemporaryDirectory(prefix="a2a-fn-redis-") as folder:
        server = RedisServer(program, folder, *options)
        try:
            yield server
        finally:
            server.stop()
