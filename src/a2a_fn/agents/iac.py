"""The Infrastructure-as-Code assistant, offline: the ``iac`` engine behind a turn.

It reviews what it is given and generates what it is asked for. Its steps are saved: after a crash
it goes on with the next file, and says nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from a2a.types.a2a_pb2 import Message, Part
from google.protobuf.json_format import MessageToJson, ParseDict
from google.protobuf.struct_pb2 import Value

from ..turns.turn import Turn

EMPTY = "A2A server currently accepts text input only."
SHOWN = 50  # findings that are said in words; the report has them all

_FENCE = re.compile(r"^```[ \t]*([\w+-]*)[^\n]*\n(.*?)^```[ \t]*$", re.S | re.M)
_REVIEW = re.compile(
    r"\b(review|check|inspect|audit|lint|validate|verif\w*|what'?s wrong|v[ée]rifi\w*|"
    r"examin\w*|contr[ôo]l\w*|relis\w*|analys\w*)\b|审查|检查|审核|评审|校验|审阅|有什么问题",
    re.I,
)
_CONVERT = re.compile(r"\b(convert\w*|translate|migrat\w*|transform\w*)\b|转换|转成|转为", re.I)
_TEMPLATE = re.compile(
    r"ROSTemplateFormatVersion|AWSTemplateFormatVersion|"
    r"^\s*(resource|variable|module|provider|terraform|data)\b[^\n]*\{",
    re.M,
)
_NAMES = {"hcl": "main.tf", "terraform": "main.tf", "tf": "main.tf", "json": "template.json"}
_MEDIA = {".tf": "text/plain", ".json": "application/json"}
YAML = "application/yaml"


@dataclass(frozen=True, slots=True)
class Request:
    """A message taken apart: what is asked, in words, and the files to work on."""

    words: str
    files: Mapping[str, str]
    unread: tuple[str, ...] = ()  # names of parts that are no text


class IacAgent:
    """Reviews templates and generates them. ``end_state``: input-required or completed."""

    def __init__(self, *, end_state: str = "input-required") -> None:
        self._end_state = end_state

    async def run(self, turn: Turn) -> None:
        """Answer the message."""
        request = read(turn.message)
        if not (request.words.strip() or request.files or request.unread):
            await turn.fail(EMPTY)
            return
        if _CONVERT.search(request.words):
            await turn.say(
                "Converting Terraform to ROS is not part of the offline agent yet; "
                "it reviews templates and generates them."
            )
            if request.files:
                await turn.say(" Here is a review of what you sent.\n\n")
        if request.unread:
            await turn.say(f"Not UTF-8 text, so not read: {', '.join(request.unread)}.\n")
        if request.files:
            await self._review(turn, request.files)
        elif request.unread:
            await turn.say("Send templates as text in UTF-8.")
        elif _REVIEW.search(request.words) and not _asks_for_more(request.words):
            await turn.say(
                "Send the template to review: as a file part, or in the text between ``` lines."
            )
        elif not _CONVERT.search(request.words):
            await self._generate(turn, request.words)
        if self._end_state == "completed":
            await turn.complete()
        else:
            await turn.ask()

    async def _review(self, turn: Turn, files: Mapping[str, str]) -> None:
        from ..iac.findings import to_json
        from ..iac.review import review

        if turn.checkpoint == b"reviewed":
            return
        await turn.tool("review-1", "iac_review", "started", input={"files": sorted(files)})
        report = await asyncio.to_thread(review, files)  # the loop serves others meanwhile
        counts = ", ".join(f"{f.name}: {f.kind}" for f in report.files)
        await turn.tool("review-1", "iac_review", "completed", result=counts)
        found = report.findings
        await turn.say(_headline(len(found), len(files)))
        for finding in found[:SHOWN]:
            fix = f"\n  Fix: {finding.fix}" if finding.fix else ""
            await turn.say(
                f"- {finding.file}:{finding.line}:{finding.column} "
                f"[{finding.severity.name.lower()}] {finding.rule}: {finding.message}{fix}\n"
            )
        if len(found) > SHOWN:
            await turn.say(f"... and {len(found) - SHOWN} more, all in the report.\n")
        for reviewed in report.files:
            if reviewed.note:
                await turn.say(f"{reviewed.name}: {reviewed.note}\n")
        if found:
            data = ParseDict({"findings": json.loads(to_json(report))}, Value())
            part = Part(data=data, filename="findings.json", media_type="application/json")
            await turn.artifact("findings", part, name="findings.json")
        await turn.save(b"reviewed")

    async def _generate(self, turn: Turn, words: str) -> None:
        from ..iac.generate import generate

        if turn.checkpoint == b"generated":
            return
        await turn.tool("generate-1", "iac_generate", "started", input={"text": words})
        made = await asyncio.to_thread(generate, words)
        done = ", ".join(made.files) or "no template"
        await turn.tool("generate-1", "iac_generate", "completed", result=done)
        await turn.say(made.summary)
        for name, text in made.files.items():
            media_type = _MEDIA.get(name[name.rfind(".") :], YAML)
            part = Part(text=text, filename=name, media_type=media_type)
            await turn.artifact(name, part, name=name)
        await turn.save(b"generated")


def read(message: Message) -> Request:
    """Take a message apart: files are parts with a file name or a template in them, code between
    ``` lines, or the whole text if it is a template."""
    words: list[str] = []
    files: dict[str, str] = {}
    unread: list[str] = []
    for part in message.parts:
        text = _text(part)
        if text is None:
            unread.append(part.filename or part.media_type or part.url or "a part without a name")
            continue
        if part.filename or part.HasField("raw") or part.HasField("data"):
            _add(files, part.filename or _name_for("", text), text)
            continue
        words.append(_FENCE.sub("", text) if _FENCE.search(text) else text)
        for language, code in _FENCE.findall(text):
            _add(files, _name_for(language.lower(), code), code)
    joined = "\n".join(words)
    if not files and _TEMPLATE.search(joined):
        start = _TEMPLATE.search(joined)
        at = start.start() if start else 0
        line = joined.rfind("\n", 0, at) + 1
        brace = joined.find("{")
        if 0 <= brace < at:  # a JSON template begins at its brace
            line = brace
        _add(files, _name_for("", joined[line:]), joined[line:])
        joined = joined[:line]
    return Request(joined, files, tuple(unread))


def _text(part: Part) -> str | None:
    """What a part says, as text; None if it is not text."""
    if part.HasField("text"):
        return part.text
    if part.HasField("data"):
        return MessageToJson(part.data, ensure_ascii=False)
    if part.HasField("raw"):
        try:
            return part.raw.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
    return None


def _add(files: dict[str, str], name: str, text: str) -> None:
    stem, dot, ending = name.rpartition(".")
    k = 1
    while name in files:
        k += 1
        name = f"{stem}-{k}{dot}{ending}" if dot else f"{ending}-{k}"
    files[name] = text


def _name_for(language: str, text: str) -> str:
    if language in _NAMES:
        return _NAMES[language]
    if text.lstrip().startswith("{"):
        return "template.json"
    return (
        "main.tf"
        if re.search(r"^\s*(resource|variable|module)\s+\"", text, re.M)
        else ("template.yml")
    )


def _asks_for_more(words: str) -> bool:
    """ "Create a VPC and check that ..." asks for a template, not for a review."""
    return bool(
        re.search(
            r"\b(create|generate|make|build|write|cr[ée]e\w*|g[ée]n[èe]r\w*)\b|创建|生成|新建",
            words,
            re.I,
        )
    )


def _headline(findings: int, files: int) -> str:
    of = "1 file" if files == 1 else f"{files} files"
    if not findings:
        return f"I reviewed {of} and found nothing to change.\n"
    return f"I reviewed {of} and found {findings} thing{'s' * (findings != 1)} to look at:\n"
