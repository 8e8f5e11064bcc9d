-- Numbers that the system keeps and tells the members as updates of attributes, at most once in an interval.
--
-- A counter that is on (its interval is not 0) remembers which number was told last. What changes it returns when it is
-- to be told next; a timer in due:channel-state, another slot, is set to that by the caller.

local COUNTERS = {
    num = {
        attribute = '_member_num',
        current = function(tag)
            return redis.call('ZCARD', tag .. ':members')
        end,
    },
    total = {
        attribute = '_total_member_num',
        current = function(tag)
            return tonumber(state(tag, 'joins') or '0')
        end,
    },
}

-- What a change of membership asks the state, in one call.
-- Returns {announced: whether joins and leaves are, num, total: intervals in seconds}, and fields of the state.
local function settings(tag)
    local notification, num, total, ttl, id, seq, joins, emptied, listed = unpack(redis.call('HMGET', tag .. ':state',
        '_userNotification', '_auto_update_num', '_auto_update_total_num', '_channel_ttl', 'id', 'seq', 'joins', 'emptied',
        'listed'))
    num = tonumber(num or '0')
    total = tonumber(total or '0')
    -- The total needs both.
    return {announced = notification ~= '0', num = num, total = num > 0 and total or 0},
        {_channel_ttl = ttl, id = id, seq = seq, joins = joins, emptied = emptied, listed = tonumber(listed or '')}
end

-- When a counter may be told again, in ms.
local function next_telling(tag, name, interval)
    local told_at = tonumber(state(tag, name .. '_at') or '0')
    return math.max((clock()), told_at + interval * 1000)
end

-- A counter has been changed by an account. Returns when to tell it, '0' when it is off.
local function counter_changed(tag, name, interval, account, uid)
    if interval == 0 then
        return '0'
    end
    redis.call('HSET', tag .. ':state', name .. '_by', account .. ' ' .. uid)
    return number(next_telling(tag, name, interval))
end

-- The built-in attributes may have been changed: a counter that is on now begins with the present number, which counts
-- as told; one that is off is forgotten.
local function adjust_counters(tag)
    local intervals = settings(tag)
    for name, counter in pairs(COUNTERS) do
        if intervals[name] == 0 then
            redis.call('HDEL', tag .. ':state', name .. '_told', name .. '_at', name .. '_by')
        else
            redis.call('HSETNX', tag .. ':state', name .. '_told', number(counter.current(tag)))
        end
    end
end

-- Appends the attributes of the counters that are on, with the present numbers.
local function append_counters(tag, intervals, list)
    for _, name in ipairs({'num', 'total'}) do
        if intervals[name] > 0 then
            list[#list + 1] = COUNTERS[name].attribute
            list[#list + 1] = number(COUNTERS[name].current(tag))
        end
    end
end

-- Returns when each counter is to be told, num and total; '0' for one that is off or has nothing new.
local function channel_counters(keys)
    local tag = keys[1]
    local intervals = settings(tag)
    local result = {}
    for i, name in ipairs({'num', 'total'}) do
        result[i] = '0'
        if intervals[name] > 0 and state(tag, name .. '_told') ~= number(COUNTERS[name].current(tag)) then
            result[i] = number(next_telling(tag, name, intervals[name]))
        end
    end
    return result
end

-- ARGV: counter. Its timer fired: members are told the number if they have not been, in the name of who changed
-- it last.
-- Returns {'told'}, {'wait', when to look again (ms)} or {'none'}.
local function channel_counter_tell(keys, args)
    local tag, name = keys[1], args[1]
    local counter, interval = COUNTERS[name], settings(tag)[name]
    if interval == 0 or redis.call('ZCARD', tag .. ':members') == 0 then
        return {'none'}
    end
    local told, by = unpack(redis.call('HMGET', tag .. ':state', name .. '_told', name .. '_by'))
    local current = number(counter.current(tag))
    if not by or told == current then
        return {'none'}
    end
    local due, now = next_telling(tag, name, interval), (clock())
    if due > now then
        return {'wait', number(due)}
    end
    redis.call('HSET', tag .. ':state', name .. '_told', current, name .. '_at', number(now))
    local account, uid = string.match(by, '^(%S+) (%d+)$')
    publish_change(tag, account, uid, 'update', counter.attribute, current)
    return {'told'}
end

register_vital('channel_counters', channel_counters)
register_vital('channel_counter_tell', channel_counter_tell)
