"""Calls to webhooks: only to checked addresses, whole, soon, and with nothing said that is secret.

Real sockets throughout: servers on loopback, TLS with certificates made here, and a name look-up
that the test answers.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import gzip
import ipaddress
import os
import socket
import ssl
from dataclasses import dataclass, field

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from a2a_fn import __version__
from a2a_fn.engines.courier import BODY_LIMIT, WebCourier
from a2a_fn.engines.dialer import spread
from a2a_fn.errors import InvalidSettings, Refused, Unavailable
from a2a_fn.push.guard import Policy, parse

OPEN = Policy()
PRIVATE = Policy(allow_private=True)
LENGTH = b"content-length:"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nOK"


@dataclass
class Site:
    """A server that gives each request the same answer, and then does what `after` says."""

    answer: bytes = OK
    after: str = "goes on"  # or: closes, hangs, resets, repeats (the chunk, for ever)
    chunk: bytes = b""
    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    ends: asyncio.Queue = field(default_factory=asyncio.Queue)
    names: list[str | None] = field(default_factory=list)  # SNI

    async def serve(self, reader, writer):
        self.connections += 1
        try:
            with contextlib.suppress(ConnectionError, ssl.SSLError, asyncio.IncompleteReadError):
                while await self.turn(reader, writer):
                    pass
        finally:
            self.ends.put_nowait("end")
            writer.close()

    async def turn(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        lengths = [line[15:] for line in head.lower().split(b"\r\n") if line[:15] == LENGTH]
        self.requests.append(head + await reader.readexactly(int(lengths[0]) if lengths else 0))
        writer.write(self.answer)
        await writer.drain()
        while self.after == "repeats":
            writer.write(self.chunk)
            await writer.drain()
        if self.after == "hangs":
            await reader.read()
        if self.after == "resets":
            writer.transport.abort()
        return self.after == "goes on"

    def url(self, host="hook.example.com", path="/hook", scheme="http"):
        return f"{scheme}://{host}:{self.port}{path}"


@contextlib.contextmanager
def loop_of(site, courier):
    """For tests that draw many cases: a loop that serves the site while it runs a call, and is left
    only when every connection has ended."""
    with asyncio.Runner() as runner:
        server = runner.run(asyncio.start_server(site.serve, "127.0.0.1", 0))
        try:
            site.port = server.sockets[0].getsockname()[1]
            yield runner.run
            runner.run(courier.close())
            for _ in range(site.connections):
                runner.run(asyncio.wait_for(site.ends.get(), 5))
        finally:
            server.close()
            runner.run(server.wait_closed())


class Names:
    """A name look-up that says what the test says, and keeps what it was asked."""

    def __init__(self, **addresses):
        self.addresses = {"hook.example.com": ["127.0.0.1"]}
        self.asked = []

    async def __call__(self, host, port):
        self.asked.append((host, port))
        found = self.addresses.get(host, OSError("no such name"))
        if isinstance(found, Exception):
            raise found
        if isinstance(found, asyncio.Event):
            await found.wait()
        return found.pop(0) if isinstance(found[0], list) else found


@pytest.fixture
def names():
    return Names()


@pytest.fixture
async def serve():
    """Start a site on an address of this machine, with TLS if there is a context."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(site=None, *, host="127.0.0.1", port=0, context=None):
            site = site or Site()
            if context is not None:
                context.sni_callback = lambda _, name, __: site.names.append(name)
            server = await asyncio.start_server(site.serve, host, port, ssl=context)
            stack.push_async_callback(server.wait_closed)
            stack.callback(server.close)
            site.port = server.sockets[0].getsockname()[1]
            return site

        yield start


@pytest.fixture
async def site(serve):
    return await serve()


@pytest.fixture
async def make(names):
    """Make a courier that looks names up in `names`."""
    async with contextlib.AsyncExitStack() as stack:

        def courier(policy=PRIVATE, **options):
            made = WebCourier(policy, **{"timeout": 5.0, "resolve": names, **options})
            stack.push_async_callback(made.close)
            return made

        yield courier


# --- a call


