"""The moves of the queue in Redis, each a Lua script: what ``redis_queue`` says, step by step.

KEYS: the stream, the retry set, the dead stream. ARGV: the group, the time, and what else there is.
"""

from __future__ import annotations

from a2a_fn.engines.redis_link import script

# An entry's number is padded, so that members of one score stand in the order of their sending.
_WORDS = """
local stream, retry, dead = KEYS[1], KEYS[2], KEYS[3]
local group, now = ARGV[1], tonumber(ARGV[2])
local function member(id, version, attempt)
  local ms, number = id:match('^(%d+)-(%d+)$')
  return string.format('%s-%06d.%d.%d', ms, tonumber(number), version, attempt)
end
local function parsed(name)
  local ms, number, version, attempt = name:match('^(%d+)-(%d+)%.(%d+)%.(%d+)$')
  if not ms then return nil end
  return ms .. '-' .. string.format('%d', tonumber(number)), tonumber(version), tonumber(attempt)
end
local function body_of(entry)
  for n = 1, #entry[2], 2 do
    if entry[2][n] == 'b' then return entry[2][n + 1] end
  end
  return nil
end
local function drop(id)
  redis.pcall('XACK', stream, group, id)
  redis.call('XDEL', stream, id)
end
local function bury(id, attempt)
  local entry = redis.call('XRANGE', stream, id, id)[1]
  if entry then
    redis.call('XADD', dead, '*', 'b', body_of(entry), 'attempt', attempt, 'sent', id)
  end
  drop(id)
end
"""

# -> when the next is due or '', the last entry's id, then handle, body, attempt of each receipt.
CLAIM = script(
    _WORDS
    + """
local consumer, limit = ARGV[3], tonumber(ARGV[4])
local lease, most = tonumber(ARGV[5]), tonumber(ARGV[6])
local found, taken, moved = {}, 0, 0
local function take(id, body, version, attempt)
  local handle = member(id, version, attempt)
  redis.call('ZADD', retry, string.format('%.0f', now + lease), handle)
  found[#found + 1] = handle
  found[#found + 1] = body
  found[#found + 1] = attempt
  taken = taken + 1
end
while taken < limit and moved < limit + 100 do
  local count = math.min(limit - taken, 500)
  local due = redis.call('ZRANGEBYSCORE', retry, '-inf', now, 'LIMIT', 0, count)
  for _, name in ipairs(due) do
    redis.call('ZREM', retry, name)
    moved = moved + 1
    local id, version, attempt = parsed(name)
    if not id then
      redis.call('XADD', stream, '*', 'b', name:sub(name:find(':', 1, true) + 1))
    elseif attempt >= most then
      bury(id, attempt)
    else
      local claimed = redis.pcall('XCLAIM', stream, group, consumer, 0, id)
      local entry = not claimed.err and claimed[1]
      if entry then take(id, body_of(entry), version + 1, attempt + 1) end
    end
  end
  if #due < count then break end
end
if taken < limit then
  local read = {'XREADGROUP', 'GROUP', group, consumer, 'COUNT', limit - taken,
                'STREAMS', stream, '>'}
  local answer = redis.pcall(unpack(read))
  if answer and answer.err and answer.err:find('NOGROUP', 1, true) then
    redis.call('XGROUP', 'CREATE', stream, group, '0', 'MKSTREAM')
    answer = redis.call(unpack(read))
  elseif answer and answer.err then
    return answer
  end
  for _, entry in ipairs(answer and answer[1] and answer[1][2] or {}) do
    local body = body_of(entry)
    if body then
      take(entry[1], body, 1, 1)
    else
      redis.call('XADD', dead, '*', unpack(entry[2]))
      drop(entry[1])
    end
  end
end
local next = redis.call('ZRANGE', retry, 0, 0, 'WITHSCORES')
local last = redis.call('XREVRANGE', stream, '+', '-', 'COUNT', 1)[1]
return {next[2] or '', last and last[1] or '0-0', found}
"""
)

EXTEND = script(
    _WORDS
    + """
local id, version, attempt = parsed(ARGV[3])
local ends = id and redis.call('ZSCORE', retry, ARGV[3])
if not ends or tonumber(ends) <= now then return false end
local handle = member(id, version + 1, attempt)
redis.call('ZREM', retry, ARGV[3])
redis.call('ZADD', retry, ARGV[4], handle)
return handle
"""
)

ACK = script(
    _WORDS
    + """
local id = parsed(ARGV[3])
local ends = id and redis.call('ZSCORE', retry, ARGV[3])
if ends and tonumber(ends) > now then
  redis.call('ZREM', retry, ARGV[3])
  drop(id)
end
return 0
"""
)

# Nobody heard of these receipts, so they were none.
GIVE_BACK = script(
    _WORDS
    + """
for n = 3, #ARGV do
  if redis.call('ZREM', retry, ARGV[n]) == 1 then
    local id, version, attempt = parsed(ARGV[n])
    redis.call('ZADD', retry, now, member(id, version + 1, attempt - 1))
  end
end
return 0
"""
)

# -> how many due members there were on this page, and how many of them stay.
BURY = script(
    _WORDS
    + """
local most, first, count = tonumber(ARGV[3]), ARGV[4], ARGV[5]
local due, stay = redis.call('ZRANGEBYSCORE', retry, '-inf', now, 'LIMIT', first, count), 0
for _, name in ipairs(due) do
  local id, _, attempt = parsed(name)
  if id and attempt >= most then
    redis.call('ZREM', retry, name)
    bury(id, attempt)
  else
    stay = stay + 1
  end
end
return {#due, stay}
"""
)

# What a consumer holds would go with it; so one script looks and removes.
CLEAN_UP = script(
    _WORDS
    + """
local known = redis.pcall('XINFO', 'CONSUMERS', stream, group)
if known.err then return 0 end
for _, fields in ipairs(known) do
  local about = {}
  for n = 1, #fields, 2 do about[fields[n]] = fields[n + 1] end
  if about.pending == 0 and (about.name == ARGV[3] or about.idle > tonumber(ARGV[4])) then
    redis.call('XGROUP', 'DELCONSUMER', stream, group, about.name)
  end
end
return 0
"""
)
