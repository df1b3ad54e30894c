"""What a client says of a webhook, checked and sealed; and what it is shown again."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable

from a2a.types.a2a_pb2 import TaskPushNotificationConfig

from ..errors import Refused, Unavailable, Unsealed
from ..journal.slots import Config
from ..journal.webhooks import Webhook
from ..ports import Courier, Sealer
from . import sign
from .sign import Credentials

log = logging.getLogger("a2a_fn.push")

CHALLENGE = "validationToken"
"""The query parameter of a challenge; its value is to be the whole of the answer's body."""


class Rejected(ValueError):
    """A webhook that is not accepted; ``field`` of the config says what is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class Configs:
    """Webhooks as clients write them. ``nonce``: makes a challenge, None: none is asked for."""

    def __init__(
        self, sealer: Sealer, courier: Courier, nonce: Callable[[], str] | None = None
    ) -> None:
        self._sealer = sealer
        self._courier = courier
        self._nonce = nonce

    async def vet(self, given: TaskPushNotificationConfig) -> None:
        """Raise Rejected unless pushes can and may be sent there, as far as is known now."""
        if not given.url:
            raise Rejected("url", "must name where pushes are sent to")
        said = given.authentication
        try:
            sign.check(said.scheme, said.credentials, given.token)
        except ValueError as error:
            field, _, message = str(error).partition(": ")
            raise Rejected(field, message) from None
        grant = sign.grant_of(Credentials("", said.scheme, said.credentials))
        try:
            await self._courier.check(given.url)
        except Refused as error:
            raise Rejected("url", str(error)) from error
        if grant is not None:
            try:
                await self._courier.check(grant.token_url)
            except Refused as error:
                message = f"token_url: {error}"
                raise Rejected("authentication.credentials", message) from error
        if self._nonce is not None:
            await self._challenge(given.url, self._nonce())

    async def _challenge(self, url: str, nonce: str) -> None:
        address, _, _ = url.partition("#")
        mark = "&" if "?" in address else "?"
        try:
            answer = await self._courier.get(f"{address}{mark}{CHALLENGE}={nonce}")
        except Refused as error:
            raise Rejected("url", str(error)) from error
        except Unavailable as error:  # how it failed would tell what is in reach of this machine
            log.info("challenge failed", extra={"a2a": {"reason": str(error)}})
            raise Rejected("url", "did not answer the challenge") from error
        if answer.status != 200 or answer.text.strip() != nonce:
            raise Rejected(
                "url",
                f"did not prove that it wants pushes: GET with the query {CHALLENGE}=T must be "
                f"answered by 200 and T; the answer had status {answer.status}",
            )

    async def seal(
        self,
        given: TaskPushNotificationConfig,
        owner: str,
        task: str,
        *,
        base: str,
        tenant: str,
        v03: bool,
    ) -> Config:
        """The config as a slot keeps it; its id is the task's if it has none."""
        name = given.id or task
        said = given.authentication
        secret = {"t": given.token, "c": said.credentials}
        sealed = ""
        if any(secret.values()):
            data = json.dumps(secret).encode()
            sealed = await self._sealer.seal(data, _bound(owner, task, name))
        return Config(name, given.url, said.scheme, sealed, base, tenant, v03)

    async def opened(self, hook: Webhook) -> Credentials:
        """The credentials of a webhook. Raises Unsealed."""
        config = hook.config
        if not config.sealed:
            return Credentials("", config.scheme, "")
        data = await self._sealer.open(config.sealed, _bound(hook.owner, hook.task, config.id))
        secret = json.loads(data)
        return Credentials(secret["t"], config.scheme, secret["c"])

    async def shown(self, hook: Webhook) -> TaskPushNotificationConfig:
        """The config as its owner set it; without its secrets if they cannot be opened."""
        config = hook.config
        try:
            credentials = await self.opened(hook)
        except Unsealed as error:
            about = {"a2a": {"task": hook.task, "config": config.id}}
            log.warning("credentials not shown: %s", error, extra=about)
            credentials = Credentials("", config.scheme, "")
        shown = TaskPushNotificationConfig(
            tenant=config.tenant,
            id=config.id,
            task_id=hook.task,
            url=config.url,
            token=credentials.token,
        )
        if config.scheme:
            shown.authentication.scheme = config.scheme
            shown.authentication.credentials = credentials.credentials
        return shown


def _bound(owner: str, task: str, config: str) -> str:
    """What a sealed text belongs to: no two triples give one text."""
    return "".join(f"{len(part)}:{part}" for part in (owner, task, config))
