-- Reading and clearing mailboxes. Only the user's current session may read and clear, see fence_error of the prelude.

-- Deletes call events that are older than the session: events of calls that the new session cannot know, and invitations
-- to calls that have ended.
local function drop_stale_calls(tag)
    -- The usual case: there are no call events.
    if redis.call('EXISTS', tag .. ':mcall') == 0 then
        return
    end
    local opened = redis.call('HGET', tag .. ':session', 'openver') or '+inf'
    local stale, invitations, ended = {}, {}, {}
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', tag .. ':mcall', '-inf', opened)) do
        local _, _, _, kind, call = call_fields(member)
        if kind == 'voip_invite' then
            invitations[#invitations + 1] = {member, call}
        else
            stale[#stale + 1] = member
            if kind == 'voip_invite_bye' or kind == 'voip_invite_failed' then
                ended[call] = true
            end
        end
    end
    for _, invitation in ipairs(invitations) do
        if ended[invitation[2]] then
            stale[#stale + 1] = invitation[1]
        end
    end
    delete_calls(tag, stale)
end

-- ARGV: sid, gateway, version to read above, maximum number of entries, 1 for the first read of a new session.
-- Returns {now (ms), version up to which mail is forgotten, last version given, 1 when more may wait, version up to
-- which entries were read, version, expiry, line, ...}. More may wait even when no entry is returned: all entries that
-- were read had expired.
local function mailbox_read(keys, args)
    local tag = keys[1]
    local held = redis.call('HMGET', tag .. ':box', 'sid', 'gateway', 'clear', 'ver')
    local refusal = fence_error(held, args[1], args[2])
    if refusal then
        return {err = refusal}
    end
    local clear, ver = held[3], held[4]
    if args[5] == '1' then
        drop_stale_calls(tag)
    end
    local now = clock()
    local limit, bytes = tonumber(args[4]), 0
    local result = {number(now), clear or '0', ver or '0', 0, ''}
    local expired = {}
    local after = math.max(tonumber(args[3]), tonumber(clear or '0'))
    local passed, is_end = scan(tag .. ':mbox', after, function(entry)
        if is_expired(entry, now) then
            expired[#expired + 1] = entry
            return false
        end
        local size = size_of(entry)
        if limit == 0 or (bytes > 0 and bytes + size > SCAN_BYTES) then
            return true
        end
        limit = limit - 1
        bytes = bytes + size
        local count = #result
        result[count + 1] = number(version_of(entry))
        result[count + 2] = entry[2][4]
        result[count + 3] = entry[2][2]
    end)
    result[4] = is_end and 0 or 1
    result[5] = number(passed)
    delete_entries(tag, expired)
    return result
end

-- Forgotten entries are removed only once they may be this many: removing costs more than the rest of a clear, and more with the
-- next message, which begins the stream anew.
local TRIM_STEP = 16

-- Returns whether so few entries are forgotten that they may stay. `trimmed`: version up to which they are removed.
local function may_stay(tag, clear, trimmed)
    if RISES_WITH_CLOCK then
        -- Versions are times, so that they do not tell how many entries they span.
        return redis.call('XLEN', tag .. ':mbox') < TRIM_STEP
    end
    return clear - (trimmed or 0) < TRIM_STEP
end

-- KEYS: one tag per mailbox. ARGV: gateway, then per mailbox: sid, version up to which mail is forgotten. A version that
-- is lower than the last one has no effect; one that was never given counts as the last version given.
-- Returns per mailbox the version up to which mail is forgotten, or an error.
local function mailboxes_clear(keys, args)
    spent = 0
    local results = {}
    for i, tag in ipairs(keys) do
        local box = tag .. ':box'
        local known = redis.call('HMGET', box, 'sid', 'gateway', 'clear', 'ver', 'trimmed')
        local refusal = fence_error(known, args[2 * i], args[1])
        if refusal then
            results[i] = {err = refusal}
        else
            local clear = tonumber(known[3] or 0)
            local given = tonumber(known[4] or 0)
            local through = math.min(args[2 * i + 1], given)
            if through > clear then
                clear = through
                -- A mailbox in which nothing waits is deleted as a whole even when `spent` is used up: that is cheap.
                if may_stay(tag, clear, known[5]) or (spent >= EFFORT and clear < given) then
                    redis.call('HSET', box, 'clear', number(clear))
                else
                    redis.call('HSET', box, 'clear', number(clear), 'trimmed', number(trim(tag, clear)))
                end
            end
            results[i] = clear
        end
    end
    return results
end

-- ARGV: version. Deletes an entry. Returns 1 when it was there.
local function mailbox_remove(keys, args)
    local entries = redis.call('XRANGE', keys[1] .. ':mbox', args[1], args[1])
    delete_entries(keys[1], entries)
    return #entries
end

-- allow-oom: these functions free memory, so they must run when Redis is full.
redis.register_function{function_name = 'mailbox_read', callback = mailbox_read, flags = {'allow-oom'}}
redis.register_function{function_name = 'mailboxes_clear', callback = mailboxes_clear, flags = {'allow-oom'}}
redis.register_function{function_name = 'mailbox_remove', callback = mailbox_remove, flags = {'allow-oom'}}
