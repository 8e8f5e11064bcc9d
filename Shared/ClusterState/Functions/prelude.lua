-- What every library of ours begins with; RedisFunctionLibrary puts it before the library's own parts, and VERSION before it.

-- Registers a function under its name and the library's version; parts call it redis.register_function.
local function register_function(what, callback)
    if callback then
        return redis.register_function(what .. VERSION, callback)
    end
    what.function_name = what.function_name .. VERSION
    return redis.register_function(what)
end

-- Registers a function that Redis runs also when it has no memory left: what ends something, keeps it alive or frees memory.
local function register_vital(name, callback)
    return register_function{function_name = name, callback = callback, flags = {'allow-oom'}}
end

local DONE_MS = 60000

-- The text of a whole number below 2^53; %d costs half of what %.0f does.
local function number(value)
    return string.format('%d', value)
end

-- A library that was not called for so long may have missed that another server was the master meanwhile. Gateways call
-- heliograph_messages each second, so that there is no pause without a reason.
local PAUSE_MS = 5000
-- When this library last looked at the clock, and since when that went on without a pause, in the same Redis: a restart
-- loads the library anew, and no function runs in a replica. So nothing was forgotten since.
local last, started = 0, 0

-- The Redis clock: milliseconds, and microseconds.
local function clock()
    local time = redis.call('TIME')
    -- Read as numbers once: each reading of the text costs as much as the rest of this.
    local seconds, micros = tonumber(time[1]), tonumber(time[2])
    local ms = seconds * 1000 + math.floor(micros / 1000)
    if ms - last > PAUSE_MS then
        started = math.max(started, ms)
    end
    last = ms
    return ms, seconds * 1000000 + micros
end

-- The number that follows `given` (nil: none was) of those that must never fall, even when Redis comes back older than it
-- was: not below the clock of the time since which nothing was forgotten. `now` is what clock() has just told.
local function rising(given, now)
    return math.max(given and given + 1 or now, started)
end

-- From this part of `maxmemory` on, what adds mail or attributes is refused, so that what frees memory always has room.
local CROWDED = 0.8
-- Memory is looked at so often.
local CROWDED_MS = 1000
local crowded_at, is_crowded = 0, false

-- Whether Redis is nearly full, as of the last second; `now` is the clock (ms). The error to answer with is MEMORY_FULL.
local function crowded(now)
    if now - crowded_at >= CROWDED_MS or now < crowded_at then
        crowded_at = now
        local memory = redis.call('INFO', 'memory')
        local bound = tonumber(string.match(memory, '\nmaxmemory:(%d+)'))
        is_crowded = bound > 0 and tonumber(string.match(memory, '\nused_memory:(%d+)')) > bound * CROWDED
    end
    return is_crowded
end

-- A user's :box outlives the session for so long, and the mailbox: whoever is never heard of again leaves nothing. Numbers
-- that begin anew begin at the clock, which is above all that were given before.
local BOX_MS = 600000

-- The user has a session: the box stays.
local function keep_box(tag)
    redis.call('PERSIST', tag .. ':box')
end

-- The user has no session any more: the box stays for BOX_MS, and as long as the mailbox.
local function release_box(tag, now)
    local mailbox = tonumber(redis.call('HGET', tag .. ':box', 'expires') or '0')
    redis.call('PEXPIREAT', tag .. ':box', number(math.max(mailbox, now + BOX_MS)))
end

-- Why a session may not act: nil when it is the user's present one, and not at another gateway. What a gateway was told to
-- do before it was cut off, and does when it is back, is refused so: others may have the account meanwhile.
-- `held` begins with what :box has of sid and gateway.
local function fence_error(held, sid, gateway)
    if held[1] == sid and (held[2] == gateway or held[2] == '') then
        return nil
    end
    if not held[1] then
        return 'SIG 1001 unavailable the session is not known yet, try again'
    end
    return 'SIG 1003 session_over the session is over, or goes on at another gateway'
end

local function session_error(tag, sid, gateway)
    return fence_error(redis.call('HMGET', tag .. ':box', 'sid', 'gateway'), sid, gateway)
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
