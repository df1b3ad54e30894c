"""Sweep function: on a schedule, finds what a crash left behind and wakes it."""

from a2a_fn.hosts.lambda_batch import SweepFunction
from a2a_fn.logs import set_up_logs
from a2a_fn.settings import load

set_up_logs("json")
handler = SweepFunction(load())
