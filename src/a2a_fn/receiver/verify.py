"""Whether a notification is to be believed, and what it says."""

from __future__ import annotations

import hashlib
import hmac
import inspect
import json
import re
import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, NamedTuple

from .faults import Rejected
from .keys import Fetch, Keys, fetch_jwks
from .replays import MemoryReplays, Replays

TOKEN_LIMIT = 8192
"""Characters of a JWT."""


class Notification(NamedTuple):
    """What has been verified.

    ``payload`` is the body: a StreamResponse of A2A 1.0, or what 0.3 sends. ``generation`` counts
    the events of a task, and ``event_id`` is one event's for one webhook, the same if it is sent
    again: do nothing twice for it. With an HMAC alone nobody vouches for these: ``config_id`` and
    ``event_id`` are "", ``generation`` is 0, and ``jti`` is the nonce.
    """

    task_id: str
    config_id: str
    generation: int
    payload: dict[str, Any]
    jti: str
    event_id: str


class Claims(NamedTuple):
    """What a verified JWT says."""

    task: str
    config: str
    generation: int
    sha256: str
    jti: str
    until: float  # seconds; when it is too old for every receiver


class Receiver:
    """Verifies notifications of one agent to one webhook, or to some.

    ``issuer``: the agent's URL, as its pushes say it (its setting public-url). ``audience``: the
    webhook's URL without user, query and fragment, or several. The agent's keys: ``jwks``, or
    ``jwks_url``, fetched by ``fetch`` when they are needed. ``hmac_secret``: what is shared with
    the agent, or several while it changes; with keys too, both proofs are asked for.

    ``leeway``: seconds that the clocks may be apart. ``window``: seconds for which a notification
    is fresh. ``replays``: what has been here. ``tasks``: whether a task id is one of ours, a
    function or a coroutine function. ``clock``: seconds since 1970.

    Raises ValueError if nothing is given to verify with, ImportError without PyJWT.
    """

    def __init__(
        self,
        *,
        issuer: str = "",
        audience: str | Collection[str] = (),
        jwks: Mapping[str, Any] | None = None,
        jwks_url: str | None = None,
        fetch: Fetch | None = None,
        hmac_secret: str | Collection[str] | None = None,
        leeway: float = 60,
        window: float = 300,
        replays: Replays | None = None,
        tasks: Callable[[str], bool | Awaitable[bool]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._issuer = issuer
        self._audience = {audience} if isinstance(audience, str) else set(audience)
        given = [hmac_secret] if isinstance(hmac_secret, str) else list(hmac_secret or ())
        self._secrets = [secret.encode() for secret in given]
        self._keys: Keys | None = None
        if jwks is not None or jwks_url is not None:
            if not issuer or not self._audience or "" in self._audience:
                raise ValueError("issuer and audience: give both, or any agent's push would do")
            self._keys = Keys(jwks, jwks_url, fetch or fetch_jwks, clock)
        elif issuer or audience or not self._secrets:
            raise ValueError("give jwks or jwks_url, or only hmac_secret: nothing can be verified")
        if hmac_secret is not None and not all(self._secrets or [b""]):
            raise ValueError("hmac_secret: is empty; leave it out to ask for none")
        self._leeway = leeway
        self._window = window
        self._replays = replays or MemoryReplays(clock=clock)
        self._tasks = tasks
        self._clock = clock

    async def verify(self, headers: Mapping[str, str], body: bytes) -> Notification:
        """The notification in a request of these headers (names in any case) and this body.

        Raises Rejected. It counts as received from then on, and the same request again does not.
        """
        fields = _fields(headers)
        claims = None if self._keys is None else await self._signed(self._keys, fields)
        if claims and hashlib.sha256(body).hexdigest() != claims.sha256:
            raise Rejected("the body is not what was signed")
        nonce, until = self._shared(fields, body) if self._secrets else ("", 0.0)
        payload, task = _payload(body)
        if claims and task is None:
            task = claims.task
        if task is None or (claims and task != claims.task):
            raise Rejected("the body is about another task than was signed")
        if self._tasks is not None and not await _answered(self._tasks(task)):
            raise Rejected("the task is not known here", 403)
        if claims:
            nonce, until = claims.jti, claims.until
        if not await _answered(self._replays.remember(nonce, until)):
            # RFC 8470's words for it: unwilling to process what might be replayed. An honest
            # duplicate, by a proxy between, is not lost: the sender signs it anew.
            raise Rejected("this was received before", 425)
        if claims is None:
            return Notification(task, "", 0, payload, nonce, "")
        event = f"{task}/{claims.config}/{claims.generation}"
        return Notification(task, claims.config, claims.generation, payload, nonce, event)

    # ---------------------------------------------------------------- the two proofs

    async def _signed(self, keys: Keys, fields: Mapping[str, str]) -> Claims:
        import jwt

        token = fields.get("x-a2a-notification-jwt", "")
        if not token:
            scheme, _, rest = fields.get("authorization", "").partition(" ")
            token = rest.strip() if scheme.lower() == "bearer" else ""
        if not token:
            raise Rejected("there is no JWT")
        if len(token) > TOKEN_LIMIT:
            raise Rejected("the JWT is too long")
        malformed = (jwt.exceptions.PyJWTError, ValueError, TypeError, RecursionError)
        try:
            header = jwt.get_unverified_header(token)
        except malformed:
            raise Rejected("the JWT is malformed") from None
        # The token does not choose how it is verified (RFC 8725, 3.1).
        if header.get("alg") != "ES256" or "crit" in header or "b64" in header:
            raise Rejected("the JWT is not signed by ES256")
        kid, kind = header.get("kid"), header.get("typ", "JWT")
        if not isinstance(kid, str) or not isinstance(kind, str) or kind.upper() != "JWT":
            raise Rejected("the JWT is malformed")
        key = await keys.find(kid)
        try:
            claims = json.loads(jwt.PyJWS().decode(token, key, algorithms=["ES256"]))
        except malformed:
            raise Rejected("the signature is not the agent's") from None
        if not isinstance(claims, dict):
            raise Rejected("the JWT is malformed")
        return self._accepted(claims)

    def _accepted(self, claims: Mapping[str, Any]) -> Claims:
        if claims.get("iss") != self._issuer:
            raise Rejected("it is of another issuer")
        audience = claims.get("aud")
        if not isinstance(audience, str) or audience not in self._audience:
            raise Rejected("it is for another audience")
        now, issued, ends = self._clock(), _time(claims, "iat"), _time(claims, "exp")
        ends = min(ends, issued + self._window)
        if now >= ends + self._leeway:
            raise Rejected("it has expired")
        if any(
            _time(claims, name) > now + self._leeway for name in ("iat", "nbf") if name in claims
        ):
            raise Rejected("it is not valid yet")
        texts = [claims.get(name) for name in ("taskId", "configId", "sha256", "jti")]
        generation = claims.get("generation")
        if (
            not all(isinstance(text, str) and 0 < len(text) <= 256 for text in texts)
            or type(generation) is not int
            or generation < 1
        ):
            raise Rejected("the JWT lacks a claim")
        task, config, digest, jti = (str(text) for text in texts)
        return Claims(task, config, generation, digest, jti, ends + self._leeway)

    def _shared(self, fields: Mapping[str, str], body: bytes) -> tuple[str, float]:
        """The nonce, and when it is too old (seconds)."""
        stamp = fields.get("x-a2a-notification-timestamp", "")
        nonce = fields.get("x-a2a-notification-nonce", "")
        given = fields.get("x-a2a-notification-signature", "")
        # no dot in a nonce, or it could be stretched into the body
        if not _STAMP.fullmatch(stamp) or not _NONCE.fullmatch(nonce):
            raise Rejected("there is no HMAC")
        if abs(self._clock() - int(stamp)) > self._window + self._leeway:
            raise Rejected("it is too old, or not valid yet")
        signed = f"{stamp}.{nonce}.".encode() + body
        wanted = [hmac.digest(secret, signed, "sha256").hex() for secret in self._secrets]
        if not any(
            hmac.compare_digest(f"sha256={x}".encode(), given.encode("utf-8", "replace"))
            for x in wanted
        ):
            raise Rejected("the HMAC does not fit")
        return nonce, int(stamp) + self._window + self._leeway


_STAMP = re.compile(r"[0-9]{1,12}")
_NONCE = re.compile(r"[A-Za-z0-9_-]{1,128}")


def _fields(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers by their names in lower case. Raises Rejected for one that is there twice."""
    fields: dict[str, str] = {}
    for name, value in headers.items():
        if fields.setdefault(name.lower(), value) != value:
            raise Rejected("a header is there twice", 400)
    return fields


async def _answered(answer: bool | Awaitable[bool]) -> bool:
    return bool(await answer) if inspect.isawaitable(answer) else bool(answer)


def _time(claims: Mapping[str, Any], name: str) -> float:
    """A NumericDate, in seconds; what is larger is in another unit, and would never expire."""
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e11:
        raise Rejected("the JWT lacks a claim")
    return value


_KINDS = {"task": "id", "statusUpdate": "taskId", "artifactUpdate": "taskId", "message": "taskId"}
"""The members of a StreamResponse, and where each has its task's id."""


def _payload(body: bytes) -> tuple[dict[str, Any], str | None]:
    """The body and the task that it is about; a message may be about none. Raises Rejected."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError):
        payload = None
    if not isinstance(payload, dict):
        raise Rejected("the body is not a JSON object", 400)
    found = [name for name in _KINDS if name in payload]
    if len(found) == 1 and "kind" not in payload:
        inner, name, task_is_optional = payload[found[0]], _KINDS[found[0]], found[0] == "message"
    else:  # A2A 0.3 sends the object itself, with its kind
        kind = payload.get("kind")
        inner = payload if kind in ("task", "status-update", "artifact-update", "message") else None
        name, task_is_optional = "id" if kind == "task" else "taskId", kind == "message"
    task = inner.get(name) if isinstance(inner, dict) else None
    if isinstance(task, str) and task:
        return payload, task
    if isinstance(inner, dict) and task_is_optional and task in (None, ""):
        return payload, None
    raise Rejected("the body is not a notification", 400)
