"""Turn function: runs the agent for each wake-up of a queue batch."""

from a2a_fn.hosts.lambda_batch import turn_handler
from a2a_fn.logs import set_up_logs
from a2a_fn.settings import load

set_up_logs("json")
handler = turn_handler(load())
