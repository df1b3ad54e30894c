"""Secrets in AWS, by a real client against an emulation of the two services."""

from __future__ import annotations

import logging
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from a2a_fn.engines import vault
from a2a_fn.errors import InvalidSettings, NotFound, Unavailable
from a2a_fn.settings import Settings
from a2a_fn.wiring import build_services

boto3 = pytest.importorskip("boto3")
moto = pytest.importorskip("moto.server")


@pytest.fixture(scope="module")
def cloud() -> Iterator[str]:
    """The address of the emulation, with a secret of each kind in it."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    url = f"http://{host}:{port}"
    given: dict[str, Any] = {
        "endpoint_url": url,
        "region_name": "us-east-1",
        "aws_access_key_id": "x",
        "aws_secret_access_key": "x",
    }
    ssm = boto3.client("ssm", **given)
    ssm.put_parameter(Name="/app/token", Value="t0ken", Type="SecureString")
    ssm.put_parameter(Name="/app/json", Value='{"key": "k3y"}', Type="String")
    manager = boto3.client("secretsmanager", **given)
    manager.create_secret(Name="app/keys", SecretString='{"ann": "a-key"}')
    manager.create_secret(Name="app/bytes", SecretBinary=b"b-key")
    manager.create_secret(Name="app/noise", SecretBinary=b"\xff\xfe")
    yield url
    server.stop()


@pytest.fixture(autouse=True)
def environment(cloud: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment in which the client finds the emulation, and nothing of this machine."""
    for name in ("AWS_PROFILE", "AWS_REGION", "http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    for name in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"):
        monkeypatch.setenv(name, "/nowhere")
    monkeypatch.setenv("AWS_ENDPOINT_URL", cloud)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # it remembers region and credentials


def test_parameters_are_decrypted_and_secrets_are_text() -> None:
    assert vault.parameter("/app/token") == "t0ken"
    assert vault.secret("app/keys") == '{"ann": "a-key"}'
    assert vault.secret("app/bytes") == "b-key"


@pytest.mark.parametrize(
    ("read", "name", "words"),
    [
        (vault.parameter, "/app/none", "AWS answered ParameterNotFound"),
        (vault.secret, "app/none", "AWS answered ResourceNotFoundException"),
        (vault.secret, "app/noise", "it is not UTF-8 text"),
        (vault.parameter, "", "AWS (cannot be asked|answered)"),
    ],
)
def test_what_is_not_there_is_not_found(read: Any, name: str, words: str) -> None:
    with pytest.raises(NotFound, match=words):
        read(name)


def test_without_region_or_credentials_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    with pytest.raises(NotFound, match="AWS cannot be asked: NoCredentialsError"):
        vault.parameter("/app/token")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(NotFound, match="AWS cannot be asked: NoRegionError"):
        vault.parameter("/app/token")


def test_a_cloud_that_does_not_answer_may_answer_later(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound and not listening: refused
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed.getsockname()[1]}")
        monkeypatch.setattr(vault, "ATTEMPTS", 1)
        with pytest.raises(Unavailable, match="AWS did not answer: EndpointConnectionError"):
            vault.parameter("/app/token")


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("ThrottlingException", 400, Unavailable),
        ("InternalServerError", 500, Unavailable),
        ("Anything", 503, Unavailable),
        ("AccessDeniedException", 400, NotFound),
    ],
)
def test_what_passes_by_itself_is_told_from_what_does_not(
    monkeypatch: pytest.MonkeyPatch, code: str, status: int, expected: type[Exception]
) -> None:
    from botocore.exceptions import ClientError

    class Client:
        def get_parameter(self, **arguments: Any) -> None:
            metadata = {"HTTPStatusCode": status}
            answer = {"Error": {"Code": code}, "ResponseMetadata": metadata}
            raise ClientError(answer, "GetParameter")  # type: ignore[arg-type]

    monkeypatch.setattr(boto3, "client", lambda service, config: Client())
    with pytest.raises(expected, match=f"AWS answered {code}"):
        vault.parameter("/app/token")


def test_without_boto3_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "boto3", None)
    with pytest.raises(InvalidSettings, match=r"token: ssm:/x cannot .*install 'a2a-fn\[aws\]'"):
        build_services(Settings()).reveal("token", "ssm:/x")


async def test_the_services_take_their_credentials_from_there() -> None:
    settings = Settings(
        engine="memory",
        token="ssm:/app/token",
        api_key="ssm:/app/json#key",
        principals=({"name": "ann", "api-key": "secretsmanager:app/keys#ann"},),
    )
    authenticate = build_services(settings).gate.authenticate
    assert authenticate is not None
    for header, name in (
        ((b"authorization", b"Bearer t0ken"), "bearer"),
        ((b"x-api-key", b"k3y"), "api-key"),
        ((b"x-api-key", b"a-key"), "principal:ann"),
    ):
        assert (await authenticate({"headers": [header]})).name == name  # type: ignore[arg-type]


def test_what_the_services_do_not_find_they_say_at_once() -> None:
    settings = Settings(engine="memory", token="ssm:/app/none", api_key="ssm:/app/json#none")
    with pytest.raises(InvalidSettings) as caught:
        _ = build_services(settings).gate
    assert str(caught.value).splitlines() == [
        "token: ssm:/app/none cannot be read: AWS answered ParameterNotFound",
        "api-key: ssm:/app/json cannot be read: it has no text under #none",
    ]
