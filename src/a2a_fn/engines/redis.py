"""Rows in Redis: a sorted set and a hash per partition, all that changes rows in Lua.

A partition is three keys under one hash tag, ``a2a-fn:{partition}`` and

- ``:k``, a sorted set of the keys, all with score 0: Redis then orders them by their bytes;
- ``:v``, a hash from key to 24 bytes (revision, order, end) and the value; under the empty key,
  which no row can have, the partition's last revision;
- ``:x``, a sorted set of the keys that end, by when.

A row costs about 200 bytes besides its value and twice its key. A string per row, which Redis
could end by itself, would cost 30 more, and a look-up among all keys for each row of a scan.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import groupby

from a2a_fn.engines.limits import check_changes, past
from a2a_fn.engines.redis_link import RedisLink, script
from a2a_fn.errors import Conflict
from a2a_fn.ports import Absent, Change, Clock, Older, Put, Rev, Row

_HEAD = struct.Struct(">QQq")  # revision, order + _ZERO, end
_REV, _TAIL = struct.Struct(">q"), struct.Struct(">Qq")
_ZERO = 1 << 63
_NEVER = (1 << 63) - 1

# ARGV: the time, then six words for each change: its partition's number in KEYS, its key, what is
# done or the condition, the revision asked for, order and end as they are kept, the value. The
# answer: 1 for each change that was done, 0 for each that was skipped; or the index of a conflict.
#
# A revision is above the partition's last one and not below the time: when a partition has been
# gone so long that its last revision is forgotten (a day), the time is above it. 2^53 is far.
_WRITE = script("""
local now, words, done = tonumber(ARGV[1]), 6, {}
local function end_of(row)
  local high, low = struct.unpack('>i4I4', row, 17)
  return high * 4294967296 + low
end
local function older(a, b)
  local a1, a2 = struct.unpack('>I4I4', a)
  local b1, b2 = struct.unpack('>I4I4', b)
  return a1 < b1 or (a1 == b1 and a2 < b2)
