"""Starts ``a2a-fn serve`` and ``a2a-fn work`` as processes, and stops or kills them by pid."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
START = 30.0  # seconds


class Process:
    """A running ``a2a-fn`` process; ``lines`` is its log, as decoded JSON lines."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.lines: list[dict[str, object]] = []
        self._changed = threading.Condition()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "a2a_fn", *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            try:
                entry = json.loads(line)
            except ValueError:
                entry = {"message": line.rstrip()}
            with self._changed:
                self.lines.append(entry)
                self._changed.notify_all()
        with self._changed:
            self.lines.append({"message": "(exit)"})
            self._changed.notify_all()

    def wait_for(self, message: str, count: int = 1, seconds: float = START) -> dict[str, object]:
        """The ``count``-th log line with this message."""

        def found() -> list[dict[str, object]]:
            return [line for line in self.lines if line["message"] == message]

        with self._changed:
            done = self._changed.wait_for(
                lambda: len(found()) >= count or self.lines[-1:] == [{"message": "(exit)"}], seconds
            )
            if not done or len(found()) < count:
                raise AssertionError(f"no {message!r} in {self.lines}")
            return found()[count - 1]

    @property
    def url(self) -> str:
        """Where it serves."""
        return str(self.wait_for("serving")["url"])

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self._close()

    def stop(self) -> int:
        """SIGTERM, and the exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(START)
        self._close()
        return code

    def _close(self) -> None:
        self._reader.join(START)
        assert self.process.stderr is not None
        self.process.stderr.close()

    def end(self) -> None:
        """Whatever state it is in."""
        if self.process.poll() is None:
            self.kill()
        elif self.process.stderr and not self.process.stderr.closed:
            self._close()