async def test_a_post_brings_headers_and_body_and_the_answer_back(site, make, names):
    site.answer = b"HTTP/1.1 202 Fine\r\nContent-Length: 8\r\nRetry-After: 7\r\n\r\n a\r\nb\x00c "
    headers = {"Content-Type": "application/a2a+json", "X-A2A-Notification-Token": "tök"}
    answer = await make().post(site.url(path="/h?t=1"), headers, b'{"a": 1}')
    assert answer == (202, 7.0, "a  b c")
    head, _, body = site.requests[0].partition(b"\r\n\r\n")
    assert body == b'{"a": 1}'
    assert head.decode().split("\r\n") == [
        "POST /h?t=1 HTTP/1.1",
        f"Host: hook.example.com:{site.port}",
        "Accept-Encoding: identity",
        f"User-Agent: a2a-fn/{__version__}",
        "Content-Length: 8",
        "Content-Type: application/a2a+json",
        "X-A2A-Notification-Token: tök",
    ]
    assert names.asked == [("hook.example.com", site.port)]


async def test_a_get_has_no_body_and_the_caller_may_name_itself(site, make):
    assert await make().get(site.url(), {"user-agent": "mine/1"}) == (200, None, "OK")
    assert site.requests[0].startswith(b"GET /hook HTTP/1.1\r\n")
    assert b"user-agent: mine/1" in site.requests[0]
    assert b"Content-Length" not in site.requests[0] and b"a2a-fn" not in site.requests[0]


async def test_spaces_around_a_value_are_not_sent(site, make):
    assert (await make().post(site.url(), {"X-Token": "  a b "}, b"")).status == 200
    assert b"\r\nX-Token: a b\r\n" in site.requests[0]


async def test_a_post_of_nothing_says_so(site, make):
    assert (await make().post(site.url(), {}, b"")).status == 200
    assert b"Content-Length: 0" in site.requests[0]


async def test_the_address_in_a_url_needs_no_look_up(site, make, names):
    assert (await make().get(site.url("127.0.0.1"))).status == 200
    assert names.asked == []
    assert f"Host: 127.0.0.1:{site.port}".encode() in site.requests[0]


async def test_ipv6_is_bracketed_in_the_host_header(serve, make):
    site = await serve(host="::1")
    assert (await make().get(site.url("[::1]"))).status == 200
    assert f"Host: [::1]:{site.port}".encode() in site.requests[0]


@pytest.mark.parametrize("status", [204, 301, 302, 307, 400, 404, 410, 429, 500, 503])
async def test_every_status_is_an_answer_and_nothing_is_followed(serve, make, status):
    other = await serve()
    site = await serve()
    location = f"Location: http://127.0.0.1:{other.port}/\r\n"
    site.answer = f"HTTP/1.1 {status} x\r\n{location}Content-Length: 0\r\n\r\n".encode()
    assert (await make().post(site.url(), {}, b"x")).status == status
    assert (len(site.requests), other.connections) == (1, 0)


async def test_a_redirect_to_metadata_is_just_an_answer(site, make):
    location = b"Location: http://169.254.169.254/latest/meta-data/\r\n"
    site.answer = b"HTTP/1.1 302 Found\r\n" + location + b"Content-Length: 0\r\n\r\n"
    assert (await make().get(site.url())).status == 302


async def test_proxies_of_the_environment_are_not_used(serve, site, make, monkeypatch):
    proxy = await serve()
    for name in (
        "http_proxy",
        "HTTP_PROXY",
        "https_proxy",
        "HTTPS_PROXY",
        "all_proxy",
        "ALL_PROXY",
    ):
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    assert (await make().get(site.url())).status == 200
    assert (proxy.connections, site.connections) == (0, 1)


async def test_cookies_are_not_kept(site, make):
    site.answer = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\n\r\n"
    courier = make()
    await courier.get(site.url())
    await courier.get(site.url())
    assert b"cookie" not in site.requests[1].lower()


# --- what may not be called


@pytest.mark.parametrize(
    "url", ["http://localhost/", "http://127.1/", "http://10.0.0.1/", "ftp://x"]
)
async def test_what_the_guard_refuses_is_refused_by_every_method(make, names, url):
    courier = make(OPEN)
    for call in (courier.check(url), courier.get(url), courier.post(url, {}, b"")):
        with pytest.raises(Refused):
            await call
    assert names.asked == []


