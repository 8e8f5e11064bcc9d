-- Calls and telephone lines. The keys are
--   CALL:call     hash: `ver` and the fields of CallSnapshot; CALL is the tag of KeySpace.callTag
--   CALL:done:ID  string, expires after a minute: the outcome of command ID, repeated when the command is redelivered
--   TAG:calls     zset: 'CALLID CALLTAG' -> time (ms) to forget it; the calls of the user, or of the sip-bridge, of that tag
--   TAG:lines     zset: call id -> time (ms) to forget it; the current calls to telephones of the user, or of the app
--   TAG:dialled   zset: call id -> time (ms) when it began; the calls to telephones begun in the last minute

-- Period (ms) over which new calls to telephones are counted.
local DIALLED_MS = 60000
-- Longest time (ms) that a line is held.
local LINES_MS = 86400000

-- ARGV: command id. Loads a call.
-- Returns {now (ms), the command's outcome or nil, version (0: no such call), the call's fields}.
redis.register_function {
  function_name = 'call_load',
  flags = { 'no-writes' },
  callback = function(keys, args)
    local key = keys[1] .. ':call'
    local done = redis.call('GET', keys[1] .. ':done:' .. args[1])
    local version = tonumber(redis.call('HGET', key, 'ver') or '0')
    return { (clock()), done, version, redis.call('HGETALL', key) }
  end,
}

-- KEYS: the tag, the stream of the call log. ARGV: command id, deadline (ms, 0 for none), the version that was loaded,
-- time to live (ms), outcome, number of entries for the call log, those entries, then the call's fields. Replaces the
-- call's record.
-- Returns {0} when committed, {1, outcome} when the command was carried out before, {2} when the call has changed since
-- it was loaded.
local function call_commit(keys, args)
  local key = keys[1] .. ':call'
  local done_key = keys[1] .. ':done:' .. args[1]
  local done = redis.call('GET', done_key)
  if done then
    return { 1, done }
  end
  local now = clock()
  local deadline = tonumber(args[2])
  if deadline ~= 0 and now > deadline then
    return { err = REFUSED.timeout .. 'the command came after its deadline' }
  end
  local loaded = tonumber(args[3])
  if tonumber(redis.call('HGET', key, 'ver') or '0') ~= loaded then
    return { 2 }
  end
  if loaded == 0 and crowded(now) then
    return { err = MEMORY_FULL }
  end
  -- A new record's version starts at the clock, so no earlier record with the same key had it.
  local version = loaded == 0 and now or loaded + 1
  redis.call('DEL', key)
  local entries = tonumber(args[6])
  redis.call('HSET', key, 'ver', number(version), unpack(args, 7 + entries))
  redis.call('PEXPIRE', key, args[4])
  redis.call('SET', done_key, args[5], 'PX', DONE_MS)
  -- Logged in the same call as the change, so that neither exists without the other.
  for index = 7, 6 + entries do
    redis.call('XADD', keys[2], 'MAXLEN', '~', LOG_LENGTH, '*', 'r', args[index])
  end
  return { 0 }
end

-- allow-oom: a call must be able to end when Redis is full; a new call is refused earlier, see `crowded`.
redis.register_function { function_name = 'call_commit', callback = call_commit, flags = { 'allow-oom' } }

-- Looks up a user. KEYS: the user's tag.
-- Returns {session id ('' when offline), uid ('0' when not known here, as after a long absence), number of calls}.
redis.register_function {
  function_name = 'call_party',
  flags = { 'no-writes' },
  callback = function(keys)
    local session = redis.call('HMGET', keys[1] .. ':session', 'sid', 'uid')
    local uid = session[2] or redis.call('HGET', keys[1] .. ':box', 'uid')
    return { session[1] or '', uid or '0', redis.call('ZCARD', keys[1] .. ':calls') }
  end,
}

-- Adds a call to a user's calls. ARGV: member, time to live (ms).
redis.register_function {
  function_name = 'call_remember',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    local key = keys[1] .. ':calls'
    local now = clock()
    redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
    redis.call('ZADD', key, now + tonumber(args[2]), args[1])
    redis.call('PEXPIRE', key, args[2])
    return 1
  end,
}

-- Removes a call from a user's calls. ARGV: member.
redis.register_function {
  function_name = 'call_forget',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    return redis.call('ZREM', keys[1] .. ':calls', args[1])
  end,
}

-- Returns a page of a user's calls. ARGV: offset, count.
redis.register_function {
  function_name = 'call_list',
  flags = { 'no-writes' },
  callback = function(keys, args)
    return redis.call('ZRANGE', keys[1] .. ':calls', args[1], args[1] + args[2] - 1)
  end,
}

-- Takes a line for a call to a telephone, unless the call has one. KEYS: the tag of the user or of the app. ARGV: call
-- id, time to hold it (ms), maximum lines at once, maximum new calls per minute.
-- Returns 0 when taken, 1 when no line is free, 2 when there were too many new calls.
redis.register_function('line_take', function(keys, args)
  local lines, dialled = keys[1] .. ':lines', keys[1] .. ':dialled'
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', lines, '-inf', now)
  if redis.call('ZSCORE', lines, args[1]) then
    return 0
  end
  if redis.call('ZCARD', lines) >= tonumber(args[3]) then
    return 1
  end
  redis.call('ZREMRANGEBYSCORE', dialled, '-inf', now - DIALLED_MS)
  if redis.call('ZCARD', dialled) >= tonumber(args[4]) then
    return 2
  end
  redis.call('ZADD', lines, number(now + args[2]), args[1])
  redis.call('PEXPIRE', lines, LINES_MS)
  redis.call('ZADD', dialled, number(now), args[1])
  redis.call('PEXPIRE', dialled, DIALLED_MS)
  return 0
end)

-- Sets until when a call's line is held. ARGV: call id, time (ms).
redis.register_function {
  function_name = 'line_keep',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    redis.call('ZADD', keys[1] .. ':lines', args[2], args[1])
    redis.call('PEXPIRE', keys[1] .. ':lines', LINES_MS)
    return 1
  end,
}

-- Releases a call's line. ARGV: call id.
redis.register_function {
  function_name = 'line_free',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    return redis.call('ZREM', keys[1] .. ':lines', args[1])
  end,
}
