"""Params of A2A 0.3 -> the request of 1.0 that they mean, as strict as ``inputs.py`` is.

In three steps: what 0.3's smallest clients leave out is filled in, the a2a-sdk's types and
conversions translate, and the result is read again by ``inputs.read``, so that every rule of 1.0
holds. Each step's faults name fields as 0.3 does.

Left out may be every ``kind``, and a part may say ``type`` for ``kind``.
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import math
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from a2a.compat.v0_3 import conversions, types
from a2a.utils.errors import InvalidParamsError
from google.protobuf import json_format
from google.protobuf.message import Message
from pydantic import BaseModel, ValidationError

from ..media import PARTS_LIMIT
from . import inputs, outputs, values
from .errors import invalid
from .v03_faults import KINDS, Names, found, refusal, renamed

MAX_DEPTH = values.MAX_DEPTH + 8
"""Levels of JSON that are looked at: those of one ``metadata`` or ``data``, and those around it."""

_STRINGS = (
    "message.extensions",
    "message.referenceTaskIds",
    "configuration.acceptedOutputModes",
    "configuration.pushNotificationConfig.authentication.schemes",
    "pushNotificationConfig.authentication.schemes",
)
"""Fields that are lists of strings."""


class _Route(NamedTuple):
    """How an operation's params become its request."""

    model: type[BaseModel]
    convert: Callable[[Any], Message]
    names: Names = ()


_MESSAGE_NAMES = (
    (r"^(message\.parts\[\d+\])\.raw", r"\1.file.bytes"),
    (r"^(message\.parts\[\d+\])\.url", r"\1.file.uri"),
    (r"^(message\.parts\[\d+\])\.mediaType", r"\1.file.mimeType"),
    (r"^(message\.parts\[\d+\])\.filename", r"\1.file.name"),
    (r"\.taskPushNotificationConfig(.*\.scheme)$", r".pushNotificationConfig\1s"),
    (r"^configuration\.taskPush", "configuration.push"),
)
_CONFIG_NAMES = (
    (r"^taskId", "taskId"),
    (r"^(.*\.scheme)$", r"pushNotificationConfig.\1s"),
    (r"^(.+)", r"pushNotificationConfig.\1"),
)
_CONFIG_ID_NAMES = ((r"^id", "pushNotificationConfigId"), (r"^taskId", "id"))

_ROUTES = {
    "SendMessage": _Route(
        types.SendMessageRequest, conversions.to_core_send_message_request, _MESSAGE_NAMES
    ),
    "SendStreamingMessage": _Route(
        types.SendStreamingMessageRequest, conversions.to_core_send_message_request, _MESSAGE_NAMES
    ),
    "GetTask": _Route(types.GetTaskRequest, conversions.to_core_get_task_request),
    "CancelTask": _Route(types.CancelTaskRequest, conversions.to_core_cancel_task_request),
    "SubscribeToTask": _Route(
        types.TaskResubscriptionRequest, conversions.to_core_subscribe_to_task_request
    ),
    "CreateTaskPushNotificationConfig": _Route(
        types.SetTaskPushNotificationConfigRequest,
        conversions.to_core_create_task_push_notification_config_request,
        _CONFIG_NAMES,
    ),
    "GetTaskPushNotificationConfig": _Route(
        types.GetTaskPushNotificationConfigRequest,
        conversions.to_core_get_task_push_notification_config_request,
        _CONFIG_ID_NAMES,
    ),
    "ListTaskPushNotificationConfigs": _Route(
        types.ListTaskPushNotificationConfigRequest,
        conversions.to_core_list_task_push_notification_config_request,
        _CONFIG_ID_NAMES,
    ),
    "DeleteTaskPushNotificationConfig": _Route(
        types.DeleteTaskPushNotificationConfigRequest,
        conversions.to_core_delete_task_push_notification_config_request,
        _CONFIG_ID_NAMES,
    ),
    "GetExtendedAgentCard": _Route(
        types.GetAuthenticatedExtendedCardRequest,
        conversions.to_core_get_extended_agent_card_request,
    ),
}


def read(operation: str, params: object) -> Message:
    """The 1.0 request of the operation of that name in the decoded JSON ``params`` of 0.3.

    Raises ``InvalidParamsError`` as ``inputs.read`` does, with paths in 0.3's names.
    """
    if not isinstance(params, dict):
        raise invalid("params", f"must be an object, not {values.kind(params)}")
    _check_values(params)
    _check_strings(params)
    route = _ROUTES[operation]
    completed = _completed(operation, params)
    try:
        request = route.model.model_validate({"id": 0, "params": completed})
    except ValidationError as error:
        raise refusal(found(error, completed)) from None
    return to_core(request, route.convert, route.names)


def to_core(
    request: BaseModel, convert: Callable[[Any], Message], names: Names, *, user: str = "user"
) -> Message:
    """The SDK's request of 0.3 as one of 1.0, for which every rule of 1.0 holds.

    ``names``: how 0.3 names fields; ``user``: how it names the user's role.
    """
    params = getattr(request, "params", None)
    if isinstance(params, types.MessageSendParams):
        for i, part in enumerate(params.message.parts):
            if _lacks_value(part.root):
                field = f"message.parts[{i}].data"
                raise invalid(renamed(field, names), "must have value, as its metadata says")
    try:
        core = convert(request)
        return inputs.read(outputs.encode(core), type(core)())
    except InvalidParamsError as error:
        raise refusal(
            (renamed(one["field"], names), one["message"].replace("ROLE_USER", user))
            for one in (error.data or {})["errors"]
        ) from None
    except (ValueError, TypeError, KeyError, json_format.Error):
        # Nothing that is known gets here; if something does, it is still the client's to mend.
        raise invalid("params", "cannot be translated to A2A 1.0") from None


