"""The Infrastructure-as-Code assistant, offline: the ``iac`` engine behind a turn.

It reviews what it is given and generates what it is asked for. Its steps are saved: after a crash
it goes on with the next file, and says nothing twice.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping

from a2a.types.a2a_pb2 import Part
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Value

from ..media import MediaTypes
from ..snapshots import FolderTooLarge
from ..turns.turn import Turn
from ..workspace import InvalidWorkspace, PartRefused, Roots
from .places import Desk, LocalPlace, Place
from .reading import READS, Request, read

EMPTY = "A2A server currently accepts text input only."
SHOWN = 50  # findings that are said in words; the report has them all

_REVIEW = re.compile(
    r"\b(review|check|inspect|audit|lint|validate|verif\w*|what'?s wrong|v[ée]rifi\w*|"
    r"examin\w*|contr[ôo]l\w*|relis\w*|analys\w*)\b|审查|检查|审核|评审|校验|审阅|有什么问题",
    re.I,
)
_CONVERT = re.compile(r"\b(convert\w*|translate|migrat\w*|transform\w*)\b|转换|转成|转为", re.I)
_MEDIA = {".tf": "text/plain", ".json": "application/json"}
YAML = "application/yaml"


class IacAgent:
    """Reviews templates and generates them. ``end_state``: input-required or completed. ``place``:
    where the files are that messages name; None: in the default roots of this machine. ``types``:
    what is read, and what is only described; None: as the agent's card says."""

    def __init__(
        self,
        *,
        end_state: str = "input-required",
        place: Place | None = None,
        types: MediaTypes | None = None,
    ) -> None:
        self._end_state = end_state
        self._place = place or LocalPlace(Roots())
        self._types = types or READS

    async def run(self, turn: Turn) -> None:
        """Answer the message."""
        try:
            async with self._place.enter(turn) as desk:
                await self._answer(turn, desk)
        except (InvalidWorkspace, PartRefused, FolderTooLarge) as refused:
            await turn.fail(str(refused))

    async def _answer(self, turn: Turn, desk: Desk) -> None:
        request = await asyncio.to_thread(read, turn.message, self._types, desk.workspace)
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
            await turn.say(f"Not read, since this agent reads UTF-8 text: {_listed(request)}.\n")
        if request.files:
            await self._review(turn, request.files)
        elif request.unread:
            await turn.say("Send templates as text in UTF-8.")
        elif _REVIEW.search(request.words) and not _asks_for_more(request.words):
            made = await desk.templates()
            if made:
                await self._review(turn, made)
            else:
                await turn.say(
                    "Send the template to review: as a file part, or in the text between ``` lines."
                )
        elif not _CONVERT.search(request.words):
            await self._generate(turn, desk, request.words)
        await desk.keep()
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
        read = sum(not f.note.startswith("not reviewed:") for f in report.files)
        await turn.say(_headline(len(found), read))
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
            inline = Part(data=data, filename="findings.json", media_type="application/json")
            await turn.file(
                "findings.json",
                to_json(report).encode(),
                "application/json",
                artifact_id="findings",
                inline=inline,
            )
        await turn.save(b"reviewed")

    async def _generate(self, turn: Turn, desk: Desk, words: str) -> None:
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
            await desk.write(name, text.encode())
            await turn.file(name, text.encode(), media_type)
        await desk.keep()
        await turn.save(b"generated")


def _listed(request: Request) -> str:
    return ", ".join(str(manifest) for manifest in request.unread)


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
    if not files and not findings:
        return "There was nothing that I could review:\n"
    of = "1 file" if files == 1 else f"{files} files"
    if not findings:
        return f"I reviewed {of} and found nothing to change.\n"
    return f"I reviewed {of} and found {findings} thing{'s' * (findings != 1)} to look at:\n"
