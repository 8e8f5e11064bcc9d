-- Sessions and the cache of user attributes. The Swift contract is PresenceFunctions.swift.
--
-- Each function takes one key, a user's tag, and works on
--   :session  hash: gateway sid secret uid device push state(online|detached) since(ms) attached(ms) detached(ms)
--             timeout(s) channel leaving(channels that the session still has to leave, one per line)
--             openver(the mailbox's version when the session was opened) deadline(of the command that attached it, ms)
--             expires(of the token, s) claim(us, when its gateway took it over; rises with each takeover)
--             turn(number of the last join or leave) left, restored, removed(see memberships.lua)
--             change(number of the change that opened it) replaced(packed record of the session that its login replaced)
--             address(IP address of the client's connection, or of its last one; '' when its gateway does not tell it)
--   :ending   hash: sid -> packed record of a session that has ended and whose end still has to be processed
--   :ended:SID  string, expires after ENDED_MS: why the session ended, and its secret: "REASON SECRET"
--   :box      hash: ver, clear and expires (see mailbox.lua), uid (the account's number), pver (number of the last presence
--             change, for the mirror), sid (''
--             without a session), gateway ('' while detached), ban ("UNTIL TOKENS VERSION": when a ban ends, ms, 0 for one that
--             was lifted; until when login tokens end that were revoked, s; the version of both in PostgreSQL). Senders read from it where the user is. See keep_box and release_box of
--             the prelude for its expiry: a ban may go with it, because then the user's number goes too, and a login reads both
--             from PostgreSQL. held ("VER PVER"): the mailbox's version when a detached session lost its connection, and the
--             number of the change that noted it. With another pver, the version is not known: a process of an earlier
--             release has made the last change.
--   :attrs    hash: cached attributes; exists only while :attrver does
--   :attrver  string: PostgreSQL's version of the cached attributes; without it nothing is cached
--   :attrs:ID hash, expires after a minute: attributes that are being staged for :attrs
--   :attrmin  string: lowest version that may be cached; a lower one was read before a later commit
--   :done:ID  string, expires after DONE_MS: the packed result of command ID
-- and on the routes of the user's bucket, see routes.lua.

local ENDED_MS = 600000
local CACHE_MS = 86400000

-- Returns the number of a presence change at `us` (clock) after change `last`. The clock keeps the numbers rising even
-- when Redis has lost `last`.
local function next_change(us, last)
    return number(math.max(us, tonumber(last or '0') + 1))
end

-- Records the user's session and its gateway, '' for none. `now` and `us` are the clock. Returns the number of the change, and of
-- the mailbox ver, clear and expires.
local function change_presence(tag, sid, gateway, now, us)
    local box = tag .. ':box'
    local last, ver, known, holder, held, clear, expires = unpack(
        redis.call('HMGET', box, 'pver', 'ver', 'sid', 'gateway', 'held', 'clear', 'expires'))
    local change = next_change(us, last)
    if sid ~= '' and gateway == '' then
        -- Again for a session that was detached already, the connection was lost before.
        local given = known == sid and holder == '' and last and string.match(held or '', '^(%d+) ' .. last .. '$')
        redis.call('HSET', box, 'pver', change, 'sid', sid, 'gateway', gateway, 'held',
            (given or ver or '0') .. ' ' .. change)
    else
        redis.call('HSET', box, 'pver', change, 'sid', sid, 'gateway', gateway)
    end
    if sid == '' then
        release_box(tag, now)
    else
        keep_box(tag)
    end
    return change, ver, clear, expires
end

-- Ends the current session. Its record stays in :ending until everything that its end entails has been done, to which its
-- timer sees. `now` and `us` are the clock.
local function end_session(tag, session, reason, replaced, now, us)
    local record = {
        session.sid, session.gateway, session.uid, number(tonumber(reason)), replaced and '1' or '0',
        change_presence(tag, '', '', now, us), number(now), session.channel or '', session.leaving or '', session.device,
        session.since,
    }
    redis.call('DEL', tag .. ':session')
    remove_route(tag, session.gateway, session.sid)
    redis.call('HSET', tag .. ':ending', session.sid, pack_list(record))
    redis.call('SET', tag .. ':ended:' .. session.sid, record[4] .. ' ' .. session.secret, 'PX', ENDED_MS)
    return record
end

-- Has the session's gateway close its connection with a code.
local function kick(tag, session, code)
    redis.call(PUBLISH, gateway_topic(tag, session.gateway), 'kick ' .. session.sid .. ' ' .. number(code))
end

local function read_session(tag)
    local flat = redis.call('HGETALL', tag .. ':session')
    if #flat == 0 then
        return nil
    end
    local session = {}
    for i = 1, #flat, 2 do
        session[flat[i]] = flat[i + 1]
    end
    return session
end

-- Returns the reason why a session has ended and its secret, or nil when that is not known.
local function end_of(tag, sid)
    return string.match(redis.call('GET', tag .. ':ended:' .. sid) or '', '^(%d+) (.*)$')
end

-- Returns the number of a gateway's claim on a session at `us` (clock) after claim `last`.
local function next_claim(us, last)
    return number(math.max(us, tonumber(last or '0') + 1))
end

-- Caches the user's attributes as read from PostgreSQL: name-value pairs from args[first] on.
-- Returns 1 when this or a newer version is cached now, 0 when a later commit than this version is known.
local function cache_attributes(tag, version, args, first)
    local floor, cached = unpack(redis.call('MGET', tag .. ':attrmin', tag .. ':attrver'))
    if version < tonumber(floor or '0') then
        return 0
    end
    if version <= tonumber(cached or '-1') then
        return 1
    end
    if cached then
        redis.call('UNLINK', tag .. ':attrs')
    end
    for i = first, #args, 2 do
        redis.call('HSET', tag .. ':attrs', args[i], args[i + 1])
    end
    redis.call('SET', tag .. ':attrver', number(version), 'PX', CACHE_MS)
    if args[first] then
        redis.call('PEXPIRE', tag .. ':attrs', CACHE_MS)
    end
    return 1
end

-- Returns the version up to which mail is forgotten and the last version given, when nothing waits in the mailbox; else ''
-- twice. `expires`: when the mailbox does, which only one that has entries has.
local function mail_of(ver, clear, expires, now)
    if expires and tonumber(expires) > now and tonumber(clear or '0') < tonumber(ver or '0') then
        return '', ''
    end
    return clear or '0', ver or '0'
end

-- Returns what session_open has returned for the session before, or an error when the session has not stayed as it was then.
local function opened_before(session, gateway)
    if session.gateway ~= gateway or session.state ~= 'online' then
        return {err = REFUSED.session_over .. 'the session was opened, and is not what it was then'}
    end
    -- The mailbox is to be read.
    local result = {session.change, session.since, session.claim, '', ''}
    for _, element in ipairs(session.replaced and read_list(session.replaced) or {}) do
        result[#result + 1] = element
    end
    return result
end

-- ARGV: deadline (ms, 0 for none), gateway, sid, secret, uid, device, push, timeout, token expiry (s), address, then the
-- attributes as read from PostgreSQL: version ('' when they were already cached), name, value, ...
-- A repetition finds its session, or that it has ended, and changes nothing.
-- Returns {change number, now, claim, version up to which mail is forgotten, last version given ('' twice when mail may wait),
-- fields of the replaced session's record...}, or {} when a later commit of the attributes is known and they must be read again.
local function session_open(keys, args)
    local tag = keys[1]
    if args[11] ~= '' and cache_attributes(tag, tonumber(args[11]), args, 12) == 0 then
        return {}
    end
    local deadline, sid = tonumber(args[1]), args[3]
    local ver, pver, ban, clear, expires = unpack(
        redis.call('HMGET', tag .. ':box', 'ver', 'pver', 'ban', 'clear', 'expires'))
    local is_known = ver or pver or ban
    local old = read_session(tag)
    -- One that was recorded again after Redis had lost it has no number: it is not known any more what its login has done.
    if old and old.sid == sid and old.change then
        return opened_before(old, args[2])
    end
    local now, us = clock()
    if deadline ~= 0 and now > deadline then
        return {err = REFUSED.timeout .. 'the deadline had passed'}
    elseif is_known and redis.call('EXISTS', tag .. ':ended:' .. sid) == 1 then
        return {err = REFUSED.session_over .. 'the session was opened, and is over'}
    end
    local banned = ban and tonumber(string.match(ban, '^%d+')) or 0
    if banned > now then
        return {err = REFUSED.banned .. 'the user is banned until ' .. number(math.floor(banned / 1000))}
    end
    -- A session without a token has 0.
    local revoked = ban and tonumber(string.match(ban, '^%d+ (%d+) %d+$')) or 0
    if tonumber(args[9]) > 0 and tonumber(args[9]) <= revoked then
        return {err = REFUSED.revoked .. 'the token was revoked'}
    end
    local replaced = {}
    if old and old.sid ~= sid then
        replaced = end_session(tag, old, LEFT_KICKED, true, now, us)
        kick(tag, old, LOGOUT_KICKED)
        is_known, pver = true, replaced[6]
    elseif old then
        redis.call('DEL', tag .. ':session')
    end
    ver = ver or number(now)
    local change = next_change(us, pver)
    redis.call('HSET', tag .. ':box', 'ver', ver, 'uid', args[5], 'pver', change, 'sid', sid, 'gateway', args[2])
    -- A new :box has no expiry to remove.
    if is_known then
        keep_box(tag)
    end
    redis.call('HSET', tag .. ':session', 'gateway', args[2], 'sid', sid, 'secret', args[4], 'uid', args[5],
        'device', args[6], 'push', args[7], 'timeout', args[8], 'state', 'online', 'since', number(now),
        'attached', number(now), 'openver', ver, 'deadline', args[1], 'expires', args[9], 'claim', number(us),
        'change', change, 'address', args[10])
    if #replaced > 0 then
        redis.call('HSET', tag .. ':session', 'replaced', pack_list(replaced))
    end
    add_route(tag, args[2], sid)
    local forgotten, given = mail_of(ver, clear, expires, now)
    local result = {change, number(now), number(us), forgotten, given}
    for i = 1, #replaced do
        result[#result + 1] = replaced[i]
    end
    return result
end

-- ARGV: end of the ban (ms; 0: it was lifted), version, until when revoked login tokens end (s). Notes a user's ban and revoked tokens,
-- unless a later version is known.
-- Returns 1 when it is noted.
local function user_ban(keys, args)
    local tag = keys[1]
    local ban, sid = unpack(redis.call('HMGET', tag .. ':box', 'ban', 'sid'))
    if ban and tonumber(string.match(ban, '%d+$')) > tonumber(args[2]) then
        return 0
    end
    redis.call('HSET', tag .. ':box', 'ban', args[1] .. ' ' .. (args[3] or '0') .. ' ' .. args[2])
    if not sid or sid == '' then
        release_box(tag, (clock()))
    end
    return 1
end

-- ARGV: command, deadline, gateway, sid, secret, address.
-- Returns {uid, channel, push, change number, device, since, token expiry, claim, turn, version up to which mail is forgotten, last
-- version given ('' twice when mail may wait)}. A repetition gets what the first one got: the gateway has been told of all mail
-- that came after it.
local function session_resume(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function(now, us)
        if not now then
            now, us = clock()
        end
        local session = read_session(tag)
        if not session or session.sid ~= args[4] or session.secret ~= args[5] then
            local reason, secret = end_of(tag, args[4])
            if tonumber(reason) == LEFT_KICKED and secret == args[5] then
                return {err = REFUSED.replaced .. 'a newer login took the place of the session'}
            end
            return {err = REFUSED.bad_line .. 'the session is over'}
        end
        if session.gateway ~= args[3] then
            redis.call(PUBLISH, gateway_topic(tag, session.gateway), 'moved ' .. session.sid)
            remove_route(tag, session.gateway, session.sid)
        end
        -- Also at the same gateway: it may have been lost, and the route with it.
        add_route(tag, args[3], args[4])
        local claim = next_claim(us, session.claim)
        redis.call('HSET', tag .. ':session', 'gateway', args[3], 'state', 'online', 'attached', number(now),
            'deadline', args[2], 'claim', claim, 'address', args[6])
        redis.call('HDEL', tag .. ':session', 'detached')
        local change, ver, clear, expires = change_presence(tag, args[4], args[3], now, us)
        local forgotten, given = mail_of(ver, clear, expires, now)
        return {session.uid, session.channel or '', session.push, change, session.device, session.since,
            session.expires or '0', claim, session.turn or '0', forgotten, given}
    end)
end

-- ARGV: command, deadline, gateway, sid, time of the detachment (ms; 0 for now), time when the gateway was found lost
-- (ms; 0 when the gateway itself reports the detachment), the gateway's claim on the session (0: not known).
-- Returns {end of the time to resume (ms), change number, uid, device, since}, {} when the session is not that
-- gateway's or its gateway has reported it before, or {'kept'} when it stays attached.
local function session_detach(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function(now, us)
        if not now then
            now, us = clock()
        end
        local session = read_session(tag)
        if not session or session.sid ~= args[4] or session.gateway ~= args[3] then
            -- With a route left, the gateway would report once a minute that it does not hold the session.
            remove_route(tag, args[3], args[4])
            return {}
        end
        local asof = tonumber(args[5])
        if session.state ~= 'detached' then
            -- This command was sent before the session was attached again, and was delayed. Each attachment raises the claim,
            -- whatever master it is counted at. A gateway that does not know its claim is judged by its commands' deadlines:
            -- all of them have the same time to live.
            local claim, deadline = tonumber(args[7] or '0'), tonumber(args[2])
            if claim ~= 0 then
                if claim < tonumber(session.claim or '0') then
                    return {'kept'}
                end
            elseif deadline ~= 0 and deadline < tonumber(session.deadline or '0') then
                return {'kept'}
            end
            -- The session was attached after the gateway was found lost, so the gateway is back.
            local attached = tonumber(session.attached)
            if args[6] ~= '0' and attached >= tonumber(args[6]) then
                return {'kept'}
            end
            -- The loss is dated to the last heartbeat; a session that was attached later was lost when it was attached,
            -- at the earliest.
            session.detached = number(asof == 0 and now or math.max(asof, attached))
            redis.call('HSET', tag .. ':session', 'state', 'detached', 'detached', session.detached)
        elseif asof == 0 and now < tonumber(session.detached) + tonumber(session.timeout) * 1000 then
            -- The gateway has found the route again, as it does once a minute. The timer has been set, or will be when the
            -- first command is repeated; if it is lost, the first search after the session's end sets it.
            return {}
        end
        local over = tonumber(session.detached) + tonumber(session.timeout) * 1000
        return {number(over), change_presence(tag, args[4], '', now, us), session.uid, session.device, session.since}
    end)
end

-- ARGV: command, deadline, sid, reason. Returns the ended session's record, or {} when it is not the current session.
local function session_close(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function(now, us)
        local session = read_session(tag)
        if not session or session.sid ~= args[3] then
            return {}
        end
        if not now then
            now, us = clock()
        end
        -- After a logout or a lost connection the gateway closes the connection itself; it needs no `kick`.
        local reason = tonumber(args[4])
        if session.state == 'online' and reason ~= LEFT_BY_USER and reason ~= LEFT_LOGOUT
            and reason ~= LEFT_DISCONNECTED then
            kick(tag, session, reason == LEFT_KICKED and LOGOUT_KICKED or LOGOUT_OTHER)
        end
        return end_session(tag, session, reason, false, now, us)
    end)
end

-- ARGV: sid, time since when Redis has been reachable (ms). Called when the session's timer fires.
-- Returns {'ended', record...}, {'wait', time to check again (ms)}, or {'none'} when there is nothing to end.
local function session_due(keys, args)
    local tag = keys[1]
    local packed = redis.call('HGET', tag .. ':ending', args[1])
    local record
    if packed then
        record = read_list(packed)
    else
        local session = read_session(tag)
        if not session or session.sid ~= args[1] or session.state ~= 'detached' then
            return {'none'}
        end
        local timeout = tonumber(session.timeout) * 1000
        -- Clients could not resume while Redis was unreachable, so they get some time after it came back.
        local over = math.max(tonumber(session.detached) + timeout, tonumber(args[2]) + math.min(timeout, LEASE_MS))
        local now, us = clock()
        if over > now then
            return {'wait', number(over)}
        end
        record = end_session(tag, session, LEFT_DISCONNECTED, false, now, us)
        -- If a connection still exists nevertheless, its client is told that it is offline.
        redis.call(PUBLISH, gateway_topic(tag, session.gateway), 'kick ' .. session.sid .. ' 102')
    end
    table.insert(record, 1, 'ended')
    return record
end

-- ARGV: sid. Reports that everything that the session's end entails has been done.
local function session_ended(keys, args)
    return redis.call('HDEL', keys[1] .. ':ending', args[1])
end

-- Corrects the session's channel when Redis has lost a join or leave: the gateway reports that the last one had number
-- `turn` and led to `channel` ('' for none). Returns the channel that was recorded wrongly, or nil; it is then recorded
-- as one to leave.
local function correct_place(tag, session, turn, channel)
    local former = session.channel or ''
    if turn < tonumber(session.turn or '0') then
        return nil
    end
    redis.call('HSET', tag .. ':session', 'turn', number(turn))
    if channel == former then
        return nil
    end
    local leaving = list_without(session.leaving, channel)
    if former ~= '' then
        leaving[#leaving + 1] = former
    end
    keep_leaving(tag, leaving)
    if channel ~= '' then
        redis.call('HSET', tag .. ':session', 'channel', channel)
    else
        redis.call('HDEL', tag .. ':session', 'channel')
    end
    return former ~= '' and former or nil
end

-- Records a session again that Redis has lost; `args` are those of session_reassert. `detached` is when its connection was
-- lost (ms), nil for a session that its gateway holds.
local function restore_session(tag, args, now, us, detached)
    -- If Redis has lost the mailbox, its versions restart at the clock, above all that clients have seen.
    redis.call('HSETNX', tag .. ':box', 'ver', number(now))
    redis.call('HSET', tag .. ':box', 'uid', args[4])
    local since = args[7] ~= '0' and args[7] or number(now)
    local timeout = string.match(redis.call('HGET', tag .. ':attrs', '_conn_timeout') or '', '^[+-]?%d+$')
    timeout = timeout and number(math.min(math.max(tonumber(timeout), LEAST_TIMEOUT), MOST_TIMEOUT)) or args[12]
    -- openver 0: no call event in the mailbox counts as older than the session, which is active and has received
    -- all of them.
    redis.call('HSET', tag .. ':session', 'gateway', args[1], 'sid', args[2], 'secret', args[3], 'uid', args[4],
        'device', args[5], 'push', args[6], 'timeout', timeout, 'state', detached and 'detached' or 'online',
        'since', since, 'attached', detached or number(now), 'openver', '0', 'expires', args[9], 'claim', args[8],
        'turn', args[10], 'address', args[14])
    if detached then
        redis.call('HSET', tag .. ':session', 'detached', detached)
    end
    if args[11] ~= '' then
        redis.call('HSET', tag .. ':session', 'channel', args[11])
    end
    add_route(tag, args[1], args[2])
    local change = change_presence(tag, args[2], detached and '' or args[1], now, us)
    return {'restored', change, since, redis.call('HGET', tag .. ':box', 'ver'), ''}
end

-- ARGV: gateway, sid, secret, uid, device, push, since (ms), claim, token expiry (s), turn (-1: the channel is not
-- known), channel, timeout (s; used when the attribute is not cached), sid of the session to replace ('' for none), address.
-- Called by a gateway for a session that it holds.
-- Returns {'held', '', since, version of the mailbox, channel that was recorded wrongly ('' for none)}; the same with
-- 'kept' or 'restored' and the change's number when the mirror must be updated; {'lost', reason}; {'moved'}; or {'older',
-- sid} when another session, opened earlier, is recorded: the caller calls again with that sid to replace it.
local function session_reassert(keys, args)
    local tag = keys[1]
    local gateway, sid = args[1], args[2]
    local now, us = clock()
    local session = read_session(tag)
    if not session or session.sid ~= sid then
        local reason = end_of(tag, sid)
        if reason then
            return {'lost', reason}
        end
        if not session then
            return restore_session(tag, args, now, us)
        end
        -- One of the two logins replaced the other, and Redis has lost that: the later login wins.
        if tonumber(args[7]) <= tonumber(session.since) then
            return {'lost', number(LEFT_KICKED)}
        end
        if args[13] ~= session.sid then
            return {'older', session.sid}
        end
        end_session(tag, session, LEFT_KICKED, true, now, us)
        kick(tag, session, LOGOUT_KICKED)
        return restore_session(tag, args, now, us)
    end
    if session.secret ~= args[3] then
        return {'lost', number(LEFT_OTHER)}
    end
    local claim, known = tonumber(args[8]), tonumber(session.claim or '0')
    if session.gateway ~= gateway and known > claim then
        -- Another gateway took the session over later, and this one missed the `moved` event.
        return {'moved'}
    end
    local ver, box_sid, box_gateway = unpack(redis.call('HMGET', tag .. ':box', 'ver', 'sid', 'gateway'))
    local word, change = 'held', ''
    redis.call('HSET', tag .. ':session', 'gateway', gateway, 'state', 'online', 'attached', number(now), 'claim',
        number(math.max(claim, known)), 'address', args[14])
    if session.gateway ~= gateway then
        remove_route(tag, session.gateway, sid)
    end
    add_route(tag, gateway, sid)
    if session.gateway ~= gateway or session.state ~= 'online' or box_sid ~= sid or box_gateway ~= gateway then
        if session.gateway ~= gateway and session.state == 'online' then
            redis.call(PUBLISH, gateway_topic(tag, session.gateway), 'moved ' .. sid)
        end
        redis.call('HDEL', tag .. ':session', 'detached')
        word, change = 'kept', change_presence(tag, sid, gateway, now, us)
    end
    local turn = tonumber(args[10])
    if session.removed and turn >= 0 and turn < tonumber(string.match(session.removed, '^%d+')) then
        -- The gateway has missed that the session was removed from a channel.
        redis.call(PUBLISH, gateway_topic(tag, gateway), 'removed ' .. sid .. ' ' .. session.removed)
    end
    local wrong = turn >= 0 and correct_place(tag, session, turn, args[11])
    return {word, change, session.since, ver or '0', wrong or ''}
end

-- ARGV: as of session_reassert up to the channel, timeout (s; '' when it was not read from PostgreSQL), when the connection was
-- lost (ms), address. Called by a gateway for a session that lost its connection there: any session of the user is newer than what the
-- gateway knows. That of another gateway had a later claim, and one that is attached here is detached by a command of its own.
-- Returns {'detached', end of the time to resume (ms)}; {'restored', the same, number of the change, since}; {'attached'};
-- {'gone'}; or {'unread'} when the caller must read the timeout and call again.
local function session_reassert_detached(keys, args)
    local tag = keys[1]
    local gateway, sid = args[1], args[2]
    local session = read_session(tag)
    if session then
        if session.sid ~= sid or session.secret ~= args[3] or session.gateway ~= gateway then
            return {'gone'}
        end
        if session.state ~= 'detached' then
            return {'attached'}
        end
        return {'detached', number(tonumber(session.detached) + tonumber(session.timeout) * 1000)}
    end
    if end_of(tag, sid) then
        return {'gone'}
    end
    if args[12] == '' and redis.call('HEXISTS', tag .. ':attrs', '_conn_timeout') == 0 then
        return {'unread'}
    end
    local now, us = clock()
    local detached = math.min(tonumber(args[13]), now)
    local restored = restore_session(tag, args, now, us, number(detached))
    local timeout = tonumber(redis.call('HGET', tag .. ':session', 'timeout'))
    return {'restored', number(detached + timeout * 1000), restored[2], restored[3]}
end

-- ARGV: sid, gateway, uid, device, since (ms), channels (one per line). Ends a session that PostgreSQL's copy has and
-- Redis does not know.
-- Returns {'ended', record...}, {'over', number of the change} when it had ended already, or {'present'} when the user
-- has a session.
local function session_forgotten(keys, args)
    local tag = keys[1]
    if redis.call('EXISTS', tag .. ':session') == 1 then
        return {'present'}
    end
    local now, us = clock()
    if end_of(tag, args[1]) then
        return {'over', (change_presence(tag, '', '', now, us))}
    end
    local session = {
        sid = args[1], gateway = args[2], uid = args[3], device = args[4], since = args[5], channel = '',
        leaving = args[6], secret = '',
    }
    local record = end_session(tag, session, LEFT_DISCONNECTED, false, now, us)
    table.insert(record, 1, 'ended')
    return record
end

local function forget_attributes(tag)
    redis.call('UNLINK', tag .. ':attrs', tag .. ':attrver')
end

local function renew_attributes(tag)
    redis.call('PEXPIRE', tag .. ':attrs', CACHE_MS)
    redis.call('PEXPIRE', tag .. ':attrver', CACHE_MS)
end

-- ARGV: deadline (ms, 0 for none), sid ('' for the app's server), gateway, name. The last check before an attribute is committed
-- in PostgreSQL.
local function user_attribute_begin(keys, args)
    local tag = keys[1]
    local now = clock()
    local deadline = tonumber(args[1])
    if deadline ~= 0 and now > deadline then
        return {err = REFUSED.timeout .. 'the deadline had passed'}
    end
    local refusal = args[2] ~= '' and session_error(tag, args[2], args[3])
    if refusal then
        return {err = refusal}
    end
    if crowded(now) then
        return {err = MEMORY_FULL}
    end
    if redis.call('HLEN', tag .. ':attrs') >= ATTRIBUTES and redis.call('HEXISTS', tag .. ':attrs', args[4]) == 0 then
        return {err = REFUSED.too_many_attributes .. 'a user has at most ' .. ATTRIBUTES .. ' attributes'}
    end
    return redis.status_reply('OK')
end

-- ARGV: version, name, value, session timeout (s; '' for other attributes), 1 when the attribute was deleted. Updates the cache
-- after a commit.
-- Returns {'known'} when that version was cached already, else {'applied'}, followed by {sid, end of the time to resume
-- (ms)} when the timeout of a detached session changed.
local function user_attribute_committed(keys, args)
    local tag = keys[1]
    local version = tonumber(args[1])
    local cached = tonumber(redis.call('GET', tag .. ':attrver') or '-1')
    if cached < 0 or version > cached + 1 then
        -- Nothing is cached, or a commit in between is missing: the next reader loads the attributes from PostgreSQL.
        forget_attributes(tag)
        if version > tonumber(redis.call('GET', tag .. ':attrmin') or '0') then
            redis.call('SET', tag .. ':attrmin', number(version), 'PX', FLOOR_MS)
        end
    elseif version == cached + 1 then
        if args[5] == '1' then
            redis.call('HDEL', tag .. ':attrs', args[2])
        else
            redis.call('HSET', tag .. ':attrs', args[2], args[3])
        end
        redis.call('SET', tag .. ':attrver', number(version))
        renew_attributes(tag)
    end
    if version <= cached then
        return {'known'}
    end
    local session = args[4] ~= '' and read_session(tag)
    if not session then
        return {'applied'}
    end
    redis.call('HSET', tag .. ':session', 'timeout', args[4])
    if session.state ~= 'detached' then
        return {'applied'}
    end
    return {'applied', session.sid, number(tonumber(session.detached) + tonumber(args[4]) * 1000)}
end

-- ARGV: version, name, value, ... Caches the attributes as read from PostgreSQL.
-- Returns 1 when this or a newer version is cached now, 0 when a later commit than this version is known.
local function user_attributes_load(keys, args)
    return cache_attributes(keys[1], tonumber(args[1]), args, 2)
end

-- ARGV: version, staging. Caches the attributes that were staged at :attrs:STAGING because they are too large for one
-- call.
-- Returns as user_attributes_load does.
local function user_attributes_take(keys, args)
    local tag = keys[1]
    local staged = tag .. ':attrs:' .. args[2]
    local version = tonumber(args[1])
    local before = redis.call('GET', tag .. ':attrver')
    local taken = redis.call('EXISTS', staged) == 1 and cache_attributes(tag, version, {}, 1) or 0
    if taken == 1 and redis.call('GET', tag .. ':attrver') ~= before then
        redis.call('UNLINK', tag .. ':attrs')
        redis.call('RENAME', staged, tag .. ':attrs')
        redis.call('PEXPIRE', tag .. ':attrs', CACHE_MS)
    else
        redis.call('UNLINK', staged)
    end
    return taken
end

redis.register_function('session_open', session_open)
register_vital('user_ban', user_ban)
register_vital('session_resume', session_resume)
register_vital('session_detach', session_detach)
register_vital('session_close', session_close)
register_vital('session_due', session_due)
register_vital('session_ended', session_ended)
register_vital('session_reassert', session_reassert)
register_vital('session_reassert_detached', session_reassert_detached)
register_vital('session_forgotten', session_forgotten)
redis.register_function('user_attribute_committed', user_attribute_committed)
redis.register_function('user_attribute_begin', user_attribute_begin)
redis.register_function('user_attributes_load', user_attributes_load)
redis.register_function('user_attributes_take', user_attributes_take)
