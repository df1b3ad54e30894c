"""What a2a-fn costs, beside the SDK's own server, in one run: ``python -m tests.bench``.

Times are given as ratios of interleaved rounds, because a machine's own speed and whatever else
runs on it say nothing about the code; writes, rows and bytes are counts, and exact.
"""
