"""HTTP function: any A2A request, by function URL, API Gateway or ALB."""

import gc

gc.disable()  # nothing of what is imported is garbage; looking for it costs a tenth of a cold start

from a2a_fn.hosts.lambda_http import HttpFunction  # noqa: E402
from a2a_fn.logs import set_up_logs  # noqa: E402
from a2a_fn.settings import load  # noqa: E402

set_up_logs("json")
handler = HttpFunction(load())
gc.freeze()
gc.enable()