@pytest.mark.parametrize(
    "addresses", [["127.0.0.1"], ["8.8.8.8", "127.0.0.1"], ["::ffff:127.0.0.1"], ["::1"]]
)
async def test_a_name_with_a_private_address_is_refused_and_nothing_is_connected(
    site, make, names, addresses
):
    names.addresses["hook.example.com"] = addresses
    courier = make(OPEN)
    for call in (courier.check(site.url()), courier.post(site.url(), {}, b"x")):
        with pytest.raises(Refused, match=r"hook\.example\.com has an address that is not public"):
            await call
    assert site.connections == 0


async def test_a_name_that_changes_between_check_and_call_is_refused(site, make, names):
    names.addresses["hook.example.com"] = [["8.8.8.8"], ["127.0.0.1"]]
    courier = make(OPEN)
    await courier.check(site.url())
    with pytest.raises(Refused, match="loopback"):
        await courier.post(site.url(), {}, b"x")
    assert (site.connections, len(names.asked)) == (0, 2)


async def test_the_look_up_that_was_screened_is_the_one_that_is_connected_to(site, make, names):
    """One look-up for one connection: there is no second that could answer otherwise."""
    names.addresses["hook.example.com"] = [["127.0.0.1"], ["10.255.255.255"]]
    assert (await make().get(site.url())).status == 200
    assert (site.connections, len(names.asked)) == (1, 1)


async def test_a_kept_connection_is_no_way_around_the_policy(site, make, names):
    courier = make()
    await courier.get(site.url())
    with pytest.raises(Refused):
        await courier.get(site.url().replace("http:", "http:\\"))
    names.addresses["hook.example.com"] = ["169.254.169.254"]
    site.after = "closes"
    await courier.get(site.url())  # over the connection that was checked
    with pytest.raises(Refused, match="cloud"):
        await courier.get(site.url())


@pytest.mark.parametrize(
    ("addresses", "refused"),
    [(["8.8.8.8"], False), (OSError("none"), False), (["8.8.8.8", "::1"], True)],
)
async def test_check_judges_what_is_known_now(make, names, addresses, refused):
    names.addresses["hook.example.com"] = addresses
    with pytest.raises(Refused) if refused else contextlib.nullcontext():
        await make(OPEN).check("https://hook.example.com/")
    assert len(names.asked) == 1


async def test_check_waits_only_so_long_for_a_name(make, names):
    names.addresses["hook.example.com"] = asyncio.Event()
    async with asyncio.timeout(1):
        await make(OPEN, timeout=0.05).check("https://hook.example.com/")
    with pytest.raises(Unavailable, match=r"in full within 0\.05 s"):
        await make(OPEN, timeout=0.05).get("https://hook.example.com/")


@pytest.mark.parametrize(
    "name", ["A b", "A\r\nB", "", "ä", "Host", "host", "Content-Length", "Transfer-Encoding",
             "Connection", "Accept-Encoding"],
)  # fmt: skip
async def test_headers_that_are_none_or_not_the_callers_are_refused(site, make, name):
    with pytest.raises(Refused, match="header cannot be named") as caught:
        await make().post(site.url(), {name: "hunter2"}, b"x")
    assert "hunter2" not in str(caught.value)
    assert site.connections == 0


@pytest.mark.parametrize("value", ["hunter2\r\nHost: evil", "hunter2\n", "\x00", "\x7f", "a\tb"])
async def test_a_value_that_would_be_more_than_a_value_is_refused(site, make, value):
    with pytest.raises(
        Refused, match="sent as X-A2A-Notification-Token has a line break"
    ) as caught:
        await make().post(site.url(), {"X-A2A-Notification-Token": value}, b"x")
    assert "hunter2" not in str(caught.value)
    assert site.connections == 0


# --- one reading of a URL


HOSTS = st.lists(
    st.sampled_from(["hook", "EXAMPLE", "com", ".", ".", "-", "_", "xn--bcher-kva", "bücher", "1",
                     "127.0.0.1", "[::1]", "%2e", "@", ":", "例え", "ſ", "。"]),
    min_size=1, max_size=6,
).map("".join)  # fmt: skip
RESOURCES = st.lists(
    st.sampled_from(["/", "..", "?", "@evil.example", ":80", "%", "%0d%0a", "ü", "{", "a", "&",
                     "//", "http://evil.example/", "[", "|", '"', "^", ";", "'"]),
    max_size=6,
).map("".join)  # fmt: skip