end
for i = 0, (#ARGV - 1) / words - 1 do
  local at = 2 + i * words
  local keys, key, what = 3 * tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
  done[i + 1] = 1
  if what == 'absent' then
    if redis.call('HEXISTS', KEYS[keys + 2], key) == 1 then
      local ends = redis.call('ZSCORE', KEYS[keys + 3], key)
      if not ends or tonumber(ends) > now then return i end
    end
  elseif what == 'rev' or what == 'older' then
    local row = redis.call('HGET', KEYS[keys + 2], key)
    local there = row and end_of(row) > now
    if what == 'rev' then
      if not there or row:sub(1, 8) ~= ARGV[at + 3] then return i end
    elseif there and not older(row:sub(9, 16), ARGV[at + 4]:sub(1, 8)) then
      done[i + 1] = 0
    end
  end
end
local function remove(keys, key)
  redis.call('HDEL', KEYS[keys + 2], key)
  redis.call('ZREM', KEYS[keys + 1], key)
  redis.call('ZREM', KEYS[keys + 3], key)
end
local revs = {}
for i = 0, (#ARGV - 1) / words - 1 do
  local at = 2 + i * words
  local keys, key, what = 3 * tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2]
  if what == 'delete' then
    remove(keys, key)
  elseif done[i + 1] == 1 then
    local last = revs[keys] or tonumber(redis.call('HGET', KEYS[keys + 2], '') or 0)
    local rev = math.max(last + 1, now * 1024)
    revs[keys] = rev
    local head = struct.pack('>I4I4', math.floor(rev / 4294967296), rev % 4294967296)
    redis.call('HSET', KEYS[keys + 2], key, head .. ARGV[at + 4] .. ARGV[at + 5])
    redis.call('ZADD', KEYS[keys + 1], 0, key)
    local ends = end_of('00000000' .. ARGV[at + 4])
    if ends < 9e18 then
      redis.call('ZADD', KEYS[keys + 3], ends, key)
    else
      redis.call('ZREM', KEYS[keys + 3], key)
    end
  end
end
for keys = 0, #KEYS - 3, 3 do
  if revs[keys] then
    redis.call('HSET', KEYS[keys + 2], '', string.format('%.0f', revs[keys]))
  end
  local grace, sweep, day = 300000, 20, 86400000
  local ended = redis.call('ZRANGEBYSCORE', KEYS[keys + 3], '-inf', now - grace, 'LIMIT', 0, sweep)
  for _, key in ipairs(ended) do remove(keys, key) end
  local rows, ending = redis.call('ZCARD', KEYS[keys + 1]), redis.call('ZCARD', KEYS[keys + 3])
  if rows == ending then
    local stay = day
    if rows > 0 then
      local last = redis.call('ZREVRANGE', KEYS[keys + 3], 0, 0, 'WITHSCORES')
      stay = stay + math.max(0, tonumber(last[2]) - now)
    end
    stay = string.format('%.0f', math.min(stay, 1e15))
    for n = 1, 3 do redis.call('PEXPIRE', KEYS[keys + n], stay) end
  elseif redis.call('PTTL', KEYS[keys + 2]) >= 0 then
    for n = 1, 3 do redis.call('PERSIST', KEYS[keys + n]) end
  end
end
return done
""")

_SCAN = script("""
local now, low, high, limit = tonumber(ARGV[1]), ARGV[2], ARGV[3], tonumber(ARGV[4])
local reverse, found = ARGV[5] == '1', {}
while #found < 2 * limit do
  local count = math.min(limit - #found / 2, 500)
  local keys
  if reverse then
    keys = redis.call('ZREVRANGEBYLEX', KEYS[1], high, low, 'LIMIT', 0, count)
  else
    keys = redis.call('ZRANGEBYLEX', KEYS[1], low, high, 'LIMIT', 0, count)
  end
  if #keys == 0 then break end
  local rows = redis.call('HMGET', KEYS[2], unpack(keys))
  for i, row in ipairs(rows) do
    local top, rest = struct.unpack('>i4I4', row, 17)
    if top * 4294967296 + rest > now then
      found[#found + 1] = keys[i]
      found[#found + 1] = row
    end
  end
  if #keys < count then break end
  if reverse then high = '(' .. keys[#keys] else low = '(' .. keys[#keys] end
end
return found
""")


class RedisRows:
    """``ports.Rows`` in Redis.

    On one server a write is all or nothing. On a cluster (``RedisLink.whole`` is False) it is so
    among neighbouring changes of one partition, and these groups are done in order: a conflict or
    a crash leaves the groups before it.

    Reads are the primary's; ``redis_link`` says what durability needs, and what a failover can
    lose. Rows that have ended are removed by later writes to their partition, 20 at a time and not
    before 5 minutes, since another process's clock may be behind; a partition in which all rows
    end is removed by Redis a day after the last one.

    ``prefix`` keeps these keys apart from others on the server.
    """

    def __init__(self, link: RedisLink, *, clock: Clock, prefix: str = "a2a-fn:") -> None:
        if "{" in prefix or "}" in prefix:
            raise ValueError(f"the prefix {prefix!r} must have no braces: they mark the hash tag")
        self._link = link
        self._clock = clock
        self._prefix = prefix

    async def get(self, partition: str, key: str) -> Row | None:
        """See ``ports.Rows.get``."""
        if not key:  # the partition's last revision is kept there
            return None
        value = await self._link.read("HGET", self._keys(partition)[1], key)
        row = _row(key, value) if value is not None else None
        return (
            row if row is None or row.expires is None or row.expires > self._clock.now() else None
        )

    async def scan(
        self,
        partition: str,
        *,
        prefix: str = "",
        after: str | None = None,
        limit: int = 1000,
        reverse: bool = False,
    ) -> list[Row]:
        """See ``ports.Rows.scan``; one step of the server, and so a snapshot."""
        low, high = (f"[{prefix}", f"({past(prefix)}") if prefix else ("-", "+")
        if after is not None and reverse and (not prefix or after < past(prefix)):
            high = f"({after}"
        elif after is not None and not reverse and after >= prefix:
            low = f"({after}"
        found = await self._link.run(
            _SCAN,
            self._keys(partition)[:2],
            (self._clock.now(), low, high, max(limit, 0), int(reverse)),
            again=True,
        )
        pairs = iter(found)
        return [_row(key.decode("ascii"), value) for key, value in zip(pairs, pairs, strict=True)]

    async def write(self, changes: Sequence[Change]) -> None:
        """See ``ports.Rows.write``; ValueError for an order or an end beyond 64 bits."""
        await self.apply(changes)

    async def apply(self, changes: Sequence[Change]) -> list[bool]:
        """As ``write``; says of each change whether it was done: False is a skipped ``Older``."""
        check_changes(changes)
        packed = [_packed(change) for change in changes]
        done: list[bool] = []
        for size in self._sizes(changes):
            first = len(done)
            group = range(first, first + size)
            numbers: dict[str, int] = {}
            words: list[object] = [self._clock.now()]
            for n in group:
                partition = changes[n].partition
                words += (numbers.setdefault(partition, len(numbers)), *packed[n])
            keys = [key for partition in numbers for key in self._keys(partition)]
            answer = await self._link.run(_WRITE, keys, words)
            if isinstance(answer, int):
                raise Conflict(first + answer)
            done += [bool(each) for each in answer]
        return done

    async def close(self) -> None:
        """Close the link; the next use opens it again."""
        await self._link.close()

    def _sizes(self, changes: Sequence[Change]) -> list[int]:
        """How many changes each script does."""
        if self._link.whole:
            return [len(changes)] if changes else []
        return [len(list(group)) for _, group in groupby(changes, key=lambda c: c.partition)]

    def _keys(self, partition: str) -> tuple[str, str, str]:
        # A brace in the name would end the hash tag, or make it empty, which is none.
        tag = partition.replace("%", "%25").replace("}", "%7D")
        name = f"{self._prefix}{{{tag}}}"
        return f"{name}:k", f"{name}:v", f"{name}:x"


def _packed(change: Change) -> tuple[str, str, bytes, bytes, bytes]:
    """A change in the words of the script, its partition left out."""
    if not isinstance(change, Put):
        return change.key, "delete", b"", b"", b""
    when, ends = change.when, _NEVER if change.expires is None else change.expires
    what, rev = "always", b""
    if isinstance(when, Absent):
        what = "absent"
    elif isinstance(when, Older):
        what = "older"
    elif isinstance(when, Rev):
        # A number that no revision can be is none that is there.
        what, rev = "rev", _REV.pack(when.rev) if 0 <= when.rev < _ZERO else b""
    try:
        tail = _TAIL.pack(change.order + _ZERO, ends)
    except struct.error:
        raise ValueError(
            f"the order {change.order} or the end {change.expires} of {change.key!r} is beyond"
            " 64 bits"
        ) from None
    return change.key, what, rev, tail, change.value


def _row(key: str, packed: bytes) -> Row:
    rev, order, ends = _HEAD.unpack_from(packed)
    expires = None if ends == _NEVER else ends
    return Row(key, packed[_HEAD.size :], rev, order - _ZERO, expires)
