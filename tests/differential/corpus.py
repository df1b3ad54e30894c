"""The scenarios of A2A 1.0: well-formed requests over every operation, as data."""

from __future__ import annotations

from .steps import (
    Call,
    Gate,
    Join,
    Leave,
    Rest,
    Scenario,
    Until,
    cancel,
    detach,
    get,
    listed,
    scenario,
    send,
    stream,
    subscribe,
)

UNKNOWN = "0b0a3e2c-6a4e-4f4c-9b7e-5f1d2c3b4a59"
"""The id of no task."""

STATES = ("SUBMITTED", "WORKING", "COMPLETED", "FAILED", "CANCELED", "INPUT_REQUIRED")
WEBHOOK = {"url": "https://client.example.com/hook", "token": "t"}

ENDINGS = {
    "completes": "work; complete",
    "completes with words": "work; complete Here you are.",
    "fails": "work; fail",
    "fails with words": "work; fail There is no such region.",
    "rejects": "work; reject",
    "rejects with words": "work; reject Not my job.",
    "asks": "work; ask Which region?",
    "asks without words": "work; ask",
    "wants credentials": "work; auth Log in first.",
    "never says that it works": "artifact a x; complete",
    "says what it does": "work Reading.; work Writing.; complete Done.",
    "gives an artifact": "work; artifact a hello; complete",
    "gives two artifacts": "work; artifact a one; artifact b two; complete",
    "replaces an artifact": "work; artifact a one; artifact a two; complete",
    "appends to an artifact": "work; artifact a one; more a two; last a three; complete",
    "appends to two in turns": "work; artifact a 1; artifact b 2; more a 3; last b 4; complete",
    "gives data": 'work; data d {"n": 1, "list": [true, null, 2.5], "deep": {"e": {}}}; complete',
    "adds metadata": 'work; note {"step": 1}; note {"step": 2, "more": "x"}; complete',
    "gives an artifact and asks": "work; artifact a draft; ask Good?",
    "gives an artifact and fails": "work; artifact a half; fail",
    "says, gives, says": "work One.; artifact a 1; work Two.; artifact b 2; complete Three.",
    "speaks Chinese": "work 正在检查。; artifact a 区域：杭州; complete 完成。",
    "answers directly": "reply Hello.",
}
"""What the agent does -> the script. Each is sent and streamed."""

PARTS: dict[str, list[object]] = {
    "one more text": [{"text": "and this"}],
    "an empty text": [{"text": ""}],
    "data": [{"data": {"a": [1, 2.5, None, True], "b": {}}}],
    "data that is no object": [{"data": "text"}, {"data": 7}, {"data": [1]}, {"data": False}],
    "null as data": [{"data": None}],
    "raw bytes": [{"raw": "aGVsbG8=", "mediaType": "text/plain", "filename": "hello.txt"}],
    "a URL": [{"url": "https://example.com/a", "mediaType": "application/octet-stream"}],
    "part metadata": [{"text": "x", "metadata": {"k": ["v", 1], "empty": {}}}],
    "the proto names": [{"text": "x", "media_type": "text/plain"}],
    "all kinds": [{"text": "a"}, {"data": {"b": 1}}, {"raw": "Yw=="}, {"url": "https://e.com/d"}],
    "line ends and signs": [{"text": "a\r\nb\t\u2028\U0001f600\x7f"}],
}
"""What the message carries beside the script -> its parts; the agent gives them back."""

sending = [
    scenario(
        f"send: the agent {what}", send(script, "a"), *([] if "reply" in script else [get("$a")])
    )
    for what, script in ENDINGS.items()
]
streaming = [
    scenario(f"stream: the agent {what}", stream(script)) for what, script in ENDINGS.items()
]
carrying = [
    scenario(f"parts: {what}", send("echo; complete", "a", parts=parts), get("$a"))
    for what, parts in PARTS.items()
]