def test_the_connection_is_made_of_what_the_guard_has_read():
    """Whatever the URL: look-up, Host and request line are the guard's, to the byte."""
    seen = 0

    site, names = Site(after="closes"), Names()
    courier = WebCourier(PRIVATE, timeout=5.0, keep_alive=0.0, resolve=names)
    with loop_of(site, courier) as run:

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(HOSTS, RESOURCES)
        @example("127.0.0.1", "?@evil.example")
        @example("EXAMPLE.com.", "http://evil.example/%0d%0a")
        def each(host, resource):
            nonlocal seen
            url = f"http://{host}:{site.port}/{resource}"
            names.asked.clear()
            site.requests.clear()
            try:
                target = parse(url, PRIVATE)
            except Refused:
                with pytest.raises(Refused):
                    run(courier.get(url))
                assert not names.asked and not site.requests
                return
            if target.literal and target.host != "127.0.0.1":  # another of this machine's
                return
            names.addresses = {target.host: ["127.0.0.1"]}
            run(courier.get(url))
            lines = site.requests[0].decode().split("\r\n")
            assert lines[:2] == [f"GET {target.resource} HTTP/1.1", f"Host: {target.authority}"]
            assert names.asked == ([] if target.literal else [(target.host, site.port)])
            seen += 1

        each()
        assert seen >= 2


# --- addresses


async def test_the_next_address_is_tried_where_one_refuses(site, make, names):
    names.addresses["hook.example.com"] = ["127.0.0.2", "127.0.0.3", "127.0.0.1"]
    assert (await make().get(site.url())).status == 200


async def test_only_so_many_addresses_are_tried(site, make, names):
    names.addresses["hook.example.com"] = [f"127.0.0.{n}" for n in range(2, 6)] + ["127.0.0.1"]
    with pytest.raises(Unavailable, match="refused"):
        await make().get(site.url())


async def test_an_address_that_says_nothing_takes_only_its_share_of_the_time(site, make, names):
    with contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())  # its queue is full: it answers no connection
        full.bind(("127.0.0.2", site.port))
        full.listen(0)
        for _ in range(4):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(("127.0.0.2", site.port))
        names.addresses["hook.example.com"] = ["127.0.0.2", "127.0.0.1"]
        assert (await make(timeout=1.0).get(site.url())).status == 200
        names.addresses["hook.example.com"] = ["127.0.0.2"]
        with pytest.raises(Unavailable, match=r"time|within"):
            await make(timeout=0.2).get(site.url())


def test_the_families_take_turns():
    six, four = ["2606:4700::1", "2606:4700::2", "2606:4700::3"], ["8.8.8.8", "8.8.4.4"]
    assert spread(six + four) == [six[0], four[0], six[1], four[1], six[2]]
    assert spread(four) == four and spread([]) == []


async def test_a_name_without_an_address_is_unavailable(make, names):
    for addresses in (OSError("none"), [[]]):
        names.addresses["hook.example.com"] = addresses
        with pytest.raises(Unavailable, match=r"hook\.example\.com"):
            await make().get("https://hook.example.com/secret?secret")


# --- connections


async def test_connections_are_kept_for_the_next_call(site, make):
    courier = make()
    for _ in range(3):
        await courier.post(site.url(), {}, b"x")
    assert (site.connections, len(site.requests)) == (1, 3)


async def test_closing_ends_connections_and_a_later_call_opens_new_ones(site, make):
    courier = make()
    await courier.close()
    await courier.get(site.url())
    await courier.close()
    await asyncio.wait_for(site.ends.get(), 5)
    assert (await courier.get(site.url())).status == 200
    assert site.connections == 2


async def test_connections_are_not_kept_if_none_shall_be(site, make):
    courier = make(keep_alive=0.0)
    await courier.get(site.url())
    await courier.get(site.url())
    assert site.connections == 2


