"""What is printed of a sequence of events."""

from __future__ import annotations

import io

import pytest
from a2a.types.a2a_pb2 import (
    Artifact,
    Message,
    Part,
    Role,
    StreamResponse,
    Task,
    TaskArtifactUpdateEvent,
    TaskState,
    TaskStatus,
    TaskStatusUpdateEvent,
)

from a2a_fn.cli.screen import Screen
from a2a_fn.cli.shelf import Shelf
from a2a_fn.cli.transcript import Transcript, state_word

WORKING, DONE = TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED
ASKS = TaskState.TASK_STATE_INPUT_REQUIRED


class Page:
    """A transcript and what it printed."""

    def __init__(self, **options):
        self.out, self.err = io.StringIO(), io.StringIO()
        self.transcript = Transcript(Screen(self.out, self.err), Shelf(), **options)

    def take(self, *responses, **options):
        for response in responses:
            self.transcript.take(response, **options)
        return self.out.getvalue()


def said(message_id, text, role=Role.ROLE_AGENT):
    return Message(message_id=message_id, role=role, parts=[Part(text=text)])


def status(state, message=None, **ours):
    update = TaskStatusUpdateEvent(
        task_id="t", context_id="c", status=TaskStatus(state=state, message=message)
    )
    if ours:
        update.metadata.update({"iac_code": ours})
    return StreamResponse(status_update=update)


def piece(message_id, text):
    return status(WORKING, said(message_id, text))


def task(state, *history, message=None, artifacts=()):
    return StreamResponse(
        task=Task(
            id="t",
            context_id="c",
            status=TaskStatus(state=state, message=message),
            history=history,
            artifacts=artifacts,
        )
    )


def artifact(text, *, append=False, last=False, name="a.yml"):
    return StreamResponse(
        artifact_update=TaskArtifactUpdateEvent(
            task_id="t",
            artifact=Artifact(artifact_id="a", parts=[Part(text=text, filename=name)]),
            append=append,
            last_chunk=last,
        )
    )


class TestText:
    def test_equal_pieces_are_all_printed(self):
        assert Page().take(piece("m", "ha"), piece("m", "ha"), piece("m", "!")) == "haha!"

    def test_another_message_begins_a_line(self):
        assert Page().take(piece("m", "a"), piece("n", "b"), piece("n", "c")) == "a\nbc"

    def test_a_message_that_ends_its_line_gets_no_empty_line(self):
        assert Page().take(piece("m", "a\n"), piece("n", "b")) == "a\nb"

    def test_a_final_status_that_repeats_the_message_prints_nothing(self):
        assert Page().take(piece("m", "ab"), status(DONE, said("m", "ab"))) == "ab"

    def test_a_final_status_that_repeats_the_text_under_another_id_prints_nothing(self):
        events = [piece("m", "a"), piece("n", "b"), status(DONE, said("z", "ab"))]
        assert Page().take(*events) == "a\nb"

    def test_a_final_task_prints_only_what_was_missed(self):
        whole = task(DONE, said("u", "hi", Role.ROLE_USER), said("m", "abc"), said("n", "def"))
        assert Page().take(piece("m", "ab"), whole) == "abc\ndef"

    def test_a_final_status_with_a_new_message_prints_it(self):
        assert Page().take(piece("m", "ab"), status(ASKS, said("q", "which?"))) == "ab\nwhich?"

    def test_messages_of_earlier_turns_are_not_printed(self):
        history = [
            said("u1", "hi", Role.ROLE_USER),
            said("m1", "old"),
            said("u2", "more", Role.ROLE_USER),
        ]
        assert Page().take(task(DONE, *history, message=said("m2", "new"))) == "new"

    def test_a_task_as_it_was_before_the_message_is_not_printed(self):
        page = Page(message_id="mine", continues=True)
        opening = task(ASKS, message=said("q", "which?"))
        assert page.take(opening, opening=True) == ""
        assert not page.transcript.settled
        assert page.take(piece("m", "ok")) == "ok"

    def test_a_user_message_in_a_status_is_not_the_answer(self):
        assert Page().take(status(WORKING, said("u", "hi", Role.ROLE_USER))) == ""

    def test_text_cannot_control_the_terminal(self):
        out = Page().take(piece("m", "\x1b]0;owned\x07\x1b[2Ja\rb\u202ec\x9b1md\t\u4f60\n"))
        assert out == "]0;owned[2Jabc1md\t\u4f60\n"

    def test_data_and_files_in_a_message_are_shown(self):
        message = said("m", "see ")
        message.parts.add(raw=b"123", filename="x.bin")
        assert Page().take(status(WORKING, message)) == "see [x.bin, 3 bytes]"


AUTH = TaskState.TASK_STATE_AUTH_REQUIRED