messages = [
    scenario(
        "message: metadata", send("complete", "a", metadata={"k": [1, {"x": None}]}), get("$a")
    ),
    scenario("message: extensions", send("complete", extensions=["https://e.com/x/v1"])),
    scenario("message: a context of the client's", send("complete", "a", context_id="trip-1")),
    scenario("message: an id of the client's", send("complete", message_id="order.66:1")),
    scenario("request: metadata", send("complete", request={"metadata": {"trace": "1"}})),
    scenario("request: an empty configuration", send("complete", config={})),
    scenario(
        "request: a field from the future", send("complete", request={"fromTheFuture": {"a": 1}})
    ),
    scenario(
        "request: nulls count as not given",
        send("complete", config=None, request={"metadata": None}),
    ),
    scenario(
        "request: accepted output modes",
        send("artifact a x; complete", config={"acceptedOutputModes": ["text/plain"]}),
    ),
    scenario("request: proto names", send("work; complete", config={"history_length": 0})),
    *(
        scenario(
            f"request: history of {n}",
            send("work One.; work Two.; complete Three.", config={"historyLength": n}),
            stream("work One.; complete Two.", config={"historyLength": n}),
        )
        for n in (0, 1, 2, 50)
    ),
]

detached = [
    scenario(
        "detached: the task at once, the rest later",
        detach("work; wait go; artifact a x; complete", "a"),
        Until("WORKING", "$a"),
        get("$a"),
        Gate("go"),
        Until("COMPLETED", "$a"),
        get("$a"),
    ),
    scenario(
        "detached: that ends at once",
        detach("complete", "a"),
        Until("COMPLETED", "$a"),
        get("$a"),
    ),
    scenario(
        "detached: no history wanted",
        send(
            "work; wait go; complete", "a", config={"returnImmediately": True, "historyLength": 0}
        ),
        Until("WORKING", "$a"),
        get("$a", history_length=0),
    ),
    scenario(
        "blocking: the answer comes with the end",
        send("work; wait go; artifact a x; complete", "a", background=True, context_id="c"),
        Until("WORKING", context="c"),
        listed("l", context_id="c"),
        Gate("go"),
        Join("a"),
        get("$a"),
    ),
]

getting = [
    *(
        scenario(
            f"get: history of {n}",
            send("work One.; work Two.; complete Three.", "a"),
            get("$a", history_length=n),
            get("$a"),
        )
        for n in (0, 1, 2, 3, 50)
    ),
    scenario("get: no such task", get(UNKNOWN)),
    scenario("get: no such task, another shape of id", get("nothing")),
    scenario("get: twice the same", send("artifact a x; complete", "a"), get("$a"), get("$a")),
    scenario("get: after a bare reply there is no task", send("reply Hi.", "a"), listed()),
]

following_up = [
    scenario(
        "follow-up: by task and context",
        send("ask Where?", "a"),
        send("artifact a there; complete", task_id="$a", context_id="$a.context"),
        get("$a"),
        listed(context_id="$a.context"),
    ),
    scenario(
        "follow-up: by task alone",
        send("ask Where?", "a"),
        send("complete", task_id="$a"),
        get("$a"),
    ),
    scenario(
        "follow-up: by context alone is another task",
        send("complete One.", "a"),
        send("complete Two.", "b", context_id="$a.context"),
        get("$a"),
        get("$b"),
        listed(context_id="$a.context"),
    ),
    scenario(
        "follow-up: by context while the first task waits",
        send("ask Where?", "a"),
        send("complete", "b", context_id="$a.context"),
        get("$a"),
    ),
    scenario(
        "follow-up: streamed",
        send("ask Where?", "a"),
        stream("work; artifact a x; complete", task_id="$a", context_id="$a.context"),
        get("$a"),
    ),
    scenario(
        "follow-up: three questions",
        send("ask One?", "a"),
        send("ask Two?", task_id="$a", context_id="$a.context"),
        send("ask Three?", task_id="$a", context_id="$a.context"),
        send("complete", task_id="$a", context_id="$a.context"),
        get("$a"),
        get("$a", history_length=3),
    ),
    scenario(
        "follow-up: detached",
        send("ask Where?", "a"),
        detach("work; wait go; complete", "b", task_id="$a", context_id="$a.context"),
        Gate("go"),
        Until("COMPLETED", "$a"),
        get("$a"),
    ),
    scenario(
        "follow-up: after credentials",
        send("auth Log in.", "a"),
        send("artifact a x; complete", task_id="$a", context_id="$a.context"),
        get("$a"),
    ),
    scenario(
        "follow-up: more to an artifact of before",
        send("artifact a one; ask More?", "a"),
        send("last a two; complete", task_id="$a", context_id="$a.context"),
        get("$a"),
    ),
    scenario("follow-up: no such task", send("complete", task_id=UNKNOWN)),
    scenario("follow-up: no such task, streamed", stream("work; complete", task_id=UNKNOWN)),
    scenario(
        "follow-up: no such task in a context that is there",
        send("complete", "a"),
        send("complete", task_id=UNKNOWN, context_id="$a.context"),
    ),
    scenario(
        "follow-up: another context than the task's",
        send("ask Where?", "a"),
        send("complete", task_id="$a", context_id="elsewhere"),
        stream("work; complete", task_id="$a", context_id="elsewhere"),
        get("$a"),
    ),
    *(
        scenario(
            f"follow-up: the task is {what}",
            send(script, "a"),
            send("complete", task_id="$a", context_id="$a.context"),
            stream("work; complete", task_id="$a", context_id="$a.context"),
            send("complete", task_id="$a"),
            get("$a"),
        )
        for what, script in (("completed", "complete"), ("failed", "fail"), ("rejected", "reject"))
    ),
    scenario(
        "follow-up: the task is canceled",
        send("ask Where?", "a"),
        cancel("$a"),
        send("complete", task_id="$a", context_id="$a.context"),
        stream("work; complete", task_id="$a", context_id="$a.context"),
    ),
]