async def test_two_hosts_on_one_address_share_no_connection(site, make, names):
    names.addresses["other.example.com"] = ["127.0.0.1"]
    courier = make()
    for host in ("hook.example.com", "other.example.com", "hook.example.com"):
        await courier.get(site.url(host))
    assert (site.connections, len(site.requests)) == (2, 3)


async def test_slow_receivers_hold_up_nobody(serve, site, make):
    silent = await serve(Site(answer=b"", after="hangs"))
    courier = make()
    waiting = [asyncio.create_task(courier.get(silent.url())) for _ in range(120)]
    try:
        while len(silent.requests) < 120:
            await asyncio.sleep(0)
        assert (await courier.get(site.url())).status == 200
    finally:
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
    for _ in range(120):  # and what is canceled leaves no connection behind
        await asyncio.wait_for(silent.ends.get(), 5)


# --- servers that do not behave


@pytest.mark.parametrize(
    ("answer", "after", "words"),
    [
        (b"", "hangs", "within"),
        (b"HTTP/1.1 200 OK\r\nX", "hangs", "within"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", "hangs", "within"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "hangs", "within"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "hangs", "within"),
        (b"", "closes", "broke off"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", "closes", "broke off"),
        (b"nonsense\r\n\r\n", "closes", "not HTTP"),
        (
            b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
            "closes",
            "not HTTP",
        ),
        (b"", "resets", "reset|broke"),
    ],
)
async def test_a_broken_answer_is_none_and_its_connection_is_closed(
    site, make, answer, after, words
):
    site.answer, site.after = answer, after
    secret = site.url(path="/hunter2?hunter2")
    with pytest.raises(Unavailable, match=words) as caught:
        await make(timeout=0.3 if after == "hangs" else 5.0).get(secret, {"A": "hunter2"})
    assert "hunter2" not in str(caught.value)
    assert f"http://hook.example.com:{site.port}" in str(caught.value)
    await asyncio.wait_for(site.ends.get(), 5)


@pytest.mark.parametrize(("status", "after"), [(200, "hangs"), (410, "hangs"), (410, "closes")])
async def test_the_status_of_a_webhook_counts_though_the_body_never_ends(site, make, status, after):
    site.answer, site.after = b"HTTP/1.1 %d X\r\nContent-Length: 9\r\n\r\nx" % status, after
    answer = await make(timeout=0.3 if after == "hangs" else 5.0).post(site.url(), {}, b"x")
    assert answer.status == status
    await asyncio.wait_for(site.ends.get(), 5)


@pytest.mark.parametrize("chunk", [b"X: y\r\n", b"x"])
async def test_endless_headers_end(site, make, chunk):
    site.answer, site.after, site.chunk = b"HTTP/1.1 200 OK\r\n", "repeats", chunk * 1000
    with pytest.raises(Unavailable, match="too large"):
        await make().get(site.url())


async def test_endless_information_ends(site, make):
    site.answer, site.after = b"", "repeats"
    site.chunk = b"HTTP/1.1 102 Processing\r\n\r\n" * 1000
    with pytest.raises(Unavailable, match="too large"):
        await make().get(site.url())


@pytest.mark.parametrize("size", [9, 4096])
async def test_an_endless_body_is_cut(site, make, size):
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunk = b"%x\r\n%s\r\n" % (size, b"x" * size)
    site.answer, site.after, site.chunk = head, "repeats", chunk * max(1, 4096 // size)
    assert await make().get(site.url()) == (200, None, "x" * 500)
    await asyncio.wait_for(site.ends.get(), 5)
    assert len((await make().get(site.url(), keep=10**6)).text) == BODY_LIMIT


async def test_an_endless_body_in_crumbs_is_no_answer(site, make):
    site.answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    site.after, site.chunk = "repeats", b"1\r\nx\r\n" * 1000
    with pytest.raises(Unavailable, match="too large"):
        await make().get(site.url())


async def test_a_body_up_to_the_limit_leaves_the_connection_usable(site, make):
    courier, body = make(), b"x" * (BODY_LIMIT - 1)
    site.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    for _ in range(6):
        assert (await courier.get(site.url(), keep=BODY_LIMIT)).text == body.decode()
    assert site.connections == 1


async def test_a_token_document_comes_whole_and_stays_json(site, make):
    body = b'{\r\n\t"access_token": "' + b"t" * 2000 + '", "é": 1}\n'.encode()
    site.answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = await make().post(site.url(), form, b"grant_type=client_credentials", keep=BODY_LIMIT)
    import json

    assert json.loads(answer.text) == {"access_token": "t" * 2000, "é": 1}


async def test_what_is_packed_is_not_unpacked(site, make):
    body = gzip.compress(b"x" * 10_000_000)
    site.answer = (
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body)
    ) + body
    assert await make().get(site.url()) == (200, None, "")


async def test_switching_protocols_is_no_answer_and_ends_the_connection(site, make):
    site.answer = b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello"
    site.after = "hangs"
    with pytest.raises(Unavailable, match="not HTTP"):
        await make().get(site.url())
    await asyncio.wait_for(site.ends.get(), 5)


async def test_an_early_answer_counts_though_the_body_was_not_taken(serve, make):
    async def hasty(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()

    site = Site()
    site.serve = hasty
    await serve(site)
    assert (await make().post(site.url(), {}, b"x" * 100_000)).status == 413


async def test_who_takes_no_body_is_given_up_in_time(serve, make):
    async def deaf(reader, writer):
        reader._transport.pause_reading()
        await gone.wait()
        writer.transport.abort()

    gone, site = asyncio.Event(), Site()
    site.serve = deaf
    await serve(site)
    with pytest.raises(Unavailable, match="within"):
        await make(timeout=0.3).post(site.url(), {}, b"x" * 20_000_000)
    gone.set()


ANSWERS = st.lists(
    st.one_of(
        st.binary(max_size=9),
        st.sampled_from(
            [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 500\r\n", b"HTTP/1.1 100 C\r\n\r\n",
             b"HTTP/2 200\r\n",
             b"Content-Length: 3\r\n", b"Content-Length: -1\r\n", b"Transfer-Encoding: chunked\r\n",
             b"Connection: close\r\n", b"Retry-After: Mon, \r\n", b"Content-Encoding: br\r\n",
             b"X: \xff\r\n", b" folded\r\n", b"\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n",
             b"ffffffffff\r\n"]
        ),
    ),
    max_size=7,
).map(b"".join)  # fmt: skip


def test_whatever_is_answered_is_an_answer_or_none():
    seen = set()

    site = Site(after="closes")
    courier = WebCourier(PRIVATE, timeout=5.0, resolve=Names())
    with loop_of(site, courier) as run:

        @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
        @given(st.one_of(ANSWERS, ANSWERS.map(lambda rest: b"HTTP/1.1 200 OK\r\n" + rest)))
        @example(b"3\r\n")
        @example(OK)
        def each(answer):
            site.answer = answer
            try:
                given_back = run(courier.get(site.url()))
            except Unavailable:
                seen.add("none")
                return
            seen.add("answer")
            assert f" {given_back.status}".encode() in answer
            assert given_back.text.isprintable()

        each()
        assert seen == {"none", "answer"}


# --- Retry-After


NOW = 1_796_000_000_000  # 2026-11-30T00:53:20Z


class Stopped:
    def now(self):
        return NOW


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0), ("120", 120.0), (" 7 ", 7.0), ("-5", 0.0), ("9999999999", 9_999_999_999.0),
        ("Mon, 30 Nov 2026 00:54:20 GMT", 60.0), ("Mon, 30 Nov 2026 00:52:20 GMT", 0.0),
        ("Monday, 30-Nov-26 00:54:20 GMT", 60.0), ("Mon Nov 30 00:54:20 2026", 60.0),
        ("Mon, 30 Nov 2026 01:54:20 +0100", 60.0),
        ("", None), ("soon", None), ("1.5", None), ("1e3", None), ("٣", None),
        ("99999999999", None),
        ("NaN", None), ("inf", None), ("30 Nov", None), ("Mon, 99 Nov 2026 00:54:20 GMT", None),
        ("Mon, 30 Nov 2026 00:54:20 +9999999", None), ("1, 2", None),
    ],
)  # fmt: skip
async def test_retry_after(site, make, value, seconds):
    head = f"HTTP/1.1 503 No\r\nContent-Length: 0\r\nRetry-After: {value}\r\n\r\n"
    site.answer = head.encode()
    assert (await make(clock=Stopped()).get(site.url())).retry_after == seconds


