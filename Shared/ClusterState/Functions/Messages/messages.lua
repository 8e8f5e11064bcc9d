-- Messages to users and channels. The Swift contract is MessageStore.swift.
--
-- message_to_channel takes a channel's tag and works on keys of heliograph_channels
--   :members, :info, :state (seq, id, barred, _sendmsg_limit), :log, :bars
-- and on
--   :rate     string: number of messages in the current second

-- A limit of this many messages per second or more means no limit; the channel's own limit is then ignored as well.
local UNLIMITED = 1000000
-- Without a limit messages are not counted, and the log's expiry is renewed with every UNCOUNTED_STEP-th message and
-- after a silence of UNCOUNTED_US (us). So the log never expires before its last event is half of LOG_MS old.
local UNCOUNTED_STEP = 32
local UNCOUNTED_US = 50000000
-- Period (ms) over which a channel's messages are counted.
local WINDOW_MS = 1000

-- Returns whether the user's current session knows a call. It does when it is session `known_by`, or when it has
-- received the invitation (version `invited`) or will receive it before this event. Clients fail on an event of a call
-- that they do not know.
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
    local waiting = redis.call('XRANGE', tag .. ':mbox', invited, invited)[1]
    return waiting ~= nil and not is_expired(waiting, clock())
end

-- ARGV: command ('' for none), line, time to live (ms), maximum entries and bytes of the mailbox (for call events:
-- maximum number of call events, and a value that is not used), type and call ('' for messages), 1 to deliver only to a
-- session that knows the call, known_by and invited of knows_call ('' for none). Called by services only: the sender's
-- session is not checked.
-- Returns {version, 1 when the user has a session}, or {0, 0} when the event was dropped.
local function message_to_user(keys, args)
    local tag = keys[1]
    spent = 0
    return once(tag, args[1], 0, function()
        if args[8] == '1' and not knows_call(tag, redis.call('HGET', tag .. ':session', 'sid'), args[9], args[10]) then
            return {0, 0}
        end
        local now = clock()
        if args[6] == '' and refuses_memory(tag, #args[2] + ENTRY_BYTES, now) then
            return {err = MEMORY_FULL}
        end
        local mails = {}
        local version, online = add_entry(tag, mails, now, args[2], args[3], args[4], args[5], '', args[6], args[7])
        publish_mails(tag, mails)
        -- An error is a table.
        return online and {version, online} or version
    end)
end

-- Checks the session of a message's sender as session_error does, on a single Redis. In a cluster it is not checked; see
-- Docs/decisions/0021-senders-in-a-cluster.md.
local function sender_error(tag, sid, gateway)
    if SEES_ALL_USERS then
        return session_error(tag, sid, gateway)
    end
    return nil
end

-- Returns the error of a message whose sender was told meanwhile that it has failed, else nil. `deadline` is in ms, 0 or nil for none.
local function late_error(deadline, now)
    deadline = tonumber(deadline or 0)
    if deadline > 0 and now > deadline then
        return REFUSED.timeout .. 'the deadline had passed'
    end
    return nil
end

-- Returns what is answered to a duplicate. With `tells`, what messages_to_users_told has returned for the command before, or
-- zeros when the message was sent by messages_to_users; and 'again'; and for a session of the gateway `own`, of which nobody
-- knows whether it was told of the message, its sid and the last version of its mailbox.
local function sent_before(tag, done, own, tells)
    local result = {0}
    if tells then
        local version, online, us = string.match(redis.call('GET', done) or '', '^(%d+) (%d) (%d+)$')
        result = {tonumber(version or 0), tonumber(online or 0), tonumber(us or 0)}
    end
    local count = #result
    result[count + 1] = 'again'
    local sid, gateway, ver = unpack(redis.call('HMGET', tag .. ':box', 'sid', 'gateway', 'ver'))
    if own and sid and gateway == own then
        result[count + 2], result[count + 3] = sid, ver
    end
    return result
end

-- KEYS: the receiver's tag per message. ARGV: gateway, deadline (ms by this clock, 0 for none), 1 when messages have commands, 1 when
-- nothing is to be published to that gateway, time to live (ms), maximum entries and bytes of the mailboxes; then per message: the sender's
-- tag (no key: it may lie in another slot), the sender's sid ('' for an app's server), line, and its command if messages have them.
-- Returns per message its version, {version, version before, sid} for a session of a gateway to which nothing is published, or an
-- error; and at the end the clock (ms), from which the time to live counts. With `tells`, which is for apps whose webhooks tell of
-- messages: {version, 1 when the user has a session, time (us, another one for each message)}, and where nothing is published also the
-- version before and the sid. For duplicates see sent_before.
local function send_to_users(keys, args, tells)
    spent = 0
    local now, us = clock()
    local late = late_error(args[2], now)
    local own = args[4] == '1' and args[1] or nil
    -- As numbers, so that they are converted once for all messages.
    local lifetime, entries, bytes = tonumber(args[5]), tonumber(args[6]), tonumber(args[7])
    local width = args[3] == '1' and 4 or 3
    local results, mails, senders = {}, {}, {}
    for i = 1, #keys do
        local first = width * i - width + 8
        local tag, sender, sid, line = keys[i], args[first], args[first + 1], args[first + 2]
        local refusal
        -- A sender's session is checked once per call. An app's server, which has none, sends with the sid ''.
        if senders[sender] ~= sid then
            refusal = sid ~= '' and sender_error(sender, sid, args[1]) or nil
            senders[sender] = not refusal and sid or nil
        end
        -- A duplicate need only be recognised: storing a marker costs half of storing the result, as `once` does.
        local done = width == 4 and tag .. ':done:' .. args[first + 3]
        if late or refusal then
            results[i] = {err = late or refusal}
        elseif refuses_memory(tag, #line + ENTRY_BYTES, now) then
            results[i] = {err = MEMORY_FULL}
        elseif done and not redis.call('SET', done, '', 'PX', DONE_MS, 'NX') then
            results[i] = sent_before(tag, done, own, tells)
        else
            local succeeded, version, online, previous, mine = pcall(
                add_entry, tag, mails, now, line, lifetime, entries, bytes, sender, '', '', own)
            if not online then
                results[i] = succeeded and version or {err = type(version) == 'table' and version.err or tostring(version)}
                if done then
                    redis.call('DEL', done)
                end
            elseif tells then
                local sent = us + i - 1
                results[i] = {version, online, sent, previous, mine}
                if done then
                    redis.call('SET', done, number(version) .. ' ' .. online .. ' ' .. number(sent), 'PX', DONE_MS)
                end
            else
                results[i] = mine and {version, previous, mine} or version
            end
        end
    end
    publish_mails(keys[1], mails)
    results[#keys + 1] = now
    return results
end

local function messages_to_users(keys, args)
    return send_to_users(keys, args, false)
end

local function messages_to_users_told(keys, args)
    return send_to_users(keys, args, true)
end

-- Returns the error when an account may not send to a channel of which it must be a member, else nil. A service has the
-- sid ''.
local function speaker_error(tag, account, sid)
    local info = redis.call('HGET', tag .. ':info', account)
    if info and (sid == '' or string.sub(info, -#sid - 1) == ' ' .. sid) then
        return nil
    end
    return REFUSED.not_member .. 'the sender is not in the channel'
end

-- Returns the error when the app keeps a user from sending to a channel that has restrictions, else nil.
local function bar_error(tag, account, now)
    local banned, muted = unpack(redis.call('HMGET', tag .. ':bars', 'ban ' .. account, 'mute ' .. account))
    local function holds(bar)
        return bar and tonumber(string.match(bar, '^%d+')) * 1000 > now
    end
    if holds(banned) then
        return REFUSED.silenced .. 'the app has removed the user from the channel for a time'
    elseif holds(muted) then
        return REFUSED.muted .. 'the app has muted the user in the channel for a time'
    end
    return nil
end

-- Returns whether a tag is that of a special channel, in which only the system speaks; see SpecialChannel in Identifiers.swift.
local function is_special(tag)
    if string.sub(tag, -19) ~= '_agora_user_online}' and string.sub(tag, -21) ~= '_agora_channel_event}' then
        return false
    end
    return string.match(tag, ':c:_?_agora_%a+_%a+}$') ~= nil
end

-- ARGV: command ('' for none), account, uid, sid ('' for a service), gateway, 1 when the sender need not be a member,
-- messages per second, body, the sender's tag when the sender has a session and need not be a member, else '', and the deadline as
-- in messages_to_users, which may be left out.
-- Returns {sequence, client id}, or {0, 0} when the sender need not be a member and the channel has none. A special channel that the
-- server API follows (:follow, see ChannelKeys.swift) counts as one with members.
local function announcement_to_channel(keys, args)
    local tag = keys[1]
    local is_forced = args[6] == '1'
    if is_forced and redis.call('EXISTS', tag .. ':members', tag .. ':follow') == 0 then
        return {0, 0}
    end
    return once(tag, args[1], 0, function()
        local ms, us = clock()
        local refusal = late_error(args[10], ms)
        if refusal then
            return {err = refusal}
        end
        if not is_forced then
            refusal = speaker_error(tag, args[2], args[4])
        elseif args[9] ~= '' then
            refusal = sender_error(args[9], args[4], args[5])
        end
        if refusal then
            return {err = refusal}
        end
        local own, seq, id, barred = unpack(redis.call('HMGET', tag .. ':state', '_sendmsg_limit', 'seq', 'id', 'barred'))
        -- An app's server, which has no session, may send in anybody's name.
        refusal = barred and args[4] ~= '' and bar_error(tag, args[2], ms)
        if refusal then
            return {err = refusal}
        end
        local limit, sent = tonumber(args[7]), nil
        if limit < UNLIMITED then
            limit = own and tonumber(own) or limit
            sent = redis.call('INCR', tag .. ':rate')
            if sent == 1 then
                redis.call('PEXPIRE', tag .. ':rate', WINDOW_MS)
            end
            if sent > limit then
                return {err = REFUSED.too_many_messages .. 'more than ' .. number(limit) .. ' messages a second in the channel'}
            end
        end
        local last_id = tonumber(id or '0')
        -- A new channel's numbers start at the clock, above all that clients have seen.
        local next_seq, next_id = tonumber(seq or ms) + 1, math.max(us, last_id + 1)
        local seq_text, id_text = number(next_seq), number(next_id)
        local event = seq_text .. ' ' .. id_text .. ' ' .. args[2] .. ' ' .. args[3] .. ' msg ' .. args[8]
        redis.call('HSET', tag .. ':state', 'seq', seq_text, 'id', id_text)
        -- Announcements, which alone are above the highest limit, are about a whole app: who follows them gets longer to come back.
        local kept = limit > UNLIMITED and LOG_ANNOUNCEMENTS or LOG_EVENTS
        redis.call('XADD', tag .. ':log', 'MAXLEN', '~', kept, seq_text .. '-0', 'e', event)
        if sent == 1 or (not sent and (next_seq % UNCOUNTED_STEP == 0 or us - last_id > UNCOUNTED_US)) then
            -- Renewing the log's expiry with every message is not necessary.
            redis.call('PEXPIRE', tag .. ':log', LOG_MS)
        end
        redis.call(PUBLISH, tag .. ':events', event)
        return {next_seq, next_id}
    end)
end

-- The same for a message of a user or of an app's server. Gateways refuse those to special channels; this is the second line.
local function message_to_channel(keys, args)
    if is_special(keys[1]) then
        return {err = REFUSED.special_channel .. 'only the system sends messages in the special channels'}
    end
    return announcement_to_channel(keys, args)
end

-- Called once a second, so that an idle cluster has no gap between calls; see PAUSE_MS of the prelude.
local function messages_awake()
    clock()
    return redis.status_reply('OK')
end

redis.register_function{function_name = 'messages_awake', callback = messages_awake, flags = {'no-writes'}}
redis.register_function('message_to_user', message_to_user)
redis.register_function('messages_to_users', messages_to_users)
redis.register_function('messages_to_users_told', messages_to_users_told)
redis.register_function('message_to_channel', message_to_channel)
-- Services announce what has already happened, so the announcement must also succeed when Redis is full.
redis.register_function{
    function_name = 'announcement_to_channel', callback = announcement_to_channel, flags = {'allow-oom'}}
