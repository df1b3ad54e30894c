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
from .exchange import base_url, header, send_json
from .gate import Gate
from .operations import Capabilities

PATH = "/.well-known/agent-card.json"
MAX_AGE = 60
"""Seconds that a client may use a card without asking again."""


def agent_card(profile: Profile, root: str, capabilities: Capabilities) -> AgentCard:
    """The card of an agent whose root is at ``root`` (with or without a final slash)."""
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
                url=f"{root.rstrip('/')}/", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(
            streaming=capabilities.streaming,
            push_notifications=capabilities.push,
            extended_agent_card=capabilities.extended_card,
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

    def __init__(self, profile: Profile, gate: Gate, *, modified: float) -> None:
        self._profile = profile
        self._gate = gate
        self._modified = int(modified)
        self._documents: OrderedDict[str, _Document] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            raise HTTPException(405, headers={"Allow": "GET, HEAD"})
        root = self._gate.public_url or base_url(scope)
        if not root:
            raise HTTPException(400, "The Host header is not a host name.")
        document = self._document(root)
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

    def _document(self, root: str) -> _Document:
        document = self._documents.get(root)
        if document is None:
            card = agent_card(self._profile, root, self._gate.capabilities)
            body = outputs.dumps(outputs.encode(card))
            document = _Document(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
            self._documents[root] = document
            if len(self._documents) > self.KEPT:
                self._documents.popitem(last=False)
        self._documents.move_to_end(root)
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