canceling = [
    scenario(
        "cancel: a working task",
        detach("work; artifact a x; wait forever", "a"),
        Until("WORKING", "$a", artifacts=1),
        cancel("$a"),
        get("$a"),
    ),
    scenario(
        "cancel: a task that waits for input",
        send("ask Where?", "a"),
        cancel("$a"),
        get("$a"),
    ),
    scenario("cancel: a task that waits for credentials", send("auth", "a"), cancel("$a")),
    *(
        scenario(f"cancel: a task that {what}", send(script, "a"), cancel("$a"), get("$a"))
        for what, script in (("completed", "complete"), ("failed", "fail"), ("rejected", "reject"))
    ),
    scenario("cancel: twice", send("ask", "a"), cancel("$a"), cancel("$a"), get("$a")),
    scenario("cancel: no such task", cancel(UNKNOWN)),
    scenario("cancel: with metadata", send("ask", "a"), cancel("$a", metadata={"why": "late"})),
    scenario(
        "cancel: a caller that waits hears of it",
        send("work; artifact a x; wait forever", "a", background=True, context_id="c"),
        Until("WORKING", context="c"),
        listed("l", context_id="c"),
        Until("WORKING", "$l.0", artifacts=1),
        cancel("$l.0"),
        Join("a"),
    ),
    scenario(
        "cancel: a stream ends with it",
        stream("work; artifact a x; wait forever", "a", frames=3),
        cancel("$a"),
        Rest("a"),
        get("$a"),
    ),
]

subscribing = [
    scenario(
        "subscribe: the task, then what follows",
        detach("work; artifact a x; wait go; artifact b y; complete Done.", "a"),
        Until("WORKING", "$a", artifacts=1),
        subscribe("$a", "s", frames=1),
        Gate("go"),
        Rest("s"),
        get("$a"),
    ),
    scenario(
        "subscribe: two hear the same",
        detach("work Hm.; artifact a x; wait go; artifact b x; complete", "a"),
        Until("WORKING", "$a", artifacts=1),
        subscribe("$a", "s", frames=1),
        subscribe("$a", "t", frames=1),
        Gate("go"),
        Rest("s"),
        Rest("t"),
    ),
    scenario(
        "subscribe: one leaves, the other hears on",
        detach("work; wait go; artifact a x; complete", "a"),
        Until("WORKING", "$a"),
        subscribe("$a", "s", frames=1),
        subscribe("$a", "t", frames=1),
        Leave("s"),
        Gate("go"),
        Rest("t"),
    ),
    scenario(
        "subscribe: the first stream is gone",
        stream("work; artifact a x; wait go; artifact b y; complete", "a", frames=3),
        Leave("a"),
        subscribe("$a", "s", frames=1),
        Gate("go"),
        Rest("s"),
        get("$a"),
    ),
    scenario(
        "subscribe: canceled under it",
        detach("work; wait forever", "a"),
        Until("WORKING", "$a"),
        subscribe("$a", "s", frames=1),
        cancel("$a"),
        Rest("s"),
    ),
    scenario(
        "subscribe: across a question",
        send("ask Where?", "a"),
        subscribe("$a", "s", frames=1),
        send("work; artifact a x; complete", task_id="$a", context_id="$a.context"),
        Rest("s"),
    ),
    *(
        scenario(f"subscribe: a task that {what}", send(script, "a"), subscribe("$a"))
        for what, script in (("completed", "complete"), ("failed", "fail"), ("rejected", "reject"))
    ),
    scenario(
        "subscribe: a task that was canceled", send("ask", "a"), cancel("$a"), subscribe("$a")
    ),
    scenario("subscribe: no such task", subscribe(UNKNOWN)),
]

