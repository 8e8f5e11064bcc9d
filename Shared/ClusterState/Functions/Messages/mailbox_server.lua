-- Mailboxes as apps' servers see and empty them: messages only, never call events, which the invitation service sees to. No
-- session is checked.

-- Removes what is forgotten, so that the entries that are left are those that wait. Returns the version up to which mail is
-- forgotten.
local function tidy(tag)
    local box = tag .. ':box'
    local clear, trimmed = unpack(redis.call('HMGET', box, 'clear', 'trimmed'))
    clear = tonumber(clear or 0)
    if clear > tonumber(trimmed or 0) then
        redis.call('HSET', box, 'trimmed', number(trim(tag, clear)))
    end
    return clear
end

-- ARGV: version to read above, maximum number of messages. Expired entries that are met are deleted.
-- Returns {number of messages that wait in all, 1 when more may follow, version up to which entries were read, version,
-- expiry, line, ...}. The number has those that have expired since and were not met yet. More may follow even when no
-- message is returned.
local function mailbox_list(keys, args)
    local tag = keys[1]
    spent = 0
    local now, clear = clock(), tidy(tag)
    local limit, bytes = tonumber(args[2]), 0
    local result, expired = {0, 0, ''}, {}
    local passed, is_end = scan(tag .. ':mbox', math.max(tonumber(args[1]), clear), function(entry)
        if is_expired(entry, now) then
            expired[#expired + 1] = entry
            return false
        elseif entry[2][5] then
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
    delete_entries(tag, expired)
    result[1] = redis.call('XLEN', tag .. ':mbox') - redis.call('ZCARD', tag .. ':mcall')
    result[2] = is_end and 0 or 1
    result[3] = number(passed)
    return result
end

-- ARGV: version to go on above (0 at first), version up to which messages are deleted ('' at first: the last one given).
-- Deletes messages, as many as one call may read. Those that come meanwhile have higher versions and stay.
-- Returns {messages that waited and are deleted, 1 when more may follow, version to go on above, version up to which}.
local function mailbox_empty(keys, args)
    local tag = keys[1]
    spent = 0
    local now, clear = clock(), tidy(tag)
    local through = tonumber(args[2] ~= '' and args[2] or redis.call('HGET', tag .. ':box', 'ver') or '0')
    local over, count, is_done = {}, 0, false
    local passed, is_end = scan(tag .. ':mbox', math.max(tonumber(args[1]), clear), function(entry)
        is_done = version_of(entry) > through
        if not is_done and not entry[2][5] then
            over[#over + 1] = entry
            count = count + (is_expired(entry, now) and 0 or 1)
        end
        return is_done
    end)
    delete_entries(tag, over)
    if redis.call('XLEN', tag .. ':mbox') < FEW then
        redis.call('DEL', tag .. ':mfrom')
    end
    return {count, (is_end or is_done) and 0 or 1, number(passed), number(through)}
end

-- Returns whether the user's session may have been given a version: one that is connected is given everything, and a detached one
-- everything up to the version that was the last when its connection was lost. See change_presence of presence.lua for `held`; a
-- process of an earlier release does not note it, and then it counts as all.
local function was_delivered(tag, version)
    local sid, gateway, held, change = unpack(redis.call('HMGET', tag .. ':box', 'sid', 'gateway', 'held', 'pver'))
    if not sid or sid == '' then
        return false
    elseif gateway ~= '' then
        return true
    end
    local through, noted = string.match(held or '', '^(%d+) (%d+)$')
    return noted ~= change or version <= tonumber(through)
end

-- ARGV: command ('' for none), version. Deletes a message that no session was given.
-- Returns {1} when it is deleted, {0} when there is no such message, or {2} when it was delivered.
local function mailbox_recall(keys, args)
    local tag = keys[1]
    return once(tag, args[1], 0, function()
        local version = tonumber(args[2])
        local entry = redis.call('XRANGE', tag .. ':mbox', args[2], args[2])[1]
        local clear = tonumber(redis.call('HGET', tag .. ':box', 'clear') or '0')
        if not entry or entry[2][5] or version <= clear or is_expired(entry, (clock())) then
            return {0}
        elseif was_delivered(tag, version) then
            return {2}
        end
        delete_entries(tag, {entry})
        return {1}
    end)
end

register_vital('mailbox_list', mailbox_list)
register_vital('mailbox_empty', mailbox_empty)
register_vital('mailbox_recall', mailbox_recall)
