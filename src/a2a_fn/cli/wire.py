"""HTTP with one agent: within the command's time, and with credentials only where they belong."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple
from urllib.parse import urljoin

import httpx

from .answers import Denied, TimedOut, check_status, reaching, words_of
from .credentials import Credentials
from .failures import Failure
from .origins import full_url, is_loopback, origin_of, without_query

SILENCE = 60.0  # s without a byte after which a stream counts as lost (keep-alives come in 4 to 15)
_CONNECT = 10.0  # s
_REDIRECTS = 5


class Ask(NamedTuple):
    """One request: `body` is None for a GET without one."""

    method: str
    url: str
    body: bytes | None = None
    headers: Mapping[str, str] = {}


class Wire:
    """Connections to the agent at `url`; `timeout` is the time in s for the whole command.

    Credentials go to the origin of `url` and to those given to `trust`, never elsewhere: not to
    where the card points, not to where a redirect leads. `ways` says how one may authenticate,
    once the card is known.
    """

    def __init__(
        self, url: str, credentials: Credentials | None = None, timeout: float | None = None
    ) -> None:
        self.url = full_url(url)
        self.home = origin_of(self.url)
        self.credentials = credentials or Credentials()
        self.api_key_header = ""
        self.ways = ""
        self._trusted = {self.home}
        self._deadline = None if timeout is None else time.monotonic() + timeout
        # A proxy from the environment has nothing to do with an agent on this machine.
        self._http = httpx.Client(trust_env=not is_loopback(self.home.host))

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def trust(self, url: str) -> None:
        """Send the credentials to this URL's origin, too."""
        self._trusted.add(origin_of(url))

    def trusts(self, url: str) -> bool:
        """Whether credentials are sent to this URL."""
        return origin_of(url) in self._trusted

    def remaining(self, most: float) -> float:
        """At most `most` seconds, and not past the deadline; TimedOut once it is over."""
        if self._deadline is None:
            return most
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimedOut
        return min(most, left)

    def get(self, url: str) -> httpx.Response:
        """What is at a URL, or where that leads: at most five redirects on."""
        for _ in range(_REDIRECTS + 1):
            response = self.send(Ask("GET", url, headers={"Accept": "application/json"}))
            if not response.has_redirect_location:
                return response
            url = urljoin(url, response.headers["location"])
        raise Failure(f"{url} redirects without an end")

    def send(self, ask: Ask, silence: float = SILENCE) -> httpx.Response:
        """The response to a request, read; redirects are not followed."""
        with reaching(ask.url, sends=ask.method == "POST"):
            timeout = httpx.Timeout(self.remaining(silence), connect=self.remaining(_CONNECT))
            return self._http.request(
                ask.method,
                ask.url,
                content=ask.body,
                headers=self._headers(ask),
                timeout=timeout,
            )

    @contextmanager
    def stream(self, ask: Ask) -> Iterator[httpx.Response]:
        """The response to a request, its body still to be read."""
        timeout = httpx.Timeout(self.remaining(SILENCE), connect=self.remaining(_CONNECT))
        with (
            reaching(ask.url, sends=ask.method == "POST"),
            self._http.stream(
                ask.method,
                ask.url,
                content=ask.body,
                headers=self._headers(ask),
                timeout=timeout,
            ) as response,
        ):
            yield response

    def chunks(self, response: httpx.Response) -> Iterator[bytes]:
        """The bytes of a response as they come, until the command's time is over."""
        for chunk in response.iter_bytes():
            self.remaining(SILENCE)  # each keep-alive lets the deadline be seen
            yield chunk

    def download(self, url: str, limit: int, accept: str = "*/*") -> tuple[bytes, str]:
        """The bytes at a URL, at most `limit`, and their Content-Type. A URL of another host than
        the agent's, such as that of a blob store, is asked without credentials and by https."""
        place = url
        for _ in range(_REDIRECTS + 1):
            self._check_place(place)
            with self.stream(Ask("GET", place, headers={"Accept": accept})) as response:
                if response.has_redirect_location:
                    place = urljoin(place, response.headers["location"])
                    continue
                self.check(response)
                data = bytearray()
                for chunk in self.chunks(response):
                    data += chunk
                    if len(data) > limit:
                        raise Failure(f"{without_query(url)} is larger than {limit >> 20} MiB")
                return bytes(data), response.headers.get("content-type", "")
        raise Failure(f"{without_query(url)} redirects without an end")

    def check(self, response: httpx.Response) -> None:
        """Raise what an HTTP error status means for the user; nothing for success."""
        if response.status_code in (401, 403):
            raise Denied(self._denial(response))
        check_status(response)

    def _headers(self, ask: Ask) -> dict[str, str]:
        own = self.credentials.sent(self.api_key_header) if self.trusts(ask.url) else {}
        return {**own, **ask.headers}

    def _check_place(self, url: str) -> None:
        origin = origin_of(url)
        if origin in self._trusted or origin.scheme == "https":
            return
        if not (is_loopback(origin.host) and is_loopback(self.home.host)):
            raise Failure(
                f"not fetched, since it is neither the agent's nor https: {without_query(url)}"
            )

    def _denial(self, response: httpx.Response) -> str:
        url = str(response.url)
        host, status = origin_of(url), response.status_code
        said = words_of(response)
        text = f"{host} refuses these credentials (HTTP {status}{said})"
        if not self.credentials:
            text = f"{host} wants credentials (HTTP {status}{said})"
        elif not self.trusts(url):
            return (
                f"{host} wants credentials (HTTP {status}{said}), and got none, since it is not "
                f"{self.home}: --trust-url sends them"
            )
        elif status == 403:
            text = f"{host} does not allow this with these credentials (HTTP 403{said})"
        challenge = response.headers.get("www-authenticate", "").strip()
        ways = self.ways
        if not ways and challenge:
            ways = f"it asks for {challenge[:100]}"
        return f"{text}; {ways}" if ways else f"{text}: see --token, --basic and --api-key"
