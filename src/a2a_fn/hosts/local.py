"""One machine: HTTP, turn workers and the sweep in one process, or in several on one file.

``serve`` runs all of it; with ``workers=0`` it answers HTTP only, and ``work`` runs the rest.
Stopping is graceful: no new turn is taken, running ones save and yield, streams end, and whatever
did not make it is found by the next process from its journal.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import importlib.util
import ipaddress
import logging
import os
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import InvalidSettings, NotFound, Unavailable
from ..logs import set_up_logs
from ..settings import Settings, to_environment
from ..wiring import Services, build_services
from .names import OwnNames

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

log = logging.getLogger("a2a_fn.host")

WAIT = 5.0  # seconds that a worker waits for a wake-up before it looks whether to stop
NEXT = '{"part": "$next"}'  # in a sample event: whatever waits in the function's local queue
RETRY = 1.0  # seconds before a silent store is asked again


async def serve(settings: Settings, *, workers: int | None = None) -> int:
    """Serve HTTP until SIGTERM or SIGINT; returns the exit code."""
    import uvicorn

    set_up_logs(settings.log)
    services = build_services(settings)
    count = settings.workers if workers is None else workers
    _ready(services, count)
    if settings.signing_secret or settings.signing_keys:
        _ = services.keys  # now, rather than when the first client asks for the card
    app: ASGIApp = services.app()
    open_to_all = services.gate.authenticate is None
    listening = _listening(settings, open_to_all=open_to_all)
    if open_to_all and not settings.allow_anonymous:
        app = OwnNames(app, settings.public_url)
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        # longer than clients keep idle connections (httpx: 5 s): whoever closes first must not be
        # the server, in the very moment in which the next request is on its way
        timeout_keep_alive=75,
        timeout_graceful_shutdown=max(1, int(settings.grace)),
    )
    server = _server(config)
    stop = asyncio.Event()
    with _signals(stop):
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        stopping = asyncio.create_task(_wait(stop))
        async with _pool(services, count, stop):
            log.info("serving", extra={"a2a": {"url": _url(listening), "workers": count}})
            await asyncio.wait([serving, stopping], return_when=asyncio.FIRST_COMPLETED)
            services.stop()  # streams and waiting requests end; their clients come back
        server.should_exit = True
        await serving
        stopping.cancel()
    await services.close()
    return 0 if server.started else 1


async def work(settings: Settings, *, workers: int | None = None) -> int:
    """Run turns and the sweep, without HTTP, until SIGTERM or SIGINT; returns the exit code."""
    set_up_logs(settings.log)
    if settings.engine == "memory":
        raise InvalidSettings("engine: another process cannot see what is kept in memory")
    services = build_services(settings)
    count = settings.workers if workers is None else workers
    _ready(services, count)
    stop = asyncio.Event()
    with _signals(stop):
        async with _pool(services, count, stop):
            log.info("working", extra={"a2a": {"workers": count}})
            await stop.wait()
    await services.close()
    return 0


def _ready(services: Services, workers: int) -> None:
    """Raise now what would otherwise fail the first task: no such agent, no place for the data."""
    if services.settings.engine == "memory":
        if not workers:
            raise InvalidSettings("workers: with the memory engine nobody else can run the turns")
    else:
        _ = services.data
    if workers:
        _ = services.agent
    if services.outbox is not None:
        services.outbox.ready()
        if services.gate.authenticate is not None and not services.settings.public_url:
            log.warning(
                "public-url is not set: pushes say that they come from whatever host their "
                "client's request named"
            )


def _listening(settings: Settings, *, open_to_all: bool = False) -> socket.socket:
    """The listening socket. Raises InvalidSettings that says why there can be none, or why there
    should not be one: ``open_to_all``, and in reach of other machines."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        listening = socket.create_server(
            (settings.host, settings.port), family=family, backlog=2048
        )
        # asyncio sets this only on sockets whose protocol number is given, and without it the
        # client's delayed ACK holds each body back for 40 ms
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except OSError as error:
        raise InvalidSettings(
            f"cannot listen on {settings.host} port {settings.port}: {error.strerror}; "
            "choose another host or port"
        ) from error
    # asked of the socket, not of the setting: a name may lead anywhere
    if open_to_all and not settings.allow_anonymous and not _is_loopback(listening):
        listening.close()
        raise InvalidSettings(
            f"host: other machines reach {settings.host or 'every address'}, and nobody is asked "
            "for credentials: set token, api-key, principals or jwt-issuer, or host to 127.0.0.1; "
            "or allow-anonymous, if whoever gets there may do everything"
        )
    return listening


def _is_loopback(listening: socket.socket) -> bool:
    """Whether only this machine reaches the socket."""
    return ipaddress.ip_address(listening.getsockname()[0].partition("%")[0]).is_loopback


