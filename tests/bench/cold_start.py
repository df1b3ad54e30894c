"""One cold start, as a script of its own: ``cold_start.py ours|sdk`` prints its figures."""

import time

BEGAN_CPU, BEGAN = time.process_time(), time.perf_counter()


def main() -> None:
    """Import, answer, print."""
    import sys

    if sys.argv[1] == "ours":
        from functions.http import handler
    else:
        import asyncio

        from mangum import Mangum

        from tests.bench.sdk import sdk_app

        asyncio.set_event_loop(asyncio.new_event_loop())
        handler = Mangum(sdk_app(), lifespan="off")
    imported = time.process_time()

    from tests.bench import gateway

    answer = handler(gateway.event("POST", "/", gateway.send(at_once=True)), None)
    cpu, now, modules = time.process_time(), time.perf_counter(), len(sys.modules)

    import json

    gateway.result(answer)
    figures = {
        "cpu": cpu * 1000,
        "own_cpu": (cpu - BEGAN_CPU) * 1000,
        "import_cpu": (imported - BEGAN_CPU) * 1000,
        "wall": (now - BEGAN) * 1000,
        "modules": modules,
    }
    print(json.dumps(figures))


main()
