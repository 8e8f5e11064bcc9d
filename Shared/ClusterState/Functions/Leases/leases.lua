-- Leases of gateways and sip-bridges, and the timers of the services that watch them. Called by ProcessLeases.swift. Each
-- function has one key.
--
-- A lease is a string with a time to live: packed fields, of which the first is `heartbeat`, the time of the last renewal (ms);
-- the others are not parsed here. The string is kept for some time after the lease has ended, so that the watcher finds the last
-- heartbeat there. In a cluster a gateway has several; a function sees one of them, and judges nothing.

-- Returns whether a lease is alive. `kept`: how long the string outlives the lease (ms).
local function is_alive(lease, kept)
    return redis.call('PTTL', lease) > tonumber(kept)
end

-- KEYS: the lease. ARGV: the fields after `heartbeat`, time to live of the lease (ms), how long the string outlives it (ms).
-- Returns 1 when the lease still existed, 0 when it is new or had ended.
local function lease_renew(keys, args)
    local heartbeat = number((clock()))
    local held = is_alive(keys[1], args[3])
    local record = '9:heartbeat' .. #heartbeat .. ':' .. heartbeat .. args[1]
    redis.call('SET', keys[1], record, 'PX', number(args[2] + args[3]))
    return held and 1 or 0
end

-- KEYS: the lease. ARGV: how long the string outlives it (ms). Called by the watcher after cleaning up. Has no effect while the
-- lease is alive. Returns 1 when there was one that had ended, otherwise 0.
local function lease_forget(keys, args)
    if is_alive(keys[1], args[1]) then
        return 0
    end
    return redis.call('DEL', keys[1])
end

-- KEYS: the timers of the watcher (zset: timer -> when it is due, ms). ARGV: timer, delay (ms). Sets or moves the timer, by this
-- server's clock.
local function lease_watch(keys, args)
    redis.call('ZADD', keys[1], number(clock() + args[2]), args[1])
    return redis.status_reply('OK')
end

register_vital('lease_renew', lease_renew)
register_vital('lease_forget', lease_forget)
register_vital('lease_watch', lease_watch)
