-- What every library of ours begins with; RedisFunctionLibrary puts it before the library's own parts.

local DONE_MS = 60000

-- The Redis clock: milliseconds, and microseconds.
local function clock()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
end

-- The text of a whole number below 2^53; %d costs half of what %.0f does.
local function number(value)
    return string.format('%d', value)
end

-- Runs `act` once per command: its packed result is kept at TAG:done:COMMAND for DONE_MS and repeated.
-- An empty id stands for a command that comes only once; `deadline` is in ms, 0 for none; with one, `act` gets the clock.
local function once(tag, id, deadline, act)
    if id == '' then
        return act()
    end
    local key = tag .. ':done:' .. id
    local stored = redis.call('GET', key)
    if stored then
        return cmsgpack.unpack(stored)
    end
    deadline = tonumber(deadline)
    local ms, us
    if deadline ~= 0 then
        ms, us = clock()
        if ms > deadline then
            return {err = 'SIG 1001 timeout the deadline had passed'}
        end
    end
    local result = act(ms, us)
    if not result.err then
        redis.call('SET', key, cmsgpack.pack(result), 'PX', DONE_MS)
    end
    return result
end
