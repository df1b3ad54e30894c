"""Where our answers differ from the SDK's, each with the specification's sentence.

The table is exact in both directions: a difference that is not here fails the test, and so does
one that is here and no longer occurs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple


class Case(NamedTuple):
    """One difference: in the answer to a step (from 0) of a scenario, at a path, what each has.
    ``wire``: the only one on which it is so ("": on all)."""

    scenario: str
    step: int
    path: str
    oracle: Any
    product: Any
    wire: str = ""


class Deviation(NamedTuple):
    """``because``: what we do instead; ``quote``: the sentence of that ``section`` of the A2A 1.0
    specification that asks for it, or allows it."""

    because: str
    section: str
    quote: str
    cases: tuple[Case, ...]


_HOOK = {"url": "https://client.example.com/hook", "token": "t"}

V10: tuple[Deviation, ...] = (
    Deviation(
        "A task is WORKING, and its stream says so, as soon as a worker has it, not when the agent "
        "finds its first words.",
        "3.1.2",
        "The implementation MUST provide immediate feedback on progress and intermediate results.",
        (
            *(
                Case(f"stream: the agent {what}", 0, "events[1]", None, "statusUpdate: WORKING")
                for what in (
                    "never says that it works",
                    "says what it does",
                    "says, gives, says",
                    "speaks Chinese",
                )
            ),
            *(
                Case(f"request: history of {n}", 1, "events[1]", None, "statusUpdate: WORKING")
                for n in (0, 1, 2, 50)
            ),
        ),
    ),
    Deviation(
        "A stream that follows up begins with the task, too.",
        "3.1.2",
        "If the agent returns a Task, the stream MUST begin with the Task object, followed by zero "
        "or more TaskStatusUpdateEvent or TaskArtifactUpdateEvent objects.",
        (Case("follow-up: streamed", 1, "events[0]", None, "task: SUBMITTED"),),
    ),
    Deviation(
        "The answer does not wait until the agent has taken the follow-up, so the task is not "
        "WORKING yet.",
        "3.2.2",
        "The operation MUST return immediately after creating the task, even if processing is "
        "still in progress.",
        (
            Case(
                "follow-up: detached",
                1,
                "result.task.status.state",
                "TASK_STATE_WORKING",
                "TASK_STATE_SUBMITTED",
            ),
        ),
    ),
    Deviation(
        "That a follow-up was accepted is an event, so that every stream of the task knows.",
        "3.5.2",
        "Each stream MUST receive the same events in the same order",
        (Case("subscribe: across a question", 3, "events[0]", None, "statusUpdate: SUBMITTED"),),
    ),
    Deviation(
        "A follow-up that names its task alone is stored with the task's context.",
        "3.4.3",
        "Agents MUST infer contextId from the task if only taskId is provided",
        (
            Case(
                "follow-up: by task alone",
                1,
                "result.task.history[2].contextId",
                "<context 2>",
                "<context 1>",
            ),
            Case(
                "follow-up: by task alone",
                2,
                "result.history[2].contextId",
                "<context 2>",
                "<context 1>",
            ),
        ),
    ),
    Deviation(
        "An error for a bad parameter names it.",
        "3.3.2",
        "Servers SHOULD specify which parameter(s) failed validation and why",
        (
            *(
                Case(scenario, step, "error.fields", None, [field])
                for scenario, step, field in (
                    ("follow-up: another context than the task's", 1, "message.contextId"),
                    ("follow-up: another context than the task's", 2, "message.contextId"),
                    ("list: a page smaller or larger than allowed", 0, "pageSize"),
                    ("list: a page smaller or larger than allowed", 1, "pageSize"),
                    ("list: a page token of nobody's", 0, "pageToken"),
                    ("list: negative history", 0, "historyLength"),
                    ("refused: negative history", 0, "configuration.historyLength"),
                    ("refused: negative history, streamed", 0, "configuration.historyLength"),
                    ("refused: negative history of a task", 1, "historyLength"),
                )
            ),
        ),
    ),
    Deviation(
        "A message whose webhook would never be called is refused, not taken without it.",
        "3.3.4",
        "When clients attempt to use operations or features that require capabilities not declared "
        "as supported in the Agent Card, the agent MUST return an appropriate error response",
        (
            Case(
                "refused: a push config in a message",
                0,
                "",
                "task: COMPLETED",
                "error PUSH_NOTIFICATION_NOT_SUPPORTED",
            ),
            Case(
                "refused: a push config in a message",
                1,
                "",
                ["task: SUBMITTED", "statusUpdate: COMPLETED"],
                "error PUSH_NOTIFICATION_NOT_SUPPORTED",
            ),
        ),
    ),
    Deviation(
        "The same message again is the same task, so that a client may retry.",
        "3.3.1",
        "Agents may utilize the messageId to detect duplicate messages.",
        (
            Case(
                "again: the same message is the same task",
                1,
                "result.task.history[0].taskId",
                "<task 2>",
                "<task 1>",
            ),
            Case(
                "again: the same message is the same task",
                1,
                "result.task.id",
                "<task 2>",
                "<task 1>",
            ),
            Case(
                "again: the same message is the same task", 2, "result.tasks[0]", "COMPLETED", None
            ),
            Case("again: the same message is the same task", 2, "result.totalSize", 2, 1),
            Case(
                "again: an answer sent twice",
                2,
                "",
                "error UNSUPPORTED_OPERATION",
                "task: COMPLETED",
            ),
        ),
    ),
    Deviation(
        "A task that a message refers to must be there, and the caller's own.",
        "3.3.2",
        "Servers MUST validate all input parameters before processing",
        (Case("references: no such task", 0, "", "task: COMPLETED", "error INVALID_PARAMS"),),
    ),
    Deviation(
        "One turn at a time: a message to a context whose task works is refused.",
        "3.4.1",
        "If an agent cannot accept a client-provided contextId, it MUST reject the request with an "
        "error and MUST NOT generate a new contextId for the response",
        (
            Case(
                "busy: another task in the context",
                2,
                "",
                "task: SUBMITTED",
                "error UNSUPPORTED_OPERATION",
            ),
        ),
    ),
    Deviation(
        "Versions are compared by Major.Minor, not by Major.",
        "3.6.2",
        "Agents MUST process requests using the semantics of the requested A2A-Version (matching "
        "Major.Minor).",
        (
            Case("version: 1.1", 1, "", "COMPLETED", "error VERSION_NOT_SUPPORTED"),
            Case("version: 1", 1, "", "COMPLETED", "error VERSION_NOT_SUPPORTED"),
        ),
    ),
    Deviation(
        "The version may be in the query.",
        "3.6.1",
        "Clients MAY provide the A2A-Version as a request parameter instead of a header.",
        (Case("version: in the query", 1, "", "error VERSION_NOT_SUPPORTED", "COMPLETED"),),
    ),
    Deviation(
        "A tenant is a boundary: what is in one cannot be seen from another.",
        "13.1",
        "Implementations MUST scope results to the caller's authorized access boundaries as "
        "defined by the agent's authorization model",
        (
            Case("tenant: got in another", 1, "", "COMPLETED", "error TASK_NOT_FOUND"),
            Case("tenant: got in another", 2, "result.tasks[0]", "COMPLETED", None),
            Case("tenant: got in another", 2, "result.totalSize", 1, 0),
            *(
                Case(
                    "tenant: push configs",
                    4,
                    "",
                    {"configs": [{**home, "id": "p", "taskId": "<task 1>", **_HOOK}]},
                    "error TASK_NOT_FOUND",
                    wire,
                )
                for wire, home in (("JSONRPC", {"tenant": "acme"}), ("HTTP+JSON", {}))
            ),
        ),
    ),
    Deviation(
        "A webhook says which tenant it is in, on every binding.",
        "4.3.1",
        "tenant",
        tuple(
            Case("tenant: push configs", step, path, None, "acme", "HTTP+JSON")
            for step, path in (
                (1, "result.tenant"),
                (2, "result.tenant"),
                (3, "result.configs[0].tenant"),
            )
        ),
    ),
    Deviation(
        "The webhooks of a task come in pages of the size that is asked for.",
        "3.1.9",
        "MAY support pagination for tasks with many configurations",
        (
            Case(
                "list: push configs page by page",
                3,
                "result.configs[1]",
                {"id": "b", "taskId": "<task 1>", **_HOOK},
                None,
            ),
            Case("list: push configs page by page", 3, "result.nextPageToken", None, "<token>"),
        ),
    ),
)

MEDIA_TYPE = (
    "11.1",
    "Content-Type: application/a2a+json SHOULD be used for requests and responses",
)
"""The one that every answer of a kind has: errors of HTTP+JSON are ``application/json`` from the
SDK and ``application/a2a+json`` from us."""

Shown = tuple[int, str, str, str]


def expected(table: Iterable[Deviation], scenario: str, wire: str) -> set[Shown]:
    """The differences of a scenario on a wire, as ``shown`` gives them."""
    cases = [case for each in table for case in each.cases if case.scenario == scenario]
    return {shown(*case[1:5]) for case in cases if case.wire in ("", wire)}


def shown(step: int, path: str, oracle: Any, product: Any) -> Shown:
    """A difference in hashable form that a person can read."""
    return step, path, repr(oracle), repr(product)