def _url(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _server(config: uvicorn.Config) -> uvicorn.Server:
    """A server that leaves the signals to us: turns are to yield before connections close."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    return Server(config)


@contextlib.contextmanager
def _signals(stop: asyncio.Event) -> Iterator[None]:
    """The first SIGTERM or SIGINT asks to stop; a second one ends the process at once."""
    loop = asyncio.get_running_loop()
    both = (signal.SIGTERM, signal.SIGINT)

    def first() -> None:
        log.info("stopping; once more to stop at once")
        stop.set()
        for number in both:
            loop.remove_signal_handler(number)

    for number in both:
        loop.add_signal_handler(number, first)
    try:
        yield
    finally:
        for number in both:
            loop.remove_signal_handler(number)


@contextlib.asynccontextmanager
async def _pool(services: Services, workers: int, stop: asyncio.Event) -> AsyncIterator[None]:
    """Turn workers and a sweeper; leaving it stops them, and waits until they have let go."""
    if workers:
        await _tried(services.sweep())  # at once: what the process before this one left behind
    tasks = [asyncio.create_task(_kept(services, stop)) for _ in range(workers)]
    if workers:
        tasks.append(asyncio.create_task(_sweeper(services, stop)))
    if workers and services.outbox is not None:
        tasks.append(asyncio.create_task(_pushers(services, stop)))
    try:
        yield
    finally:
        stop.set()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _kept(services: Services, stop: asyncio.Event) -> None:
    """A worker for as long as the host runs: one that ends is missed, and replaced."""
    while not stop.is_set():
        try:
            await _worker(services, stop)
        except asyncio.CancelledError:
            if stop.is_set():
                raise
            log.error("a worker was cancelled; another takes its place")
        except Exception:
            log.exception("a worker ended; another takes its place")
            await _pause(stop, RETRY)


async def _worker(services: Services, stop: asyncio.Event) -> None:
    """Take wake-ups, one at a time, and run what they say."""
    stopped = asyncio.create_task(_wait(stop))
    try:
        while not stop.is_set():
            receiving = asyncio.create_task(services.turns.receive(1, WAIT))
            await asyncio.wait([receiving, stopped], return_when=asyncio.FIRST_COMPLETED)
            if not receiving.done():
                receiving.cancel()
                await asyncio.wait([receiving])
                return
            try:
                deliveries = receiving.result()
            except Unavailable as error:
                log.warning("queue silent: %s", error)
                await _pause(stop, RETRY)
                continue
            for delivery in deliveries:
                # acknowledged first: from here on the turn's alarm remembers, not the queue, and a
                # turn longer than the queue's time-out is not given to another worker for nothing
                await _tried(services.turns.ack(delivery.handle))
                await _run(services, delivery.body, stop)
    finally:
        stopped.cancel()


async def _run(services: Services, body: bytes, stop: asyncio.Event) -> None:
    try:
        await services.run_turn(body, stop=stop)
    except Unavailable as error:
        log.warning("turn left to its alarm: %s", error)
    except Exception:
        log.exception("turn failed outside its agent; left to its alarm")


async def _sweeper(services: Services, stop: asyncio.Event) -> None:
    while not stop.is_set():
        await _pause(stop, services.settings.sweep_interval)
        if not stop.is_set():
            await _tried(services.sweep())


async def _pushers(services: Services, stop: asyncio.Event) -> None:
    """Push for as long as the host runs, and then for as long as a turn may take to save."""
    from .pushing import Pushers

    settings = services.settings
    assert services.outbox is not None  # noqa: S101 - who starts this has looked
    pushers = Pushers(
        services.outbox, workers=settings.push_workers, each=settings.push_concurrency
    )
    pushing = asyncio.create_task(pushers.run(stop))
    await _wait(stop)
    await asyncio.wait([pushing], timeout=settings.grace)
    pushing.cancel()
    await asyncio.wait([pushing])


async def _tried(doing: Awaitable[object]) -> None:
    """Do something that is done again later if it fails now."""
    try:
        await doing
    except Exception as error:
        log.warning("%s: %s", type(error).__name__, error)


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()


def invoke(kind: str, event: dict[str, Any], settings: Settings) -> object:
    """Run the deployed handler of ``functions/<kind>.py`` on one event, with the local engine.

    A queue record whose body names the part ``$next`` gets the next wake-up of the local queue.
    Raises NotFound if there is no such function.
    """
    path = Path("functions") / f"{kind}.py"
    if not path.is_file():
        raise NotFound(f"there is no {path} here; run this in a checkout of the project")
    event = asyncio.run(_filled(kind, event, settings))
    before = dict(os.environ)
    os.environ.update(to_environment(settings))  # as the platform would set them
    try:
        return _handled(path, event)
    finally:
        os.environ.clear()
        os.environ.update(before)


def _handled(path: Path, event: dict[str, Any]) -> object:
    spec = importlib.util.spec_from_file_location(f"functions_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise NotFound(f"{path} cannot be imported")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        answer: object = module.handler(event, None)
    finally:
        module.handler.close()
    return answer


async def _filled(kind: str, event: dict[str, Any], settings: Settings) -> dict[str, Any]:
    """The event, its ``$next`` records filled from the function's local queue."""
    event = copy.deepcopy(event)
    services = build_services(settings)
    queue = services.outbox.queue if kind == "push" and services.outbox else services.turns
    for record in event.get("Records", []):
        if record.get("body") == NEXT:
            for delivery in await queue.receive(1, 0):
                record["body"] = delivery.body.decode()
                await queue.ack(delivery.handle)
    await services.close()
    return event