def _lacks_value(part: BaseModel) -> bool:
    """Whether it says in the SDK's way that its data is no object, and has no data."""
    return (
        isinstance(part, types.DataPart)
        and bool(part.metadata and part.metadata.get("data_part_compat"))
        and "value" not in part.data
    )


# --- before -------------------------------------------------------------------------------------


def _check_values(container: Any, path: inputs.Path = None, depth: int = 0, total: int = 0) -> int:
    """Refuses what, in an object or an array, the SDK's types let through and protobuf chokes on:
    too much, too deep, half of a surrogate pair, a number that no double holds.

    Returns ``total`` and the values in here. Paths are linked lists, as in ``inputs``, and values
    that are right have none: a hundred thousand spelt out would be half a gigabyte.
    """
    if depth > MAX_DEPTH:
        raise invalid(inputs.spell(path), f"must not be nested deeper than {MAX_DEPTH} levels")
    total += len(container)
    if total > inputs.MAX_VALUES:
        raise invalid("params", f"must have at most {inputs.MAX_VALUES} values")
    named = isinstance(container, dict)
    steps = container.items() if named else enumerate(container)
    for step, value in steps:
        wrong = (_wrong(step) if named else "") or _wrong(value)
        if wrong:
            raise invalid(inputs.spell((path, step)), wrong)
        if isinstance(value, dict | list):
            total = _check_values(value, (path, step), depth + 1, total)
    return total


def _wrong(value: object) -> str:
    """What is wrong with a string or a number; "" if nothing is, or if it is neither."""
    if isinstance(value, str):
        try:
            values.string(value)
        except values.Wrong as wrong:
            return str(wrong)
    elif isinstance(value, int | float) and not _is_double(value):
        return "must be a number in the range of a double"
    return ""


def _check_strings(params: dict[str, Any]) -> None:
    """Refuses lists of strings that have something else. Of the SDK's types, each element would
    get a fault of its own, a hundred thousand of which are a second's work."""
    faults: list[tuple[str, str]] = []
    for field in _STRINGS:
        found: object = params
        for name in field.split("."):  # either spelling, as the SDK's types take it
            snake = re.sub("[A-Z]", lambda capital: f"_{capital[0].lower()}", name)
            found = found.get(name, found.get(snake)) if isinstance(found, dict) else None
        if isinstance(found, list):
            wrong = (i for i, one in enumerate(found) if not isinstance(one, str))
            for i in itertools.islice(wrong, inputs.MAX_FAULTS):
                faults.append((f"{field}[{i}]", f"must be a string, not {values.kind(found[i])}"))
    if faults:
        raise refusal(faults)


def _is_double(value: int | float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False


@contextlib.contextmanager
def _naming(path: str) -> Any:
    """A ``Wrong`` value as the fault of this field."""
    try:
        yield
    except values.Wrong as wrong:
        raise invalid(path, str(wrong)) from None


def _completed(operation: str, params: dict[str, Any]) -> dict[str, Any]:
    """A copy with what may be left out, and with what the SDK converts loosely checked."""
    completed = _whole(params, "")
    if operation == "GetTaskPushNotificationConfig":
        config_id = completed.get("pushNotificationConfigId")
        completed["pushNotificationConfigId"] = config_id or completed.get("id")
    message = params.get("message")
    if isinstance(message, dict):
        completed["message"] = _message(message)
    configuration = params.get("configuration")
    if isinstance(configuration, dict):
        completed["configuration"] = _whole(configuration, "configuration.")
    return completed


def _whole(holder: dict[str, Any], prefix: str) -> dict[str, Any]:
    copy = dict(holder)
    for name in ("historyLength", "history_length"):
        if copy.get(name) is not None:
            with _naming(f"{prefix}{name}"):
                copy[name] = values.int32(copy[name])
    return copy


def _message(message: dict[str, Any]) -> dict[str, Any]:
    message = {name: value for name, value in message.items() if value is not None}
    parts = message.get("parts")
    if isinstance(parts, list):
        if len(parts) > PARTS_LIMIT:  # before the SDK's types find several faults in each
            raise invalid("message.parts", f"must be at most {PARTS_LIMIT}")
        message["parts"] = [_part(part, f"message.parts[{i}]") for i, part in enumerate(parts)]
    return message


def _part(part: object, path: str) -> dict[str, Any]:
    if not isinstance(part, dict):
        raise invalid(path, f"must be an object, not {values.kind(part)}")
    kind = part.get("kind") or part.get("type") or next((k for k in KINDS if k in part), None)
    if kind is None:
        raise invalid(path, "must have one of text, file, data")
    if not isinstance(kind, str) or kind not in KINDS:
        raise invalid(f"{path}.kind", "must be one of text, file, data")
    part = {**part, "kind": kind}
    if kind == "file":
        part["file"] = _file(part.get("file"), f"{path}.file")
    return part


def _file(file: object, path: str) -> dict[str, Any]:
    if not isinstance(file, dict):
        raise invalid(path, f"must be an object, not {values.kind(file)}")
    file = {name: value for name, value in file.items() if value is not None}
    if ("bytes" in file) == ("uri" in file):
        raise invalid(path, "must have either bytes or uri")
    if "bytes" in file:
        with _naming(f"{path}.bytes"):
            file["bytes"] = base64.b64encode(values.octets(file["bytes"])).decode()
    return file
