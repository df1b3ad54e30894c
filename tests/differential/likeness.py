"""Two answers side by side: what is alike once ids and times are set aside, and what is not.

An answer is first read as the proto type that it claims to be, which refuses unknown fields, and
written again: a default value that one server spells out and the other leaves out is the same
answer, as ProtoJSON has it. What the specification wants written even so is kept (``WRITTEN``).
"""

from __future__ import annotations

import json
import re
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import Message

Path = tuple[str, ...]

WRITTEN = {"ListTasksResponse": ("tasks", "nextPageToken", "pageSize", "totalSize")}
"""Fields that must be there whatever their value: "nextPageToken" by section 3.1.4, the others
because the type marks them as required (section 5.7)."""

IDS = {"id": "task", "taskId": "task", "contextId": "context", "messageId": "message"}
TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


def canonical(document: Any, kind: type[Message]) -> Any:
    """The document as ``kind`` has it. Raises for one that is not of that type."""
    message = kind()
    ParseDict(document, message)
    plain = MessageToDict(message)
    for name in WRITTEN.get(kind.__name__, ()):
        if name in document:
            plain.setdefault(
                name, MessageToDict(message, always_print_fields_with_no_presence=True)[name]
            )
        else:
            plain.pop(name, None)
    return plain


class Names:
    """Gives the ids that a server makes up names by their first appearance in a scenario, and
    leaves those that the client chose."""

    def __init__(self, chosen: set[str]) -> None:
        self._chosen = chosen
        self._names: dict[str, dict[str, str]] = {}

    def replace(self, value: Any, key: str = "") -> Any:
        """The value with names for ids, page tokens and times."""
        if isinstance(value, dict):
            return {name: self.replace(each, name) for name, each in value.items()}
        if isinstance(value, list):
            return [self.replace(each, key) for each in value]
        if not isinstance(value, str):
            return value
        if key == "timestamp" and TIMES.fullmatch(value):
            return "<time>"
        if key == "nextPageToken" and value:
            return "<token>"
        key = "taskId" if key == "referenceTaskIds" else key
        if key in IDS and value not in self._chosen:
            known = self._names.setdefault(IDS[key], {})
            return known.setdefault(value, f"<{IDS[key]} {len(known) + 1}>")
        return value


class Difference(NamedTuple):
    """Where an answer differs, and in short what each has there (None: nothing). ``path`` of a
    list's element that only one has: the index in the list that has it."""

    path: str
    oracle: Any
    product: Any


def differences(oracle: Any, product: Any, path: str = "") -> list[Difference]:
    """Every place where two documents differ: the deepest that says it, and of lists of unequal
    length the elements that one has and the other has not."""
    if isinstance(oracle, dict) and isinstance(product, dict):
        if ("error" in oracle) != ("error" in product):
            return [Difference(path, brief(oracle), brief(product))]
        found = []
        for key in sorted(oracle.keys() | product.keys()):
            where = f"{path}.{key}" if path else key
            found += differences(oracle.get(key), product.get(key), where)
        return found
    if isinstance(oracle, list) and isinstance(product, list):
        return _of_lists(oracle, product, path)
    if bool(oracle == product) and isinstance(oracle, bool) == isinstance(product, bool):
        return []  # 1 == True in Python, and not in JSON
    return [Difference(path, brief(oracle), brief(product))]


def _of_lists(oracle: list[Any], product: list[Any], path: str) -> list[Difference]:
    found = []
    texts = [[json.dumps(one, sort_keys=True) for one in each] for each in (oracle, product)]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        if i2 - i1 == j2 - j1:
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                found += differences(oracle[i], product[j], f"{path}[{i}]")
            continue
        found += [Difference(f"{path}[{i}]", brief(oracle[i]), None) for i in range(i1, i2)]
        found += [Difference(f"{path}[{j}]", None, brief(product[j])) for j in range(j1, j2)]
    return found


def brief(value: Any) -> Any:
    """An answer, an event, a task or a message in a few words; any other value as it is."""
    if not isinstance(value, dict):
        return value
    if "error" in value:
        error = value["error"]
        return f"error {error.get('reason', error.get('code'))}"
    if "events" in value:
        return [brief(event) for event in value["events"]]
    for name in ("result", "task", "message", "msg", "statusUpdate", "artifactUpdate"):
        if name in value:
            inner = brief(value[name])
            return inner if name == "result" else f"{name}: {inner}"
    if "artifact" in value:
        return " ".join(_texts(value["artifact"]))
    if "status" in value:
        state = value["status"]["state"].removeprefix("TASK_STATE_").replace("-", "_").upper()
        return " ".join([state, *_texts(value["status"].get("message", {}))])
    if "parts" in value:
        return " ".join(_texts(value))
    return value


def _texts(message: dict[str, Any]) -> list[str]:
    return [str(part.get("text", part)) for part in message.get("parts", [])]
