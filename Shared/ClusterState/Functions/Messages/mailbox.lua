-- Mailboxes: their keys, their bounds, and adding entries. ClusterLibraries.swift joins the library's files in this order: mailbox,
-- mailbox_reading, messages, channel_log.
--
-- The message_to_user, messages_to_users and mailbox_* functions take users' tags as keys, and work on
--   :session  hash of heliograph_presence; read: sid, openver
--   :mbox     stream VERSION-TOTAL, fields in this order: l (msg-v2 line), x (expiry, ms), and for call events t (type), c
--             (call). TOTAL is the bytes of all entries up to this one, so that what waits is a difference.
--   :mcall    zset: "ID BYTES EXPIRY TYPE CALL" of the call events in :mbox, by version
--   :mfrom    hash: sender's tag -> what it has put into a mailbox since that was an eighth full, in bytes; see find_room
--   :box      hash: ver (last version given), clear (highest version forgotten), expires (ms, when :mbox does),
--             total (of the last entry) and off (what of it waits no more), gone (the part of off that was deleted among
--             entries that wait), trimmed (what :mbox was last cut up to), purged (ms, when a full one was last searched
--             for expired entries) and swept (the version that was reached), and of heliograph_presence: sid ('' without
--             a session), gateway ('' while it is detached). The prelude says how long it stays.
-- :done:ID lives DONE_MS: the packed result of command ID; for messages_to_users, nothing but that it was.

-- Bytes that an entry counts besides its line, so that many short messages have a weight too.
local ENTRY_BYTES = 64
-- Entries per XRANGE, and the entries and bytes that one call may read: Redis does nothing else meanwhile.
local SCAN_STEP = 16
local SCAN_ENTRIES = 512
local SCAN_BYTES = 131072
-- Entries cut off a mailbox at once at most.
local TRIM_ENTRIES = 1000
-- A call that works on many mailboxes stops trimming and searching after this many entries; the remaining mailboxes have their
-- turn in a later call. `spent` counts them; each call sets it to 0.
local EFFORT = 512
local spent = 0
-- Entries of one of a stream's nodes at most (`stream-node-max-entries`).
local NODE_ENTRIES = 100
-- A full mailbox is searched for expired entries at most so often.
local PURGE_MS = 1000
-- A mailbox is kept this part of an entry's life longer than its last entry, at most MAILBOX_SLACK_MS: so much later the
-- next message need not move its expiry.
local SLACK_PART = 8
local MAILBOX_SLACK_MS = 3600000
-- Senders' parts are not counted in a mailbox with fewer entries.
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

-- Calls `visit(entry)` for the entries above `after`, in order, until it returns true or so much was looked at as one call
-- may. Returns the last version passed, and whether there is none above it.
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

-- Deletes an empty mailbox.
local function empty(tag)
    redis.call('UNLINK', tag .. ':mbox', tag .. ':mcall', tag .. ':mfrom')
    redis.call('HDEL', tag .. ':box', 'expires', 'total', 'off', 'gone', 'purged', 'swept')
end

-- Accounts for deleted entries, some of which the client has not cleared.
local function deleted(tag, bytes)
    if redis.call('XLEN', tag .. ':mbox') == 0 then
        empty(tag)
    elseif bytes > 0 then
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

-- The parts of a member of :mcall: id, bytes, expiry, type, call.
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

-- Counts the bytes of the entries up to `clear`. Returns them, and the version up to which they were counted.
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

-- Cuts off what was forgotten, up to `clear`, or a part of it. Returns the version up to which that is done.
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
        -- What was deleted in between counts no more: so what is still there must be looked at, in steps.
        counted, through = count_forgotten(mailbox, clear)
        spent = spent + SCAN_ENTRIES
    end
    if counted or redis.call('XLEN', mailbox) <= TRIM_ENTRIES then
        spent = spent + redis.call('XTRIM', mailbox, 'MINID', number(through + 1))
    else
        local cut = redis.call('XTRIM', mailbox, 'MINID', '~', number(through + 1), 'LIMIT', TRIM_ENTRIES)
        spent = spent + cut
        -- Only whole nodes were cut off: what is left, unless the limit was hit, is a part of one.
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

-- Looks on through a full mailbox for expired entries.
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

-- Returns how many messages wait, and how many bytes. Call events have room of their own; their bytes count.
local function measure(tag)
    local total, off = unpack(redis.call('HMGET', tag .. ':box', 'total', 'off'))
    local count = redis.call('XLEN', tag .. ':mbox') - redis.call('ZCARD', tag .. ':mcall')
    return count, tonumber(total or 0) - tonumber(off or 0)
end

-- A message of `size` bytes is to be added to a mailbox that is not nearly empty; `entries` and `bytes` are its bounds.
-- Returns the refusal or nil, and what to count for the sender or nil.
--
-- While more than half is full, each sender may have a quarter. Who has what is counted from an eighth on, as if all messages
-- had the length of which so many fill a mailbox, or more: most mailboxes never come so far, and pay nothing for it.
local function find_room(tag, now, size, entries, bytes, sender)
    local count, waiting = measure(tag)
    if (count >= entries or waiting + size > bytes) and spent < EFFORT then
        trim(tag, tonumber(redis.call('HGET', tag .. ':box', 'clear') or '0'))
        sweep(tag, now)
        count, waiting = measure(tag)
    end
    if count >= entries then
        return 'SIG 400 mailbox_full ' .. number(entries) .. ' messages wait for the user already'
    elseif waiting + size > bytes then
        return 'SIG 400 mailbox_full ' .. number(bytes) .. ' bytes of messages wait for the user already'
    end
    if sender == '' or (count * 8 < entries and waiting * 8 < bytes) then
        return nil
    end
    local weight = math.max(size, math.ceil(bytes / entries))
    if count * 2 >= entries or waiting * 2 >= bytes then
        local counted = tonumber(redis.call('HGET', tag .. ':mfrom', sender) or '0')
        if counted * 4 >= bytes then
            return 'SIG 400 mailbox_full a quarter of the mailbox, more than half full, is this sender\'s'
        end
    end
    return nil, weight
end

-- Whether there is no room for a call event, of which there may be `bound`.
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

-- When the mailbox expires (nil: it is empty), and the bytes of all entries up to the last: what making room may change.
local function end_and_total(box)
    local expires, total = unpack(redis.call('HMGET', box, 'expires', 'total'))
    return tonumber(expires), tonumber(total or 0)
end

-- Adds an entry and gathers in `mails` what the session's gateway is told: by gateway, the words of one event. `kind` and
-- `call` are '' for messages, and then `entries` and `bytes` are the mailbox's bounds; else `entries` is that of call events.
-- Returns {version, 1 when the user has a session}.
local function add_entry(tag, mails, now, line, lifetime, entries, bytes, sender, kind, call)
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
            return {err = 'SIG 400 mailbox_full ' .. entries .. ' call events wait for the user already'}
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
        -- The keys live as long as the last entry, at least.
        expires = expiry + math.min(MAILBOX_SLACK_MS, math.floor(lifetime / SLACK_PART))
        local later = number(expires)
        redis.call('PEXPIREAT', mailbox, later)
        redis.call('HSET', box, 'ver', text, 'total', total_text, 'expires', later)
        if sid == '' then
            -- A new box has no end yet, which counts as later than any.
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
    if gateway ~= '' then
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
    end
    return {version, sid ~= '' and 1 or 0}
end

local function publish_mails(mails)
    for gateway, words in pairs(mails) do
        redis.call('PUBLISH', 'gateway:' .. gateway .. ':events', table.concat(words, ' '))
    end
end
