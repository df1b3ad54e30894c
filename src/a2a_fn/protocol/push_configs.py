"""The operations on push notification configs: a webhook of a task, for its owner only."""

from __future__ import annotations

from typing import Protocol

from a2a.types.a2a_pb2 import (
    DeleteTaskPushNotificationConfigRequest,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig,
)
from google.protobuf.empty_pb2 import Empty

from ..journal import intents
from ..journal.intents import MakeConfig
from ..journal.journal import Journal
from ..journal.slots import Config
from ..journal.webhooks import DELETED, Webhook, listed, read
from .callers import Caller
from .errors import invalid
from .refusals import translated

PAGE_SIZE = 100
INLINE = "configuration.taskPushNotificationConfig."


class Vault(Protocol):
    """Checks what clients say of webhooks, and keeps their credentials."""

    async def vet(self, given: TaskPushNotificationConfig) -> None:
        """Raise a ValueError with ``field`` and message unless pushes may be sent there."""
        ...

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
        """The config as a slot keeps it."""
        ...

    async def shown(self, hook: Webhook) -> TaskPushNotificationConfig:
        """The config as its owner set it."""
        ...


class PushConfigs:
    """``callers.Handler``'s operations on push configs."""

    def __init__(self, journal: Journal, vault: Vault) -> None:
        self._journal = journal
        self._vault = vault

    async def create(
        self, request: TaskPushNotificationConfig, caller: Caller
    ) -> TaskPushNotificationConfig:
        """Set a webhook, or set it anew if the task has one of this id."""
        with translated():  # a stranger is not told what is wrong with a webhook
            await intents.find(self._journal, caller.owner, request.task_id)
        await self._vet(request, "")
        config = await self._sealed(request, caller, request.task_id)
        with translated():
            hook = await intents.configure(self._journal, caller.owner, request.task_id, config)
        return await self._vault.shown(hook)

    async def inline(self, request: TaskPushNotificationConfig, caller: Caller) -> MakeConfig:
        """The webhook that comes with a message, for the task that the message turns out to be
        of. Raises InvalidParamsError if it may not be."""
        await self._vet(request, INLINE)

        async def make(task: str) -> Config:
            return await self._sealed(request, caller, task)

        return make

    async def again(self, request: TaskPushNotificationConfig, caller: Caller, task: str) -> None:
        """The webhook that comes with a message that was taken before: set it if the task has not
        got it, for the first time may have come without. One that was deleted since stays so."""
        given = TaskPushNotificationConfig()
        given.CopyFrom(request)
        given.id, given.task_id, given.tenant = request.id or task, task, caller.tenant
        with translated():
            view = await intents.find(self._journal, caller.owner, task)
            await self._journal.settle(view)
            found = await read(self._journal, view.part, task, given.id)
            if found is not None and (
                found[0].gone == DELETED or await self._vault.shown(found[0]) == given
            ):
                return
            config = await self._sealed(given, caller, task)
            await intents.configure(self._journal, caller.owner, task, config)

    async def get(
        self, request: GetTaskPushNotificationConfigRequest, caller: Caller
    ) -> TaskPushNotificationConfig:
        """One webhook."""
        with translated():
            hook = await intents.webhook(
                self._journal, caller.owner, request.task_id, request.id or request.task_id
            )
        return await self._vault.shown(hook)

    async def list(
        self, request: ListTaskPushNotificationConfigsRequest, caller: Caller
    ) -> ListTaskPushNotificationConfigsResponse:
        """The webhooks of a task, by id. A page token is the last id of the page before."""
        with translated():
            view = await intents.find(self._journal, caller.owner, request.task_id)
        await self._journal.settle(view)
        size = request.page_size or PAGE_SIZE
        answer = ListTaskPushNotificationConfigsResponse()
        async for hook in listed(self._journal, view.part, request.task_id, dead=True):
            if hook.config.id <= request.page_token:
                continue
            if len(answer.configs) == size:
                answer.next_page_token = answer.configs[-1].id
                break
            answer.configs.append(await self._vault.shown(hook))
        return answer

    async def delete(
        self, request: DeleteTaskPushNotificationConfigRequest, caller: Caller
    ) -> Empty:
        """Delete a webhook, if it is there; no push of it begins any more."""
        with translated():
            await intents.forget(
                self._journal, caller.owner, request.task_id, request.id or request.task_id
            )
        return Empty()

    async def _vet(self, given: TaskPushNotificationConfig, where: str) -> None:
        try:
            await self._vault.vet(given)
        except ValueError as error:
            raise invalid(f"{where}{getattr(error, 'field', 'url')}", str(error)) from None

    async def _sealed(self, given: TaskPushNotificationConfig, caller: Caller, task: str) -> Config:
        return await self._vault.seal(
            given,
            caller.owner,
            task,
            base=caller.base_url,
            tenant=caller.tenant,
            v03=caller.v03,
        )
