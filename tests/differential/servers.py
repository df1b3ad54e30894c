"""The two servers, each with an executor of its own, behind a real uvicorn in the test's loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore
from a2a.types.a2a_pb2 import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette
from tests.protocol.conftest import Server, listen_with, look_up_nothing, work

from a2a_fn.agents.executor import ExecutorAgent
from a2a_fn.agents.profiles import profile_of
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

from .agent import Scripted
from .steps import Scenario

AGENT = "executor:tests.differential.agent:Scripted"
PROFILE = profile_of(AGENT)


class Contestant(NamedTuple):
    """A server that listens, and the executor behind it."""

    server: Server
    executor: Scripted


@asynccontextmanager
async def oracle(scenario: Scenario, *, v03: bool) -> AsyncIterator[Contestant]:
    """The a2a-sdk's routes, default request handler and in-memory store."""
    executor = Scripted()
    card = AgentCard(
        name="Scripted",
        description="Does what it is told.",
        version="1",
        supported_interfaces=[
            AgentInterface(
                url="http://localhost/", protocol_binding="JSONRPC", protocol_version="1.0"
            )
        ],
        capabilities=AgentCapabilities(
            streaming=scenario.streaming, push_notifications=scenario.push
        ),
        default_input_modes=PROFILE.input_modes,
        default_output_modes=PROFILE.output_modes,
        skills=[AgentSkill(id="do", name="Do", description="Does it.", tags=["test"])],
    )
    handler = DefaultRequestHandler(
        executor,
        InMemoryTaskStore(),
        card,
        push_config_store=InMemoryPushNotificationConfigStore() if scenario.push else None,
        validate_input_modes=True,
    )
    routes = create_jsonrpc_routes(handler, "/", enable_v0_3_compat=v03)
    app = Starlette(routes=[*routes, *create_rest_routes(handler, enable_v0_3_compat=v03)])
    async with listen_with(app) as server:
        try:
            yield Contestant(server, executor)
        finally:
            await handler.aclose()


@asynccontextmanager
async def product(scenario: Scenario, *, v03: bool) -> AsyncIterator[Contestant]:
    """Ours, on the memory engine, with a worker."""
    settings = Settings(
        engine="memory",
        agent=AGENT,
        streaming=scenario.streaming,
        push_notifications=scenario.push,
        a2a_v03=v03,
    )
    services = build_services(settings)
    look_up_nothing(services)
    agent = services.agent
    assert isinstance(agent, ExecutorAgent)
    worker = asyncio.create_task(work(services))
    try:
        async with listen_with(services.app()) as server:
            yield Contestant(server, agent._executor)  # type: ignore[arg-type]
            services.stop()
    finally:
        worker.cancel()
        await asyncio.wait([worker])
        await services.close()
