-- Leases of gateways and sip-bridges. Called by ProcessLeases.swift. When a lease has ended, its watcher cleans up:
-- presence after gateways, the invitation service after sip-bridges.
--
-- KEYS, with their names for gateways: 1 the lease (string with a time to live: a record that is not parsed here),
--       2 `gateways` (zset: id -> last heartbeat, ms), 3 `gateways:draining` (set: ids that discovery must not return),
--       4 `due:presence` (zset of timers), 5 for sip-bridges only: the set of the bridge's calls.

-- ARGV: id, lease text, time to live (ms), 1 when discovery may return it, delay of the watcher's timer (ms).
-- Returns 1 when the lease still existed, 0 when it is new or had ended.
local function gateway_heartbeat(keys, args)
    local now = clock()
    local held = redis.call('SET', keys[1], args[2], 'PX', args[3], 'GET')
    redis.call('ZADD', keys[2], number(now), args[1])
    if args[4] == '1' then
        redis.call('SREM', keys[3], args[1])
    else
        redis.call('SADD', keys[3], args[1])
    end
    redis.call('ZADD', keys[4], number(now + args[5]), 'gateway ' .. args[1])
    return held and 1 or 0
end

-- ARGV: id. Ends the lease. The watcher's timer fires at once.
local function gateway_leave(keys, args)
    redis.call('DEL', keys[1])
    redis.call('ZREM', keys[2], args[1])
    redis.call('SREM', keys[3], args[1])
    redis.call('ZADD', keys[4], number((clock())), 'gateway ' .. args[1])
    return redis.status_reply('OK')
end

-- ARGV: prefix of the lease keys, time to live (ms).
-- Returns id, lease text, ... of the gateways that discovery may return.
local function gateway_list(keys, args)
    local list = {}
    for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys[2], number(clock() - args[2]), '+inf')) do
        if redis.call('SISMEMBER', keys[3], id) == 0 then
            local lease = redis.call('GET', args[1] .. id)
            if lease then
                list[#list + 1] = id
                list[#list + 1] = lease
            end
        end
    end
    return list
end

-- ARGV: id. Called by the watcher when the gateway's timer fires.
-- Returns nil while the lease exists, else the time of the last heartbeat (ms), or 0 when the gateway ended its lease
-- itself.
local function gateway_lost(keys, args)
    if redis.call('EXISTS', keys[1]) == 1 then
        return false
    end
    return redis.call('ZSCORE', keys[2], args[1]) or '0'
end

-- ARGV: id. Called by the watcher after cleaning up. Has no effect while the lease exists.
local function gateway_forget(keys, args)
    if redis.call('EXISTS', keys[1]) == 0 then
        redis.call('ZREM', keys[2], args[1])
        redis.call('SREM', keys[3], args[1])
        if keys[5] then
            redis.call('UNLINK', keys[5])
        end
    end
    return redis.status_reply('OK')
end

register_vital('gateway_heartbeat', gateway_heartbeat)
register_vital('gateway_leave', gateway_leave)
register_vital('gateway_list', gateway_list)
register_vital('gateway_lost', gateway_lost)
register_vital('gateway_forget', gateway_forget)
