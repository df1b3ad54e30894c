"""HTTP function: any A2A request, by function URL, API Gateway or ALB."""

from a2a_fn.hosts.lambda_http import HttpFunction
from a2a_fn.logs import set_up_logs
from a2a_fn.settings import load

set_up_logs("json")
handler = HttpFunction(load())
