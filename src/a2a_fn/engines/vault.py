"""Secrets in AWS: Systems Manager's Parameter Store, and Secrets Manager.

boto3 is imported on first use, and finds region, credentials and endpoint as everywhere: in the
environment, the shared files, or the role of the function.
"""

from __future__ import annotations

from typing import Any

from ..errors import NotFound, Unavailable

CONNECT, ANSWER, ATTEMPTS = 2, 5, 3
"""Seconds to connect, seconds to answer, and how often it is tried: a cold start waits for it."""

TRANSIENT = {
    "InternalServerError", "InternalServiceError", "InternalFailure", "RequestLimitExceeded",
    "ServiceUnavailable", "Throttling", "ThrottlingException", "TooManyRequestsException",
}  # fmt: skip
"""Error codes that pass by themselves; any other needs a person."""


def parameter(name: str) -> str:
    """The decrypted value of a parameter (``ssm:GetParameter``, and ``kms:Decrypt`` of its key).

    Raises NotFound with the reason; Unavailable when it may be there later.
    """
    answer = _asked("ssm", "get_parameter", Name=name, WithDecryption=True)
    return str(answer["Parameter"]["Value"])


def secret(name: str) -> str:
    """The current version of a secret (``secretsmanager:GetSecretValue``), by its name or ARN; a
    binary one must be UTF-8 text. Raises as ``parameter``."""
    answer = _asked("secretsmanager", "get_secret_value", SecretId=name)
    if "SecretString" in answer:
        return str(answer["SecretString"])
    try:
        return bytes(answer["SecretBinary"]).decode()
    except UnicodeDecodeError:
        raise NotFound("it is not UTF-8 text") from None


def _asked(service: str, operation: str, **arguments: Any) -> Any:
    try:
        import boto3  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from botocore.config import Config  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from botocore.exceptions import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
            BotoCoreError,
            ClientError,
            ConnectionError,
            HTTPClientError,
        )
    except ImportError as error:
        raise NotFound(
            "it needs packages that are not installed: pip install 'a2a-fn[aws]'"
        ) from error
    config = Config(
        connect_timeout=CONNECT,
        read_timeout=ANSWER,
        retries={"mode": "standard", "total_max_attempts": ATTEMPTS},
    )
    try:
        client = boto3.client(service, config=config)
        return getattr(client, operation)(**arguments)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in TRANSIENT or status >= 500:
            raise Unavailable(f"AWS answered {code}") from error
        raise NotFound(f"AWS answered {code}") from error
    except (ConnectionError, HTTPClientError) as error:  # no connection, no answer in time
        raise Unavailable(f"AWS did not answer: {type(error).__name__}") from error
    except (BotoCoreError, ValueError) as error:  # no region, no credentials, no such endpoint
        raise NotFound(f"AWS cannot be asked: {type(error).__name__}") from error
