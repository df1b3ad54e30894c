"""Turn function: runs the agent for each wake-up of a queue batch."""

from a2a_fn.hosts.lambda_batch import TurnFunction
from a2a_fn.logs import set_up_logs
from a2a_fn.settings import load

set_up_logs("json")
handler = TurnFunction(load())
