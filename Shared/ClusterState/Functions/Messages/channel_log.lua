-- Logs of channels: what heliograph_channels and message_to_channel have published.

-- Events given in one call at most, in bytes and read at once.
local PAGE_BYTES = 131072
local PAGE_STEP = 16

local function event_id(entry)
    return tonumber(string.match(entry[2][2], '^%d+ (%d+)') or '0')
end

-- Whether nothing was ever cut off a log.
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

-- Where the events with an id above `after` begin, `sequence` being that of the last one seen, as far as known. Returns the
-- first sequence number, nil for none, and whether none is missing before it. Ids and sequence numbers rise together.
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

-- ARGV: client id to read above, sequence number of the last event seen (0 when not known), events at most.
-- Returns {the channel's sequence number (0: no such channel), its last id, 1 when none is missing before the first event, 1
-- when more follow, sequence number and id that was read up to, event, ...}.
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
        -- It has expired, or nothing was ever published: it held nothing that is younger than half of its time.
        local is_young = after >= (clock() - LOG_MS / 2) * 1000
        result[3] = (tonumber(seq) == sequence or tonumber(id or '0') <= after or is_young) and 1 or 0
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

redis.register_function{function_name = 'channel_log', callback = channel_log, flags = {'no-writes'}}
