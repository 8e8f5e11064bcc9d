-- Calls. A call's hash lies at TAG:call (TAG of KeySpace.callTag): `ver`, and the fields of CallSnapshot.
-- A user's calls are the zset TAG:calls (TAG of the user): 'CALLID CALLTAG' by the time (ms) to forget it; likewise those
-- of a sip-bridge.
-- The calls to telephones that stand are the zset TAG:lines (TAG of the user, and of the app): the call's id by the time (ms)
-- to forget it; TAG:dialled has the ids of those of the last minute by their beginning.
-- A command's outcome lies at TAG:done:ID for a minute, so that a redelivered command repeats it instead of acting anew.

-- New calls to telephones are counted for so long.
local DIALLED_MS = 60000
-- No line is held longer.
local LINES_MS = 86400000

-- ARGV: command id. Returns: now (ms), outcome of the command or nil, version (0 = no call), the call's fields.
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

-- KEYS: the tag, the stream of the call log. ARGV: command id, deadline (ms, 0 = none), the version that was loaded, time to
-- live (ms), outcome, how many entries for the call log follow, those, then the call's fields. Returns: {0} committed, {1, outcome} the command was done before, {2} the call changed since it was loaded.
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
    return { err = 'SIG 1001 timeout the command came after its deadline' }
  end
  local loaded = tonumber(args[3])
  if tonumber(redis.call('HGET', key, 'ver') or '0') ~= loaded then
    return { 2 }
  end
  if loaded == 0 and crowded(now) then
    return { err = MEMORY_FULL }
  end
  -- A new record starts at the clock, so that its version is none that an older record of the pair had.
  local version = loaded == 0 and now or loaded + 1
  redis.call('DEL', key)
  local entries = tonumber(args[6])
  redis.call('HSET', key, 'ver', number(version), unpack(args, 7 + entries))
  redis.call('PEXPIRE', key, args[4])
  redis.call('SET', done_key, args[5], 'PX', DONE_MS)
  -- With the change itself: what has changed is logged, and what is logged has changed.
  for index = 7, 6 + entries do
    redis.call('XADD', keys[2], 'MAXLEN', '~', LOG_LENGTH, '*', 'r', args[index])
  end
  return { 0 }
end

-- What ends a call is taken also by a full Redis; a call that begins is refused before it is full.
redis.register_function { function_name = 'call_commit', callback = call_commit, flags = { 'allow-oom' } }

-- What is known of a user (TAG of the user). Returns: session id ('' = offline), uid ('0' = not known here, also of who has
-- been away for long), how many calls.
redis.register_function {
  function_name = 'call_party',
  flags = { 'no-writes' },
  callback = function(keys)
    local session = redis.call('HMGET', keys[1] .. ':session', 'sid', 'uid')
    local uid = session[2] or redis.call('HGET', keys[1] .. ':box', 'uid')
    return { session[1] or '', uid or '0', redis.call('ZCARD', keys[1] .. ':calls') }
  end,
}

-- Notes a call among a user's. ARGV: member, time to live (ms).
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

-- Takes a call from a user's. ARGV: member.
redis.register_function {
  function_name = 'call_forget',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    return redis.call('ZREM', keys[1] .. ':calls', args[1])
  end,
}

-- A user's calls, a page of them. ARGV: how many to pass over, how many to tell.
redis.register_function {
  function_name = 'call_list',
  flags = { 'no-writes' },
  callback = function(keys, args)
    return redis.call('ZRANGE', keys[1] .. ':calls', args[1], args[1] + args[2] - 1)
  end,
}

-- Takes a line for a call to a telephone (TAG of the user, or of the app), unless the call has it. ARGV: call id, how long it
-- is held (ms), lines at once, new ones in a minute. Returns 0: taken; 1: no line is free; 2: too many new ones.
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

-- Holds a call's line until a time. ARGV: call id, time (ms).
redis.register_function {
  function_name = 'line_keep',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    redis.call('ZADD', keys[1] .. ':lines', args[2], args[1])
    redis.call('PEXPIRE', keys[1] .. ':lines', LINES_MS)
    return 1
  end,
}

-- Gives a call's line back. ARGV: call id.
redis.register_function {
  function_name = 'line_free',
  flags = { 'allow-oom' },
  callback = function(keys, args)
    return redis.call('ZREM', keys[1] .. ':lines', args[1])
  end,
}
