-- Calls. A call's hash lies at TAG:call (TAG of KeySpace.callTag): `ver`, and the fields of CallSnapshot.
-- A user's calls are the zset TAG:calls (TAG of the user): 'CALLID CALLTAG' by the time (ms) to forget it; likewise those
-- of a sip-bridge.
-- A command's outcome lies at TAG:done:ID for a minute, so that a redelivered command repeats it instead of acting anew.

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

-- ARGV: command id, deadline (ms, 0 = none), the version that was loaded, time to live (ms), outcome, then the call's
-- fields. Returns: {0} committed, {1, outcome} the command was done before, {2} the call changed since it was loaded.
redis.register_function('call_commit', function(keys, args)
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
  -- A new record starts at the clock, so that its version is none that an older record of the pair had.
  local version = loaded == 0 and now or loaded + 1
  redis.call('DEL', key)
  redis.call('HSET', key, 'ver', number(version), unpack(args, 6))
  redis.call('PEXPIRE', key, args[4])
  redis.call('SET', done_key, args[5], 'PX', DONE_MS)
  return { 0 }
end)

-- What is known of a user (TAG of the user). Returns: session id ('' = offline), uid ('0' = unknown).
redis.register_function {
  function_name = 'call_party',
  flags = { 'no-writes' },
  callback = function(keys)
    local session = redis.call('HMGET', keys[1] .. ':session', 'sid', 'uid')
    local uid = session[2] or redis.call('HGET', keys[1] .. ':box', 'uid')
    return { session[1] or '', uid or '0' }
  end,
}

-- Notes a call among a user's. ARGV: member, time to live (ms), bound.
redis.register_function('call_remember', function(keys, args)
  local key = keys[1] .. ':calls'
  local now = clock()
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  redis.call('ZADD', key, now + tonumber(args[2]), args[1])
  -- Beyond the bound, the oldest end by their own timers instead.
  redis.call('ZREMRANGEBYRANK', key, 0, -tonumber(args[3]) - 1)
  redis.call('PEXPIRE', key, args[2])
  return 1
end)

-- Takes a call from a user's. ARGV: member.
redis.register_function('call_forget', function(keys, args)
  return redis.call('ZREM', keys[1] .. ':calls', args[1])
end)

-- A user's calls.
redis.register_function {
  function_name = 'call_list',
  flags = { 'no-writes' },
  callback = function(keys)
    return redis.call('ZRANGE', keys[1] .. ':calls', 0, -1)
  end,
}
