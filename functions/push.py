"""Push function: sends a task's events to the webhooks that each record of a queue batch means."""

from a2a_fn.hosts.lambda_batch import PushFunction
from a2a_fn.logs import set_up_logs
from a2a_fn.settings import load

set_up_logs("json")
handler = PushFunction(load())
