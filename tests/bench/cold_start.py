"""One cold start, as a script of its own: ``cold_start.py ours|sdk|floor`` prints its figures."""

import time

BEGAN_CPU, BEGAN = time.process_time(), time.perf_counter()
FLOOR = ("asyncio", "json", "logging", "a2a.types.a2a_pb2", "a2a.utils.errors", "mangum")


def main() -> None:
    """Import, answer, print."""
    import sys

    # The SDK's dependencies import these where they are installed, as they are here for other
    # tools; a function's package would not have them, and must not seem slower for it.
    for name in ("click", "pygments", "rich", "uvicorn"):
        sys.modules[name] = None  # type: ignore[assignment]
    answer = _started(sys.argv[1])
    imported = time.process_time()
    body = answer()
    cpu, now, modules = time.process_time(), time.perf_counter(), len(sys.modules)

    import json

    if body is not None:
        from tests.bench.gateway import result

        result(body)
    figures = {
        "cpu": cpu * 1000,
        "own_cpu": (cpu - BEGAN_CPU) * 1000,
        "import_cpu": (imported - BEGAN_CPU) * 1000,
        "wall": (now - BEGAN) * 1000,
        "modules": modules,
    }
    print(json.dumps(figures))


def _started(side):  # type: ignore[no-untyped-def]
    """The side imported and set up; what it returns gives the first answer."""
    if side == "floor":  # what nobody that speaks A2A through Mangum can do without
        from importlib import import_module

        for name in FLOOR:
            import_module(name)
        return lambda: None
    if side == "ours":
        from functions.http import handler
    else:
        import asyncio

        from mangum import Mangum
        from tests.bench.sdk import sdk_app

        asyncio.set_event_loop(asyncio.new_event_loop())
        handler = Mangum(sdk_app(), lifespan="off")

    from tests.bench import gateway

    return lambda: handler(gateway.event("POST", "/", gateway.send(at_once=True)), None)


main()