# --- TLS


@dataclass
class Authority:
    """A certificate authority of this test."""

    name: str = "Test CA"

    def __post_init__(self):
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.cert = self._signed(self.name, self.key, [], ca=True)
        self.pem = self.cert.public_bytes(serialization.Encoding.PEM).decode()

    def issue(self, *names, expired=False):
        """Certificate and key in PEM."""
        key = ec.generate_private_key(ec.SECP256R1())
        cert = self._signed(names[0], key, names, expired=expired)
        return cert.public_bytes(serialization.Encoding.PEM).decode(), private(key)

    def _signed(self, common, key, names, *, ca=False, expired=False):
        now = datetime.datetime.now(datetime.UTC)
        issuer = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, self.name)])
        subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, common)])
        builder = (
            x509.CertificateBuilder()
            .issuer_name(issuer)
            .subject_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=2))
            .not_valid_after(now + datetime.timedelta(days=-1 if expired else 1))
            .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()), False
            )
        )
        if ca:
            usage = [i in (5, 6) for i in range(9)]  # signs certificates and revocations
            builder = builder.add_extension(x509.KeyUsage(*usage), critical=True)
        else:
            alternatives = [
                x509.IPAddress(ipaddress.ip_address(name)) if name[0].isdigit() else
                x509.DNSName(name)
                for name in names
            ]  # fmt: skip
            builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), False)
        return builder.sign(self.key, hashes.SHA256())


