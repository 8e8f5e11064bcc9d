-- The hot path: messages to users and channels, mailboxes and channel logs. The Swift contract is MessageStore.swift.
--
-- The message_to_user, messages_to_users and mailbox_* functions take users' tags as keys, and work on
--   :session  hash of heliograph_presence; read: sid, openver
--   :mbox     stream VER-0, fields l (msg-v2 line), x (expiry, ms), and for call events t (type), c (call)
--   :box      hash: ver (last version given), clear (highest version forgotten), purged (ms, last purge when full),
--             trimmed (what :mbox was last cut up to), first (the first version given), expires (ms, when :mbox expires),
--             and of heliograph_presence: sid ('' without a session), gateway ('' while it is detached)
-- The message_to_channel and channel_log_* functions take a channel's tag and work on what heliograph_channels owns:
--   :members, :info, :state (seq, id, _sendmsg_limit), :log, and
--   :rate     string: messages of the present second
-- Both keep :done:ID, which lives DONE_MS: the packed result of command ID; for messages_to_users, nothing but that it was.

-- Shared with heliograph_channels.
local LOG_EVENTS = 2000
local LOG_MS = 3600000
-- Entries looked at in one step of a walk.
local PAGE = 256
-- A limit of so many messages a second is none, and the channel's own does not count then.
local UNLIMITED = 1000000
-- Where messages are not counted, the log's expiry is moved with every so many.
local UNCOUNTED_STEP = 64
-- A full mailbox is searched for expired entries at most so often.
local PURGE_MS = 1000
-- How much longer than its last entry a mailbox is kept: so much later the next message need not move its expiry.
local MAILBOX_SLACK_MS = 3600000
-- Forgotten entries are cut off a mailbox when there are so many: that costs more than all the rest of forgetting one.
local TRIM_STEP = 16
-- Milliseconds over which the messages of a channel are counted.
local WINDOW_MS = 1000

-- The fields of a mailbox entry by name.
local function entry_fields(entry)
    local fields = {}
    local flat = entry[2]
    for i = 1, #flat, 2 do
        fields[flat[i]] = flat[i + 1]
    end
    return fields
end

local function entry_version(entry)
    return string.match(entry[1], '^%d+')
end

