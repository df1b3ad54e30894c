"""The pure fold: what a journal means for a task and for its context."""

from __future__ import annotations

from a2a.types.a2a_pb2 import (
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskState,
)
from hypothesis import given
from hypothesis import strategies as st

from a2a_fn.journal.fold import Context, Head, fold_context, fold_head
from a2a_fn.journal.slots import Event, Kind, Slot

T = "abcdefghijklmnop-00000000-0000-0000-0000-000000000001"
WORKING, COMPLETED = TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED
ASKS, CANCELED = TaskState.TASK_STATE_INPUT_REQUIRED, TaskState.TASK_STATE_CANCELED


class Story:
    """A context's journal as it is written, with the fold after each slot."""

    def __init__(self) -> None:
        self.context = Context()
        self.head: Head | None = None
        self.generation = 0
        self.time = 1_000

    def add(self, kind: Kind, *events: Event, state: int = 0, **fields: object) -> Task:
        self.time += 10
        if state:
            opening = kind is Kind.SUBMITTED and self.head is None
            message = fields.pop("says", None)
            events = (*events, _state(state, message, opening))
        self.generation += len(events)
        slot = Slot(
            kind=kind,
            writer="w",
            time=self.time,
            task=T,
            events=events,
            generation=self.generation,
            state=state,
            status_time=self.time if state else 0,
            epoch=self.context.epoch + (kind is Kind.CLAIMED),
            **fields,
        )
        n = self.context.n + 1
        self.context = fold_context(self.context, n, slot)
        self.head = fold_head(self.head, n, slot, "c")
        return self.head.task

    def submit(self, text: str = "hi", message_id: str = "m1") -> Task:
        message = Message(message_id=message_id, role=Role.ROLE_USER, parts=[Part(text=text)])
        return self.add(
            Kind.SUBMITTED,
            state=TaskState.TASK_STATE_SUBMITTED,
            message=message,
            digest=message_id,
            alarm="alarm",
        )

    def claim(self) -> Task:
        return self.add(Kind.CLAIMED, state=WORKING)


def _state(state: int, text: str | None, opening: bool) -> Event:
    payload = StreamResponse()
    if opening:
        payload.task.status.state = state
    else:
        payload.status_update.status.state = state
        if text:
            message = payload.status_update.status.message
            message.message_id, message.role = f"s-{text}", Role.ROLE_AGENT
            message.parts.add().text = text
    return Event(payload)


def piece(text: str, message_id: str = "a1") -> Event:
    payload = StreamResponse()
    payload.status_update.status.state = WORKING
    message = payload.status_update.status.message
    message.message_id, message.role = message_id, Role.ROLE_AGENT
    message.parts.add().text = text
    return Event(payload, transient=True)


def chunk(text: str, *, append: bool, artifact_id: str = "a") -> Event:
    payload = StreamResponse()
    payload.artifact_update.artifact.artifact_id = artifact_id
    payload.artifact_update.artifact.parts.add().text = text
    payload.artifact_update.append = append
    return Event(payload)


def texts(task: Task) -> list[str]:
    return ["".join(p.text for p in m.parts) for m in task.history]


def test_pieces_of_one_message_add_up_and_the_end_keeps_them() -> None:
    story = Story()
    story.submit()
    story.claim()
    story.add(Kind.EVENTS, piece("Hel"), piece("lo"))
    task = story.add(Kind.EVENTS, piece(", you"))
    assert [p.text for p in task.status.message.parts] == ["Hello, you"]
    task = story.add(Kind.FINISHED, state=ASKS)
    assert task.status.state == ASKS
    assert [p.text for p in task.status.message.parts] == ["Hello, you"]
    assert texts(task) == ["hi"]


def test_another_message_moves_the_one_before_to_the_history() -> None:
    story = Story()
    story.submit()
    story.claim()
    story.add(Kind.EVENTS, piece("one", "a1"), piece("two", "a2"))
    task = story.add(Kind.FINISHED, state=COMPLETED, says="three")
    assert texts(task) == ["hi", "one", "two"]
    assert task.status.message.parts[0].text == "three"


def test_a_follow_up_comes_after_the_answer_in_the_history() -> None:
    story = Story()
    story.submit("first")
    story.claim()
    story.add(Kind.EVENTS, piece("answer"))
    story.add(Kind.FINISHED, state=ASKS)
    task = story.submit("second", "m2")
    assert texts(task) == ["first", "answer", "second"]
    assert task.status.state == TaskState.TASK_STATE_SUBMITTED
    assert not task.status.HasField("message")


