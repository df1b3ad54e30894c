"""The real a2a-sdk client, and what the tests read from its events."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
from a2a.client import Client, ClientConfig, create_client
from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    StreamResponse,
    Task,
)


@asynccontextmanager
async def client(url: str, *, streaming: bool = True) -> AsyncIterator[Client]:
    """A client of the card at ``url``."""
    async with httpx.AsyncClient(timeout=60) as http:
        yield await create_client(
            url, client_config=ClientConfig(httpx_client=http, streaming=streaming)
        )


def request(
    text: str, message_id: str, *parts: Part, task: str = "", context: str = "", wait: bool = True
) -> SendMessageRequest:
    """A user's message."""
    return SendMessageRequest(
        message=Message(
            message_id=message_id,
            role=Role.ROLE_USER,
            parts=[Part(text=text), *parts],
            task_id=task,
            context_id=context,
        ),
        configuration=SendMessageConfiguration(return_immediately=not wait),
    )


def words(events: list[StreamResponse]) -> str:
    """The text of the status updates, in order; a restart begins it anew from the last save."""
    return "".join(
        part.text
        for event in events
        if event.HasField("status_update")
        for part in event.status_update.status.message.parts
    )


def said(task: Task) -> str:
    """The agent's words in a task: its messages, and the status message."""
    texts = [
        part.text
        for message in task.history
        if message.role == Role.ROLE_AGENT
        for part in message.parts
    ]
    texts += [part.text for part in task.status.message.parts]
    return "".join(texts)