_zoo = (
    send("complete One.", "a", context_id="c1"),
    send("fail Two.", "b", context_id="c1"),
    send("artifact x 3; ask Three?", "c", context_id="c2"),
    send("reject", "d", context_id="c3"),
    send("ask", "e", context_id="c3"),
    cancel("$e"),
    send("work 6; artifact y 6; complete Six.", "f", context_id="c1"),
)

listing = [
    scenario("list: nothing", listed()),
    scenario("list: everything", *_zoo, listed(), listed(status="TASK_STATE_UNSPECIFIED")),
    scenario(
        "list: of a context",
        *_zoo,
        listed(context_id="c1"),
        listed(context_id="c2"),
        listed(context_id="nowhere"),
        listed(context_id="c1", status="TASK_STATE_FAILED"),
    ),
    scenario("list: by state", *_zoo, *(listed(status=f"TASK_STATE_{state}") for state in STATES)),
    scenario(
        "list: what is shown of a task",
        *_zoo,
        listed(include_artifacts=True),
        listed(include_artifacts=False),
        *(listed(history_length=n) for n in (0, 1, 50)),
    ),
    scenario(
        "list: since",
        *_zoo,
        listed(status_timestamp_after="$c.time"),
        listed(status_timestamp_after="$c.time", context_id="c2"),
        listed(status_timestamp_after="2001-01-01T00:00:00Z"),
        listed(status_timestamp_after="2100-01-01T00:00:00Z"),
    ),
    scenario(
        "list: page by page",
        *_zoo,
        listed("p", page_size=2),
        listed("q", page_size=2, page_token="$p.token"),
        listed("r", page_size=2, page_token="$q.token"),
    ),
    scenario(
        "list: page by page with filters",
        *_zoo,
        listed("p", page_size=1, context_id="c1", include_artifacts=True),
        listed("q", page_size=1, context_id="c1", include_artifacts=True, page_token="$p.token"),
        listed("r", page_size=1, context_id="c1", include_artifacts=True, page_token="$q.token"),
    ),
    scenario("list: a page of all", *_zoo, listed(page_size=6), listed(page_size=100)),
    scenario(
        "list: a page smaller or larger than allowed", listed(page_size=0), listed(page_size=101)
    ),
    scenario("list: a page token of nobody's", listed(page_token="bm9uc2Vuc2U")),
    scenario("list: negative history", listed(history_length=-1)),
    scenario(
        "list: a task that works",
        detach("work; artifact a x; wait forever", "a"),
        Until("WORKING", "$a", artifacts=1),
        listed(status="TASK_STATE_WORKING", include_artifacts=True),
        listed(status="TASK_STATE_COMPLETED"),
    ),
]

refusals = [
    scenario("refused: by the executor", send("raise UnsupportedOperationError No.")),
    scenario("refused: bad parameters, says the executor", send("raise InvalidParamsError Hm.")),
    scenario(
        "refused: content type, says the executor", send("raise ContentTypeNotSupportedError X")
    ),
    scenario("refused: by the executor, streamed", stream("raise UnsupportedOperationError No.")),
    scenario(
        "refused: a media type that the card lacks",
        send("complete", parts=[{"raw": "AA==", "mediaType": "image/png"}]),
        stream("complete", parts=[{"text": "a,b", "mediaType": "text/csv"}]),
    ),
    scenario("refused: negative history", send("complete", config={"historyLength": -1})),
    scenario(
        "refused: negative history, streamed", stream("complete", config={"historyLength": -1})
    ),
    scenario(
        "refused: negative history of a task", send("complete", "a"), get("$a", history_length=-1)
    ),
    scenario(
        "refused: no streaming",
        stream("complete"),
        subscribe(UNKNOWN),
        send("complete"),
        streaming=False,
    ),
    scenario("refused: the extended card", Call("GetExtendedAgentCard", {})),
    scenario(
        "refused: push configs",
        send("ask", "a"),
        Call("CreateTaskPushNotificationConfig", {"taskId": "$a", "id": "p", **WEBHOOK}),
        Call("GetTaskPushNotificationConfig", {"taskId": "$a", "id": "p"}),
        Call("ListTaskPushNotificationConfigs", {"taskId": "$a"}),
        Call("DeleteTaskPushNotificationConfig", {"taskId": "$a", "id": "p"}),
    ),
    scenario(
        "refused: push configs of no task",
        Call("CreateTaskPushNotificationConfig", {"taskId": UNKNOWN, "id": "p", **WEBHOOK}),
        Call("GetTaskPushNotificationConfig", {"taskId": UNKNOWN, "id": "p"}),
        Call("ListTaskPushNotificationConfigs", {"taskId": UNKNOWN}),
        Call("DeleteTaskPushNotificationConfig", {"taskId": UNKNOWN, "id": "p"}),
    ),
    scenario(
        "refused: a push config in a message",
        send("complete", config={"taskPushNotificationConfig": WEBHOOK}),
        stream("complete", config={"taskPushNotificationConfig": WEBHOOK}),
    ),
]