def private(key, password=None):
    encryption = (
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption()
    )
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    ).decode()


@pytest.fixture(scope="module")
def authority():
    return Authority()


@pytest.fixture
def server_side(authority, tmp_path):
    """The TLS side of a server with a certificate for some names."""

    def context(*names, by=authority, clients=None, **options):
        path = tmp_path / "server.pem"
        path.write_text("".join(by.issue(*names, **options)))
        made = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        made.load_cert_chain(path)
        if clients is not None:
            made.verify_mode = ssl.CERT_REQUIRED
            made.load_verify_locations(cadata=clients.pem)
        return made

    return context


async def test_tls_is_to_the_name_of_the_url_wherever_it_leads(serve, make, server_side, authority):
    site = await serve(context=server_side("hook.example.com"))
    courier = make(ca=authority.pem)
    for _ in range(2):
        assert (await courier.get(site.url(scheme="https"))).status == 200
    assert site.names == ["hook.example.com"]  # one handshake
    assert f"Host: hook.example.com:{site.port}\r\n".encode() in site.requests[0]


async def test_tls_to_an_address_checks_the_address(serve, make, server_side, authority):
    site = await serve(context=server_side("127.0.0.1"))
    assert (await make(ca=authority.pem).get(site.url("127.0.0.1", scheme="https"))).status == 200
    other = await serve(context=server_side("hook.example.com"))
    with pytest.raises(Unavailable, match="certificate is not accepted: IP address mismatch"):
        await make(ca=authority.pem).get(other.url("127.0.0.1", scheme="https"))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, None),
        ({"names": ["other.example.com"]}, "Hostname mismatch"),
        ({"names": ["127.0.0.1"]}, "Hostname mismatch"),
        ({"expired": True}, "expired"),
        ({"by": Authority("Another CA")}, "unable to get local issuer"),
    ],
)
async def test_a_certificate_of_another_name_time_or_issuer_is_not_accepted(
    serve, make, server_side, authority, options, words
):
    options = dict(options)
    site = await serve(context=server_side(*options.pop("names", ["hook.example.com"]), **options))
    call = make(ca=authority.pem).post(site.url(scheme="https"), {"A": "token"}, b"secret")
    if words is None:
        assert (await call).status == 200
        return
    with pytest.raises(Unavailable, match=f"certificate is not accepted: .*{words}"):
        await call
    assert site.requests == []


async def test_a_certificate_of_no_known_authority_is_not_accepted(
    serve, make, server_side, authority, monkeypatch, tmp_path
):
    (tmp_path / "ca.pem").write_text(authority.pem)
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "ca.pem"))  # the environment's say nothing
    site = await serve(context=server_side("hook.example.com"))
    with pytest.raises(Unavailable, match="certificate is not accepted"):
        await make().get(site.url(scheme="https"))


