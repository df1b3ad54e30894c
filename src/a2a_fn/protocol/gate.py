"""What every call passes, whatever its binding: credentials, rate, version, extensions, tenant."""

from __future__ import annotations

import asyncio
import math
import os
import re
from collections.abc import Awaitable, Callable
from typing import NamedTuple
from urllib.parse import parse_qs

from a2a.utils.errors import (
    ExtensionSupportRequiredError,
    VersionNotSupportedError,
)
from starlette.exceptions import HTTPException
from starlette.types import Scope

from .. import logs
from . import rules
from .callers import Caller, Principal
from .errors import invalid
from .exchange import base_url, header, headers
from .operations import Capabilities, Operation, refusal

V10 = "1.0"
V03 = "0.3"

Authenticate = Callable[[Scope], Awaitable[Principal]]
"""A request's principal; raises HTTPException (401 with WWW-Authenticate, or 403)."""

Limit = Callable[[str], float]
"""Counts a call of this principal; seconds until it may try again, 0 if this one may pass."""


class Gate(NamedTuple):
    """The rules of a deployment.

    ``authenticate`` is None where everyone is the same anonymous owner. ``tenants``: those that
    exist (empty: any name). ``required``: URIs of the extensions that a client must ask for.
    ``v03``: whether A2A 0.3 is spoken.
    """

    authenticate: Authenticate | None = None
    limit: Limit | None = None
    capabilities: Capabilities = Capabilities()
    tenants: frozenset[str] = frozenset()
    required: frozenset[str] = frozenset()
    v03: bool = False
    public_url: str | None = None

    async def admit(self, scope: Scope) -> Caller:
        """The caller of a request, not yet in a tenant. Raises HTTPException: 401, 403, 429."""
        lambda_context = scope.get("aws.context")
        request_id = _request_id(scope, lambda_context)
        logs.request.set(request_id)
        principal = Principal()
        if self.authenticate is not None:
            principal = await self.authenticate(scope)
        if self.limit is not None:
            wait = self.limit(principal.name)
            if wait > 0:
                raise HTTPException(429, headers={"Retry-After": str(math.ceil(wait))})
        return Caller(
            owner=owner(principal.name, ""),
            request_id=request_id,
            deadline=_deadline(lambda_context),
            principal=principal,
            base_url=self.public_url or base_url(scope),
            extensions=_extensions(scope),
        )

    def enter(self, caller: Caller, tenant: str) -> Caller:
        """The caller in the tenant that the request names ("" for none). A principal of one tenant
        need not name it. Raises HTTPException 403, or InvalidParamsError for an unknown tenant."""
        allowed = caller.principal.tenants
        if not tenant and allowed is not None and len(allowed) == 1:
            (tenant,) = allowed
        if allowed is not None and tenant not in allowed:
            raise HTTPException(403)
        wrong = rules.tenant(tenant) if tenant else None
        if wrong is not None:  # a path can name anything, and owner() relies on its form
            raise invalid("tenant", wrong)
        if tenant and self.tenants and tenant not in self.tenants:
            raise invalid("tenant", "names none that exists")
        return caller._replace(owner=owner(caller.principal.name, tenant), tenant=tenant)

    def version(self, scope: Scope) -> str:
        """The version that the request asks for. Raises VersionNotSupportedError."""
        given = header(scope, b"a2a-version")
        if not given and b"a2a-version=" in scope["query_string"].lower():
            query = parse_qs(scope["query_string"].decode("latin-1"))
            given = next((v[0] for k, v in query.items() if k.lower() == "a2a-version"), "").strip()
        parsed = _VERSION.fullmatch(given)
        if parsed and (parsed[1] == V10 or (parsed[1] == V03 and self.v03)):
            return parsed[1]
        if not given and self.v03:
            return V03  # the specification's reading of a request that says nothing
        raise unsupported(parsed[1] if parsed else given, (V10, V03) if self.v03 else (V10,))

    def permit(self, operation: Operation, caller: Caller) -> None:
        """Raises the A2A error for what is not offered, or for an extension that is missing."""
        error = refusal(operation, self.capabilities)
        if error is not None:
            raise error
        missing = self.required - caller.extensions
        if missing and operation.needs != "extended_card":
            names = ", ".join(sorted(missing))
            raise ExtensionSupportRequiredError(
                f"Required A2A extensions were not requested: {names}",
                data={"requiredExtensions": names},
            )


OPEN = Gate()
"""No credentials, A2A 1.0 only, everything else as it comes."""


def unsupported(given: str, spoken: tuple[str, ...]) -> VersionNotSupportedError:
    """The answer to a request for version ``given`` ("": it did not say) of a server that speaks
    ``spoken``, the best version first."""
    what = "The A2A version that was asked for"
    if _VERSION.fullmatch(given):
        what = f"A2A version {given}"
    elif not given:
        what = f"A2A version {V03}, which a request without A2A-Version asks for,"
    return VersionNotSupportedError(
        f"{what} is not supported: send the header A2A-Version: {spoken[0]}.",
        data={"supportedVersions": ", ".join(spoken)},
    )


_VERSION = re.compile(r"([0-9]{1,4}\.[0-9]{1,4})(\.[0-9]{1,9})?")  # a patch number says nothing
_REQUEST_ID = re.compile(r"[A-Za-z0-9_.:=/+-]{1,128}")


def owner(principal: str, tenant: str) -> str:
    """Whose rows: ``tenant/principal``, or the principal alone. A tenant has no "/", and a
    principal's name has its first ":" before its first "/", so no two pairs give one owner."""
    return f"{tenant}/{principal}" if tenant else principal


def _request_id(scope: Scope, lambda_context: object) -> str:
    """The client's ``X-Request-Id`` if it is plain, else the platform's, else a new one."""
    given = header(scope, b"x-request-id")
    if _REQUEST_ID.fullmatch(given):
        return given
    return getattr(lambda_context, "aws_request_id", "") or os.urandom(8).hex()


def _extensions(scope: Scope) -> frozenset[str]:
    """What the request asks for by ``A2A-Extensions``, or by the name that the header had."""
    given = headers(scope, b"a2a-extensions") + headers(scope, b"x-a2a-extensions")
    if not given:
        return frozenset()
    return frozenset(uri.strip() for value in given for uri in value.split(",") if uri.strip())


def _deadline(lambda_context: object) -> float | None:
    """When Lambda ends this invocation, by the clock of the running loop."""
    remaining = getattr(lambda_context, "get_remaining_time_in_millis", None)
    if remaining is None:
        return None
    return asyncio.get_running_loop().time() + float(remaining()) / 1000
