"""Agent cards: found, read in either version's form, and asked what a caller must know."""

from __future__ import annotations

import copy
from collections.abc import Collection
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

import httpx
from a2a.types.a2a_pb2 import AgentCard, AgentInterface, SecurityScheme
from google.protobuf.json_format import ParseError

from .answers import parse, read_json
from .failures import Exit, Failure
from .wire import Wire

WELL_KNOWN = "/.well-known/agent-card.json"
PLACES = (WELL_KNOWN, "/.well-known/agent.json")
_BINDINGS = {"JSONRPC": "jsonrpc", "HTTP+JSON": "http+json"}


class Choice(NamedTuple):
    """The interface to use, its URL in full, and the version spoken there: 1.0 or 0.3."""

    interface: AgentInterface
    url: str
    version: str

    def __str__(self) -> str:
        return f"{self.interface.protocol_binding} {self.version} at {self.url}"


def find_card(wire: Wire) -> tuple[dict[str, Any], str]:
    """The card's JSON, and where it is: at the URL if that is one of a card; else below it, then at
    the root of its host, by the name of 1.0 and by the one before."""
    if urlsplit(wire.url).path.endswith(".json"):
        places = [wire.url]
    else:
        below = [_base(wire.url) + name for name in PLACES]
        places = list(dict.fromkeys(below + [urljoin(wire.url, name) for name in PLACES]))
    denied: httpx.Response | None = None
    for place in places:
        response = wire.get(place)
        if response.status_code in (401, 403):  # of a path that may not even be there
            denied = denied or response
        elif response.status_code not in (404, 405, 410):
            wire.check(response)
            card = read_json(response)
            if not isinstance(card, dict):
                raise Failure(f"{place} is not an agent card")
            return card, place
    if denied is not None:
        wire.check(denied)
    raise Failure(f"there is no agent card at {places[0]}: is this the URL of an A2A agent?")


def read_card(document: dict[str, Any]) -> AgentCard:
    """A card from its JSON, in the form of 1.0 or of 0.3."""
    if "supportedInterfaces" in document or "url" not in document:
        return parse(document, AgentCard(), "agent card")
    # Costs half a second: only for a card that needs it.
    from a2a.client.card_resolver import parse_agent_card

    try:
        return parse_agent_card(copy.deepcopy(document))
    except (ParseError, TypeError, ValueError, AttributeError, KeyError) as e:
        raise Failure(f"the server's agent card is not valid: {e}", Exit.UNREACHABLE) from e


def unused_path(url: str, place: str, document: dict[str, Any]) -> str:
    """The path of `url`, if it leads nowhere: the card was found at `place`, the root of the host,
    and has no interface at that path or below. Else ""."""
    path = _base(urlsplit(url).path)
    if not path or place == url or place not in [urljoin(url, name) for name in PLACES]:
        return ""
    try:
        interfaces = read_card(document).supported_interfaces
        used = [urlsplit(_full(url, one.url)).path.rstrip("/") for one in interfaces]
    except Failure:  # whoever needs the card says so
        return ""
    return "" if any(f"{one}/".startswith(f"{path}/") for one in used) else path


def choose(
    card: AgentCard, base: str, binding: str = "", version: str = "", *, tenants: bool = False
) -> Choice:
    """The first interface on the card that this client speaks, of `binding` and `version` if they
    are given, with `tenants` only of a version that has them; URLs are read as seen from `base`."""
    offers = []
    for interface in card.supported_interfaces:
        spoken = _spoken(interface.protocol_version)
        kind = _BINDINGS.get(interface.protocol_binding.upper(), "")
        offers.append(f"{interface.protocol_binding} {interface.protocol_version}")
        wanted = (not binding or kind == binding) and (not version or spoken == version)
        if kind and spoken and wanted and not (tenants and spoken == "0.3"):
            return Choice(interface, _full(base, interface.url), spoken)
    has = ", ".join(offers) or "no interface"
    asked = " ".join(filter(None, [binding, version, "--tenant" if tenants else ""]))
    speaks = (
        f"{asked} was asked for" if asked else "a2a-fn speaks JSONRPC and HTTP+JSON of 1.0, 0.3"
    )
    none = " (A2A 0.3 has no tenants)" if tenants and offers else ""
    raise Failure(f"{speaks}; the card of {base} offers {has}{none}")


def missing_extensions(card: AgentCard, asked: Collection[str]) -> list[str]:
    """The extensions that the agent requires and the user did not ask for."""
    required = [e.uri for e in card.capabilities.extensions if e.required]
    return [uri for uri in required if uri not in asked]


def check_pushes(card: AgentCard, url: str) -> None:
    """A Failure if the agent at `url` says that it pushes nothing."""
    if not card.capabilities.push_notifications:
        raise Failure(
            f"the card of {url} says that the agent pushes to no webhooks (pushNotifications); "
            "a2a-fn watch follows a task"
        )


def api_key_header(card: AgentCard) -> str:
    """The header that the card names for an API key; "" if it names none."""
    for _, scheme in sorted(card.security_schemes.items()):
        key = scheme.api_key_security_scheme
        if scheme.WhichOneof("scheme") == "api_key_security_scheme" and key.location == "header":
            return key.name
    return ""


def ways_in(card: AgentCard) -> str:
    """How one may authenticate, with the option for each; "" if the card does not say."""
    schemes = sorted(card.security_schemes.items())  # a proto map has no order of its own
    ways = dict.fromkeys(_way(scheme) for _, scheme in schemes)
    return f"the card announces {', or '.join(ways)}" if ways else ""


def _way(scheme: SecurityScheme) -> str:
    match scheme.WhichOneof("scheme"):
        case "http_auth_security_scheme":
            kind = scheme.http_auth_security_scheme.scheme
            option = {"bearer": "--token", "basic": "--basic"}.get(kind.lower(), "--header")
            return f"{kind} ({option})"
        case "api_key_security_scheme":
            key = scheme.api_key_security_scheme
            if key.location == "header":
                return f"an API key in {key.name} (--api-key)"
            return f"an API key in the {key.location} {key.name}"
        case "mtls_security_scheme":
            return "mutual TLS"
        case _:
            return "an access token by OAuth 2 or OpenID Connect (--token)"


def _base(url: str) -> str:
    """The URL without query and fragment, and without a final slash."""
    return urlsplit(url)._replace(query="", fragment="").geturl().rstrip("/")


def _full(base: str, url: str) -> str:
    """The URL of an interface as seen from `base`."""
    try:
        return urljoin(base, url)
    except ValueError as e:
        why = f"the card of {base} names {url[:200]!r}, which is not a URL"
        raise Failure(why, Exit.UNREACHABLE) from e


def _spoken(version: str) -> str:
    """The version of ours that speaks to an interface of `version`; "" if none does. A later 1.x
    understands 1.0."""
    major, _, minor = version.partition(".")
    if major == "1" and (not minor or minor[:1].isdigit()):
        return "1.0"
    return "0.3" if version == "0.3" or version.startswith("0.3.") else ""
