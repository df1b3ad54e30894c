"""What does a client learn of an error, and what does it never learn?"""

from __future__ import annotations

import logging
from typing import Any

import pytest
from a2a.server.request_handlers.response_helpers import build_error_response
from a2a.utils import errors as sdk
from google.protobuf.json_format import ParseDict
from google.rpc import error_details_pb2

from a2a_fn import errors as ours
from a2a_fn.protocol.errors import TABLE, describe

SECRET = "password=hunter2 at /srv/secret.py"
GET = {"id": "t"}


def raising(error: BaseException) -> Any:
    async def method(*_: Any) -> Any:
        raise error

    return method


@pytest.mark.parametrize("kind", sdk.A2A_ERROR_MAPPING, ids=lambda kind: kind.__name__)
async def test_an_a2a_error_is_told_as_the_sdk_tells_it(listen, scripted, kind):
    error = kind("it is so", data={"a": "b"})
    async with listen(scripted(get_task=raising(error))) as server:
        answer = await server.call("GetTask", GET)
    assert answer["error"] == build_error_response(7, error)["error"]
    assert answer["id"] == 7


def test_every_code_of_the_sdk_is_in_the_table():
    for kind, code in sdk.JSON_RPC_ERROR_CODE_MAP.items():
        assert TABLE[kind].code == code


async def test_a_subclass_is_told_as_its_parent(listen, scripted):
    class Gone(sdk.TaskNotFoundError):
        pass

    async with listen(scripted(get_task=raising(Gone()))) as server:
        answer = await server.call("GetTask", GET)
    assert answer["error"]["code"] == -32001
    assert answer["error"]["data"][0]["reason"] == "TASK_NOT_FOUND"


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(SECRET),
        KeyError(SECRET),
        RecursionError(SECRET),
        TimeoutError(SECRET),
        sdk.A2AError(SECRET),
        ours.TurnLost(SECRET),
        ours.InvalidSettings(SECRET),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_a_bug_is_told_by_a_reference_that_the_log_explains(listen, scripted, caplog, error):
    async with listen(scripted(get_task=raising(error))) as server:
        response = await server.post(
            b'{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t"}}', X_Request_Id="r-9"
        )
    assert response.status_code == 200
    assert "hunter2" not in response.text
    assert "Traceback" not in response.text
    told = response.json()["error"]
    assert (told["code"], told["message"]) == (-32603, "Internal error")
    reference = told["data"][0]["metadata"]["reference"]
    (record,) = [r for r in caplog.records if reference in r.getMessage()]
    assert record.levelno == logging.ERROR
    assert "r-9" in record.getMessage()
    assert record.exc_info[1] is error


@pytest.mark.parametrize("error", [ours.Unavailable(SECRET), ours.Conflict(3)])
async def test_an_engine_that_is_down_is_503_and_says_when_to_try_again(
    listen, scripted, checked, error
):
    async with listen(scripted(get_task=raising(error))) as server:
        response = await server.post(
            b'{"jsonrpc":"2.0","id":7,"method":"GetTask","params":{"id":"t"}}'
        )
    envelope = checked(response, status=503)
    assert response.headers["retry-after"] == "1"
    assert envelope["id"] == 7
    assert envelope["error"]["data"][0]["reason"] == "UNAVAILABLE"
    assert envelope["error"]["data"][1] == {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "1s",
    }
    assert "hunter2" not in response.text


def test_an_engine_that_is_down_is_one_line_of_the_log(caplog):
    try:
        try:
            raise ConnectionError(SECRET)
        except ConnectionError as cause:
            raise ours.Unavailable("the table t\ndid not answer") from cause
    except ours.Unavailable as error:
        describe(error, "r-9")
    (record,) = caplog.records
    words = "unavailable, request r-9: Unavailable: the table t did not answer (ConnectionError)"
    assert (record.levelno, record.getMessage()) == (logging.WARNING, words)
    assert record.exc_info is None


@pytest.mark.parametrize(
    ("error", "code", "reason"),
    [
        (ours.TooLarge(SECRET), -32602, "CONTENT_TOO_LARGE"),
        (ours.NotFound(SECRET), -32001, "TASK_NOT_FOUND"),
    ],
)
async def test_our_own_errors_have_words_of_their_own(listen, scripted, error, code, reason):
    async with listen(scripted(get_task=raising(error))) as server:
        answer = await server.call("GetTask", GET)
    assert (answer["error"]["code"], answer["error"]["data"][0]["reason"]) == (code, reason)
    assert "hunter2" not in str(answer)


async def test_bad_params_name_their_fields_in_a_bad_request(server):
    answer = await server.call("SendMessage", {"message": {"parts": [{"text": "x"}]}})
    info, bad_request = answer["error"]["data"]
    assert info["metadata"] == {"fields": "message.messageId, message.role"}
    assert bad_request == {
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        "fieldViolations": [
            {"field": "message.messageId", "description": "is required"},
            {"field": "message.role", "description": "is required"},
        ],
    }
    assert answer["error"]["message"] == "message.messageId is required (and 1 more)"


def test_details_are_the_protos_that_they_say_they_are():
    kinds = {
        "ErrorInfo": error_details_pb2.ErrorInfo,
        "BadRequest": error_details_pb2.BadRequest,
        "RetryInfo": error_details_pb2.RetryInfo,
    }
    data = {"errors": [{"field": "f", "message": "m"}], "list": [1], "n": None}
    for error in (sdk.InvalidParamsError(data=data), ours.Unavailable(), ValueError()):
        for detail in describe(error).details:
            kind = detail["@type"].removeprefix("type.googleapis.com/google.rpc.")
            body = {key: value for key, value in detail.items() if key != "@type"}
            ParseDict(body, kinds[kind]())


@pytest.mark.parametrize("data", [{"errors": "no"}, {"errors": [1]}, {"errors": [{}]}, "text", 5])
def test_data_of_another_form_does_no_harm(data):
    fault = describe(sdk.InvalidParamsError("m", data=data))
    assert (fault.message, len(fault.details)) == ("m", 1)


async def test_credentials_that_are_refused_are_refused_in_http(listen, scripted):
    from starlette.exceptions import HTTPException

    async def nobody(request: Any) -> Any:
        raise HTTPException(401, "Unauthorized", {"WWW-Authenticate": "Bearer"})

    async with listen(scripted(), authenticate=nobody) as server:
        response = await server.post(b"not even JSON")
    assert response.status_code == 401
    assert response.json() == {"error": "Unauthorized"}
    assert response.headers["www-authenticate"] == "Bearer"


async def test_a_bug_in_the_credentials_check_lets_nobody_in(listen, scripted, checked):
    async def broken(request: Any) -> Any:
        raise RuntimeError(SECRET)

    async with listen(scripted(), authenticate=broken) as server:
        envelope = checked(await server.post(b"{}"))
    assert envelope["error"]["code"] == -32603
    assert "hunter2" not in str(envelope)
