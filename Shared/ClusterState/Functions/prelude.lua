-- The common start of every library. RedisFunctionLibrary.swift prepends VERSION, the library's constants and the file of
-- the flavour, and appends the library's own files.

-- Registers a function under its name followed by the library's version. In the other files, RedisFunctionLibrary.swift
-- replaces redis.register_function by this.
local function register_function(what, callback)
    if callback then
        return redis.register_function(what .. VERSION, receiving_call(callback))
    end
    what.function_name = what.function_name .. VERSION
    what.callback = receiving_call(what.callback)
    return redis.register_function(what)
end

-- Registers a function that Redis also runs when it is out of memory: one that ends something, keeps it alive or frees
-- memory.
local function register_vital(name, callback)
    return register_function{function_name = name, callback = callback, flags = {'allow-oom'}}
end

local DONE_MS = 60000

-- Formats an integer below 2^53. %d costs half as much as %.0f.
local function number(value)
    return string.format('%d', value)
end

-- When two calls are further apart than this, another server may have been the master in between, with older data.
-- Gateways call messages_awake once a second, so an idle cluster has no such gap.
local PAUSE_MS = 5000
-- Times (ms) of the library's last call, and of the first call since the last gap of PAUSE_MS. No write has been lost
-- since `started`: a restart of Redis would have loaded the library again, and a replica runs no functions.
local last, started = 0, 0

-- Returns the Redis clock in milliseconds and in microseconds.
local function clock()
    local time = redis.call('TIME')
    -- Converted once: each conversion costs as much as the rest of this function.
    local seconds, micros = tonumber(time[1]), tonumber(time[2])
    local ms = seconds * 1000 + math.floor(micros / 1000)
    if ms - last > PAUSE_MS then
        started = math.max(started, ms)
    end
    last = ms
    return ms, seconds * 1000000 + micros
end

-- Returns the next number of a sequence that must never go back, even when Redis returns with older data. `given` is the
-- last known number (nil: none), `now` the clock (ms). Starting at `started` at least, it is above every number whose
-- record was lost; in a cluster it is at least the clock.
local function rising(given, now)
    return math.max(given and given + 1 or now, RISES_WITH_CLOCK and now or started)
end

-- Fraction of `maxmemory` above which mail and attributes are refused. The rest is kept for functions that free memory.
local CROWDED = 0.8
-- Interval between two checks of the memory in use.
local CROWDED_MS = 1000
local crowded_at, is_crowded = 0, false

-- Fraction of `maxmemory` from which on each owner's additions are counted, and the fraction that one owner may add from then on.
-- So whoever fills Redis is refused first, and the others may add until it is crowded. Below it, counting would cost something for
-- nothing.
local TIGHT, SHARE = 0.5, 0.05
-- What expires as a whole is not seen to go, so counts halve in this time (ms).
local SHARE_HALF_MS = 3600000
-- Bytes that each owner has added, less those that it was seen to free, since Redis is tight; and the bytes that it may.
local is_tight, added, share, halved_at = false, {}, 0, 0

local function count_memory(now)
    local memory = redis.call('INFO', 'memory')
    local bound = tonumber(string.match(memory, '\nmaxmemory:(%d+)'))
    local used = tonumber(string.match(memory, '\nused_memory:(%d+)'))
    is_crowded = bound > 0 and used > bound * CROWDED
    share = bound * SHARE
    -- It stays tight until as much as one share is free again, so that an owner at its share does not start anew at each entry.
    if bound == 0 or used <= bound * (TIGHT - SHARE) then
        is_tight, added = false, {}
    elseif used > bound * TIGHT and not is_tight then
        is_tight, halved_at = true, now
    end
    if is_tight and now - halved_at > SHARE_HALF_MS then
        halved_at = now
        for owner, bytes in pairs(added) do
            added[owner] = bytes / 2
        end
    end
end

-- Returns whether Redis is nearly full; the answer may be CROWDED_MS old. `now` is the clock (ms). Callers then refuse
-- with MEMORY_FULL.
local function crowded(now)
    if now - crowded_at >= CROWDED_MS or now < crowded_at then
        crowded_at = now
        count_memory(now)
    end
    return is_crowded
end

-- Whose memory a tag's keys are: an app's, or, for idempotency keys, an API key's. Users' tags are {BUCKET}a:APP:..., the others
-- {a:APP:...} or {k:KEY:...}; see KeySpace.swift.
local function owner_of(tag)
    return string.match(tag, '^{[^:}]*}(%a:[^:]*)') or string.match(tag, '^{(%a:[^:}]*)') or ''