-- Calls `visit(entry)` for the entries above `after`, in order, until it returns true.
local function walk(key, after, visit)
    local start = number(after + 1) .. '-0'
    while true do
        local page = redis.call('XRANGE', key, start, '+', 'COUNT', PAGE)
        for _, entry in ipairs(page) do
            if visit(entry) then
                return
            end
        end
        if #page < PAGE then
            return
        end
        start = '(' .. page[#page][1]
    end
end

local function delete_entries(key, ids)
    for first = 1, #ids, PAGE do
        redis.call('XDEL', key, unpack(ids, first, math.min(first + PAGE - 1, #ids)))
    end
end

-- Cuts off what was forgotten.
local function trim(tag, through)
    redis.call('XTRIM', tag .. ':mbox', 'MINID', number(through + 1) .. '-0')
end

local function purge_expired(tag, now)
    local expired = {}
    walk(tag .. ':mbox', 0, function(entry)
        if tonumber(entry_fields(entry).x) <= now then
            expired[#expired + 1] = entry[1]
        end
    end)
    delete_entries(tag .. ':mbox', expired)
    redis.call('HSET', tag .. ':box', 'purged', number(now))
end

-- A mailbox has as many entries as it may: whether that is so without the forgotten and expired ones too.
local function stays_full(tag, now, bound, clear)
    trim(tag, clear)
    if tonumber(redis.call('HGET', tag .. ':box', 'purged') or '0') + PURGE_MS <= now then
        purge_expired(tag, now)
    end
    return redis.call('XLEN', tag .. ':mbox') >= bound
end

-- Whether the user's present session can know a call: it is the session named, or it was shown the invitation, or it will
-- be, before this event. A client that is told of a call it does not know breaks.
local function knows_call(tag, sid, known_by, invited)
    if not sid then
        return false
    end
    if known_by ~= '' and sid == known_by then
        return true
    end
    if invited == '' then
        return false
    end
    local openver = redis.call('HGET', tag .. ':session', 'openver') or '0'
    if tonumber(openver) < tonumber(invited) then
        return true
    end
    if tonumber(invited) <= tonumber(redis.call('HGET', tag .. ':box', 'clear') or '0') then
        return false
    end
    local waiting = redis.call('XRANGE', tag .. ':mbox', invited .. '-0', invited .. '-0')[1]
    return waiting ~= nil and tonumber(entry_fields(waiting).x) > clock()
end

-- Adds an entry, `kind` and `call` being '' for messages, and gathers in `mails` what the session's gateway is told: by gateway,
-- the words of one event. Returns {version, 1 when the user has a session}.
local function add_entry(tag, mails, now, line, lifetime, bound, kind, call)
    local mailbox, box = tag .. ':mbox', tag .. ':box'
    local known = redis.call('HMGET', box, 'ver', 'clear', 'first', 'expires', 'sid', 'gateway')
    local ver, first, expires, sid, gateway = known[1], known[3], known[4], known[5] or '', known[6] or ''
    -- A new mailbox's versions begin above whatever clients saw before Redis came back empty.
    local version = ver and ver + 1 or now
    local clear = tonumber(known[2] or 0)
    bound = tonumber(bound)
    -- There are no more entries than versions that were given and not forgotten: mostly that is all there is to know.
    if version - math.max(clear, (first or version) - 1) > bound and redis.call('XLEN', mailbox) >= bound
        and stays_full(tag, now, bound, clear) then
        return {err = 'SIG 400 mailbox_full ' .. bound .. ' messages wait for the user already'}
    end
    local expiry = now + lifetime
    local text, expiry_text = number(version), number(expiry)
    if kind == '' then
        redis.call('XADD', mailbox, text .. '-0', 'l', line, 'x', expiry_text)
    else
        redis.call('XADD', mailbox, text .. '-0', 'l', line, 'x', expiry_text, 't', kind, 'c', call)
    end
    if expires and expiry <= tonumber(expires) then
        redis.call('HSET', box, 'ver', text)
    else
        -- The key lives as long as its last entry, at least.
        local later = number(expiry + MAILBOX_SLACK_MS)
        redis.call('PEXPIREAT', mailbox, later)
        redis.call('HSET', box, 'ver', text, 'first', first or text, 'expires', later)
    end
    if gateway ~= '' then
        local words = mails[gateway]
        if not words then
            words = {'mail'}
            mails[gateway] = words
        end
        local count = #words
        words[count + 1] = sid
        words[count + 2] = text
        words[count + 3] = expiry_text
        words[count + 4] = #line
        words[count + 5] = line
    end
    return {version, sid ~= '' and 1 or 0}
end

local function publish_mails(mails)
    for gateway, words in pairs(mails) do
        redis.call('PUBLISH', 'gateway:' .. gateway .. ':events', table.concat(words, ' '))
    end
end

-- ARGV: command ('' for none), line, time to live (ms), entries at most, type and call ('' for messages), 1 to deliver only
-- to a session that can know the call, that session ('' for none), version of the invitation ('' for none).
-- Returns {version, 1 when the user has a session}; {0, 0} when the event was dropped.
local function message_to_user(keys, args)
    local tag = keys[1]
    return once(tag, args[1], 0, function()
        if args[7] == '1' and not knows_call(tag, redis.call('HGET', tag .. ':session', 'sid'), args[8], args[9]) then
            return {0, 0}
        end
        local mails = {}
        local result = add_entry(tag, mails, clock(), args[2], args[3], args[4], args[5], args[6])
        publish_mails(mails)
        return result
    end)
end

-- KEYS: a tag per message. ARGV per message: command ('' for none), line, time to live (ms), entries at most.
-- Returns per message its version, 0 for one that was sent before, or the error.
local function messages_to_users(keys, args)
    local now = clock()
    local results, mails = {}, {}
    for i, tag in ipairs(keys) do
        local first = 4 * i - 3
        -- Nobody asks what became of a message that was sent before: that it was is enough, for half of what `once` costs.
        local done = args[first] ~= '' and tag .. ':done:' .. args[first]
        if done and not redis.call('SET', done, '', 'PX', DONE_MS, 'NX') then
            results[i] = 0
        else
            local succeeded, result = pcall(
                add_entry, tag, mails, now, args[first + 1], args[first + 2], args[first + 3], '', '')
            if not succeeded and type(result) ~= 'table' then
                result = {err = tostring(result)}
            end
            if done and result.err then
                redis.call('DEL', done)
            end
            results[i] = result.err and result or result[1]
        end
    end
    publish_mails(mails)
    return results
end

-- Drops what the calls of earlier sessions left: events of calls that the new session can't know, and invitations to calls
-- that ended. What came after the session was opened is its own.
local function drop_stale_calls(tag)
    local openver = redis.call('HGET', tag .. ':session', 'openver')
    local opened = openver and tonumber(openver) or math.huge
    local stale, invitations, ended = {}, {}, {}
    walk(tag .. ':mbox', 0, function(entry)
        if tonumber(entry_version(entry)) > opened then
            return true
        end
        local fields = entry_fields(entry)
        if fields.t == 'voip_invite' then
            invitations[#invitations + 1] = {entry[1], fields.c}
        elseif fields.t then
            stale[#stale + 1] = entry[1]
            if fields.t == 'voip_invite_bye' or fields.t == 'voip_invite_failed' then
                ended[fields.c] = true
            end
        end
    end)
    for _, invitation in ipairs(invitations) do
        if ended[invitation[2]] then
            stale[#stale + 1] = invitation[1]
        end
    end
    delete_entries(tag .. ':mbox', stale)
end

-- ARGV: version to read above, entries at most, 1 for the first read of a new session.
-- Returns {highest version forgotten, last version given, 1 when more wait, version, expiry, line, ...}.
local function mailbox_read(keys, args)
    local tag = keys[1]
    local limit = tonumber(args[2])
    local clear, ver = unpack(redis.call('HMGET', tag .. ':box', 'clear', 'ver'))
    local result = {clear or '0', ver or '0', 0}
    if redis.call('EXISTS', tag .. ':mbox') == 0 then
        return result
    end
    if args[3] == '1' then
        drop_stale_calls(tag)
    end
    local now = clock()
    local expired = {}
    walk(tag .. ':mbox', math.max(tonumber(args[1]), tonumber(clear or '0')), function(entry)
        local fields = entry_fields(entry)
        if tonumber(fields.x) <= now then
            expired[#expired + 1] = entry[1]
        elseif #result >= 3 + 3 * limit then
            result[3] = 1
            return true
        else
            result[#result + 1] = entry_version(entry)
            result[#result + 1] = fields.x
            result[#result + 1] = fields.l
        end
    end)
    delete_entries(tag .. ':mbox', expired)
    return result
end

-- KEYS: a tag per mailbox. ARGV per mailbox: version to forget up to. A lower one than before, and one that was never given,
-- is no news. Returns per mailbox the highest version forgotten.
local function mailboxes_clear(keys, args)
    local results = {}
    for i, tag in ipairs(keys) do
        local box = tag .. ':box'
        local known = redis.call('HMGET', box, 'clear', 'ver', 'trimmed')
        local clear = tonumber(known[1] or 0)
        local through = math.min(args[i], known[2] or 0)
        if through > clear then
            clear = through
            if clear - (known[3] or 0) < TRIM_STEP then
                redis.call('HSET', box, 'clear', number(clear))
            else
                redis.call('HSET', box, 'clear', number(clear), 'trimmed', number(clear))
                trim(tag, clear)
            end
        end
        results[i] = clear
    end
    return results
end

-- ARGV: version. Returns 1 when the entry was there.
local function mailbox_remove(keys, args)
    return redis.call('XDEL', keys[1] .. ':mbox', args[1] .. '-0')
end

-- ARGV: command ('' for none), account, uid, 1 for a sender who need not be a member, messages a second, body.
-- Returns {sequence, client id}; {0, 0} when the channel has no members to hear it.
local function message_to_channel(keys, args)
    local tag = keys[1]
    if args[4] == '1' and redis.call('EXISTS', tag .. ':members') == 0 then
        return {0, 0}
    end
    return once(tag, args[1], 0, function()
        if args[4] ~= '1' and redis.call('HEXISTS', tag .. ':info', args[2]) == 0 then
            return {err = 'SIG 400 not_member the sender is not in the channel'}
        end
        local own, seq, id = unpack(redis.call('HMGET', tag .. ':state', '_sendmsg_limit', 'seq', 'id'))
        local limit, sent = tonumber(args[5]), nil
        if limit < UNLIMITED then
            limit = own and tonumber(own) or limit
            sent = redis.call('INCR', tag .. ':rate')
            if sent == 1 then
                redis.call('PEXPIRE', tag .. ':rate', WINDOW_MS)
            end
            if sent > limit then
                return {err = 'SIG 400 rate_limited more than ' .. number(limit) .. ' messages a second in the channel'}
            end
        end
        local ms, us = clock()
        -- A new channel's numbers begin above whatever clients saw before.
        local next_seq, next_id = tonumber(seq or ms) + 1, math.max(us, tonumber(id or '0') + 1)
        local seq_text, id_text = number(next_seq), number(next_id)
        local event = seq_text .. ' ' .. id_text .. ' ' .. args[2] .. ' ' .. args[3] .. ' msg ' .. args[6]
        redis.call('HSET', tag .. ':state', 'seq', seq_text, 'id', id_text)
        redis.call('XADD', tag .. ':log', 'MAXLEN', '~', LOG_EVENTS, seq_text .. '-0', 'e', event)
        if sent == 1 or (not sent and next_seq % UNCOUNTED_STEP == 0) or not seq then
            -- Once in a second, or in some messages, is enough.
            redis.call('PEXPIRE', tag .. ':log', LOG_MS)
        end
        redis.call('PUBLISH', tag .. ':events', event)
        return {next_seq, next_id}
    end)
end

-- ARGV: sequence number to read above, events at most.
-- Returns {the channel's sequence number (0: no such channel), 1 when none is missing before the first, event, ...}.
local function channel_log_after(keys, args)
    local tag = keys[1]
    local after = tonumber(args[1])
    local seq = tonumber(redis.call('HGET', tag .. ':state', 'seq') or '0')
    local page = redis.call('XRANGE', tag .. ':log', number(after + 1) .. '-0', '+', 'COUNT', args[2])
    local complete
    if page[1] then
        complete = tonumber(entry_version(page[1])) == after + 1
    else
        complete = seq == after or (seq ~= 0 and seq < after)
    end
    local result = {number(seq), complete and 1 or 0}
    for _, entry in ipairs(page) do
        result[#result + 1] = entry[2][2]
    end
    return result
end

-- Whether nothing was ever cut off a log. One that has expired held nothing younger than LOG_MS.
local function is_whole(key)
    if redis.call('EXISTS', key) == 0 then
        return true
    end
    local about = {}
    local flat = redis.call('XINFO', 'STREAM', key)
    for i = 1, #flat, 2 do
        about[flat[i]] = flat[i + 1]
    end
    return about['entries-added'] == about.length
end

-- ARGV: client id to read above, events at most. Returns as channel_log_after does; the latest when there are too many.
local function channel_log_after_id(keys, args)
    local tag = keys[1]
    local log = tag .. ':log'
    local after, limit = tonumber(args[1]), tonumber(args[2])
    local seq = redis.call('HGET', tag .. ':state', 'seq') or '0'
    local latest, reached, ending = {}, false, '+'
    while not reached and #latest <= limit do
        local page = redis.call('XREVRANGE', log, ending, '-', 'COUNT', PAGE)
        for _, entry in ipairs(page) do
            local event = entry[2][2]
            if tonumber(string.match(event, '^%d+ (%d+)')) <= after then
                reached = true
                break
            end
            latest[#latest + 1] = event
        end
        if #page < PAGE then
            break
        end
        ending = '(' .. page[#page][1]
    end
    local complete = seq ~= '0' and #latest <= limit and (reached or is_whole(log))
    local result = {seq, complete and 1 or 0}
    for i = math.min(#latest, limit), 1, -1 do
        result[#result + 1] = latest[i]
    end
    return result
end

redis.register_function('message_to_user', message_to_user)
redis.register_function('messages_to_users', messages_to_users)
redis.register_function('mailbox_read', mailbox_read)
redis.register_function('mailboxes_clear', mailboxes_clear)
redis.register_function('mailbox_remove', mailbox_remove)
redis.register_function('message_to_channel', message_to_channel)
redis.register_function{function_name = 'channel_log_after', callback = channel_log_after, flags = {'no-writes'}}
redis.register_function{function_name = 'channel_log_after_id', callback = channel_log_after_id, flags = {'no-writes'}}
