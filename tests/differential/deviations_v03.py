"""Where our answers of A2A 0.3 differ from the SDK's: where those of 1.0 do, and these.

Sections and sentences are those of A2A 0.3.0.
"""

from __future__ import annotations

from .deviations import V10, Case, Deviation
from .wires_v03 import HttpJson03, JsonRpc03

RPC, REST = JsonRpc03.name, HttpJson03.name

_ASKING = {
    "asks": 2,
    "asks without words": 2,
    "wants credentials": 2,
    "gives an artifact and asks": 3,
}
"""What the agent does that leaves the client to act -> the event that says so."""

V03: tuple[Deviation, ...] = (
    Deviation(
        "The event after which the client has to act is the last one, and says so.",
        "9.3",
        "(Server closes the SSE connection after the final:true event).",
        tuple(
            Case(
                f"stream: the agent {what}",
                0,
                f"events[{event}].result.statusUpdate.final",
                theirs,
                True,
                wire,
            )
            for what, event in _ASKING.items()
            for wire, theirs in ((RPC, False), (REST, None))
        ),
    ),
    Deviation(
        "As in 1.0, a webhook that would never be called is refused; of a stream, in the stream.",
        "8.2",
        "Client attempted to use push notification features (e.g., "
        "tasks/pushNotificationConfig/set) but the server agent does not support them",
        tuple(
            Case("refused: a push config in a message", 1, path, theirs, ours, RPC)
            for path, theirs, ours in (
                ("events[0]", "task: SUBMITTED", None),
                ("events[1]", "statusUpdate: COMPLETED", None),
                ("events[0]", None, "error PUSH_NOTIFICATION_NOT_SUPPORTED"),
            )
        ),
    ),
    Deviation(
        "As in 1.0, WORKING is said by whoever takes the task; and a text of 0.3 has no media type "
        "for which it could be refused.",
        "7.2",
        "Sends a message to an agent to initiate/continue a task AND subscribes the client to "
        "real-time updates for that task via Server-Sent Events (SSE).",
        (
            Case(
                "refused: a media type that the card lacks",
                1,
                "events[1]",
                None,
                "statusUpdate: WORKING",
            ),
        ),
    ),
    Deviation(
        "A webhook without a URL: the field is named by its place in the request.",
        "8.1",
        "The `params` provided for the method are invalid (e.g., wrong type, missing required "
        "field).",
        (
            Case("push: nowhere", 2, "error.code", -32600, -32602, RPC),
            Case("push: nowhere", 2, "error.reason", "INVALID_REQUEST", "INVALID_PARAMS", RPC),
            *(
                Case(
                    "push: nowhere",
                    step,
                    "error.fields[0]",
                    "url",
                    "config.pushNotificationConfig.url",
                    REST,
                )
                for step in (1, 2)
            ),
        ),
    ),
    Deviation(
        "No webhooks are an empty list.",
        "7.7",
        "**Response**: `TaskPushNotificationConfig[]`",
        (Case("push: several, and none", 1, "result.configs", None, [], REST),),
    ),
)

NO_STREAM = (
    "3.2.3",
    "Error Format: MUST return error responses in a consistent JSON format that maps to A2A error "
    "types.",
)
"""The one that every refused stream over HTTP+JSON has: a plain error from us; from the SDK a
response that is cut in its first chunk."""


def inherited(wire: str) -> tuple[Deviation, ...]:
    """The deviations of 1.0 as a wire of 0.3 shows them."""
    if wire != RPC:
        return V10
    return tuple(
        each._replace(cases=tuple(_over_jsonrpc(case) for case in each.cases if _is_said(case)))
        for each in V10
    )


def _is_said(case: Case) -> bool:
    """0.3 has no place for the names of fields over JSON-RPC, and refuses a stream in a stream."""
    return case.path != "error.fields" and not isinstance(case.oracle, list)


def _over_jsonrpc(case: Case) -> Case:
    if not str(case.oracle).startswith("TASK_STATE_"):
        return case
    states = (case.oracle, case.product)
    oracle, product = (state.removeprefix("TASK_STATE_").lower() for state in states)
    return case._replace(oracle=oracle, product=product)