SET = "CreateTaskPushNotificationConfig"
GOT = "GetTaskPushNotificationConfig"
LISTED = "ListTaskPushNotificationConfigs"
DELETED = "DeleteTaskPushNotificationConfig"
LOCKED = {**WEBHOOK, "authentication": {"scheme": "Bearer", "credentials": "letmein"}}
ELSEWHERE = {"url": "https://client.example.com/other?to=me"}

pushing = [
    *(
        scenario(
            f"push: a config of a task that {what}",
            send(script, "a"),
            Call(SET, {"taskId": "$a", "id": "p", **LOCKED}),
            Call(GOT, {"taskId": "$a", "id": "p"}),
            Call(LISTED, {"taskId": "$a"}),
            push=True,
        )
        for what, script in (("waits", "ask"), ("completed", "complete"), ("failed", "fail"))
    ),
    scenario(
        "push: a config of a task that works",
        detach("work; wait go; complete", "a"),
        Until("WORKING", "$a"),
        Call(SET, {"taskId": "$a", "id": "p", **WEBHOOK}),
        Call(LISTED, {"taskId": "$a"}),
        Gate("go"),
        Until("COMPLETED", "$a"),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: deleted, and once more",
        send("ask", "a"),
        Call(SET, {"taskId": "$a", "id": "p", **WEBHOOK}),
        Call(SET, {"taskId": "$a", "id": "q", **WEBHOOK}),
        Call(DELETED, {"taskId": "$a", "id": "p"}),
        Call(GOT, {"taskId": "$a", "id": "p"}),
        Call(LISTED, {"taskId": "$a"}),
        Call(DELETED, {"taskId": "$a", "id": "p"}),
        Call(SET, {"taskId": "$a", "id": "p", **ELSEWHERE}),
        Call(GOT, {"taskId": "$a", "id": "p"}),
        push=True,
    ),
    scenario(
        "push: a config without an id",
        send("ask", "a"),
        Call(SET, {"taskId": "$a", **WEBHOOK}),
        Call(GOT, {"taskId": "$a", "id": "$a"}),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: set anew",
        send("ask", "a"),
        Call(SET, {"taskId": "$a", "id": "p", **LOCKED}),
        Call(SET, {"taskId": "$a", "id": "p", **ELSEWHERE}),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: several, and none",
        send("ask", "a"),
        Call(LISTED, {"taskId": "$a"}),
        *(Call(SET, {"taskId": "$a", "id": name, **LOCKED}) for name in "abc"),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: no such task",
        Call(SET, {"taskId": UNKNOWN, "id": "p", **WEBHOOK}),
        Call(GOT, {"taskId": UNKNOWN, "id": "p"}),
        Call(LISTED, {"taskId": UNKNOWN}),
        push=True,
    ),
    scenario(
        "push: no such task to delete of", Call(DELETED, {"taskId": UNKNOWN, "id": "p"}), push=True
    ),
    scenario(
        "push: no such config",
        send("ask", "a"),
        Call(GOT, {"taskId": "$a", "id": "p"}),
        push=True,
    ),
    scenario(
        "push: no such config to delete",
        send("ask", "a"),
        Call(DELETED, {"taskId": "$a", "id": "p"}),
        push=True,
    ),
    scenario(
        "push: nowhere",
        send("ask", "a"),
        Call(SET, {"taskId": "$a", "id": "p", "url": ""}),
        Call(SET, {"taskId": "$a", "id": "p", "token": "t"}),
        push=True,
    ),
    *(
        scenario(
            f"push: a config in a message, {what}",
            call("work; complete", "a", config={"taskPushNotificationConfig": config}),
            Call(LISTED, {"taskId": "$a"}),
            push=True,
        )
        for what, call, config in (
            ("sent", send, LOCKED),
            ("streamed", stream, LOCKED),
            ("with an id", send, {**WEBHOOK, "id": "p"}),
        )
    ),
    scenario(
        "push: a config in a message, detached",
        send(
            "complete",
            "a",
            config={"returnImmediately": True, "taskPushNotificationConfig": WEBHOOK},
        ),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: a config in a follow-up",
        send("ask", "a", config={"taskPushNotificationConfig": {**WEBHOOK, "id": "p"}}),
        send(
            "complete",
            task_id="$a",
            context_id="$a.context",
            config={"taskPushNotificationConfig": {**ELSEWHERE, "id": "q"}},
        ),
        Call(LISTED, {"taskId": "$a"}),
        push=True,
    ),
    scenario(
        "push: a config in a follow-up to no task",
        send("complete", task_id=UNKNOWN, config={"taskPushNotificationConfig": WEBHOOK}),
        push=True,
    ),
    scenario(
        "list: push configs page by page",
        send("ask", "a"),
        *(Call(SET, {"taskId": "$a", "id": name, **WEBHOOK}) for name in "ab"),
        Call(LISTED, {"taskId": "$a", "pageSize": 1}),
        push=True,
    ),
    scenario(
        "tenant: push configs",
        send("ask", "a", request={"tenant": "acme"}),
        Call(SET, {"tenant": "acme", "taskId": "$a", "id": "p", **WEBHOOK}),
        Call(GOT, {"tenant": "acme", "taskId": "$a", "id": "p"}),
        Call(LISTED, {"tenant": "acme", "taskId": "$a"}),
        Call(LISTED, {"tenant": "other", "taskId": "$a"}),
        push=True,
    ),
]