class TestRetelling:
    """A Task after a lost connection tells again what was printed, and more."""

    def test_pieces_that_were_printed_are_not_printed_again(self):
        page = Page()
        page.take(piece("m", "one "), piece("m", "two "))
        told = task(WORKING, said("m", "one "), said("m", "two "), message=said("m", "three"))
        assert page.take(told) == "one two three"

    def test_a_piece_of_which_a_part_was_printed_is_completed(self):
        page = Page()
        page.take(piece("m", "one tw"))
        assert page.take(task(WORKING, said("m", "one "), message=said("m", "two"))) == "one two"

    def test_the_whole_after_its_pieces_is_not_printed(self):
        page = Page()
        page.take(piece("m", "a"))
        told = task(DONE, said("m", "a"), said("m", "b"), message=said("m", "ab"))
        assert page.take(told) == "ab"

    def test_equal_pieces_that_were_missed_are_all_printed(self):
        page = Page()
        page.take(piece("m", "x"))
        told = task(WORKING, said("m", "x"), said("m", "ha"), message=said("m", "ha"))
        assert page.take(told) == "xhaha"

    def test_what_contradicts_what_was_printed_is_printed_whole(self):
        page = Page()
        page.take(piece("m", "old"))
        assert page.take(task(WORKING, said("m", "ne"), message=said("m", "w"))) == "oldnew"


class TestAuthorisation:
    def test_it_is_waited_for_and_said_once(self):
        page = Page()
        page.take(status(AUTH, said("a", "log in")), status(AUTH))
        assert not page.transcript.settled
        assert page.err.getvalue().count("waits for authorisation") == 1
        page.take(piece("m", "thanks"), status(DONE))
        assert page.out.getvalue() == "log in\nthanks"
        assert page.transcript.settled

    def test_a_stream_that_ends_with_it_does_not_end_the_turn(self):
        page = Page()
        page.take(task(AUTH, message=said("a", "log in")))
        page.transcript.end()
        assert not page.transcript.settled

    def test_without_following_it_ends_the_turn(self):
        page = Page()
        page.transcript.follows = False
        page.take(task(AUTH, message=said("a", "log in")))
        assert page.transcript.settled
        assert page.err.getvalue() == ""


class TestRestart:
    restarted = status(WORKING, turn={"restarted": True, "attempt": 2})

    def test_it_is_marked_and_the_text_begins_on_a_new_line(self):
        page = Page()
        assert page.take(piece("m", "one tw"), self.restarted, piece("m", "one two")) == (
            "one tw\none two"
        )
        remark = " ".join(page.err.getvalue().split())
        assert "restarted: what followed its last save" in remark
        assert "crash" not in remark  # it may also have been stopped before it could save

    def test_the_final_whole_is_not_printed_again(self):
        events = [piece("m", "kept lost"), self.restarted, piece("m", "new")]
        assert Page().take(*events, status(DONE, said("m", "kept new"))) == "kept lost\nnew"

    def test_messages_finished_before_it_are_not_printed_again(self):
        events = [piece("m", "first"), piece("n", "sec"), self.restarted, piece("n", "second")]
        whole = task(DONE, said("m", "first"), said("n", "second"))
        assert Page().take(*events, whole) == "first\nsec\nsecond"

    def test_a_message_that_was_said_again_in_full_is_not_printed_a_third_time(self):
        events = [piece("m", "first"), piece("n", "x"), self.restarted, piece("m", "first")]
        assert Page().take(*events, status(DONE, said("m", "first"))) == "first\nx\nfirst"


class TestRemarks:
    def test_a_tool_has_a_line_each_time_and_keeps_its_name(self):
        page = Page()
        page.take(
            piece("m", "let me see"),
            status(
                WORKING,
                tool={
                    "status": "running",
                    "toolUseId": "1",
                    "name": "review",
                    "input": {"file": "a.yml"},
                },
            ),
            status(
                WORKING, tool={"status": "completed", "toolUseId": "1", "result": "2\nfindings"}
            ),
        )
        assert page.err.getvalue().splitlines() == [
            'tool review: running - {"file": "a.yml"}',
            "tool review: completed - 2 findings",
        ]
        assert page.out.getvalue() == "let me see"

    @pytest.mark.parametrize("odd", ["x", 3, None, [], {"tool": 1, "turn": [2]}])
    def test_metadata_of_another_shape_is_ignored(self, odd):
        page = Page()
        event = status(WORKING)
        event.status_update.metadata.update({"iac_code": odd})
        assert (page.take(event), page.err.getvalue()) == ("", "")

    def test_an_artifact_is_announced_once_however_many_chunks_it_has(self):
        page = Page()
        page.take(artifact("a"), artifact("b", append=True), artifact("c", append=True, last=True))
        page.take(
            task(
                DONE,
                artifacts=[Artifact(artifact_id="a", parts=[Part(text="abc", filename="a.yml")])],
            )
        )
        assert page.err.getvalue() == "artifact a.yml\n"


class TestEnd:
    @pytest.mark.parametrize(
        ("state", "settled", "failed"),
        [
            (WORKING, False, False),
            (ASKS, True, False),
            (DONE, True, False),
            (TaskState.TASK_STATE_FAILED, True, True),
            (TaskState.TASK_STATE_REJECTED, True, True),
            (TaskState.TASK_STATE_CANCELED, True, True),
        ],
    )
    def test_states(self, state, settled, failed):
        page = Page()
        page.take(status(state))
        assert (page.transcript.settled, page.transcript.failed) == (settled, failed)

    def test_an_opening_task_that_waits_for_input_is_settled_only_if_the_stream_ends(self):
        page = Page(message_id="mine", continues=True)
        page.take(task(ASKS), opening=True)
        assert not page.transcript.settled
        page.transcript.end()
        assert page.transcript.settled

    def test_a_state_of_a_later_version_has_a_word(self):
        assert state_word(99) == "state 99"
