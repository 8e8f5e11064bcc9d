-- Mailboxes: their keys and bounds, and adding entries. ClusterLibraries.swift joins the library's files in this order:
-- mailbox, mailbox_reading, mailbox_server, messages, channel_log.
--
-- The message_to_user, messages_to_users and mailbox_* functions take users' tags as keys, and work on
--   :session  hash of heliograph_presence; read: sid, openver
--   :mbox     stream with ids VERSION-TOTAL and the fields, in this order: l (msg-v2 line), x (expiry, ms), and for call
--             events t (type), c (call). TOTAL is the sum of the bytes of all entries up to this one, so the bytes that
--             wait are a difference of two totals.
--   :mcall    zset: "ID BYTES EXPIRY TYPE CALL" of the call events in :mbox, by version
--   :mfrom    hash: sender's tag -> bytes counted for that sender since the mailbox became an eighth full; see find_room
--   :box      hash: ver (last version given), clear (version up to which mail is forgotten), expires (ms, when :mbox does),
--             total (of the last entry), off (the part of total that no longer waits), gone (the part of off that was
--             deleted among entries that still wait), trimmed (version up to which :mbox was last trimmed), purged (ms,
--             when a full mailbox was last searched for expired entries), swept (version that the search reached); and of
--             heliograph_presence: sid ('' without a session), gateway ('' while detached). See keep_box and release_box
--             of the prelude for its expiry. held (of heliograph_presence): see was_delivered.
--   :done:ID  expires after DONE_MS: the packed result of command ID; for messages_to_users only an empty marker