again = [
    scenario(
        "again: the same message is the same task",
        send("complete", "a", message_id="one", context_id="c"),
        send("complete", "b", message_id="one", context_id="c"),
        listed(),
    ),
    scenario(
        "again: the same id with other words",
        send("complete One.", "a", message_id="one", context_id="c"),
        send("complete Two.", "b", message_id="one", context_id="c"),
        listed(),
    ),
    scenario(
        "again: an answer sent twice",
        send("ask Where?", "a"),
        send("complete", message_id="two", task_id="$a", context_id="$a.context"),
        send("complete", message_id="two", task_id="$a", context_id="$a.context"),
        get("$a"),
    ),
]

references = [
    scenario(
        "references: a task of before",
        send("artifact a x; complete", "a"),
        send("complete", "b", reference_task_ids=["$a"], context_id="$a.context"),
        get("$b"),
    ),
    scenario("references: no such task", send("complete", reference_task_ids=[UNKNOWN])),
]

busy = [
    scenario(
        "busy: another task in the context",
        detach("work; wait go; complete", "a"),
        Until("WORKING", "$a"),
        detach("complete", "b", context_id="$a.context"),
        Gate("go"),
        Until("COMPLETED", "$a"),
        get("$a"),
    ),
]

versions = [
    scenario(f"version: {what}", send("complete", "a"), get("$a", version=version))
    for what, version in {
        "none": "",
        "0.3, which is not spoken": "0.3",
        "1.0 with a patch number": "1.0.2",
        "1.1": "1.1",
        "2.0": "2.0",
        "1": "1",
        "nonsense": "latest",
        "in the query": "?A2A-Version=1.0",
        "another in the query": "?A2A-Version=2.0",
    }.items()
]

tenants = [
    scenario(
        "tenant: sent and got in one",
        send("complete", "a", request={"tenant": "acme"}),
        get("$a", tenant="acme"),
        listed(tenant="acme"),
    ),
    scenario(
        "tenant: got in another",
        send("complete", "a", request={"tenant": "acme"}),
        get("$a", tenant="other"),
        listed(tenant="other"),
    ),
]

SCENARIOS: tuple[Scenario, ...] = (
    *sending, *streaming, *carrying, *messages, *detached, *getting, *following_up,
    *canceling, *subscribing, *listing, *refusals, *pushing, *again, *references, *busy, *versions,
    *tenants,
)  # fmt: skip
