-- The common start of every library: RedisFunctionLibrary puts VERSION and the library's constants before it, and the
-- library's own parts behind it.

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

-- After a pause of this length between two calls, another server may have been the master meanwhile, with older data. Gateways
-- call heliograph_messages once a second, so that an idle cluster makes no such pause.
local PAUSE_MS = 5000
-- The library's last call, and the first call of the present run of calls without a pause (ms). Since `started`, this Redis has
-- lost no write: a restart would have loaded the library anew, and a replica runs no functions.
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

-- The next of numbers that must never fall, even when Redis comes back with older data. `given` is the last one known here
-- (nil: none); numbers that were given and lost are older than `started`. `now` is the result of clock().
local function rising(given, now)
    return math.max(given and given + 1 or now, started)
end

-- Above this part of `maxmemory`, mail and attributes are refused, so that functions that free memory always have room.
local CROWDED = 0.8
-- How often memory is looked at.
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

-- How long a user's :box outlives the session; it also lives as long as the mailbox. Then it is deleted with its numbers: new ones
-- begin at the clock, which is above all that were given before.
local BOX_MS = 600000

-- Keeps :box while the user has a session.
local function keep_box(tag)
    redis.call('PERSIST', tag .. ':box')
end

-- Lets :box expire after the end of the user's session.
local function release_box(tag, now)
    local mailbox = tonumber(redis.call('HGET', tag .. ':box', 'expires') or '0')
    redis.call('PEXPIREAT', tag .. ':box', number(math.max(mailbox, now + BOX_MS)))
end

-- Refuses acts of a session that is not the user's present one, or is held by another gateway: a gateway that was cut off from
-- Redis may still act for sessions that it has lost. Returns the error, nil when the session may act. `held` begins with the
-- fields sid and gateway of :box.
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
-- An empty id stands for a command that is delivered only once. `deadline` is in ms, 0 for none; with a deadline, `act` is given
-- the result of clock().
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
