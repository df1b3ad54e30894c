"""The layout of a SQLite file, how one is opened, and what SQLite's errors mean in our words."""

from __future__ import annotations

import os
import sqlite3
import time

from a2a_fn.errors import InvalidSettings, TooLarge, Unavailable

VERSION = 1
"""Of the layout, in ``PRAGMA user_version``; a file with a higher one is refused."""

_APPLICATION = 0x61326166  # "a2af", in PRAGMA application_id

# rev is the rowid. AUTOINCREMENT never gives a number twice, so INSERT OR REPLACE makes a
# revision that is new at every put, across processes and restarts, without a counter of ours.
# Two B-trees (table and unique index) suit values of up to 380 KB better than WITHOUT ROWID,
# which would keep the values among the keys that a scan searches.
_LAYOUT = (
    """CREATE TABLE rows (
        rev INTEGER PRIMARY KEY AUTOINCREMENT,
        partition TEXT NOT NULL,
        key TEXT NOT NULL,
        ord INTEGER NOT NULL,
        expires INTEGER,
        value BLOB NOT NULL,
        UNIQUE (partition, key)
    )""",
    "CREATE INDEX rows_expiring ON rows (expires) WHERE expires IS NOT NULL",
    """CREATE TABLE messages (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        queue TEXT NOT NULL,
        dead INTEGER NOT NULL DEFAULT 0,
        due INTEGER NOT NULL,
        attempts INTEGER NOT NULL DEFAULT 0,
        version INTEGER NOT NULL DEFAULT 0,
        body BLOB NOT NULL
    )""",
    "CREATE INDEX messages_due ON messages (queue, dead, due)",
    f"PRAGMA application_id = {_APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


def open_file(path: str, patience: float) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    """A reading and a writing connection; makes the file and its tables if there are none.

    Waits up to ``patience`` seconds while other processes hold the file, then ``Unavailable``.
    ``InvalidSettings`` when the path holds no database of ours, or one from a newer version.
    """
    end = time.monotonic() + patience
    while True:
        try:
            return _open(path)
        except sqlite3.Error as error:
            if not busy(error):
                raise InvalidSettings(f"cannot use {path!r} as the database: {error}") from error
            if time.monotonic() > end:
                raise translated(error, path) from error
        except OSError as error:
            raise InvalidSettings(
                f"cannot make the database {path!r}: {error.strerror};"
                " its folder must exist and be writable"
            ) from error
        time.sleep(0.01)


def _open(path: str) -> tuple[sqlite3.Connection, sqlite3.Connection]:
    if not os.path.exists(path):
        # Conversations are private; SQLite gives its -wal and -shm files the same mode.
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    connections = []
    try:
        for _ in range(2):
            connection = sqlite3.connect(
                path, timeout=0, isolation_level=None, check_same_thread=False
            )
            connections.append(connection)
        reader, writer = connections
        _prepare(writer, path)
        reader.execute("PRAGMA query_only = ON")
        reader.execute("SELECT 1 FROM rows LIMIT 1").fetchall()
    except BaseException:
        for connection in connections:
            connection.close()
        raise
    return reader, writer


def _prepare(writer: sqlite3.Connection, path: str) -> None:
    """Look whose file it is before anything in it is changed."""
    writer.execute("BEGIN")
    application = _value(writer, "PRAGMA application_id")
    version = _value(writer, "PRAGMA user_version")
    tables = _value(writer, "SELECT count(*) FROM sqlite_master")
    writer.execute("COMMIT")
    if application != _APPLICATION and (application or tables or version):
        raise InvalidSettings(f"cannot use {path!r} as the database: another program made it")
    if version > VERSION:
        raise InvalidSettings(
            f"the database {path!r} has layout {version}, this a2a-fn knows {VERSION}:"
            " use the newer a2a-fn that made it, or another file"
        )
    mode = writer.execute("PRAGMA journal_mode = WAL").fetchone()[0]
    if mode != "wal":
        raise InvalidSettings(
            f"cannot use {path!r} as the database: its file system allows no shared memory"
            f" (journal mode {mode!r} instead of WAL); use a local disk"
        )
    # NORMAL may lose the last commits when the power fails, and they have been answered.
    writer.execute("PRAGMA synchronous = FULL")
    if version == VERSION:
        return
    writer.execute("BEGIN IMMEDIATE")
    try:
        if _value(writer, "PRAGMA user_version") == 0:  # no other process was faster
            for statement in _LAYOUT:
                writer.execute(statement)
        writer.execute("COMMIT")
    except BaseException:
        writer.execute("ROLLBACK")
        raise


def _value(connection: sqlite3.Connection, sql: str) -> int:
    found: int = connection.execute(sql).fetchone()[0]
    return found


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


def busy(error: Exception) -> bool:
    """Whether another connection was in the way, so that the same again may work."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY


def translated(error: Exception, path: str) -> Exception:
    """The error in our words; one that is not SQLite's, or a fault of ours, as it is."""
    if not isinstance(error, sqlite3.Error) or isinstance(
        error, sqlite3.ProgrammingError | sqlite3.InterfaceError
    ):
        return error
    kind = TooLarge if isinstance(error, sqlite3.DataError) else Unavailable
    told = kind(f"{path}: {error}")
    told.__cause__ = error
    return told
