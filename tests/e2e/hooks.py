"""Webhooks of people who receive pushes: real HTTP servers, each in a thread of its own."""

from __future__ import annotations

import datetime
import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
import uvicorn
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from a2a_fn.receiver import Receiver, ReceiverMiddleware

PATIENCE = 15.0  # seconds
HANG = 0
"""Instead of a status: never answer."""


@dataclass
class Got:
    """A push that arrived; ``verified`` is what ``a2a_fn.receiver`` makes of it, if it stands in
    front."""

    path: str
    headers: dict[str, str]
    body: bytes
    verified: Any = None

    @property
    def json(self) -> dict[str, Any]:
        """The body."""
        return json.loads(self.body)

    @property
    def generation(self) -> int:
        """Which event it is, as the JWT says; not verified here."""
        token = self.headers["x-a2a-notification-jwt"]
        return jwt.decode(token, options={"verify_signature": False})["generation"]

    @property
    def state(self) -> str:
        """The task's state that it tells, or ""."""
        body = self.json if self.body.startswith(b"{") else {}
        said = body.get("statusUpdate") or body.get("task") or {}
        return said.get("status", {}).get("state", "").removeprefix("TASK_STATE_")


class Hook:
    """A server; ``answer`` says with which status (or HANG) each push is answered, and ``got`` has
    those that were answered with 2xx or are hanging."""

    def __init__(self, certificate: Path | None = None, clients: Path | None = None) -> None:
        self.got: list[Got] = []
        self.tries: list[Got] = []
        self.answer: Callable[[Got], int | tuple[int, dict[str, str], bytes]] = lambda got: 200
        self._changed = threading.Condition()
        self._app: Any = self._take
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.origin = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        secure: dict[str, Any] = {}
        if certificate:
            secure = {"ssl_certfile": str(certificate)}
        if clients:
            secure |= {"ssl_ca_certs": str(clients), "ssl_cert_reqs": ssl.CERT_REQUIRED}
        config = uvicorn.Config(
            self._route,
            log_config=None,
            access_log=False,
            lifespan="off",
            interface="asgi3",
            timeout_graceful_shutdown=1,
            **secure,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The webhook."""
        return f"{self.origin}/a2a"

    def verify(self, agent: str, **more: Any) -> None:
        """Put ``a2a_fn.receiver`` in front, for the agent at this URL."""
        receiver = Receiver(
            issuer=agent, audience=self.url, jwks_url=f"{agent}/.well-known/jwks.json", **more
        )
        self._app = ReceiverMiddleware(self._take, receiver, path="/a2a")

    def wait_for(
        self,
        condition: Callable[[list[Got]], object],
        *,
        tries: bool = False,
        seconds: float = PATIENCE,
    ) -> list[Got]:
        """What has been got once the condition holds for it (``tries``: all that was tried)."""
        watched = self.tries if tries else self.got
        with self._changed:
            if not self._changed.wait_for(lambda: condition(watched), seconds):
                seen = [(got.path, got.body[:200]) for got in self.tries]
                raise AssertionError(f"not in {seconds:g} s; there came {seen}")
            return list(watched)

    def wait_for_end(self, state: str = "COMPLETED") -> list[Got]:
        """What has been got once a task's end is told."""
        return self.wait_for(lambda got: any(one.state == state for one in got))

    async def _route(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)

    async def _take(self, scope: Any, receive: Any, send: Any) -> None:
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        fields = {name.decode(): value.decode() for name, value in scope["headers"]}
        verified = scope.get("state", {}).get("a2a_notification")
        got = Got(scope["path"], fields, body, verified)
        with self._changed:
            answer = self.answer(got)
            status, headers, text = answer if isinstance(answer, tuple) else (answer, {}, b"")
            self.tries.append(got)
            if status == HANG or 200 <= status < 300:
                self.got.append(got)
            self._changed.notify_all()
        if status == HANG:
            while (await receive())["type"] != "http.disconnect":
                pass
            return
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        await send({"type": "http.response.start", "status": status, "headers": raw})
        await send({"type": "http.response.body", "body": text})

    def stop(self) -> None:
        """Stop it."""
        self._server.should_exit = True
        self._thread.join(PATIENCE)
        self._socket.close()


@contextmanager
def hook(**more: Any):
    """A webhook for as long as the test needs it."""
    made = Hook(**more)
    try:
        yield made
    finally:
        made.stop()


class Authority:
    """Makes certificates for tests."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self.pem = folder / "ca.pem"
        self.pem.write_text(_pem(self._certificate("a2a-fn tests", self._key, ca=True)))

    def issue(self, name: str) -> tuple[Path, Path, Path]:
        """Certificate, key, and both in one file."""
        key = ec.generate_private_key(ec.SECP256R1())
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode()
        certificate = _pem(self._certificate(name, key))
        files = [self._folder / f"{name}.{end}" for end in ("crt", "key", "both")]
        for file, text in zip(files, (certificate, private, certificate + private), strict=True):
            file.write_text(text)
        return files[0], files[1], files[2]

    def _certificate(self, name: str, key: ec.EllipticCurvePrivateKey, *, ca: bool = False):
        now = datetime.datetime.now(datetime.UTC)
        public = self._key.public_key()
        called = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, n)]) for n in
                  ("a2a-fn tests", name)]  # fmt: skip
        builder = (
            x509.CertificateBuilder()
            .issuer_name(called[0])
            .subject_name(called[1])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(hours=1))
            .not_valid_after(now + datetime.timedelta(hours=1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(public), False)
        )
        if ca:
            builder = builder.add_extension(x509.KeyUsage(*(i in (5, 6) for i in range(9))), True)
        else:
            address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
            builder = builder.add_extension(x509.SubjectAlternativeName([address]), False)
        return builder.sign(self._key, hashes.SHA256())


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()