def test_a_claim_drops_what_followed_the_last_checkpoint() -> None:
    story = Story()
    story.submit()
    story.claim()
    story.add(Kind.EVENTS, piece("kept "), chunk("1", append=False), checkpoint="S#1")
    story.add(Kind.EVENTS, piece("lost"), chunk("2", append=True))
    story.add(Kind.EVENTS, chunk("3", append=True), chunk("x", append=False, artifact_id="b"))
    task = story.claim()
    assert task.status.message.parts[0].text == "kept "
    assert [[p.text for p in a.parts] for a in task.artifacts] == [["1"]]
    task = story.add(Kind.EVENTS, piece("again"), chunk("2", append=True))
    assert [p.text for p in task.status.message.parts] == ["kept again"]
    assert [p.text for p in task.artifacts[0].parts] == ["1", "2"]


def test_only_a_checkpoint_counts_as_progress() -> None:
    story = Story()
    story.submit()
    for attempt in (1, 2):
        story.claim()
        story.add(Kind.EVENTS, piece("words"))
        story.add(Kind.BEAT)
        story.add(Kind.YIELDED)
        assert story.context.active.attempts == attempt
    story.claim()
    story.add(Kind.EVENTS, checkpoint="S#1")
    assert (story.context.active.attempts, story.context.active.claims) == (0, 3)
    assert story.context.active.checkpoint == "S#1"


def test_a_yielded_turn_is_open_and_unclaimed() -> None:
    story = Story()
    story.submit()
    story.claim()
    assert story.context.active.claimed
    story.add(Kind.YIELDED)
    assert story.context.active is not None
    assert not story.context.active.claimed


def test_the_cancel_of_a_sibling_leaves_the_turn_alone() -> None:
    story = Story()
    story.submit()
    story.claim()
    other = Slot(kind=Kind.CANCELED, writer="w", time=1, task="another", state=CANCELED)
    assert fold_context(story.context, 3, other).active == story.context.active
    story.add(Kind.CANCELED, state=CANCELED)
    assert story.context.active is None


def test_an_artifact_without_append_begins_again() -> None:
    story = Story()
    story.submit()
    story.claim()
    story.add(Kind.EVENTS, chunk("old", append=False), chunk("er", append=True))
    task = story.add(Kind.EVENTS, chunk("new", append=False))
    assert [[p.text for p in a.parts] for a in task.artifacts] == [["new"]]


def test_the_status_time_is_that_of_the_state_not_of_the_words() -> None:
    story = Story()
    story.submit()
    task = story.claim()
    claimed = task.status.timestamp.ToMilliseconds()
    task = story.add(Kind.EVENTS, piece("later"))
    assert task.status.timestamp.ToMilliseconds() == claimed == story.head.status_time


def test_a_message_is_remembered_for_ten_minutes() -> None:
    story = Story()
    story.submit("a", "m1")
    story.claim()
    story.add(Kind.FINISHED, state=ASKS)
    story.time += 700_000
    story.submit("b", "m2")
    assert [digest for digest, _ in story.head.accepted] == ["m2"]


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=8), st.data()
)
def test_how_the_pieces_are_cut_into_slots_makes_no_difference(pieces, data) -> None:
    whole, cut = Story(), Story()
    for story in (whole, cut):
        story.submit()
        story.claim()
    whole.add(Kind.EVENTS, *(piece(p) for p in pieces))
    while pieces:
        k = data.draw(st.integers(1, len(pieces)))
        cut.add(Kind.EVENTS, *(piece(p) for p in pieces[:k]))
        pieces = pieces[k:]
    for story in (whole, cut):
        story.time = 5_000
        story.add(Kind.FINISHED, state=COMPLETED)
    assert whole.head.task == cut.head.task
    assert whole.head.generation == cut.head.generation


@given(st.lists(st.sampled_from(["piece", "chunk", "save", "claim", "beat"]), max_size=12))
def test_the_fold_changes_nothing_that_it_was_given(steps) -> None:
    story = Story()
    story.submit()
    story.claim()
    for step in steps:
        before, copy = story.head.task, Task()
        copy.CopyFrom(before)
        if step == "piece":
            story.add(Kind.EVENTS, piece("x"))
        elif step == "chunk":
            story.add(Kind.EVENTS, chunk("y", append=True))
        elif step == "save":
            story.add(Kind.EVENTS, checkpoint="S#1")
        elif step == "claim":
            story.claim()
        else:
            story.add(Kind.BEAT)
        assert before == copy
