"""The Agent Card: what the agent is, where it is reached, and an HTTP route that caches well."""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from email.utils import formatdate, parsedate_to_datetime
from typing import NamedTuple

from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentProvider,
    AgentSkill,
)
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

from ..profile import Profile
from . import outputs
from .exchange import header, send_json

PATH = "/.well-known/agent-card.json"
MAX_AGE = 60
"""Seconds that a client may use a card without asking again."""


def agent_card(profile: Profile, base_url: str, *, streaming: bool = True) -> AgentCard:
    """The card of an agent whose root is at ``base_url`` (with or without a final slash)."""
    provider = None
    if profile.provider_organization:
        provider = AgentProvider(
            organization=profile.provider_organization, url=profile.provider_url
        )
    return AgentCard(
        name=profile.name,
        description=profile.description,
        version=profile.version,
        documentation_url=profile.documentation_url or None,
        provider=provider,
        supported_interfaces=[
            AgentInterface(
                url=f"{base_url.rstrip('/')}/", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(
            streaming=streaming, push_notifications=False, extended_agent_card=False
        ),
        default_input_modes=profile.input_modes,
        default_output_modes=profile.output_modes,
        skills=[
            AgentSkill(
                id=skill.id,
                name=skill.name,
                description=skill.description,
                tags=skill.tags,
                examples=skill.examples,
            )
            for skill in profile.skills
        ],
    )


class _Document(NamedTuple):
    """A card as it goes over the wire."""

    body: bytes
    etag: str


class CardRoute:
    """The ASGI application at the card's address.

    Without a ``public_url`` the card names the host that the client asked, and is kept for the
    ``KEPT`` hosts that asked last: Host is the client's to choose.
    """

    KEPT = 32

    def __init__(
        self, profile: Profile, *, public_url: str | None, streaming: bool, modified: float
    ) -> None:
        self._profile = profile
        self._public_url = public_url
        self._streaming = streaming
        self._modified = int(modified)
        self._documents: OrderedDict[str, _Document] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        document = self._document(self._public_url or _base_url(scope))
        headers = {
            "Cache-Control": f"public, max-age={MAX_AGE}",
            "ETag": document.etag,
            "Last-Modified": formatdate(self._modified, usegmt=True),
        }
        if self._is_known(scope, document.etag):
            raw = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
            await send({"type": "http.response.start", "status": 304, "headers": raw})
            await send({"type": "http.response.body", "body": b""})
        else:
            await send_json(send, document.body, headers=headers, head=scope["method"] == "HEAD")

    def _document(self, base_url: str) -> _Document:
        document = self._documents.get(base_url)
        if document is None:
            card = agent_card(self._profile, base_url, streaming=self._streaming)
            body = outputs.dumps(outputs.encode(card))
            document = _Document(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
            self._documents[base_url] = document
            if len(self._documents) > self.KEPT:
                self._documents.popitem(last=False)
        self._documents.move_to_end(base_url)
        return document

    def _is_known(self, scope: Scope, etag: str) -> bool:
        """RFC 9110, 13.1: If-None-Match decides alone if it is there."""
        tags = header(scope, b"if-none-match")
        if tags:
            return _matches(tags, etag)
        since = header(scope, b"if-modified-since")
        if not since:
            return False
        try:
            return self._modified <= parsedate_to_datetime(since).timestamp()
        except (ValueError, OverflowError):
            return False  # not a date: as if it were not there


_TAG = re.compile(r'(?:W/)?("[^"]*")')


def _matches(header_value: str, etag: str) -> bool:
    """Weak comparison with each tag of an If-None-Match."""
    return header_value == "*" or etag in _TAG.findall(header_value)


_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(:[0-9]{1,5})?|\[[0-9A-Fa-f:.]{2,45}\](:[0-9]{1,5})?")


def _base_url(scope: Scope) -> str:
    """Where the client sees us: scheme, Host and mount path of its request."""
    host = header(scope, b"host")
    if not host and scope.get("server"):
        name, port = scope["server"]
        host = f"{name}:{port}" if port else name
    if not _HOST.fullmatch(host):
        raise HTTPException(400, "The Host header is not a host name.")
    scheme = scope.get("scheme", "http")
    return f"{scheme}://{host}{scope.get('root_path', '')}"
