-- Counters: attributes that the system maintains and announces to the members, at most once per interval.
--
-- A counter with an interval other than 0 is on, and its last announced value is recorded. Functions that change a
-- counter return when to announce it next; the caller sets a timer for that in due:channel-state, a key in another slot.

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

-- Reads everything that a membership change needs from the state, in one call. Returns {announced: whether joins and
-- leaves are published, num, total: the counters' intervals in seconds}, and fields of the state.
local function settings(tag)
    local notification, num, total, ttl, id, seq, joins, emptied, listed, barred = unpack(redis.call('HMGET',
        tag .. ':state', '_userNotification', '_auto_update_num', '_auto_update_total_num', '_channel_ttl', 'id', 'seq',
        'joins', 'emptied', 'listed', 'barred'))
    num = tonumber(num or '0')
    total = tonumber(total or '0')
    -- _total_member_num is announced only when both intervals are set.
    return {announced = notification ~= '0', num = num, total = num > 0 and total or 0},
        {
            _channel_ttl = ttl, id = id, seq = seq, joins = joins, emptied = emptied, listed = tonumber(listed or ''),
            barred = barred,
        }
end

-- Returns the earliest time (ms) for the counter's next announcement.
local function next_telling(tag, name, interval)
    local told_at = tonumber(state(tag, name .. '_at') or '0')
    return math.max((clock()), told_at + interval * 1000)
end

-- Records the member who changed a counter. Returns when to announce it, '0' when the counter is off.
local function counter_changed(tag, name, interval, account, uid)
    if interval == 0 then
        return '0'
    end
    redis.call('HSET', tag .. ':state', name .. '_by', account .. ' ' .. uid)
    return number(next_telling(tag, name, interval))
end

-- Called when built-in attributes may have changed. For a counter that was turned on, the current value counts as
-- announced; the record of a counter that is off is deleted.
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

-- Appends name and current value of each counter that is on to `list`.
local function append_counters(tag, intervals, list)
    for _, name in ipairs({'num', 'total'}) do
        if intervals[name] > 0 then
            list[#list + 1] = COUNTERS[name].attribute
            list[#list + 1] = number(COUNTERS[name].current(tag))
        end
    end
end

-- Returns when to announce num and total; '0' for one that is off or unchanged since it was last announced.
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

-- ARGV: counter. Called when its timer fires. Announces the counter, if it has changed, in the name of the member who
-- last changed it.
-- Returns {'told'}, {'wait', time to call again (ms)} or {'none'}.
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
