-- The list of living gateways, that of sip-bridges and that of media nodes. Called by ProcessLeases.swift and MediaNodeList.swift.
-- All processes write to one server, and so each function does little, however many processes there are.
--
-- KEYS: 1 zset: id -> last heartbeat (ms), 2 hash: id -> record (not parsed here); gateways and sip-bridges that drain are not in
-- them.

-- Processes that are removed by one call at most.
local MOST_REMOVED = 100

-- ARGV: id, record. Lists a process, or tells that it still lives.
local function lease_announce(keys, args)
    redis.call('ZADD', keys[1], number((clock())), args[1])
    redis.call('HSET', keys[2], args[1], args[2])
    return redis.status_reply('OK')
end

-- Removes processes whose last heartbeat was before `oldest` (ms).
local function remove_stale(keys, oldest)
    local last = '(' .. number(oldest)
    local stale = redis.call('ZRANGE', keys[1], '-inf', last, 'BYSCORE', 'LIMIT', 0, MOST_REMOVED)
    if #stale > 0 then
        redis.call('ZREM', keys[1], unpack(stale))
        redis.call('HDEL', keys[2], unpack(stale))
    end
end

-- ARGV: time to live of a lease (ms), number of processes. Returns id, record, ... of so many at most, drawn at random: neighbours
-- in the set would often be shards of one process, whose heartbeats come at the same time.
local function lease_sample(keys, args)
    local oldest = clock() - args[1]
    remove_stale(keys, oldest)
    local ids = {}
    local drawn = redis.call('ZRANDMEMBER', keys[1], args[2], 'WITHSCORES')
    for i = 1, #drawn, 2 do
        if tonumber(drawn[i + 1]) >= oldest then
            ids[#ids + 1] = drawn[i]
        end
    end
    if #ids == 0 then
        return {}
    end
    local sample = {}
    local records = redis.call('HMGET', keys[2], unpack(ids))
    for i, id in ipairs(ids) do
        if records[i] then
            sample[#sample + 1] = id
            sample[#sample + 1] = records[i]
        end
    end
    return sample
end

register_vital('lease_announce', lease_announce)
register_vital('lease_sample', lease_sample)
