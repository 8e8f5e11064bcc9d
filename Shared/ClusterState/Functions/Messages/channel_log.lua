-- Reading the logs of channels: the events that heliograph_channels and message_to_channel have published.

-- Bytes of events that one call returns at most, and entries per XRANGE.
local PAGE_BYTES = 131072
local PAGE_STEP = 16

local function event_id(entry)
    return tonumber(string.match(entry[2][2], '^%d+ (%d+)') or '0')
end

-- Returns whether the log still has all entries that were ever added.
local function is_whole(log)
    local about = {}
    local flat = redis.call('XINFO', 'STREAM', log)
    for i = 1, #flat, 2 do
        about[flat[i]] = flat[i + 1]
    end
    return about['entries-added'] == about.length
end

local function first_at(log, sequence)
    return redis.call('XRANGE', log, sequence, '+', 'COUNT', 1)[1]
end

-- Finds the first event with an id above `after`. `sequence` is that of the last event seen, as far as the reader knows.
-- Returns the event's sequence number (nil: there is none), and whether no event before it is missing. Ids and sequence
-- numbers rise together, so a binary search finds it.
local function find_start(log, after, sequence)
    local seen = redis.call('XRANGE', log, number(sequence), number(sequence))[1]
    if seen and event_id(seen) == after then
        return sequence + 1, true
    end
    local first = first_at(log, '-')
    if event_id(first) > after then
        return version_of(first), version_of(first) == sequence + 1 or is_whole(log)
    end
    local latest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
    if event_id(latest) <= after then
        return nil, true
    end
    local low, high = version_of(first), version_of(latest)
    while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        local entry = first_at(log, number(middle))
        if event_id(entry) <= after then
            low = version_of(entry)
        else
            high = middle
        end
    end
    return high, true
end

-- Returns whether a log without entries has lost none above an id; `last` is the channel's last id. It has expired, or nothing was
-- ever published. An expired log held no event younger than half of LOG_MS.
local function has_nothing_above(after, last)
    return tonumber(last or '0') <= after or after >= (clock() - LOG_MS / 2) * 1000
end

-- ARGV: client id to read above, sequence number of the last event seen (0 when not known), maximum number of events.
-- Returns {the channel's sequence number (0: no such channel), its last id, 1 when no event is missing before the first
-- one returned, 1 when more follow, sequence number and id up to which events were returned, event, ...}.
local function channel_log(keys, args)
    local tag = keys[1]
    local log = tag .. ':log'
    local after, sequence, limit = tonumber(args[1]), tonumber(args[2]), tonumber(args[3])
    local seq, id = unpack(redis.call('HMGET', tag .. ':state', 'seq', 'id'))
    local result = {seq or '0', id or '0', 0, 0, args[2], args[1]}
    if not seq then
        result[3] = after == 0 and 1 or 0
        return result
    end
    if redis.call('XLEN', log) == 0 then
        result[3] = (tonumber(seq) == sequence or has_nothing_above(after, id)) and 1 or 0
        return result
    end
    local start, is_complete = find_start(log, after, sequence)
    result[3] = is_complete and 1 or 0
    local bytes = 0
    while start do
        local page = redis.call('XRANGE', log, number(start), '+', 'COUNT', PAGE_STEP)
        for _, entry in ipairs(page) do
            local event = entry[2][2]
            if limit == 0 or (bytes > 0 and bytes + #event > PAGE_BYTES) then
                result[4] = 1
                return result
            end
            limit = limit - 1
            bytes = bytes + #event
            after = math.max(after, event_id(entry))
            result[5], result[6] = number(version_of(entry)), number(after)
            result[#result + 1] = event
        end
        start = #page == PAGE_STEP and version_of(page[#page]) + 1 or nil
    end
    return result
end

-- Finds the last event with an id below `before`, 0 for any. Returns the event's sequence number (nil: there is none).
local function find_end(log, before)
    local latest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
    if before == 0 or event_id(latest) < before then
        return version_of(latest)
    end
    local first = first_at(log, '-')
    if event_id(first) >= before then
        return nil
    end
    local low, high = version_of(first), version_of(latest)
    while high - low > 1 do
        local middle = math.floor((low + high) / 2)
        local entry = first_at(log, number(middle))
        if event_id(entry) < before then
            low = version_of(entry)
        else
            high = middle
        end
    end
    return low
end

-- Reads backwards. ARGV: client id to read below (0: from the end), client id to read above, maximum number of events.
-- Returns as channel_log does, with the events descending: {..., 1 when no event is missing between those that were returned and the
-- lower id, or between the ids when nothing more follows; 1 when more follow; sequence number and id down to which events were
-- returned, event, ...}.
local function channel_log_back(keys, args)
    local tag = keys[1]
    local log = tag .. ':log'
    local before, lower, limit = tonumber(args[1]), tonumber(args[2]), tonumber(args[3])
    local seq, id = unpack(redis.call('HMGET', tag .. ':state', 'seq', 'id'))
    local result = {seq or '0', id or '0', 1, 0, '0', args[1]}
    if not seq then
        result[3] = lower == 0 and 1 or 0
        return result
    elseif redis.call('XLEN', log) == 0 then
        result[3] = has_nothing_above(lower, id) and 1 or 0
        return result
    end
    local last, bytes = find_end(log, before), 0
    while last do
        local page = redis.call('XREVRANGE', log, number(last), '-', 'COUNT', PAGE_STEP)
        for _, entry in ipairs(page) do
            local event, at = entry[2][2], event_id(entry)
            if at <= lower then
                return result
            elseif limit == 0 or (bytes > 0 and bytes + #event > PAGE_BYTES) then
                result[4] = 1
                return result
            end
            limit = limit - 1
            bytes = bytes + #event
            result[5], result[6] = number(version_of(entry)), number(at)
            result[#result + 1] = event
        end
        last = #page == PAGE_STEP and version_of(page[#page]) - 1 or nil
    end
    -- The log begins above the lower id.
    result[3] = is_whole(log) and 1 or 0
    return result
end

redis.register_function{function_name = 'channel_log_back', callback = channel_log_back, flags = {'no-writes'}}
redis.register_function{function_name = 'channel_log', callback = channel_log, flags = {'no-writes'}}
