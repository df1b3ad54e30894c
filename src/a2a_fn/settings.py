"""The settings of a deployment: one frozen value, from a YAML file and the environment.

Keys are kebab-case in the file (``blocking-wait: 25``) and ``A2A_FN_BLOCKING_WAIT`` in the
environment, which wins over the file; arguments of the command line win over both. Everything that
is wrong is said in one error. Plain dataclasses on purpose: this is on the HTTP function's
cold path, where a validation library would cost as much as the protocol types.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from .errors import InvalidSettings

PREFIX = "A2A_FN_"
CLIENT_PREFIX = "A2A_FN_CALL_"
"""Variables of the command line's client, which are no settings of a server."""

NOT_EMPTY = ("token", "basic_username", "basic_password", "api_key", "jwt_issuer")
"""Settings that ask for credentials: an empty one would open the door without a word."""

FORERUNNER = {
    "IACCODE_A2A_HTTP_TOKEN": "token",
    "IACCODE_A2A_BASIC_USERNAME": "basic_username",
    "IACCODE_A2A_BASIC_PASSWORD": "basic_password",
    "IACCODE_A2A_API_KEY": "api_key",
    "IACCODE_A2A_API_KEY_HEADER": "api_key_header",
    "IACCODE_A2A_ALLOWED_CWDS": "allowed_cwds",
    "IACCODE_A2A_TEXT_MIME_TYPES": "text_mime_types",
    "IACCODE_A2A_MULTIMODAL_MIME_TYPES": "multimodal_mime_types",
}
"""Variables of iac-code's own server, read too; this project's names win."""

REFERENCE = re.compile(r"(file|env|ssm|secretsmanager|value):")
"""How a secret begins that says where it is kept (``secrets.py`` reads them)."""


def _setting(
    default: Any, meaning: str, check: Callable[[Any], str] | None = None, *, secret: bool = False
) -> Any:
    metadata = {"meaning": meaning, "check": check, "secret": secret}
    return field(default=default, repr=not secret, metadata=metadata)


def _within(low: float, high: float) -> Callable[[Any], str]:
    return lambda n: "" if low <= n <= high else f"must be from {low:g} to {high:g}"


def _one_of(*words: str) -> Callable[[Any], str]:
    return lambda word: "" if word in words else f"must be one of {', '.join(words)}"


def _given(text: str) -> str:
    return "" if text.strip() else "must not be empty"


def _key(text: str) -> str:
    if not text or len(text) >= 16 or REFERENCE.match(text):
        return ""
    return "must have at least 16 characters"


def _http_url(url: str) -> str:
    parts = urlsplit(url)
    if "@" in parts.netloc:
        return "must not have a user name or a password in it"
    if not url or (parts.scheme in ("http", "https") and parts.netloc and not parts.query):
        return ""
    return "must be an http or https URL without a query, such as https://agent.example.com"


def _redis_url(url: str) -> str:
    if not url or REFERENCE.match(url) or urlsplit(url).scheme in ("redis", "rediss", "unix"):
        return ""
    return "must be a URL such as redis://127.0.0.1:6379/0"


def _hosts(words: tuple[str, ...]) -> str:
    known = all(re.fullmatch(r"(\*\.)?[^\s/@*]+", word) for word in words)
    return "" if known else "must be host names or addresses, such as *.example.com"


def _ports(words: tuple[str, ...]) -> str:
    known = all(word.isdecimal() and 0 < int(word) < 65536 for word in words)
    return "" if known else "must be ports, such as 443"


def _token(name: str) -> str:
    return "" if re.fullmatch(r"[A-Za-z0-9-]{1,64}", name) else "must be the name of a header"


def _exposures(words: tuple[str, ...]) -> str:
    known = ("tool-trace", "raw-thinking")
    return "" if set(words) <= set(known) else f"must be of {', '.join(known)}, all, none"


def _agent(name: str) -> str:
    if re.fullmatch(r"iac:offline|echo:|tck|(executor|agent):[\w.]+:\w+", name):
        return ""
    return "must be iac:offline, echo:, executor:package.module:Name or agent:package.module:Name"


