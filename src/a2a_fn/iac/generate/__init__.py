"""Templates from plain words, offline: English, Chinese or French becomes ROS or Terraform.

    text -> reading (marks) -> grammar (request) -> planning (plan) -> ros | terraform (files)

Kinds of resources are modules in `kinds/`, languages are modules in `languages/`: each grows by a
file. What is not understood is said back and never guessed; what contradicts itself, cannot be met,
or would change something that exists is answered with a question and no files. The same text gives
the same bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from a2a_fn.iac.generate import ros, terraform
from a2a_fn.iac.generate.grammar import Reader
from a2a_fn.iac.generate.kinds import kinds
from a2a_fn.iac.generate.lexicon import detect, lexicon
from a2a_fn.iac.generate.model import Message, Plan, Request
from a2a_fn.iac.generate.planning import plan
from a2a_fn.iac.generate.reading import read
from a2a_fn.iac.generate.summary import listing, sentences, summarise

__all__ = ["MAX_CHARACTERS", "Format", "Generation", "ResourceSummary", "generate"]

Format = Literal["ros", "terraform"]

#: A request longer than this is not read; a page of text describes no bounded template.
MAX_CHARACTERS = 4000


_ONLY = MappingProxyType({"ecs-encrypted": "ros"})
_LOUD = frozenset({"protected-from-world", "bucket-stays-private", "bucket-stays-encrypted"})


@dataclass(frozen=True)
class ResourceSummary:
    """One generated resource: its logical name, its kind, its two types, and why it is there.

    `why` is `asked`, or `needed by X` with the logical name of what needs it.
    """

    name: str
    kind: str
    ros_type: str
    terraform_type: str
    why: str


@dataclass(frozen=True)
class Generation:
    """The result of a request: files, or the questions that block them.

    `files` maps names to texts and is empty when a question blocks. `notes`, `questions` and
    `summary` are in the request's language; `not_understood` holds its words verbatim, in order.
    """

    language: str
    format: str
    files: Mapping[str, str]
    resources: tuple[ResourceSummary, ...]
    notes: tuple[str, ...]
    questions: tuple[str, ...]
    not_understood: tuple[str, ...]
    summary: str


def generate(text: str, *, format: Format | None = None) -> Generation:
    """Generate a template from a request; never raises on any text.

    `format` wins over the format that the text asks for; without either it is ROS. A format other
    than the two is a ValueError.
    """
    if format not in (None, "ros", "terraform"):
        raise ValueError(f"unknown format {format!r}: it is ros or terraform")
    language = detect(text[:MAX_CHARACTERS])
    if len(text) > MAX_CHARACTERS:
        values = MappingProxyType({"count": len(text), "limit": MAX_CHARACTERS})
        request = Request(language, "", problems=(Message("too-long", values),))
    else:
        request = Reader(read(text, lexicon(language)), language).request()
    if format:
        problems = tuple(each for each in request.problems if each.code != "two-formats")
        request = Request(**{**request.__dict__, "format": format, "problems": problems})
    chosen = request.format or "ros"
    planned = plan(request)
    if planned.questions:
        planned = Plan(questions=planned.questions)
    notes = _notes(request, planned, chosen)
    return Generation(
        language=language,
        format=chosen,
        files=MappingProxyType(_files(planned, chosen)),
        resources=_resources(planned),
        notes=notes,
        questions=sentences(language, planned.questions),
        not_understood=request.not_understood,
        summary=summarise(language, chosen, planned, notes, request.not_understood),
    )


def _notes(request: Request, planned: Plan, format: str) -> tuple[str, ...]:
    if not planned.resources:
        return ()
    # What differs from the request comes before what was only assumed.
    messages = sorted(planned.notes, key=lambda message: message.code not in _LOUD)
    if planned.region:
        values = MappingProxyType({"region": planned.region})
        messages.append(Message(f"region-{format}", values))
    if "secret" in request.facts:
        messages.append(Message("secret-hidden"))
    if "deploy" in request.facts:
        messages.append(Message("nothing-deployed"))
    messages = [
        message
        for message in messages
        if message.code not in _ONLY or _ONLY[message.code] == format
    ]
    return sentences(request.language, messages, format)


def _files(planned: Plan, format: str) -> dict[str, str]:
    if not planned.resources:
        return {}
    if format == "terraform":
        return terraform.render(planned, listing(planned.resources, "en"))
    descriptions = {
        "en": listing(planned.resources, "en"),
        "zh-cn": listing(planned.resources, "zh"),
    }
    return ros.render(planned, descriptions)


def _resources(planned: Plan) -> tuple[ResourceSummary, ...]:
    found = []
    for resource in planned.resources:
        kind = kinds()[resource.kind]
        why = resource.why if resource.why == "asked" else f"needed by {resource.why}"
        found.append(
            ResourceSummary(
                resource.id, resource.kind, kind.ros_type(resource), kind.terraform, why
            )
        )
    return tuple(found)