async def test_two_hosts_on_one_address_share_no_tls(serve, make, names, server_side, authority):
    """Even where one certificate has both names."""
    names.addresses["other.example.com"] = ["127.0.0.1"]
    site = await serve(context=server_side("hook.example.com", "other.example.com"))
    courier = make(ca=authority.pem)
    for host in ("hook.example.com", "other.example.com"):
        await courier.get(site.url(host, scheme="https"))
    assert site.names == ["hook.example.com", "other.example.com"]
    assert site.connections == 2


async def test_plain_http_where_tls_is_spoken_and_the_reverse(
    serve, site, make, server_side, authority
):
    secure = await serve(context=server_side("hook.example.com"))
    courier = make(ca=authority.pem, timeout=0.5)
    for url in (secure.url(), site.url(scheme="https")):
        with pytest.raises(Unavailable):
            await courier.get(url)


async def test_endless_answers_end_under_tls_too(serve, make, server_side, authority):
    site = await serve(context=server_side("hook.example.com"))
    site.answer, site.after = b"", "repeats"
    site.chunk = b"HTTP/1.1 102 Processing\r\n\r\n" * 100
    with pytest.raises(Unavailable, match="too large"):
        await make(ca=authority.pem).get(site.url(scheme="https"))


async def test_what_is_no_tls_within_tls_is_no_answer(serve, make, server_side, authority):
    async def garble(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        os.write(writer.get_extra_info("socket").fileno(), b"garbage " * 100)
        await reader.read()
        writer.close()

    site = Site()
    site.serve = garble
    await serve(site, context=server_side("hook.example.com"))
    with pytest.raises(Unavailable, match="TLS failed"):
        await make(ca=authority.pem).get(site.url(scheme="https"))


async def test_who_accepts_and_never_shakes_hands_is_left_in_time(serve, make):
    site = Site(answer=b"")
    gone = asyncio.Event()

    async def mute(reader, writer):
        while await reader.read(1000):
            pass
        gone.set()
        writer.close()

    site.serve = mute
    await serve(site)
    with pytest.raises(Unavailable, match="within"):
        await make(timeout=0.2).get(site.url(scheme="https"))
    await asyncio.wait_for(gone.wait(), 5)  # the connection is not left open


async def test_mtls_shows_our_certificate_to_who_asks(serve, make, server_side, authority):
    clients = Authority("Clients")
    site = await serve(context=server_side("hook.example.com", clients=clients))
    url = site.url(scheme="https")
    certificate, key = clients.issue("agent.example.com")
    ours = make(ca=authority.pem, certificate=certificate, key=key)
    assert (await ours.post(url, {}, b"x")).status == 200
    strange, key = authority.issue("agent.example.com")
    for options in ({}, {"certificate": strange, "key": key}):
        with pytest.raises(Unavailable, match=r"TLS failed|reset|broke"):  # the alert can be lost
            await make(ca=authority.pem, **options).post(url, {}, b"x")
    assert len(site.requests) == 1


def test_certificates_that_are_none_are_said_at_once(authority, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    certificate, key = authority.issue("a.example.com")
    _, other = authority.issue("b.example.com")
    sealed = private(ec.generate_private_key(ec.SECP256R1()), b"passphrase")
    cases = {
        "push-ca": [{"ca": "nonsense"}, {"ca": "ä"}, {"ca": key}],
        "one needs the other": [{"certificate": certificate}, {"key": key}],
        "are not a certificate and its key": [
            {"certificate": certificate, "key": other},
            {"certificate": certificate, "key": sealed},
            {"certificate": "x", "key": "secret"},
        ],
    }
    for words, options in cases.items():
        for option in options:
            with pytest.raises(InvalidSettings, match=words) as caught:
                WebCourier(OPEN, **option)
            assert not any(text in str(caught.value) for text in option.values())
    WebCourier(OPEN, certificate=certificate, key=key, ca=authority.pem)
    assert list(tmp_path.iterdir()) == []  # the key was in a file for a moment only
