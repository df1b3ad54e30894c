"""How a value becomes the bytes of a row: compressed when that helps, a blob when too large."""

from __future__ import annotations

import zlib

from ..ports import Blobs

INLINE_LIMIT = 256 * 1024  # bytes; a row on DynamoDB holds 400 KB with everything
COMPRESS_FROM = 512  # bytes; below, zlib gains less than it costs

_RAW, _ZLIB, _BLOB = b"\x00", b"\x01", b"\x02"


class Cells:
    """Packs values for rows and unpacks them; the first byte of a row says how it was done."""

    def __init__(self, blobs: Blobs) -> None:
        self._blobs = blobs

    async def pack(self, data: bytes) -> bytes:
        """The bytes to put in a row. A large value is in the blob store when this returns."""
        cell = _RAW + data
        if len(data) >= COMPRESS_FROM:
            packed = zlib.compress(data, 1)
            if len(packed) < len(data):
                cell = _ZLIB + packed
        if len(cell) > INLINE_LIMIT:
            return _BLOB + (await self._blobs.put(cell)).encode()
        return cell

    async def unpack(self, cell: bytes) -> bytes:
        """The value of a row. Raises NotFound if its blob is gone."""
        if cell[:1] == _BLOB:
            cell = await self._blobs.get(cell[1:].decode())
        return zlib.decompress(cell[1:]) if cell[:1] == _ZLIB else cell[1:]
