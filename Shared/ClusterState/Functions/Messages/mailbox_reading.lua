-- Reading and forgetting mail. Only the session whose mailbox it is may, see session_error of the prelude.

-- Drops what the calls of earlier sessions left: events of calls that the new session can't know, and invitations to calls
-- that ended. What came after the session was opened is its own.
local function drop_stale_calls(tag)
    -- Mostly there are no calls.
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

-- ARGV: sid, gateway, version to read above, entries at most, 1 for the first read of a new session.
-- Returns {now (ms), highest version forgotten, last version given, 1 when more may wait, version that was read up to,
-- version, expiry, line, ...}. There may be more though nothing is given: then all that was looked at had expired.
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

-- Forgotten entries are cut off a mailbox when there are so many: that costs more than all the rest of forgetting one.
local TRIM_STEP = 16

-- KEYS: a tag per mailbox. ARGV: gateway, then per mailbox: sid, version to forget up to. A lower one than before, and one
-- that was never given, is no news. Returns per mailbox the highest version forgotten, or the error.
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
                -- A mailbox of which nothing waits goes as a whole, whatever was spent.
                if clear - (known[5] or 0) < TRIM_STEP or (spent >= EFFORT and clear < given) then
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

-- ARGV: version. Returns 1 when the entry was there.
local function mailbox_remove(keys, args)
    local entries = redis.call('XRANGE', keys[1] .. ':mbox', args[1], args[1])
    delete_entries(keys[1], entries)
    return #entries
end

-- What frees memory is done in a full Redis too.
redis.register_function{function_name = 'mailbox_read', callback = mailbox_read, flags = {'allow-oom'}}
redis.register_function{function_name = 'mailboxes_clear', callback = mailboxes_clear, flags = {'allow-oom'}}
redis.register_function{function_name = 'mailbox_remove', callback = mailbox_remove, flags = {'allow-oom'}}
