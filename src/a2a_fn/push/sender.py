"""One try of one push: its body, its headers, its way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from ..ports import Answer, Clock, Courier
from . import sign
from .configs import Configs
from .deliver import Push
from .keyring import Keyring
from .oauth import Tokens
from .sign import Delivery

OPEN = ("content-type", "a2a-version", "x-a2a-notification-timestamp")
"""Headers that hold nothing secret."""

Render = Callable[[Push], Awaitable[bytes]]
"""The body of a push."""


class Sender:
    """``deliver.Send``: signs a push and posts it.

    ``keys`` gives the keyring as it is now; ``issuer`` the URL of this agent where the settings
    have one; ``hmac_secret`` is the deployment's, "" for none.
    """

    def __init__(
        self,
        configs: Configs,
        courier: Courier,
        clock: Clock,
        keys: Callable[[], Keyring],
        render: Render,
        nonce: Callable[[], str],
        *,
        issuer: str = "",
        hmac_secret: str = "",
    ) -> None:
        self._configs = configs
        self._courier = courier
        self._clock = clock
        self._keys = keys
        self._render = render
        self._nonce = nonce
        self._issuer = issuer
        self._hmac_secret = hmac_secret
        self._tokens = Tokens(courier, clock)

    async def __call__(self, push: Push) -> Answer:
        """Post it. Raises Refused, Unsealed, Unavailable."""
        hook = push.hook
        credentials = await self._configs.opened(hook)
        delivery = Delivery(
            self._issuer or hook.config.base,
            hook.config.url,
            hook.task,
            hook.config.id,
            push.generation,
            await self._render(push),
            hook.config.v03,
        )
        grant = sign.grant_of(credentials)
        token = await self._tokens.token(grant) if grant else ""
        answer = await self._post(delivery, credentials, token)
        if grant and answer.status == 401:  # it may have been withdrawn before its time
            self._tokens.forget(grant, token)
            token = await self._tokens.token(grant)
            answer = await self._post(delivery, credentials, token)
        return answer

    async def _post(self, delivery: Delivery, credentials: sign.Credentials, token: str) -> Answer:
        headers = sign.headers(
            delivery,
            credentials,
            self._keys(),
            now=self._clock.now(),
            nonce=self._nonce(),
            access_token=token,
            hmac_secret=self._hmac_secret,
        )
        answer = await self._courier.post(delivery.url, headers, delivery.body)
        return answer._replace(text=_redacted(answer.text, credentials, token, headers))


def _redacted(
    text: str, credentials: sign.Credentials, token: str, headers: Mapping[str, str]
) -> str:
    """What a receiver said, which is kept and shown, without what we said to it: some echo it."""
    secret = {credentials.token, credentials.credentials, token}
    secret.add(credentials.credentials.partition(":")[2])  # the password of user:password
    for name, value in headers.items():
        if name.lower() not in OPEN:
            secret |= {value, value.partition(" ")[2]}
    grant = sign.grant_of(credentials)
    if grant is not None:
        secret.add(grant.client_secret)
    for word in sorted(secret, key=len, reverse=True):
        if len(word) >= 4:
            text = text.replace(word, "***")
    return text