-- Bytes counted per entry in addition to its line, so that many short messages also count towards the bound in bytes.
local ENTRY_BYTES = 64
-- Entries per XRANGE, and the entries and bytes that one call may read: Redis serves nobody else during a call.
local SCAN_STEP = 16
local SCAN_ENTRIES = 512
local SCAN_BYTES = 131072
-- Entries that one XTRIM removes from a mailbox at most.
local TRIM_ENTRIES = 1000
-- A call that works on many mailboxes stops trimming and searching after this many entries; a later call handles the
-- remaining mailboxes. `spent` counts the entries; each call resets it to 0.
local EFFORT = 512
local spent = 0
-- Maximum number of entries per node of a stream (Redis' `stream-node-max-entries`).
local NODE_ENTRIES = 100
-- Least interval between two searches of a full mailbox for expired entries.
local PURGE_MS = 1000
-- A mailbox outlives its last entry by 1/SLACK_PART of the entry's lifetime, at most MAILBOX_SLACK_MS. Messages that
-- arrive within this slack need not postpone its expiry.
local SLACK_PART = 8
local MAILBOX_SLACK_MS = 3600000
-- Below this many entries, the bytes per sender (:mfrom) are dropped.
local FEW = 64

local function version_of(entry)
    return tonumber(string.match(entry[1], '^%d+'))
end

local function total_of(entry)
    return tonumber(string.match(entry[1], '%d+$'))
end

local function size_of(entry)
    return #entry[2][2] + ENTRY_BYTES
end

local function is_expired(entry, now)
    return tonumber(entry[2][4]) <= now
end

-- Calls `visit(entry)` for the entries above version `after`, in order, until it returns true or the bounds of one call
-- are reached. Returns the last version passed, and whether no entry lies above it.
local function scan(mailbox, after, visit)
    local passed, seen, bytes = after, 0, 0
    while seen < SCAN_ENTRIES and bytes < SCAN_BYTES do
        local page = redis.call('XRANGE', mailbox, number(passed + 1), '+', 'COUNT', SCAN_STEP)
        for _, entry in ipairs(page) do
            if visit(entry) then
                return passed, false
            end
            passed = version_of(entry)
            bytes = bytes + size_of(entry)
        end
        if #page < SCAN_STEP then
            return passed, true
        end
        seen = seen + #page
    end
    return passed, false
end

-- Deletes the keys of a mailbox in which nothing waits.
local function empty(tag)
    if is_tight then
        local total, off = unpack(redis.call('HMGET', tag .. ':box', 'total', 'off'))
        free_memory(tag, tonumber(total or 0) - tonumber(off or 0))
    end
    redis.call('UNLINK', tag .. ':mbox', tag .. ':mcall', tag .. ':mfrom')
    redis.call('HDEL', tag .. ':box', 'expires', 'total', 'off', 'gone', 'purged', 'swept')
end

-- Updates the totals after entries of `bytes` in total were deleted from anywhere in the mailbox.
local function deleted(tag, bytes)
    if redis.call('XLEN', tag .. ':mbox') == 0 then
        empty(tag)
    elseif bytes > 0 then
        free_memory(tag, bytes)
        redis.call('HINCRBY', tag .. ':box', 'off', bytes)
        redis.call('HINCRBY', tag .. ':box', 'gone', bytes)
    end
end

local function delete_entries(tag, entries)
    if #entries == 0 then
        return
    end
    local ids, bytes = {}, 0
    for i, entry in ipairs(entries) do
        ids[i] = entry[1]
        bytes = bytes + size_of(entry)
        if entry[2][5] then
            local version = number(version_of(entry))
            redis.call('ZREMRANGEBYSCORE', tag .. ':mcall', version, version)
        end
    end
    redis.call('XDEL', tag .. ':mbox', unpack(ids))
    deleted(tag, bytes)
end

-- Splits a member of :mcall into id, bytes, expiry, type and call.
local function call_fields(member)
    return string.match(member, '^(%S+) (%d+) (%d+) (%S+) (.*)$')
end

-- Deletes call events, given as members of :mcall.
local function delete_calls(tag, members)
    if #members == 0 then
        return
    end
    local ids, bytes = {}, 0
    for i, member in ipairs(members) do
        local id, size = call_fields(member)
        ids[i] = id
        bytes = bytes + size
    end
    redis.call('XDEL', tag .. ':mbox', unpack(ids))
    redis.call('ZREM', tag .. ':mcall', unpack(members))
    deleted(tag, bytes)
end

-- Returns the bytes of the entries up to version `clear`, and the version up to which they were counted.
local function count_forgotten(mailbox, clear)
    local bytes, is_whole = 0, false
    local passed, is_end = scan(mailbox, 0, function(entry)
        is_whole = version_of(entry) > clear
        if not is_whole then
            bytes = bytes + size_of(entry)
        end
        return is_whole
    end)
    return bytes, (is_whole or is_end) and clear or passed
end

-- Removes forgotten entries, up to version `clear` or in part. Returns the version up to which they are removed.
local function trim(tag, clear)
    local mailbox, box = tag .. ':mbox', tag .. ':box'
    local ver, off, gone = unpack(redis.call('HMGET', box, 'ver', 'off', 'gone'))
    if clear >= tonumber(ver or 0) then
        empty(tag)
        return clear
    end
    off, gone = tonumber(off or 0), tonumber(gone or 0)
    local through, counted = clear, nil
    if gone > 0 then
        -- Deleted entries make the totals of their successors too large, so the remaining entries are counted, in steps.
        counted, through = count_forgotten(mailbox, clear)
        spent = spent + SCAN_ENTRIES
    end
    if counted or redis.call('XLEN', mailbox) <= TRIM_ENTRIES then
        spent = spent + redis.call('XTRIM', mailbox, 'MINID', number(through + 1))
    else
        local cut = redis.call('XTRIM', mailbox, 'MINID', '~', number(through + 1), 'LIMIT', TRIM_ENTRIES)
        spent = spent + cut
        -- The approximate trim removed whole nodes only. Unless it hit its limit, what remains is part of one node.
        if cut <= TRIM_ENTRIES - NODE_ENTRIES then
            redis.call('XTRIM', mailbox, 'MINID', number(through + 1))
        end
    end
    local first = redis.call('XRANGE', mailbox, '-', '+', 'COUNT', 1)[1]
    if not first then
        empty(tag)
        return through
    end
    through = math.min(through, version_of(first) - 1)
    redis.call('ZREMRANGEBYSCORE', tag .. ':mcall', '-inf', number(through))
    local base = total_of(first) - size_of(first)
    free_memory(tag, counted or base - off)
    if counted then
        redis.call('HSET', box, 'off', number(off + counted), 'gone', number(gone - (base - (off - gone) - counted)))
    else
        redis.call('HSET', box, 'off', number(base))
    end
    if redis.call('XLEN', mailbox) < FEW then
        redis.call('DEL', tag .. ':mfrom')
    end
    return through
end

-- Continues the search of a full mailbox for expired entries, and deletes them.
local function sweep(tag, now)
    local box = tag .. ':box'
    local purged, swept = unpack(redis.call('HMGET', box, 'purged', 'swept'))
    if tonumber(purged or 0) + PURGE_MS > now then
        return
    end
    spent = spent + SCAN_ENTRIES
    local expired = {}
    local passed, is_end = scan(tag .. ':mbox', tonumber(swept or 0), function(entry)
        if is_expired(entry, now) then
            expired[#expired + 1] = entry
        end
    end)
    redis.call('HSET', box, 'purged', number(now), 'swept', is_end and '0' or number(passed))
    delete_entries(tag, expired)
end

-- Returns the number of waiting messages, without call events (which have a bound of their own), and the waiting bytes,
-- including call events.
local function measure(tag)
    local total, off = unpack(redis.call('HMGET', tag .. ':box', 'total', 'off'))
    local count = redis.call('XLEN', tag .. ':mbox') - redis.call('ZCARD', tag .. ':mcall')
    return count, tonumber(total or 0) - tonumber(off or 0)
end

-- Checks whether a message of `size` bytes may be added to a mailbox that is not nearly empty; `entries` and `bytes` are
-- the mailbox's bounds. Returns the error or nil, and the bytes to count for the sender or nil.
--
-- While more than half of the mailbox is full, each sender may occupy a quarter of it. Bytes are counted per sender from
-- an eighth on, and each message counts as `bytes / entries` at least. Most mailboxes never fill that far and have no
-- cost.
local function find_room(tag, now, size, entries, bytes, sender)
    local count, waiting = measure(tag)
    if (count >= entries or waiting + size > bytes) and spent < EFFORT then
        trim(tag, tonumber(redis.call('HGET', tag .. ':box', 'clear') or '0'))
        sweep(tag, now)
        count, waiting = measure(tag)
    end
    if count >= entries then
        return REFUSED.mailbox_full .. number(entries) .. ' messages wait for the user already'
    elseif waiting + size > bytes then
        return REFUSED.mailbox_full .. number(bytes) .. ' bytes of messages wait for the user already'
    end
    if sender == '' or (count * 8 < entries and waiting * 8 < bytes) then
        return nil
    end
    local weight = math.max(size, math.ceil(bytes / entries))
    if count * 2 >= entries or waiting * 2 >= bytes then
        local counted = tonumber(redis.call('HGET', tag .. ':mfrom', sender) or '0')
        if counted * 4 >= bytes then
            return REFUSED.mailbox_full .. 'a quarter of the mailbox, more than half full, is this sender\'s'
        end
    end
    return nil, weight
end

-- Returns whether a mailbox has its maximum of `bound` call events, after deleting those that are expired or forgotten.
local function calls_full(tag, now, bound)
    local key = tag .. ':mcall'
    if redis.call('ZCARD', key) < bound then
        return false
    end
    local clear = redis.call('HGET', tag .. ':box', 'clear') or '0'
    local over = {}
    for _, member in ipairs(redis.call('ZRANGE', key, 0, -1)) do
        local id, _, expiry = call_fields(member)
        if tonumber(expiry) <= now or tonumber(string.match(id, '^%d+')) <= tonumber(clear) then
            over[#over + 1] = member
        end
    end
    delete_calls(tag, over)
    return redis.call('ZCARD', key) >= bound
end

-- Returns when the mailbox expires (nil: it is empty) and the total of its last entry. Making room may have changed
-- both.
local function end_and_total(box)
    local expires, total = unpack(redis.call('HMGET', box, 'expires', 'total'))
    return tonumber(expires), tonumber(total or 0)
end

-- Adds an entry. Collects in `mails`, for each gateway but `own`, the words of one event about new mail of its sessions.
-- `kind` and `call` are '' for messages; then `entries` and `bytes` are the mailbox's bounds. For call events `entries`
-- is their maximum number.
-- Returns the version and 1 when the user has a session, else 0; for a session of the gateway `own` also the version before,
-- as text, and its sid. Or it returns an error.
local function add_entry(tag, mails, now, line, lifetime, entries, bytes, sender, kind, call, own)
    local mailbox, box = tag .. ':mbox', tag .. ':box'
    local known = redis.call('HMGET', box, 'ver', 'expires', 'total', 'off', 'sid', 'gateway')
    local expires, total, off = tonumber(known[2]), tonumber(known[3] or 0), tonumber(known[4] or 0)
    local sid, gateway = known[5] or '', known[6] or ''
    if expires and expires <= now then
        empty(tag)
        expires, total, off = nil, 0, 0
    end
    local size = #line + ENTRY_BYTES
    local weight
    if kind ~= '' then
        if calls_full(tag, now, tonumber(entries)) then
            return {err = REFUSED.mailbox_full .. entries .. ' call events wait for the user already'}
        end
        expires, total = end_and_total(box)
    elseif (total - off + size) * 8 > math.min(bytes, entries * ENTRY_BYTES) then
        local refusal
        refusal, weight = find_room(tag, now, size, tonumber(entries), tonumber(bytes), sender)
        if refusal then
            return {err = refusal}
        end
        expires, total = end_and_total(box)
    end
    local version = rising(known[1], now)
    local expiry = now + lifetime
    local text, expiry_text, total_text = number(version), number(expiry), number(total + size)
    local id = text .. '-' .. total_text
    if kind == '' then
        redis.call('XADD', mailbox, id, 'l', line, 'x', expiry_text)
    else
        redis.call('XADD', mailbox, id, 'l', line, 'x', expiry_text, 't', kind, 'c', call)
        redis.call('ZADD', tag .. ':mcall', text, id .. ' ' .. number(size) .. ' ' .. expiry_text .. ' ' .. kind .. ' ' .. call)
    end
    if expires and expiry <= expires then
        redis.call('HSET', box, 'ver', text, 'total', total_text)
    else
        -- The keys must not expire before the last entry.
        expires = expiry + math.min(MAILBOX_SLACK_MS, math.floor(lifetime / SLACK_PART))
        local later = number(expires)
        redis.call('PEXPIREAT', mailbox, later)
        redis.call('HSET', box, 'ver', text, 'total', total_text, 'expires', later)
        if sid == '' then
            -- A new box has no expiry, which GT treats as later than any other.
            if known[1] then
                redis.call('PEXPIREAT', box, later, 'GT')
            else
                redis.call('PEXPIREAT', box, later)
            end
        end
    end
    if kind ~= '' then
        redis.call('PEXPIREAT', tag .. ':mcall', number(expires))
    end
    if weight then
        redis.call('HINCRBY', tag .. ':mfrom', sender, weight)
        redis.call('PEXPIREAT', tag .. ':mfrom', number(expires))
    end
    if gateway == '' then
        return version, sid ~= '' and 1 or 0
    elseif gateway == own then
        return version, 1, known[1] or '0', sid
    else
        local words = mails[gateway]
        if not words then
            words = {'mail'}
            mails[gateway] = words
        end
        local count = #words
        words[count + 1] = sid
        words[count + 2] = known[1] or '0'
        words[count + 3] = text
        words[count + 4] = expiry_text
        words[count + 5] = #line
        words[count + 6] = line
        return version, 1
    end
end

-- Tells gateways of new mail. `tag` is that of any of the receivers, who are all in one bucket.
local function publish_mails(tag, mails)
    for gateway, words in pairs(mails) do
        redis.call(PUBLISH, gateway_topic(tag, gateway), table.concat(words, ' '))
    end
end
