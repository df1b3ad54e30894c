"""A deterministic simulation of the durable core: the product's own code under a seeded scheduler.

``loop`` is an event loop on virtual time; ``world`` holds the store, the processes and the faults;
``scripts`` says what agents do, ``actors`` what clients and workers do; ``oracle`` sees each row
change as it lands and keeps the laws. ``python -m tests.simulation.run --seed N`` replays one.
"""
