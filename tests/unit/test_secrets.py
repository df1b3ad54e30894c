"""Secrets by reference: where they are read, how often, and what an error says."""

from __future__ import annotations

from pathlib import Path

import pytest

from a2a_fn.errors import InvalidSettings, NotFound, Unavailable
from a2a_fn.secrets import LIMIT, Secrets
from a2a_fn.settings import Settings, load
from a2a_fn.wiring import build_services


class Manager:
    """A secret manager: a dict, or what it fails with."""

    def __init__(self, *failures: Exception, **held: str) -> None:
        self.failures = list(failures)
        self.held = held
        self.asked: list[str] = []

    def __call__(self, name: str) -> str:
        self.asked.append(name)
        if self.failures:
            raise self.failures.pop(0)
        if name not in self.held:
            raise NotFound("there is no such secret")
        return self.held[name]


def secrets(manager: Manager | None = None, **environ: str) -> Secrets:
    manager = manager or Manager()
    return Secrets({"ssm": manager, "secretsmanager": manager}, environ)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("plain", "plain"),
        ("https://user:pass@x", "https://user:pass@x"),
        ("File:x", "File:x"),
        ("", ""),
        ("value:file:x", "file:x"),
        ("value:", ""),
        ("env:KEY", "from the environment"),
    ],
)
def test_what_is_no_reference_is_the_secret(text: str, secret: str) -> None:
    assert secrets(KEY="from the environment").reveal("token", text) == secret


@pytest.mark.parametrize(
    ("content", "secret"),
    [
        ("s\n", "s"),
        ("s\r\n", "s"),
        ("s", "s"),
        ("s\n\n", "s\n"),
        (" s ", " s "),
        ("-----BEGIN\nPEM\n-----\n", "-----BEGIN\nPEM\n-----"),
        ("é", "é"),
    ],
)
def test_a_file_without_the_line_end_at_its_end(tmp_path: Path, content: str, secret: str) -> None:
    (tmp_path / "secret").write_bytes(content.encode())
    assert secrets().reveal("token", f"file:{tmp_path}/secret") == secret


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("file:", "token: file: names nothing"),
        ("env:", "token: env: names nothing"),
        ("ssm:", "token: ssm: names nothing"),
        ("secretsmanager:#key", "token: secretsmanager: names nothing"),
        ("file:/no/such/file", "token: file:/no/such/file cannot be read: No such file"),
        ("file:/", "token: file:/ cannot be read: Is a directory"),
        ("file:a\x00b", "cannot be read: it is not the name of a file"),
        ("env:NONE", "token: env:NONE cannot be read: there is no such environment variable"),
        ("env:EMPTY", "token: env:EMPTY is empty"),
        ("ssm:none", "token: ssm:none cannot be read: there is no such secret"),
        ("ssm:json#c", "token: ssm:json cannot be read: it has no text under #c"),
        ("ssm:json#n", "token: ssm:json cannot be read: it has no text under #n"),
        ("ssm:json#e", "token: ssm:json#e is empty"),
        ("ssm:text#a", "token: ssm:text cannot be read: it is not JSON, so it has no #a"),
        ("ssm:list#a", "token: ssm:list cannot be read: it has no text under #a"),
        ("ssm:deep#a", "it is not JSON"),
    ],
)
def test_an_error_names_setting_and_place_and_no_secret(text: str, words: str) -> None:
    manager = Manager(
        json='{"a": "hunter2", "n": 4242, "e": ""}',
        text="hunter2 in the clear",
        list='["hunter2"]',
        deep="[" * 100_000,
    )
    with pytest.raises(InvalidSettings) as caught:
        secrets(manager, EMPTY="").reveal("token", text)
    said = str(caught.value)
    assert words in said
    assert "hunter2" not in said
    assert "4242" not in said


def test_a_file_that_is_no_secret(tmp_path: Path) -> None:
    for name, content in (("large", b"x" * (LIMIT + 1)), ("binary", b"\xff\xfe")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InvalidSettings, match=r"larger than|not UTF-8"):
            secrets().reveal("token", f"file:{tmp_path}/{name}")
    (tmp_path / "full").write_bytes(b"x" * LIMIT)
    assert secrets().reveal("token", f"file:{tmp_path}/full") == "x" * LIMIT


def test_a_place_is_asked_once_whatever_is_taken_from_it() -> None:
    manager = Manager(**{"/app/keys": '{"a": "1", "b": "2"}'})
    held = secrets(manager)
    assert [held.reveal("x", f"ssm:/app/keys#{key}") for key in "abab"] == ["1", "2", "1", "2"]
    assert held.reveal("y", "ssm:/app/keys") == '{"a": "1", "b": "2"}'
    assert manager.asked == ["/app/keys"]


def test_a_manager_that_does_not_answer_is_asked_again_the_next_time() -> None:
    held = secrets(Manager(Unavailable("AWS answered Throttling"), name="secret"))
    with pytest.raises(Unavailable, match=r"token: ssm:name cannot be read now: AWS answered"):
        held.reveal("token", "ssm:name")
    assert held.reveal("token", "ssm:name") == "secret"


def test_the_services_read_their_secrets_on_first_use(tmp_path: Path) -> None:
    place = tmp_path / "secret"
    services = build_services(
        Settings(
            engine="memory",
            token=f"file:{place}",
            principals=({"name": "ann", "api-key": f"file:{place}"},),
        )
    )
    with pytest.raises(InvalidSettings) as caught:
        _ = services.gate
    assert len(str(caught.value).splitlines()) == 2
    place.write_text("hunter2\n")
    assert services.gate.authenticate is not None
    place.unlink()
    assert services.reveal("token", f"file:{place}") == "hunter2"


def test_the_key_of_ids_may_be_kept_elsewhere_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "k"
    place.write_text("k" * 16 + "\n")
    monkeypatch.chdir(tmp_path)
    by_file = load(environ={"A2A_FN_ID_KEY": "file:k", "A2A_FN_ENGINE": "memory"})
    plain = Settings(engine="memory", id_key="k" * 16)
    assert build_services(by_file).secret == build_services(plain).secret
    place.write_text("short")
    with pytest.raises(InvalidSettings, match="id-key: must have at least 16 characters"):
        _ = build_services(by_file).secret


def test_nothing_of_a_cloud_is_loaded_until_a_secret_is_there() -> None:
    import subprocess
    import sys

    code = (
        "import sys; from a2a_fn.settings import Settings;"
        "from a2a_fn.wiring import build_services;"
        "build_services(Settings(engine='memory', token='t', api_key='env:HOME',"
        " jwt_issuer='i', jwt_audience='a', jwt_jwks_url='https://x')).app();"
        "bad = ('boto3', 'botocore', 'httpx', 'jwt', 'cryptography', 'pydantic');"
        "sys.exit(' '.join(m for m in sys.modules if m in bad) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
