"""A slot's bytes: everything comes back, nothing that the header has is stored twice."""

from __future__ import annotations

from a2a.types.a2a_pb2 import Message, Part, Role, StreamResponse
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.journal.slots import Event, Failure, Kind, Slot, decode, encode

TASK = "abcdefghijklmnop-00000000-0000-0000-0000-000000000001"
CONTEXT = "the context"


def status(text: str, task: str = TASK) -> StreamResponse:
    payload = StreamResponse()
    payload.status_update.task_id, payload.status_update.context_id = task, CONTEXT
    payload.status_update.status.state = 2
    payload.status_update.status.message.parts.add().text = text
    return payload


def artifact(data: bytes) -> StreamResponse:
    payload = StreamResponse()
    payload.artifact_update.task_id, payload.artifact_update.context_id = TASK, CONTEXT
    payload.artifact_update.artifact.artifact_id = "a"
    payload.artifact_update.artifact.parts.add().raw = data
    return payload


text = st.text(st.characters(exclude_categories=["Cs"]))  # protobuf holds no lone surrogates
events = st.lists(
    st.builds(Event, st.one_of(text.map(status), st.binary().map(artifact)), st.booleans()),
    max_size=4,
).map(tuple)
slots = st.builds(
    Slot,
    kind=st.sampled_from(Kind),
    writer=text,
    time=st.integers(0, 2**45),
    task=st.just(TASK),
    epoch=st.integers(0, 99),
    events=events,
    generation=st.integers(0, 10**6),
    state=st.integers(0, 8),
    status_time=st.integers(0, 2**45),
    replaced=st.none() | st.tuples(st.integers(0, 2**45), st.integers(0, 8)),
    message=st.none()
    | text.map(lambda t: Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text=t)])),
    digest=text,
    alarm=text,
    detached=st.booleans(),
    owner=st.none() | st.text(),  # even what no JSON parser should have let through
    context_id=st.just(CONTEXT),
    checkpoint=text,
    reply=st.booleans(),
    failure=st.none() | st.builds(Failure, text, text),
)


@given(slots)
def test_every_field_survives(slot: Slot) -> None:
    assert decode(encode(slot)) == slot


def test_ids_are_stored_once_and_given_back() -> None:
    slot = Slot(kind=Kind.EVENTS, writer="w", time=1, task=TASK, events=(Event(status("x")),) * 50)
    data = encode(slot)
    assert data.count(TASK.encode()) == 1
    assert CONTEXT.encode() not in data
    assert decode(data, CONTEXT) == slot


def test_the_opening_task_gets_its_message_back() -> None:
    message = Message(message_id="m", role=Role.ROLE_USER, parts=[Part(text="hello")])
    opening = StreamResponse()
    opening.task.id, opening.task.context_id = TASK, CONTEXT
    slot = Slot(
        kind=Kind.SUBMITTED,
        writer="w",
        time=1,
        task=TASK,
        events=(Event(opening),),
        message=message,
    )
    assert encode(slot).count(b"hello") == 1
    assert list(decode(encode(slot), CONTEXT).events[0].payload.task.history) == [message]


def test_encoding_leaves_the_event_alone() -> None:
    event = status("x")
    encode(Slot(kind=Kind.EVENTS, writer="w", time=1, task=TASK, events=(Event(event),)))
    assert event == status("x")


def test_a_field_that_is_not_in_the_header_has_its_default() -> None:
    slot = Slot(kind=Kind.BEAT, writer="w", time=1, task=TASK, epoch=1)
    defaults = set(Slot._fields) - {"kind", "writer", "time", "task"}
    assert len(encode(slot)) < 130
    for name in defaults - {"epoch"}:
        assert getattr(decode(encode(slot)), name) == Slot._field_defaults[name]