end

-- Returns whether `bytes` more are refused to a tag's owner, because Redis is nearly full, or because it is filling and the owner has
-- added its share; counts them otherwise. Callers refuse as crowded's do.
local function refuses_memory(tag, bytes, now)
    if crowded(now) then
        return true
    end
    if not is_tight then
        return false
    end
    local owner = owner_of(tag)
    local sum = (added[owner] or 0) + bytes
    if sum > share then
        return true
    end
    added[owner] = sum
    return false
end

-- Counts that a tag's owner has freed `bytes`.
local function free_memory(tag, bytes)
    if is_tight then
        local owner = owner_of(tag)
        added[owner] = math.max(0, (added[owner] or 0) - bytes)
    end
end

-- A user's :box outlives the session by this, and lives at least as long as the mailbox. When it has expired, its
-- sequences start again at the clock, which is above all numbers they gave before.
local BOX_MS = 600000

-- Removes the expiry of :box: the user has a session.
local function keep_box(tag)
    redis.call('PERSIST', tag .. ':box')
end

-- Sets the expiry of :box: the user's session has ended.
local function release_box(tag, now)
    local mailbox = tonumber(redis.call('HGET', tag .. ':box', 'expires') or '0')
    redis.call('PEXPIREAT', tag .. ':box', number(math.max(mailbox, now + BOX_MS)))
end

-- Checks that a session is the user's current one and belongs to the gateway that acts for it: a gateway that was cut
-- off from Redis may still act for sessions that it has lost. `held` begins with the fields sid and gateway of :box.
-- Returns the error, or nil when the session may act.
local function fence_error(held, sid, gateway)
    if held[1] == sid and (held[2] == gateway or held[2] == '') then
        return nil
    end
    if not held[1] then
        return REFUSED.unavailable .. 'the session is not known yet, try again'
    end
    return REFUSED.session_over .. 'the session is over, or goes on at another gateway'
end

local function session_error(tag, sid, gateway)
    return fence_error(redis.call('HMGET', tag .. ':box', 'sid', 'gateway'), sid, gateway)
end

-- The prefixes of the elements of pack_list by length; those of common lengths are created in advance.
local TEXT_HEADS, INTEGER_HEADS = {}, {}
for size = 0, 63 do
    TEXT_HEADS[size] = '0:' .. size .. ':'
    INTEGER_HEADS[size] = '1:i' .. size .. ':'
end

-- Packs a list of texts and integers into one text, in the form of Swift's FieldWriter: a text is a field without a name,
-- an integer one with the name i. {'ab', 7} becomes 0:2:ab1:i1:7. For the few and short elements that lists have,
-- appending is cheaper than table.concat.
local function pack_list(list)
    local text = ''
    for i = 1, #list do
        local element = list[i]
        if type(element) == 'string' then
            text = text .. (TEXT_HEADS[#element] or '0:' .. number(#element) .. ':') .. element
        else
            local digits = number(element)
            text = text .. INTEGER_HEADS[#digits] .. digits
        end
    end
    return text
end

-- Returns the list that pack_list packed.
local function read_list(text)
    local list, last = {}, 0
    while last < #text do
        local _, head, kind, size = string.find(text, '^%d:(i?)(%d+):', last + 1)
        last = head + tonumber(size)
        local element = string.sub(text, head + 1, last)
        list[#list + 1] = kind == 'i' and tonumber(element) or element
    end
    return list
end

-- Runs `act` once per command: the result is kept at TAG:done:COMMAND for DONE_MS, and a redelivered command gets it
-- again. Errors are not kept; any other result is a list of texts and integers. An empty id means that the command
-- cannot be redelivered. `deadline` is in ms, 0 for none; with a deadline, `act` gets the result of clock().
local function once(tag, id, deadline, act)
    if id == '' then
        return act()
    end
    local key = tag .. ':done:' .. id
    local stored = redis.call('GET', key)
    if stored then
        return read_list(stored)
    end
    deadline = tonumber(deadline)
    local ms, us
    if deadline ~= 0 then
        ms, us = clock()
        if ms > deadline then
            return {err = REFUSED.timeout .. 'the deadline had passed'}
        end
    end
    local result = act(ms, us)
    if not result.err then
        redis.call('SET', key, pack_list(result), 'PX', DONE_MS)
    end
    return result
end