@dataclass(init=False, repr=False, eq=False)  # what it would generate costs a cold start 3 ms
class Settings:
    """Every setting, with its default. Durations in seconds. Never changed."""

    config: str = _setting("", "the YAML file that settings are read from; not in that file itself")
    agent: str = _setting("iac:offline", "who answers, as adapter:target", _agent)
    engine: str = _setting(
        "sqlite",
        "where state lives: sqlite, redis or memory",
        _one_of("sqlite", "redis", "memory"),
    )
    redis_url: str = _setting(
        "", "the server of the redis engine, as redis://host:6379/0", _redis_url, secret=True
    )
    data: str = _setting(".a2a-fn", "the folder of the embedded engine", _given)
    host: str = _setting("127.0.0.1", "the address that serve listens on")
    port: int = _setting(8080, "the port that serve listens on; 0: any free one", _within(0, 65535))
    public_url: str = _setting("", "the URL that the card names; else the request's", _http_url)
    card: str = _setting(
        "", "a YAML or JSON file with what the agent's card says; else the agent's own"
    )
    a2a_v03: bool = _setting(True, "whether A2A 0.3 is spoken beside 1.0")
    token: str = _setting("", "bearer token that a client must send", secret=True)
    basic_username: str = _setting("", "user name that a client must send, with basic-password")
    basic_password: str = _setting("", "password of basic-username", secret=True)
    api_key: str = _setting("", "API key that a client must send", secret=True)
    api_key_header: str = _setting("X-API-Key", "the header that carries the API key", _token)
    principals: tuple[Mapping[str, Any], ...] = _setting(
        (),
        "more who may call, each with tasks of their own: name, and token, api-key or "
        "password; tenants",
        secret=True,
    )
    jwt_issuer: str = _setting("", "issuer whose JWTs are accepted as bearer tokens")
    jwt_jwks_url: str = _setting("", "where the issuer's keys are", _http_url)
    jwt_audience: str = _setting("", "audience that a JWT must be for")
    jwt_scopes: tuple[str, ...] = _setting((), "scopes that a JWT must have")
    jwt_tenant_claim: str = _setting("", "claim of a JWT that names its tenant, or a list of them")
    tenants: tuple[str, ...] = _setting((), "the tenants that exist; empty: any name")
    allow_anonymous: bool = _setting(
        False, "let serve listen beyond this machine although no credentials are asked for"
    )
    rate_limit: int = _setting(
        0, "requests a minute of one principal in one process; 0: no limit", _within(0, 1e6)
    )
    signing_secret: str = _setting("", "secret that signs the card with HS256", secret=True)
    signing_keys: tuple[str, ...] = _setting(
        (), "private keys that sign the card, in PEM: ES256, RS256 or EdDSA", secret=True
    )
    required_extensions: tuple[str, ...] = _setting(
        (), "URIs of extensions that every client must ask for"
    )
    workers: int = _setting(4, "turns that one process runs at once", _within(0, 1000))
    blocking_wait: float = _setting(
        600.0, "how long SendMessage waits for the turn to end", _within(0, 86_400)
    )
    streaming: bool = _setting(True, "whether the card offers streaming")
    dedupe_window: float = _setting(
        600.0,
        "how long the same message again is the same request; 0: never",
        _within(0, 600),
    )
    lease: float = _setting(
        60.0, "silence after which a turn's worker counts as dead", _within(0.3, 3600)
    )
    clock_skew: float = _setting(5.0, "how far two machines' clocks may be apart", _within(0, 600))
    max_attempts: int = _setting(
        3, "claims of a turn without progress before it is FAILED", _within(1, 100)
    )
    max_hops: int = _setting(1000, "claims of a turn in all before it is FAILED", _within(1, 1e6))
    grace: float = _setting(
        10.0, "how long a turn has to save when the host stops, then to let go", _within(0, 600)
    )
    sweep_interval: float = _setting(
        10.0, "how often serve looks for what a crash left", _within(0.05, 3600)
    )
    body_limit: int = _setting(
        10 * 1024 * 1024, "the largest request body, in bytes", _within(1024, 1 << 30)
    )
    shards: int = _setting(1, "how many partitions the alarms are spread over", _within(1, 1024))
    end_state: str = _setting(
        "input-required",
        "how the IaC agent ends a turn: input-required or completed",
        _one_of("input-required", "completed"),
    )
    thinking_exposure: tuple[str, ...] = _setting(
        ("tool-trace",),
        "what the agent shows of its work: tool-trace, raw-thinking; all or none",
        _exposures,
    )
    allowed_cwds: tuple[str, ...] = _setting(
        (), "folders that a message's cwd may be in; empty: the working and the temp folder"
    )
    workspace: str = _setting(
        "local",
        "local: folders of this machine; context: one folder a context, kept in the blob store",
        _one_of("local", "context"),
    )
    text_mime_types: tuple[str, ...] = _setting((), "more media types that are read as text")
    multimodal_mime_types: tuple[str, ...] = _setting(
        (), "more media types that are passed on as a manifest"
    )
    artifact_urls: str = _setting(
        "http",
        "how the IaC agent hands over artifacts: http (a URL of this server), file (a file of "
        "this machine), or inline",
        _one_of("http", "file", "inline"),
    )
    push_notifications: bool = _setting(False, "whether tasks are pushed to webhooks")
    push_events: str = _setting(
        "state",
        "what is pushed: state (each change of state, each artifact), terminal (what ends a "
        "turn) or all",
        _one_of("state", "terminal", "all"),
    )
    push_timeout: float = _setting(10.0, "how long a webhook may take to answer", _within(0.1, 60))
    push_max_attempts: int = _setting(
        20, "tries of one push before its webhook is given up", _within(1, 1000)
    )
    push_max_age: float = _setting(
        86_400.0, "how long one push is tried before its webhook is given up", _within(1, 604_800)
    )
    push_workers: int = _setting(256, "pushes that one process sends at once", _within(1, 1000))
    push_concurrency: int = _setting(
        16, "pushes that one process sends to one receiver at once", _within(1, 1000)
    )
    push_allow_private: bool = _setting(
        False, "let webhooks be on this machine or in a private network"
    )
    push_https_only: bool = _setting(False, "refuse webhooks without TLS")
    push_allowed_hosts: tuple[str, ...] = _setting(
        (),
        "hosts that webhooks may be on; *.example.com: any below it; empty: any public one",
        _hosts,
    )
    push_ports: tuple[str, ...] = _setting(
        (), "ports that webhooks may be on; empty: 80, 443 and any from 1024", _ports
    )
    push_challenge: bool = _setting(
        False, "ask each webhook for an echo of a challenge before it is accepted"
    )
    push_keys: str = _setting(
        "",
        "the keyring that signs pushes and seals their credentials, as a2a-fn keys shows it; "
        "empty: kept in the data folder",
        secret=True,
    )
    push_hmac_secret: str = _setting(
        "", "secret shared with the receivers: every push carries an HMAC", _key, secret=True
    )
    push_client_cert: str = _setting(
        "", "certificate that pushes show to webhooks with TLS, in PEM"
    )
    push_client_key: str = _setting("", "private key of push-client-cert, in PEM", secret=True)
    push_ca: str = _setting("", "certificates that webhooks' are checked against too, in PEM")
    push_queue: str = _setting(
        "local-file",
        "where pushes wait: local-file (the engine's own queue) or redis-streams",
        _one_of("local-file", "redis-streams"),
    )
    push_redis_url: str = _setting(
        "", "the server of push-queue redis-streams", _redis_url, secret=True
    )
    push_stream: str = _setting("iac-code:a2a:push", "redis-streams: the stream", _given)
    push_retry_key: str = _setting(
        "iac-code:a2a:push:retry", "redis-streams: the sorted set of what waits", _given
    )
    push_dead_stream: str = _setting(
        "iac-code:a2a:push:dead", "redis-streams: the stream of dead letters", _given
    )
    push_consumer_group: str = _setting("iac-code-push", "redis-streams: the group", _given)
    push_consumer_name: str = _setting(
        "", "redis-streams: the consumer; empty: host, process and a random part"
    )
    push_lease_timeout_ms: int = _setting(
        300_000,
        "redis-streams: milliseconds after which another consumer takes a message over",
        _within(1000, 86_400_000),
    )
    id_key: str = _setting(
        "",
        "secret that ids are derived with; empty: kept in the data folder",
        _key,
        secret=True,
    )
    log: str = _setting(
        "auto", "text, json, or auto: text on a terminal", _one_of("auto", "text", "json")
    )

    def __init__(self, **values: Any) -> None:
        for name, setting in self.__dataclass_fields__.items():
            object.__setattr__(self, name, values.pop(name, setting.default))
        if values:
            raise TypeError(f"there are no settings {', '.join(values)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"{name}: settings do not change")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Settings) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        shown = (f for f in dataclasses.fields(self) if f.repr)
        return f"Settings({', '.join(f'{f.name}={getattr(self, f.name)!r}' for f in shown)})"


def load(
    config: str | os.PathLike[str] | None = None,
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> Settings:
    """The settings of a YAML file (if given), the environment, and overrides (None: not given).

    Raises InvalidSettings that lists every fault with the place it came from.
    """
    faults: list[str] = []
    config = config or environ.get(f"{PREFIX}CONFIG") or None
    given: dict[str, tuple[str, object]] = {}
    for key, value in _from_file(config, faults).items():
        given[str(key).replace("-", "_")] = (f"{config}: {key}", value)
    for key, text in environ.items():
        if key in FORERUNNER and text:
            given[FORERUNNER[key]] = (key, text)
    for key, text in environ.items():
        if key.startswith(PREFIX) and not key.startswith(CLIENT_PREFIX):
            given[key.removeprefix(PREFIX).lower()] = (key, text)
    for key, override in (overrides or {}).items():
        if override is not None:
            given[key.replace("-", "_")] = (f"--{key.replace('_', '-')}", override)
    known = {f.name: f for f in dataclasses.fields(Settings)}
    given["config"] = ("--config", str(config or ""))
    values: dict[str, Any] = {}
    for name, (where, value) in given.items():
        if name not in known:
            faults.append(f"{where}: there is no such setting{_meant(name, list(known))}")
            continue
        if name in NOT_EMPTY and value == "":  # from a variable that was not set, say
            faults.append(f"{where}: must not be empty; leave it out to have none")
            continue
        try:
            values[name] = _typed(known[name], value)
        except ValueError as error:
            faults.append(f"{where}: {error}")
    if faults:
        raise InvalidSettings("\n".join(faults))
    return Settings(**values)


def to_environment(settings: Settings) -> dict[str, str]:
    """The variables that ``load`` makes the same settings of."""
    return {
        PREFIX + name.upper(): json.dumps(value) if isinstance(value, tuple) else str(value)
        for name, value in dataclasses.asdict(settings).items()
        if name != "config" and value != ""  # what the file says is in the others
    }


def _from_file(config: str | os.PathLike[str] | None, faults: list[str]) -> Mapping[Any, Any]:
    if config is None:
        return {}
    import yaml

    try:
        loaded = yaml.safe_load(Path(config).read_text(encoding="utf-8"))
    except OSError as error:
        faults.append(f"{config}: cannot be read: {error.strerror}")
        return {}
    except UnicodeDecodeError:
        faults.append(f"{config}: is not UTF-8")
        return {}
    except yaml.YAMLError as error:  # its text has the line itself, and that may be a secret's
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        faults.append(f"{config}: is not YAML{where}: {getattr(error, 'problem', '') or 'unread'}")
        return {}
    if loaded is None:
        return {}
    if not isinstance(loaded, dict):
        faults.append(f"{config}: must be a mapping of settings, not a {type(loaded).__name__}")
        return {}
    return loaded


def _typed(setting: dataclasses.Field[Any], value: object) -> Any:
    """The value as the setting's type. Raises ValueError that says what is wrong, without the
    value where that is a secret."""
    kind: type[Any] = type(setting.default)
    typed: Any
    if kind is bool:
        words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
        typed = words.get(str(value).lower())
        if typed is None:
            raise ValueError("must be true or false")
    elif kind in (int, float):
        try:
            typed = kind(str(value))
        except ValueError:
            raise ValueError(
                f"must be a {'whole ' if kind is int else ''}number, not {str(value)[:40]!r}"
            ) from None
    elif kind is tuple:
        typed = _listed(setting.name, value)
    elif isinstance(value, str | int | float):
        typed = str(value)
    else:
        raise ValueError(f"must be text, not a {type(value).__name__}")
    check = setting.metadata["check"]
    fault = check(typed) if check else ""
    if fault:
        private = setting.metadata["secret"] or "@" in str(typed)  # a URL may hold a password
        shown = "" if private else f", not {str(typed)[:60]!r}"
        raise ValueError(fault + shown)
    return typed


def _listed(name: str, value: object) -> tuple[Any, ...]:
    """A list: as YAML has it, or (in the environment) as JSON, or words between commas,
    semicolons, or for folders what separates them on this system."""
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                value = json.loads(text)
            except ValueError:
                raise ValueError("must be a list; what begins with [ must be JSON") from None
        elif name == "signing_keys":  # a PEM may have commas in its comments
            value = [text] if text else []
        else:
            separators = f"[{re.escape(os.pathsep)}]" if name == "allowed_cwds" else "[,;]"
            value = [word.strip() for word in re.split(separators, text) if word.strip()]
    if not isinstance(value, list | tuple):
        raise ValueError(f"must be a list, not a {type(value).__name__}")
    if name == "push_ports":  # YAML reads them as numbers
        value = [str(item) if type(item) is int else item for item in value]
    kind: type = Mapping if name == "principals" else str
    if not all(isinstance(item, kind) for item in value):
        raise ValueError(f"must be a list of {'mappings' if kind is Mapping else 'text'}")
    if name == "thinking_exposure":
        words = [word.replace("_", "-") for word in value]
        if words in (["all"], ["*"]):
            return ("tool-trace", "raw-thinking")
        return () if words in (["none"], ["off"], ["false"], ["0"]) else tuple(words)
    return tuple(value)


def _meant(name: str, known: list[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0].replace('_', '-')}?" if close else ""
