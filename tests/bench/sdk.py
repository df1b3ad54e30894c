"""The SDK's own server, set up as its documentation has it: what we are compared with."""

from __future__ import annotations

from typing import Any

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskStore
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette

from . import agents


def sdk_card(*, push: bool = False) -> AgentCard:
    """As much of a card as the echo agent's own."""
    return AgentCard(
        name="echo",
        description="Answers with the text of the message.",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url="/", protocol_binding="JSONRPC", protocol_version="1.0")
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=push),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[
            AgentSkill(id="echo", name="Echo", description="Says what it was told.", tags=["echo"])
        ],
    )


def sdk_handler(
    executor: Any = None, store: TaskStore | None = None, *, push: bool = False
) -> DefaultRequestHandler:
    """DefaultRequestHandler over a task store (in memory); ``push``: with its webhooks."""
    hooks: dict[str, Any] = {}
    if push:
        import httpx
        from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore

        configs = InMemoryPushNotificationConfigStore()
        client = httpx.AsyncClient(trust_env=False)
        sender = BasePushNotificationSender(client, configs)
        hooks = {"push_config_store": configs, "push_sender": sender}
    return DefaultRequestHandler(
        agent_executor=executor or agents.SdkEcho(),
        task_store=store or InMemoryTaskStore(),
        agent_card=sdk_card(push=push),
        **hooks,
    )


def sdk_app(
    executor: Any = None, store: TaskStore | None = None, *, push: bool = False
) -> Starlette:
    """The card and JSON-RPC."""
    handler = sdk_handler(executor, store, push=push)
    return Starlette(
        routes=[
            *create_agent_card_routes(sdk_card()),
            *create_jsonrpc_routes(handler, rpc_url="/"),
        ]
    )


def serve() -> None:
    """``python -m tests.bench.sdk PORT AGENT [push]``: the server under uvicorn, as ours is run."""
    import sys

    import uvicorn

    uvicorn.run(
        sdk_app(getattr(agents, sys.argv[2])(), push="push" in sys.argv[3:]),
        host="127.0.0.1",
        port=int(sys.argv[1]),
        access_log=False,
        log_level="warning",
        lifespan="off",
    )


if __name__ == "__main__":
    serve()
