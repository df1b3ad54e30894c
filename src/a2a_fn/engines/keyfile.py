"""The keyring in a file, and the sealer that uses it.

The file is private (0600), made by whichever process comes first, and replaced whole by a
rotation. Running processes look at each use whether it has changed, which costs one ``stat``.
"""

from __future__ import annotations

import base64
import fcntl
import logging
import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..clock import SystemClock
from ..errors import Conflict, InvalidSettings, Unsealed
from ..ports import Clock
from ..push import keyring
from ..push.keyring import Keyring

log = logging.getLogger(__name__)

NAME = "push-keys.json"
"""The keyring's file in the data folder, where the setting push-keys names no other place."""


class KeyFile:
    """A keyring's file; ``where`` names it in errors. ``made``: it is made when there is none."""

    def __init__(
        self, path: Path, *, where: str = "", made: bool = True, clock: Clock | None = None
    ) -> None:
        self.path = path
        self.made = made
        self.where = where or str(path)
        self._clock = clock or SystemClock()
        self._read: Keyring | None = None
        self._version: tuple[int, int, int] | None = None

    def keyring(self) -> Keyring:
        """The keys, as they are now.

        Raises InvalidSettings if it cannot be read. A file that becomes unreadable while it is in
        use leaves the keys as they were, with a warning.
        """
        try:
            version = _version(self.path)
        except FileNotFoundError as error:
            if self._read is None:
                if not self.made:
                    raise _unreadable(self.where, error) from error
                self.make()
                return self.keyring()
            version = None
        except OSError as error:
            raise _unreadable(self.where, error) from error
        if version != self._version or self._read is None:
            try:
                self._read = self.load()
            except InvalidSettings as error:
                if self._read is None:
                    raise
                log.warning("the keyring is used as it was: %s", error)
            self._version = version
        return self._read

    def load(self) -> Keyring:
        """The keys in the file. Raises InvalidSettings if it is not there or is no keyring."""
        try:
            with self.path.open("rb") as file:
                text = file.read(keyring.LIMIT + 1).decode()
        except UnicodeDecodeError:
            raise InvalidSettings(f"{self.where}: is not UTF-8 text") from None
        except OSError as error:
            raise _unreadable(self.where, error) from error
        return keyring.read(text, self.where)

    def make(self) -> None:
        """Write the first keys, unless another process has just done it."""
        temporary = _written(self.path, keyring.fresh(self._clock.now()))
        try:
            with suppress(FileExistsError):
                os.link(temporary, self.path)  # atomic: the first one wins
        finally:
            temporary.unlink()
        _sync(self.path.parent)

    def rotate(self, seen: Keyring) -> Keyring:
        """Put new keys into use, in the file that was read as ``seen``; the new keyring.

        Raises Conflict if it has changed since: of two rotations at once one wins, as two in a row
        would take away the key that is in use.
        """
        target = self.path.resolve()  # a link stays a link
        with _locked(target.parent):
            if keyring.write(self.load()) != keyring.write(seen):
                raise Conflict
            after = keyring.rotated(seen, self._clock.now())
            before = target.stat()
            temporary = _written(target, after)
            try:
                os.chmod(temporary, before.st_mode & 0o777)
                if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                    os.chown(temporary, before.st_uid, before.st_gid)  # who serves must read it
                os.replace(temporary, target)
            except OSError:
                temporary.unlink()
                raise
            _sync(target.parent)
        return after


def located(setting: str, data: Path) -> KeyFile | None:
    """The file of the setting push-keys, or of the data folder where that is empty. None if the
    setting says another place, or is the keyring itself.

    A file that a person names is theirs to make: a misspelt name must not become new keys.
    """
    if not setting:
        return KeyFile(data / NAME)
    scheme, _, path = setting.partition(":")
    if scheme != "file":
        return None
    return KeyFile(Path(path), where=f"push-keys: {setting}", made=False)


def _written(place: Path, keys: Keyring) -> Path:
    """A private file beside that place, with the keys in it."""
    temporary = place.with_name(f".{place.name}.{os.getpid()}.{secrets.token_hex(4)}")
    write_private(temporary, keyring.write(keys))
    return temporary


def write_private(path: Path, text: str) -> None:
    """Write a file that nobody else may read. Raises FileExistsError if there is one."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(descriptor)


def _version(path: Path) -> tuple[int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns, status.st_size


def _unreadable(where: str, error: OSError) -> InvalidSettings:
    return InvalidSettings(f"{where}: cannot be read: {error.strerror or type(error).__name__}")


def _sync(folder: Path) -> None:
    """Make a new name in the folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Alone among those who rotate in this folder; a file that is replaced cannot hold the lock."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


# ---------------------------------------------------------------- sealing

VERSION = "v1"
_NONCE = 12
_TAG = 16


class KeyringSealer:
    """Seals by AES-256-GCM: ``v1.<key's id>.<base64url of nonce, ciphertext and tag>``.

    ``keys`` gives the keyring at each use: the first of its sealing keys seals, all of them open.
    A key is good for 2^32 sealed values (NIST SP 800-38D, 8.3).
    """

    def __init__(self, keys: Callable[[], Keyring]) -> None:
        self._keys = keys

    async def seal(self, data: bytes, bound: str) -> str:
        """As ports.Sealer."""
        key = self._keys().sealing[0]
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        nonce = os.urandom(_NONCE)
        sealed = nonce + AESGCM(key.key).encrypt(nonce, data, bound.encode())
        return f"{VERSION}.{key.id}.{base64.urlsafe_b64encode(sealed).decode().rstrip('=')}"

    async def open(self, sealed: str, bound: str) -> bytes:
        """As ports.Sealer."""
        name, data = _taken_apart(sealed)
        key = next((key.key for key in self._keys().sealing if key.id == name), None)
        if key is None:
            raise Unsealed(f"the keyring has no sealing key {name}")
        from cryptography.exceptions import InvalidTag
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM

        try:
            return AESGCM(key).decrypt(data[:_NONCE], data[_NONCE:], bound.encode())
        except InvalidTag:
            raise Unsealed("a sealed value was changed, or is not of this place") from None


def _taken_apart(sealed: str) -> tuple[str, bytes]:
    """The key's id; nonce, ciphertext and tag. Every value has one spelling. Raises Unsealed."""
    version, _, rest = sealed.partition(".")
    name, _, text = rest.partition(".")
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except ValueError:
        data = b""
    if (
        version != VERSION
        or not keyring.ID.fullmatch(name)
        or len(data) < _NONCE + _TAG
        or base64.urlsafe_b64encode(data).decode().rstrip("=") != text
    ):
        raise Unsealed("this is not a sealed value")
    return name, data
