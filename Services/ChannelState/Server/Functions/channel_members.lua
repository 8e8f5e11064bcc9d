-- Members of channels.

local function sid_of(info)
    return string.match(info, '^%S+ (.*)$')
end

-- ARGV: command, deadline, account, uid, sid, 1 for a special channel, latest members to list.
-- Returns {outcome, sequence, members, change number, when to tell counter num, and total ('0' for never), accounts
-- listed, account, info, ..., name, value, ...}; the outcome is joined, replaced (by a newer session of the account) or
-- present.
local function channel_join(keys, args)
    local tag = keys[1]
    local wanted = settings(tag)
    -- Kept for a redelivery is only what it cannot find out again: the lists are long.
    local done = once(tag, args[1], args[2], function()
        local account, uid, sid = args[3], args[4], args[5]
        local info = redis.call('HGET', tag .. ':info', account)
        local outcome = 'joined'
        if info then
            outcome = sid_of(info) == sid and 'present' or 'replaced'
        end
        local id = next_id(tag)
        local num, total = '0', '0'
        if outcome ~= 'present' then
            local join = redis.call('HINCRBY', tag .. ':state', 'joins', 1)
            redis.call('ZADD', tag .. ':members', join, account)
            redis.call('HSET', tag .. ':info', account, uid .. ' ' .. sid)
            redis.call('HDEL', tag .. ':state', 'emptied')
            num = counter_changed(tag, 'num', wanted.num, account, uid)
            total = counter_changed(tag, 'total', wanted.total, account, uid)
        end
        if outcome == 'joined' and wanted.announced and args[6] ~= '1' then
            publish(tag, id, account, uid, 'join')
        end
        return {outcome, sequence(tag), id, num, total}
    end)
    if done.err then
        return done
    end
    local latest = redis.call('ZREVRANGE', tag .. ':members', 0, tonumber(args[7]) - 1)
    local result = {
        done[1], done[2], redis.call('ZCARD', tag .. ':members'), done[3], done[4], done[5], #latest,
    }
    for _, member in ipairs(latest) do
        result[#result + 1] = member
        result[#result + 1] = redis.call('HGET', tag .. ':info', member) or '0 -'
    end
    for _, text in ipairs(redis.call('HGETALL', tag .. ':attrs')) do
        result[#result + 1] = text
    end
    append_counters(tag, wanted, result)
    return result
end

-- ARGV: command, deadline, account, sid, 1 for a special channel.
-- Returns {members, change number, uid, seconds to live when empty, when to tell counter num ('0' for never)}, or {}
-- when that session is not the member.
local function channel_leave(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local account = args[3]
        local info = redis.call('HGET', tag .. ':info', account)
        if not info or sid_of(info) ~= args[4] then
            return {}
        end
        local uid = string.match(info, '^%S+')
        redis.call('ZREM', tag .. ':members', account)
        redis.call('HDEL', tag .. ':info', account)
        local id = next_id(tag)
        local count = redis.call('ZCARD', tag .. ':members')
        if count == 0 then
            redis.call('HSET', tag .. ':state', 'emptied', number((clock())))
        end
        local wanted = settings(tag)
        if wanted.announced and args[5] ~= '1' then
            publish(tag, id, account, uid, 'leave')
        end
        local num = counter_changed(tag, 'num', wanted.num, account, uid)
        return {count, id, uid, state(tag, '_channel_ttl') or tostring(CHANNEL_TTL), num}
    end)
end

-- ARGV: account, uid, sid, ... Members that their gateway holds; known accounts are left as they are.
-- Returns {change number, when to tell counter num, and total ('0' for never), account, ...} of those that were added.
local function channel_reassert(keys, args)
    local tag = keys[1]
    local wanted = settings(tag)
    local result = {next_id(tag), '0', '0'}
    for i = 1, #args, 3 do
        if redis.call('HSETNX', tag .. ':info', args[i], args[i + 1] .. ' ' .. args[i + 2]) == 1 then
            local join = redis.call('HINCRBY', tag .. ':state', 'joins', 1)
            redis.call('ZADD', tag .. ':members', join, args[i])
            result[2] = counter_changed(tag, 'num', wanted.num, args[i], args[i + 1])
            result[3] = counter_changed(tag, 'total', wanted.total, args[i], args[i + 1])
            result[#result + 1] = args[i]
        end
    end
    redis.call('HDEL', tag .. ':state', 'emptied')
    return result
end

-- ARGV: join number to list below ('+inf' to begin), how many at most.
-- Returns {members, join number of the last listed or '', account, info, ...}, newest first.
local function channel_members(keys, args)
    local tag = keys[1]
    local below = args[1] == '+inf' and args[1] or '(' .. args[1]
    local page = redis.call('ZREVRANGEBYSCORE', tag .. ':members', below, '-inf', 'WITHSCORES', 'LIMIT', 0, args[2])
    local result = {redis.call('ZCARD', tag .. ':members'), page[#page] or ''}
    for i = 1, #page, 2 do
        result[#result + 1] = page[i]
        result[#result + 1] = redis.call('HGET', tag .. ':info', page[i]) or '0 -'
    end
    return result
end

redis.register_function('channel_join', channel_join)
redis.register_function('channel_leave', channel_leave)
redis.register_function('channel_reassert', channel_reassert)
redis.register_function('channel_members', channel_members)
