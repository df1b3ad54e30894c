"""Which webhooks may be called: hostile and honest URLs, and what their names resolve to."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from a2a_fn.errors import Refused
from a2a_fn.push.guard import Policy, Target, parse, screen

OPEN = Policy()
PRIVATE = Policy(allow_private=True)

# What it is, the URL, and the words of the refusal that show that it was refused for what it is.
TRICKS = [  # refused whatever the policy
    ("decimal", "http://2130706433/", "looks like an address"),
    ("decimal, of a public address", "http://134744072/", "looks like an address"),
    ("octal", "http://0177.0.0.1/", "looks like an address"),
    ("octal, one number", "http://017700000001/", "looks like an address"),
    ("hexadecimal", "http://0x7f000001/", "looks like an address"),
    ("hexadecimal in upper case", "http://0X7F.0.0.0X1/", "looks like an address"),
    ("hexadecimal, short", "http://0x7f.1/", "looks like an address"),
    ("hexadecimal without digits", "http://127.0.0.0x/", "looks like an address"),
    ("short", "http://127.1/", "looks like an address"),
    ("short, three parts", "http://127.0.1/", "looks like an address"),
    ("nothing but 0", "http://0/", "looks like an address"),
    ("bases mixed", "http://0x7f.0.0.01/", "looks like an address"),
    ("leading zeros", "http://127.000.000.001/", "looks like an address"),
    ("overflow", "http://256.256.256.256/", "looks like an address"),
    ("overflow of one number", "http://4294967297/", "looks like an address"),
    ("five parts", "http://127.0.0.0.1/", "looks like an address"),
    ("a name that ends as an address", "http://example.0x1/", "looks like an address"),
    ("metadata, decimal", "http://2852039166/latest/", "looks like an address"),
    ("full-width digits", "http://１２７.０.０.１/", "internationalized"),
    ("full-width dots", "http://127．0．0．1/", "internationalized"),
    ("ideographic dots", "http://127。0。0。1/", "internationalized"),
    ("circled digits", "http://①②⑦.⓪.⓪.①/", "internationalized"),
    ("circled letters", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "internationalized"),
    ("superscript digits", "http://¹²⁷.0.0.1/", "internationalized"),
    ("mathematical letters", "http://𝐥𝐨𝐜𝐚𝐥𝐡𝐨𝐬𝐭/", "internationalized"),
    ("Persian digits", "http://۱۲۷.۰.۰.۱/", "internationalized"),
    ("Arabic digits", "http://١٢٧.٠.٠.١/", "internationalized"),
    ("a soft hyphen", "http://local\u00adhost/", "cannot be seen"),
    ("a joiner", "http://local\u200dhost/", "cannot be seen"),
    ("punycode of nothing", "http://xn--/", "internationalized"),
    ("punycode of ASCII", "http://xn--localhost-/", "internationalized"),
    ("punycode that is broken", "http://xn--0000h.example.com/", "internationalized"),
    ("Cyrillic among Latin", "http://pаypal.com/", "look alike"),
    ("IPv4-mapped, loopback", "http://[::ffff:127.0.0.1]/", "IPv4-mapped"),
    ("IPv4-mapped, hexadecimal", "http://[::ffff:7f00:1]/", "IPv4-mapped"),
    ("IPv4-mapped, in full", "http://[0:0:0:0:0:ffff:a9fe:a9fe]/", "IPv4-mapped"),
    ("IPv4-mapped, public", "http://[::ffff:8.8.8.8]/", "IPv4-mapped"),
    ("IPv4-compatible", "http://[::127.0.0.1]/", "IPv4-compatible"),
    ("IPv4-translated", "http://[::ffff:0:127.0.0.1]/", "IPv4-translated"),
    ("NAT64, loopback", "http://[64:ff9b::127.0.0.1]/", "NAT64"),
    ("NAT64, metadata", "http://[64:ff9b::a9fe:a9fe]/", "NAT64"),
    ("NAT64, local prefix", "http://[64:ff9b:1::10.0.0.1]/", "NAT64"),
    ("6to4 of loopback", "http://[2002:7f00:1::]/", "6to4"),
    ("6to4 of metadata", "http://[2002:a9fe:a9fe::1]/", "6to4"),
    ("Teredo", "http://[2001:0:7f00:1::1]/", "Teredo"),
    ("zone", "http://[fe80::1%25eth0]/", "zone"),
    ("zone, as people write it", "http://[fe80::1%eth0]/", "zone"),
    ("zone of a public address", "http://[2606:4700::1111%1]/", "zone"),
    ("future address", "http://[v1.fe80::1]/", "without an IPv6 address"),
    ("IPv4 in brackets", "http://[127.0.0.1]/", "without an IPv6 address"),
    ("a name in brackets", "http://[localhost]/", "without an IPv6 address"),
    ("nothing in brackets", "http://[]/", "without an IPv6 address"),
    ("bracket that does not close", "http://[::1/", "do not belong"),
    ("bracket that does not open", "http://::1]/", "do not belong"),
    ("a host after brackets", "http://[::1].example.com/", "do not belong"),
    ("two brackets", "http://[[::1]]/", "do not belong"),
    ("IPv6 without brackets", "http://::1/", "do not belong"),
    ("two ports", "http://example.com:80:80/", "do not belong"),
    ("any IPv4 address", "http://0.0.0.0:8080/", "unspecified"),
    ("this network", "http://0.1.2.3/", "unspecified"),
    ("any IPv6 address", "http://[::]:8080/", "unspecified"),
    ("multicast", "http://224.0.0.1/", "multicast"),
    ("multicast, IPv6", "http://[ff02::1]/", "multicast"),
    ("broadcast", "http://255.255.255.255/", "broadcast"),
    ("reserved", "http://240.0.0.1/", "reserved"),
    ("protocol assignments", "http://192.0.0.8/", "reserved"),
    ("benchmarking", "http://198.18.0.1/", "benchmarking"),
    ("documentation", "http://203.0.113.7/", "documentation"),
    ("documentation, IPv6", "http://[2001:db8::1]/", "documentation"),
    ("documentation, IPv6, new", "http://[3fff::1]/", "documentation"),
    ("site-local", "http://[fec0::1]/", "site-local"),
    ("discarded", "http://[100::1]/", "discarded"),
    ("IPv6 that nobody has", "http://[4000::1]/", "reserved"),
    ("metadata", "http://169.254.169.254/latest/meta-data/", "a cloud answers"),
    ("metadata, with a final dot", "http://169.254.169.254./latest/", "a cloud answers"),
    ("metadata on IPv6", "http://[fd00:ec2::254]/", "a cloud answers"),
    ("metadata of containers", "http://169.254.170.2/v2/credentials", "a cloud answers"),
    ("metadata of Alibaba Cloud", "http://100.100.100.200/latest/", "a cloud answers"),
    ("Azure's host", "http://168.63.129.16/machine", "a cloud answers"),
    ("user name", "http://example.com@127.0.0.1/", "user name"),
    ("user name and password", "https://user:secret@example.com/", "user name"),
    ("empty user name", "http://@example.com/", "user name"),
    ("user name that looks like the host", "http://example.com:80@10.0.0.1/", "user name"),
    ("user name that is hidden", "http://example.com%2f@10.0.0.1/", "user name"),
    ("fragment before an at sign", "http://example.com#@10.0.0.1/", "user name"),
    ("backslash before an at sign", "http://example.com\\@10.0.0.1/", "backslash"),
    ("backslashes for slashes", "http:\\\\127.0.0.1\\", "backslash"),
    ("tab in the host", "http://127.0\t.0.1/", "cannot be seen"),
    ("line break in the host", "http://127.0.0.1\r\n/", "cannot be seen"),
    ("line break in the path", "http://example.com/\r\nHost: 10.0.0.1", "cannot be seen"),
    ("nothing but a NUL more", "http://example.com\x00.evil.example/", "cannot be seen"),
    ("space before", " http://example.com/", "a space"),
    ("space within", "http://example.com /", "a space"),
    ("space of another kind", "http://example.com\u00a0/", "a space"),
    ("half a character", "http://example.com/\ud800", "cannot be seen"),
    ("percent-encoded host", "http://%31%32%37.0.0.1/", "letters, digits"),
    ("percent-encoded dot", "http://127%2e0.0.1/", "letters, digits"),
    ("port 0", "http://example.com:0/", "port"),
    ("port out of range", "http://example.com:65536/", "port"),
    ("port that overflows to 80", "http://example.com:65616/", "port"),
    ("port with a sign", "http://example.com:+80/", "port"),
    ("port with a zero", "http://example.com:080/", "port"),
    ("port in other digits", "http://example.com:８０/", "port"),
    ("port that is empty", "http://example.com:/", "port"),
    ("port of another service", "http://example.com:22/", "on port 22"),
    ("mail port", "https://example.com:25/", "on port 25"),
    ("no scheme", "example.com/hook", "begin with"),
    ("no scheme but slashes", "//example.com/hook", "begin with"),
    ("one slash", "http:/example.com/", "begin with"),
    ("no host", "http:///path", "empty"),
    ("nothing but a port", "http://:8080/", "empty"),
    ("two final dots", "http://example.com../", "empty part"),
    ("a dot before", "http://.example.com/", "empty part"),
    ("a file", "file:///etc/passwd", "begin with"),
    ("gopher", "gopher://127.0.0.1:6379/_INFO", "begin with"),
    ("FTP", "ftp://example.com/", "begin with"),
    ("data", "data:text/plain,hello", "begin with"),
    ("WebSocket", "ws://example.com/", "begin with"),
    ("scheme with a long s", "httpſ://example.com/", "begin with"),
    ("a scheme in a scheme", "http://http://example.com/", "port"),
    ("fragment", "http://example.com/#hook", "fragment"),
    ("a part too long", f"http://{'a' * 64}.com/", "letters, digits"),
    ("a name too long", "http://" + "abcdefg." * 32 + "com/", "253"),
    ("too long", "http://example.com/" + "a" * 2048, "2048"),
    ("nothing", "", "begin with"),
]
PLACES = [  # refused unless private places are allowed
    ("localhost", "http://localhost/", "not a public name"),
    ("localhost in upper case", "http://LOCALHOST:8080/", "not a public name"),
    ("localhost with a final dot", "http://localhost./", "not a public name"),
    ("below localhost", "http://hook.localhost/", "not a public name"),
    ("a single name", "http://intranet/", "not a public name"),
    ("a single name of another script", "http://例え/", "not a public name"),
    (".local", "http://printer.local/", "not a public name"),
    (".internal", "http://metadata.google.internal/", "not a public name"),
    (".internal with a final dot", "http://metadata.google.internal./", "not a public name"),
    (".home.arpa", "http://router.home.arpa/", "not a public name"),
    ("loopback", "http://127.0.0.1/", "loopback"),
    ("loopback with a final dot", "http://127.0.0.1./", "loopback"),
    ("loopback elsewhere", "http://127.8.8.8/", "loopback"),
    ("loopback, IPv6", "http://[::1]:8080/", "loopback"),
    ("loopback, IPv6 in full", "http://[0:0:0:0:0:0:0:1]/", "loopback"),
    ("private, 10", "http://10.0.0.1/", "private"),
    ("private, 172.16", "http://172.31.255.255/", "private"),
    ("private, 192.168", "http://192.168.1.1:8080/", "private"),
    ("shared by a provider", "http://100.64.0.1/", "shared"),
    ("link-local", "http://169.254.1.1/", "link-local"),
    ("link-local, IPv6", "http://[fe80::1]/", "link-local"),
    ("unique-local", "http://[fd12:3456::1]/", "unique-local"),
]
HONEST = [
    ("plain", "https://example.com/hook", Target("https", "example.com", 443, "/hook", False)),
    ("no path", "http://example.com", Target("http", "example.com", 80, "/", False)),
    ("query", "https://a.example.com/h?t=1&u=a%20b/@:",
     Target("https", "a.example.com", 443, "/h?t=1&u=a%20b/@:", False)),
    ("query without a path", "https://example.com?x=1",
     Target("https", "example.com", 443, "/?x=1", False)),
    ("upper case", "HTTPS://Example.COM/Hook",
     Target("https", "example.com", 443, "/Hook", False)),
    ("port", "https://example.com:8443/", Target("https", "example.com", 8443, "/", False)),
    ("the scheme's port", "https://example.com:443/",
     Target("https", "example.com", 443, "/", False)),
    ("the other scheme's port", "http://example.com:443/",
     Target("http", "example.com", 443, "/", False)),
    ("the last port", "http://example.com:65535/",
     Target("http", "example.com", 65535, "/", False)),
    ("final dot", "https://example.com./x", Target("https", "example.com", 443, "/x", False)),
    ("public address", "http://8.8.8.8/", Target("http", "8.8.8.8", 80, "/", True)),
    ("public address, IPv6", "https://[2606:4700:4700::1111]:8443/h",
     Target("https", "2606:4700:4700::1111", 8443, "/h", True)),
    ("public address, IPv6 in full", "https://[2606:4700:0:0:0:0:0:00AB]/",
     Target("https", "2606:4700::ab", 443, "/", True)),
    ("next to a private block", "http://172.32.0.1/", Target("http", "172.32.0.1", 80, "/", True)),
    ("next to the shared block", "http://100.128.0.1/",
     Target("http", "100.128.0.1", 80, "/", True)),
    ("umlaut", "https://BÜCHER.example/straße?q=ü",
     Target("https", "xn--bcher-kva.example", 443, "/stra%C3%9Fe?q=%C3%BC", False)),
    ("punycode", "https://xn--bcher-kva.example/",
     Target("https", "xn--bcher-kva.example", 443, "/", False)),
    ("Chinese", "https://例子.测试/钩",
     Target("https", "xn--fsqu00a.xn--0zwm56d", 443, "/%E9%92%A9", False)),
    ("Cyrillic", "https://пример.рф/", Target("https", "xn--e1afmkfd.xn--p1ai", 443, "/", False)),
    ("numbers in a name", "https://127.0.0.1.example.com/",
     Target("https", "127.0.0.1.example.com", 443, "/", False)),
    ("a name that ends in a digit", "https://hook.v2x9/",
     Target("https", "hook.v2x9", 443, "/", False)),
    ("underscore", "https://my_hook.example.com/",
     Target("https", "my_hook.example.com", 443, "/", False)),
    ("localhost elsewhere", "https://localhost.example.com/",
     Target("https", "localhost.example.com", 443, "/", False)),
    ("dots in the path", "https://example.com/a/../b//c",
     Target("https", "example.com", 443, "/a/../b//c", False)),
    ("braces in the query", 'https://example.com/?q={"a"}|<b>',
     Target("https", "example.com", 443, "/?q=%7B%22a%22%7D%7C%3Cb%3E", False)),
    ("as long as may be", "https://example.com/" + "a" * 2028,
     Target("https", "example.com", 443, "/" + "a" * 2028, False)),
]  # fmt: skip


def names(cases):
    return [case[0] for case in cases]


def test_the_tables_are_as_large_as_they_say_and_say_nothing_twice():
    assert len(TRICKS + PLACES) >= 60 and len(HONEST) >= 15
    for table in (TRICKS + PLACES, HONEST):
        assert len({url for _, url, _ in table}) == len(set(names(table))) == len(table)


@pytest.mark.parametrize(("what", "url", "words"), TRICKS + PLACES, ids=names(TRICKS + PLACES))
def test_a_hostile_url_is_refused_for_what_it_is(what, url, words):
    with pytest.raises(Refused, match=re.escape(words)):
        parse(url, OPEN)


@pytest.mark.parametrize(("what", "url", "words"), TRICKS, ids=names(TRICKS))
def test_tricks_stay_refused_where_private_places_are_allowed(what, url, words):
    with pytest.raises(Refused, match=re.escape(words)):
        parse(url, PRIVATE)


@pytest.mark.parametrize(("what", "url", "words"), PLACES, ids=names(PLACES))
def test_private_places_can_be_allowed(what, url, words):
    assert parse(url, PRIVATE)


@pytest.mark.parametrize(("what", "url", "target"), HONEST, ids=names(HONEST))
def test_an_honest_url_is_read_as_it_is_meant(what, url, target):
    assert parse(url, OPEN) == parse(url, PRIVATE) == target


@pytest.mark.parametrize(
    ("url", "authority", "origin"),
    [
        ("https://Example.com:443/x?secret", "example.com", "https://example.com"),
        ("http://example.com:443/", "example.com:443", "http://example.com:443"),
        ("http://[2606:4700::00ab]/", "[2606:4700::ab]", "http://[2606:4700::ab]"),
        ("http://[2606:4700::ab]:81/", "[2606:4700::ab]:81", "http://[2606:4700::ab]:81"),
    ],
)
def test_authority_and_origin_have_a_port_where_it_is_needed(url, authority, origin):
    target = parse(url, Policy(ports=(80, 81, 443)))
    assert (target.authority, target.origin) == (authority, origin)


# --- the policy


def test_https_only():
    assert parse("https://example.com/", Policy(https_only=True))
    with pytest.raises(Refused, match="push-https-only"):
        parse("http://example.com/", Policy(https_only=True))


def test_ports_replace_the_usual_ones():
    policy = Policy(ports=(443, 22))
    assert parse("https://example.com/", policy) and parse("http://example.com:22/", policy)
    for port in (80, 8443):
        with pytest.raises(Refused, match=f"on port {port}; a webhook's must be 443, 22"):
            parse(f"http://example.com:{port}/", policy)


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        ("example.com", ["example.com", "EXAMPLE.com."], ["a.example.com", "example.com.evil.org"]),
        ("*.example.com", ["a.example.com", "b.a.example.com"], ["example.com", "badexample.com"]),
        ("Bücher.example.", ["xn--bcher-kva.example", "bücher.example"], ["bucher.example"]),
        ("*.bücher.example", ["a.bücher.example"], ["bücher.example"]),
        ("8.8.8.8", ["8.8.8.8"], ["8.8.4.4", "8.8.8.8.example.com"]),
        ("2606:4700::AB", ["[2606:4700::ab]"], ["[2606:4700::ac]"]),
        ("[2606:4700::ab]", ["[2606:4700:0::ab]"], ["[2606:4700::ac]"]),
        ("*", [], ["example.com"]),
        ("", [], ["example.com"]),
        ("*.", [], ["example.com"]),
        ("https://example.com", [], ["example.com"]),
    ],
)
def test_allowed_hosts(entry, allowed, refused):
    policy = Policy(allowed_hosts=("other.example", entry))
    for host in allowed:
        assert parse(f"https://{host}/", policy)
    for host in refused:
        with pytest.raises(Refused, match="push-allowed-hosts"):
            parse(f"https://{host}/", policy)


def test_an_allowed_host_is_not_thereby_a_public_one():
    for host in ("localhost", "10.0.0.1", "hook.internal"):
        with pytest.raises(Refused, match="public"):
            parse(f"https://{host}/", Policy(allowed_hosts=(host,)))


# --- what names resolve to

BAD = [
    ("127.0.0.1", "loopback"), ("10.1.2.3", "private"), ("169.254.169.254", "a cloud answers"),
    ("100.100.100.200", "a cloud answers"), ("100.127.255.255", "shared"),
    ("0.0.0.0", "unspecified"), ("::1", "loopback"), ("::", "unspecified"),
    ("::ffff:10.0.0.1", "IPv4-mapped"), ("::10.0.0.1", "IPv4-compatible"),
    ("64:ff9b::10.0.0.1", "private"), ("64:ff9b::169.254.169.254", "a cloud answers"),
    ("64:ff9b:1::1", "NAT64"), ("2002:a00:1::", "6to4"), ("2001::1", "Teredo"),
    ("fe80::1", "link-local"), ("fe80::1%2", "zone"), ("fd00::1", "unique-local"),
    ("2606:4700::1%2", "zone"), ("ff02::1", "multicast"), ("255.255.255.255", "broadcast"),
    ("not an address", "is none"), ("127.1", "is none"), ("0177.0.0.1", "is none"),
]  # fmt: skip


@pytest.mark.parametrize(("address", "words"), BAD)
@pytest.mark.parametrize("others", [[], ["8.8.8.8"], ["8.8.8.8", "2606:4700::1"]])
def test_one_bad_address_among_good_ones_refuses_the_name(address, words, others):
    for addresses in ([address, *others], [*others, address]):
        with pytest.raises(Refused, match=re.escape(words)) as caught:
            screen("hook.example.com", addresses, OPEN)
        # The name may be of a network that whoever gave it to us cannot see into.
        assert address not in str(caught.value)


def test_good_addresses_come_back_once_each_in_their_order():
    found = ["2606:4700:0:0::1", "8.8.8.8", "2606:4700::1", "8.8.4.4"]
    assert screen("hook.example.com", found, OPEN) == ("2606:4700::1", "8.8.8.8", "8.8.4.4")
    assert screen("hook.example.com", [], OPEN) == ()


def test_behind_dns64_the_address_is_kept_and_its_meaning_judged():
    assert screen("hook.example.com", ["64:ff9b::808:808"], OPEN) == ("64:ff9b::808:808",)


BLOCKS = [  # of IANA's registries of special purposes: the first and the last address
    ("0.0.0.0", "0.255.255.255"), ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"), ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"), ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"), ("192.0.2.0", "192.0.2.255"), ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"), ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"), ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "239.255.255.255"), ("240.0.0.0", "255.255.255.255"),
    ("::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"), ("2001::", "2001:1ff:ffff::"),
    ("2001:db8::", "2001:db8:ffff::"), ("2002::", "2002:ffff::"), ("3ffe::", "3ffe:ffff::"),
    ("3fff::", "3fff:fff:ffff::"), ("4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "last"), BLOCKS)
def test_a_special_block_is_refused_from_end_to_end(first, last):
    for address in (first, last):
        with pytest.raises(Refused):
            screen("hook", [address], OPEN)


@pytest.mark.parametrize(
    "address",
    ["1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
     "128.0.0.0", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0",
     "191.255.255.255", "192.0.3.0", "192.88.98.255", "192.88.100.0", "192.167.255.255",
     "192.169.0.0", "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
     "203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::", "2001:200::", "2001:db7:ffff::",
     "2001:db9::", "2003::", "3ffd:ffff::", "3fff:1000::", "3fff:ffff::"],
)  # fmt: skip
def test_what_lies_beside_a_special_block_is_public(address):
    assert screen("hook", [address], OPEN) == (address,)


@pytest.mark.parametrize("address", ["127.0.0.1", "10.1.2.3", "::1", "fd00::1", "169.254.9.9"])
def test_private_addresses_can_be_allowed(address):
    assert screen("hook", [address], PRIVATE) == (address,)


@pytest.mark.parametrize(
    "address",
    ["169.254.169.254", "169.254.170.2", "169.254.170.23", "169.254.100.1", "169.254.169.253",
     "169.254.169.123", "fd00:ec2::254", "fd00:ec2::23", "fd00:ec2::253", "100.100.100.200",
     "168.63.129.16", "fd20:ce::254", "192.0.0.192", "169.254.0.23", "169.254.42.42", "fd00:42::42",
     "0.0.0.0", "ff02::1", "::ffff:10.0.0.1", "2002:a00:1::", "fe80::1%2", "192.0.2.1",
     "192.88.99.1", "198.51.100.1"],
)  # fmt: skip
def test_no_policy_opens_what_is_no_place_for_a_webhook(address):
    with pytest.raises(Refused):
        screen("hook", ["10.0.0.1", address], PRIVATE)


# --- one reading


def octets(low, high):
    return st.tuples(*[st.integers(low, high)] * 4).map(lambda four: ".".join(map(str, four)))


PIECES = st.sampled_from(
    ["http", "https", "HTTP", ":", "://", "/", "//", "\\", "@", "#", "?", "%", "%2e", "%00", "&",
     ".", "..", "[", "]", "::1", "::ffff:", "127.0.0.1", "8.8.8.8", "0x7f", "0177", "2130706433",
     "localhost", "example.com", "evil.example", "2606:4700::1", ":80", ":8080", ":0", " ", "\t",
     "\r\n", "user", "pass", "ü", "。", "１", "ⓐ", "xn--", "xn--bcher-kva", "-", "_", ";", "~", "'",
     "|", "^", "`", "{", "\u00ad", "\u200b", "ſ", "K"]
)  # fmt: skip
ODD = st.one_of(
    st.lists(PIECES, max_size=9).map("".join),
    st.lists(PIECES, max_size=8).map(lambda pieces: "http://" + "".join(pieces)),
    st.tuples(st.sampled_from(["http://", "https://"]), octets(0, 999), st.text(max_size=4)).map(
        "".join
    ),
    st.text(max_size=12).map(lambda text: f"https://{text}.example.com/"),
)


@settings(deadline=None)
@given(ODD)
@example("https://BÜCHER.example.com:8080/?a@b")
@example("http://[2606:4700::1]:8080")
@example("http://example.com.?/@evil.example:1")
def test_what_is_accepted_means_the_same_to_other_readers_of_urls(url):
    try:
        target = parse(url, PRIVATE)
    except Refused:
        return
    split, other = urlsplit(url), httpx.URL(url)
    assert split.scheme == other.scheme == target.scheme
    assert (split.port or {"http": 80, "https": 443}[target.scheme]) == target.port
    assert other.port in (target.port, None)  # httpx leaves out the scheme's own
    host = other.raw_host.decode().removesuffix(".")
    assert split.username is None and not other.userinfo
    if target.literal:
        assert (
            ip_address(host)
            == ip_address(split.hostname.removesuffix("."))
            == (ip_address(target.host))
        )
    else:
        assert host == target.host


@settings(deadline=None)
@given(ODD)
def test_whatever_it_is_given_it_answers_or_refuses_and_says_no_secret(url):
    policy = Policy(allowed_hosts=("example.com",))
    try:
        target = parse(url + "/hunter2?hunter2", policy)
    except Refused as refused:
        assert "hunter2" not in str(refused) and len(str(refused)) < 400
        assert str(refused).isprintable()
        return
    assert re.fullmatch(r"[a-z0-9._:-]+", target.host)
    assert re.fullmatch(r"/[!-~]*", target.resource)
    assert 0 < target.port < 65536


@settings(deadline=None)
@given(octets(0, 255))
def test_public_addresses_are_those_that_ipaddress_calls_global_but_for_a_few(text):
    """The table against the standard library's, which knows other names for the same blocks."""
    try:
        screen("hook", [text], OPEN)
    except Refused as refused:
        special = "a cloud answers" in str(refused) or "(reserved)" in str(refused)
        assert not ip_address(text).is_global or ip_address(text).is_multicast or special
    else:
        assert ip_address(text).is_global


@settings(deadline=None)
@given(st.integers(0, 2**128 - 1).map(lambda number: str(ip_address(number | 1 << 127))))
def test_of_ipv6_nothing_outside_of_2000_3_is_public(text):
    with pytest.raises(Refused):
        screen("hook", [text], OPEN)
