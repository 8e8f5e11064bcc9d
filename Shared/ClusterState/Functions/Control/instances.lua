-- The cluster's running processes and their levels. Called by ClusterInstance.swift.
--
-- KEYS: 1 zset of processes: id -> last heartbeat (ms), 2 zset: id -> level, 3 the process's record (hash with a time to
--       live), 4 the layout of Redis (hash).

-- Processes that are removed by one call at most; more than that end together only when a host does.
local MOST_REMOVED = 100

-- When the last process renewed its record, and since when there has been no pause (ms). While nobody could renew, records expired
-- of processes that live: so the levels are not known to be complete before all have had the time to renew theirs.
local renewed, unbroken = 0, 0

-- ARGV: id, level, time to live (ms), number of words of the layout, the layout's names and values, then those of the record.
-- Also removes processes that have not called for the time to live, and writes the layout again when Redis has lost it.
-- Returns the least and the highest level of the living processes, for how long (ms) some process has called within each half
-- of the time to live, and 1 when this process has been asked to drain. A server that was started or promoted meanwhile counts from its
-- first call.
local function instance_renew(keys, args)
    local now = clock()
    local id, level, ttl, words = args[1], args[2], args[3], tonumber(args[4])
    if now - renewed > ttl / 2 then
        unbroken = now
    end
    renewed = now
    local last = number(now - ttl)
    for _, dead in ipairs(redis.call('ZRANGE', keys[1], '-inf', last, 'BYSCORE', 'LIMIT', 0, MOST_REMOVED)) do
        redis.call('ZREM', keys[1], dead)
        redis.call('ZREM', keys[2], dead)
    end
    redis.call('ZADD', keys[1], number(now), id)
    redis.call('ZADD', keys[2], level, id)
    if redis.call('PEXPIRE', keys[3], ttl) == 0 then
        redis.call('HSET', keys[3], unpack(args, 5 + words))
        redis.call('PEXPIRE', keys[3], ttl)
    end
    if redis.call('EXISTS', keys[4]) == 0 then
        redis.call('HSET', keys[4], unpack(args, 5, 4 + words))
    end
    local least = redis.call('ZRANGE', keys[2], 0, 0, 'WITHSCORES')
    local highest = redis.call('ZRANGE', keys[2], 0, 0, 'REV', 'WITHSCORES')
    return {least[2], highest[2], now - unbroken, redis.call('HEXISTS', keys[3], 'drain')}
end

-- Asks a process to drain: it finds out when it renews its record. Returns 0 when there is no such process, else 1.
local function instance_drain(keys)
    if redis.call('EXISTS', keys[3]) == 0 then
        return 0
    end
    redis.call('HSET', keys[3], 'drain', '1')
    return 1
end

-- ARGV: id. The process ends.
local function instance_leave(keys, args)
    redis.call('ZREM', keys[1], args[1])
    redis.call('ZREM', keys[2], args[1])
    redis.call('DEL', keys[3])
    return redis.status_reply('OK')
end

register_vital('instance_renew', instance_renew)
register_vital('instance_leave', instance_leave)
register_vital('instance_drain', instance_drain)
