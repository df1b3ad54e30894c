"""Rules broken one at a time, in the product's own source: the simulation must notice each.

A mutant replaces one piece of text in one function of the product, for as long as it is in force. A
piece that is no longer there is an error: then the rule has a new home, and the mutant follows it.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

BOTH = ("atomic", "sequential")
STEPS = ("sequential",)  # what only changes the order inside one write is harmless in atomic mode


@dataclass(frozen=True, slots=True)
class Mutant:
    """``function``: module:name or module:Class.name, below ``a2a_fn``."""

    name: str
    function: str
    edits: tuple[tuple[str, str], ...]  # (old, new)
    modes: tuple[str, ...]


def _m(name: str, function: str, *texts: str, modes: tuple[str, ...] = BOTH) -> Mutant:
    return Mutant(name, function, tuple(zip(texts[::2], texts[1::2], strict=True)), modes)


_VIEWS = "[*fresh, *hooks.values(), *kept, *old, last]"
_ROLL = "journal.heads:views"
_APPEND = "journal.journal:Journal.append"
_WRITE = "turns.writer:Writer._write"
_RING = "turns.sweep:ring"
_SUBMIT = "journal.intents:_submit_at"
_SET = "journal.intents:_configure"
_DELIVER = "push.deliver:deliver"
_READ = "push.upcoming:Upcoming._read"
_FREE = "webhooks.free_at(hook, journal.skew)"

MUTANTS = (
    # the order of one write
    _m(
        "alarm after the slot",
        _APPEND,
        "[*before, put, *after]",
        "[put, *before, *after]",
        modes=STEPS,
    ),
    _m(
        "views before the slot",
        _APPEND,
        "[*before, put, *after]",
        "[*before, *after, put]",
        modes=STEPS,
    ),
    _m(
        "context head first",
        _ROLL,
        _VIEWS,
        "[last, *fresh, *hooks.values(), *kept, *old]",
        modes=STEPS,
    ),
    _m(
        "head before index",
        _ROLL,
        _VIEWS,
        "[*kept, *fresh, *hooks.values(), *old, last]",
        modes=STEPS,
    ),
    _m(
        "old index row first",
        _ROLL,
        _VIEWS,
        "[*old, *fresh, *hooks.values(), *kept, last]",
        modes=STEPS,
    ),
    _m(
        "alarm deleted before the views",
        _APPEND,
        "after.append(Delete(",
        "after.insert(0, Delete(",
        modes=STEPS,
    ),
    _m(
        "alarm moved by deleting first",
        _RING,
        "[moved.put(), Delete(alarm.partition, alarm.key)]",
        "[Delete(alarm.partition, alarm.key), moved.put()]",
        modes=STEPS,
    ),
    # alarms
    _m(
        "no void slot",
        _RING,
        "while view.context.active is None and",
        "while False and",
        modes=STEPS,
    ),
    _m("alarm of an open turn dropped", _RING, "view.context.active is None and not", "not"),
    _m(
        "one alarm for all tries",
        _SUBMIT,
        "alarm = journal.alarm(view, task, now + journal.lease)",
        "alarm = locals().get('alarm') or journal.alarm(view, task, now + journal.lease)",
        modes=STEPS,
    ),
    _m(
        "alarms share a key",
        "journal.journal:Journal.alarm",
        "due, view.part, self.nonce()",
        "due // 60000 * 60000, view.part, 'x'",
    ),
    _m(
        "cancel of an idle task, no alarm",
        "journal.intents:cancel",
        "if not own:",
        "if False:",
        modes=STEPS,
    ),
    # the lease, the fence
    _m(
        "lease ignored",
        "journal.journal:Journal.claim_ends",
        "return active.last + self.lease + self.skew + 1",
        "return 0",
    ),
    _m(
        "no skew allowance",
        "journal.journal:Journal.claim_ends",
        "+ self.lease + self.skew + 1",
        "+ self.lease + 1",
    ),
    _m("no fence", _WRITE, "if not self._mine():", "if self.view.context.active is None:"),
    _m("stop on any conflict", _WRITE, "if not self._mine():", "if True:"),
    _m(
        "events renew the attempts",
        "journal.fold:fold_context",
        "claimed=slot.kind is not Kind.YIELDED)",
        "claimed=slot.kind is not Kind.YIELDED, attempts=0)",
    ),
    _m(
        "no end of attempts",
        "turns.run:run_turn",
        "active.attempts >= limits.attempts",
        "False",
    ),
    # unknown results
    _m("unknown is failure", _APPEND, "await asyncio.sleep(wait)", "return False"),
    _m("unknown is done", _APPEND, "await asyncio.sleep(wait)", "break"),
    _m(
        "unknown write, then others",
        _WRITE,
        "except Exception as",
        "except TurnLost as",
    ),
    _m(
        "cancelled write undecided",
        "turns.writer:Writer.flush",
        "await asyncio.shield(writing)",
        "await writing",
    ),
    # decisions
    _m("no dedupe", _SUBMIT, "known == fingerprint and", "False and"),
    _m(
        "busy before history",
        _SUBMIT,
        "now = journal.clock.now()",
        "now = journal.clock.now()\n        if view.context.active:\n            raise Busy",
    ),
    _m("two turns in a context", _SUBMIT, "if view.context.active:", "if False:"),
    _m("blind cancel", "journal.intents:cancel", "if head.state in TERMINAL:", "if False:"),
    _m("follow-up of an ended task", _SUBMIT, "head.state in TERMINAL", "False"),
    _m(
        "status time is the clock's",
        "journal.journal:Journal.compose",
        "max(now, head.status_time + 1) if head else now",
        "now",
    ),
    _m(
        "head read before the context",
        "journal.journal:Journal.load",
        "row = await",
        "early = await self.head(part, task) if task else None\n    row = await",
        "View(part, context, {})",
        "View(part, context, {task: early} if early else {})",
        "dict.fromkeys([task, ",
        "dict.fromkeys([",
    ),
    # checkpoints, words
    _m(
        "checkpoint before its words",
        "turns.writer:Writer.save",
        "await self.flush(Kind.EVENTS, before=[row], checkpoint=key)",
        "words, self._pending = self._pending, []\n"
        "    await self.flush(Kind.EVENTS, before=[row], checkpoint=key)\n"
        "    self._pending = words + self._pending\n"
        "    await self.flush(Kind.EVENTS)",
    ),
    _m(
        "one row for all checkpoints",
        "turns.writer:Writer.save",
        "key = heads.STATES + self.journal.nonce()",
        "key = heads.STATES + 'x'",
        modes=STEPS,
    ),
    _m(
        "checkpoint gone while it is needed",
        "journal.journal:_outlived",
        "active.checkpoint if ends or slot.checkpoint else",
        "active.checkpoint if ends or slot.checkpoint or slot.kind is Kind.BEAT else",
    ),
    _m(
        "unsaved words kept at a restart",
        "journal.fold:fold_head",
        "if slot.kind is Kind.CLAIMED and head.safe:",
        "if False:",
    ),
    _m(
        "no restart mark",
        "turns.run:_restarts",
        "return active.claimed or view.tasks[active.task].safe is not None",
        "return False",
    ),
    # readers
    _m("follow by slot", "journal.stream:follow", "if first + i > generation:", "if True:"),
    _m(
        "go on after the cursor's slot",
        "journal.stream:as_of",
        "n = number - 1 if over > 0 else number",
        "n = number",
    ),
    _m(
        "a cut slot counts whole",
        "journal.stream:as_of",
        "if over > 0:",
        "if False:",
    ),
    _m(
        "lists drop what moves",
        "journal.lists:_shows",
        "if next <= at - 2 * journal.skew:",
        "if True:",
    ),
    _m(
        "lists repair nothing",
        "journal.lists:_shows",
        "await journal.rows.write([index.left(partition, row.key, entry.part, next, now)])",
        "pass",
    ),
    # webhooks
    _m("a failed push counts as sent", _DELIVER, "if verdict.fate is Fate.DONE:", "if True:"),
    _m("a webhook taken from its holder", _DELIVER, _FREE, "hook.due"),
    _m("cursor moved whoever moved it", "journal.webhooks:put", ", Rev(rev)", ""),
    _m("alarm gone despite a push", _APPEND, "if done and not new.context.pushes:", "if done:"),
    _m("no alarm for a webhook", _SET, "if alarm and (first or not done):", "if alarm:"),
    _m(
        "no alarm for a canceled task's push",
        "journal.intents:cancel",
        "if alarm and not (done and view.context.pushes):",
        "if alarm:",
    ),
    _m("sweeper forgets pushes", _RING, "is None and not behind:", "is None:"),
    _m("webhook forgotten by the views", _ROLL, "*hooks.values(), ", ""),
    _m(
        "a webhook set anew begins now",
        "journal.intents:_beginning",
        "config = config._replace(sent=hook.sent, read=hook.read)",
        "pass",
    ),
    _m(
        "redriven without a slot",
        "journal.intents:_fresh",
        "hook._replace(attempts=0, since=0, due=0) if hook.live else None",
        "hook._replace(gone='', attempts=0, since=0, due=0) if hook.gone != 'deleted' else None",
    ),
    _m("a slot pushed in part counts whole", _READ, "n if last else n - 1", "n"),
    _m(
        "given up without a letter",
        _DELIVER,
        "[letters.put(letter, journal.shards)] if verdict.fate is Fate.DEAD else []",
        "[]",
    ),
    _m(
        "the letter after the death",
        "push.deliver:_move",
        "[*before, webhooks.put(partition, hook, row.rev)]",
        "[webhooks.put(partition, hook, row.rev), *before]",
        modes=STEPS,
    ),
    _m(
        "a deleted webhook keeps its place",
        "journal.webhooks:started",
        '"" if config.url else DELETED',
        '""',
    ),
)
BY_NAME = {mutant.name: mutant for mutant in MUTANTS}


@contextmanager
def mutated(name: str) -> Iterator[None]:
    """The product with this rule broken; "" for the product as it is."""
    if not name:
        yield
        return
    mutant = BY_NAME[name]
    module_name, _, path = mutant.function.partition(":")
    module = importlib.import_module(f"a2a_fn.{module_name}")
    owner, _, function_name = path.rpartition(".")
    home: Any = getattr(module, owner) if owner else module
    old = getattr(home, function_name)
    source = textwrap.dedent(inspect.getsource(old))
    for text, other_text in mutant.edits:
        if text not in source:
            raise AssertionError(f"mutant {name!r}: {text!r} is not in {mutant.function}")
        source = source.replace(text, other_text, 1)
    scope: dict[str, Any] = {}
    code = "from __future__ import annotations\n" + source
    exec(compile(code, f"<mutant: {name}>", "exec"), module.__dict__, scope)
    new = scope[function_name]
    places = [(home, function_name)]
    if not owner:  # functions are known under their name wherever they were imported
        for other in list(sys.modules.values()):
            if vars(other).get(function_name) is old and other is not module:
                places.append((other, function_name))
    for place, attribute in places:
        setattr(place, attribute, new)
    try:
        yield
    finally:
        for place, attribute in places:
            setattr(place, attribute, old)
