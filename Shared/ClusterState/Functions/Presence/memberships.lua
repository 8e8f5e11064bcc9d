-- The channel that a session is in, and those it still has to leave, as its record has them. Channel-state calls these
-- functions before and after it changes a channel's members, through ChannelFunctions.swift.
--
-- Each function takes one key, a user's tag, and works on
--   :session  hash of heliograph_presence: sid, channel, leaving (channels that the session still has to leave, one per
--             line), turn (number of the session's last join or leave), left (the turn of the last join that had to leave
--             channels, and these channels, one per line), restored (the channel in which a reassertion has
--             restored the member last), removed ('TURN CHANGE CHANNEL' of the last removal, see session_removed), gateway
--   :done:ID  string, expires after DONE_MS: the packed result of command ID

-- Returns the turn to record after a join or leave. One without a turn (0) keeps the recorded turn.
local function later_turn(turn, known)
    return number(math.max(tonumber(turn), tonumber(known or '0')))
end

-- Records a channel as the session's; `args` are those of session_enter. The deadline is not for a repetition.
local function enter(tag, args)
    local sid, channel, leaving, turn, left = unpack(
        redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn', 'left'))
    if sid ~= args[3] then
        return {err = REFUSED.session_over .. 'the session is over'}
    end
    local is_numbered = args[5] ~= '0'
    if is_numbered and channel == args[4] and turn == args[5] then
        local of_turn, names = string.match(left or '', '^(%d+)\n(.*)$')
        return of_turn == turn and list_without(names) or {}
    end
    if is_numbered and tonumber(args[5]) < tonumber(turn or '0') then
        return {err = REFUSED.superseded .. 'the session joined or left a channel meanwhile'}
    end
    local deadline = tonumber(args[2])
    if deadline ~= 0 and clock() > deadline then
        return {err = REFUSED.timeout .. 'the deadline had passed'}
    end
    local list = {}
    for _, other in ipairs(list_without(leaving, channel)) do
        if other ~= args[4] then
            list[#list + 1] = other
        end
    end
    if channel and channel ~= args[4] then
        list[#list + 1] = channel
    end
    if leaving or #list > 0 then
        keep_leaving(tag, list)
    end
    redis.call('HSET', tag .. ':session', 'channel', args[4], 'turn', later_turn(args[5], turn))
    if is_numbered and #list > 0 then
        redis.call('HSET', tag .. ':session', 'left', args[5] .. '\n' .. table.concat(list, '\n'))
    end
    return list
end

-- ARGV: command, deadline, sid, channel, turn. Records `channel` as the session's channel.
-- Returns the channels that the session must leave first; they stay recorded in `leaving` until they are left. A repetition
-- finds by its turn what was returned; without a turn (0), the result is kept.
local function session_enter(keys, args)
    local tag = keys[1]
    if args[5] == '0' then
        return once(tag, args[1], args[2], function()
            return enter(tag, args)
        end)
    end
    return enter(tag, args)
end

-- ARGV: sid, channel. Reports that the session has left all channels that session_enter returned. Has no effect when the
-- session has joined another channel since.
local function session_entered(keys, args)
    local tag = keys[1]
    local sid, channel = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel'))
    if sid == args[1] and channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'leaving')
    end
    return redis.status_reply('OK')
end

-- ARGV: sid, channel, turn. Reports that the session has left the channel.
-- Returns 1; 0 when it is not the user's current session; or 2 when the member was restored at some time since the session
-- joined, perhaps after it had been removed for this leave: the caller removes it again and calls session_forgot.
local function session_exit(keys, args)
    local tag = keys[1]
    local sid, channel, leaving, turn, restored = unpack(
        redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn', 'restored'))
    if sid ~= args[1] then
        return 0
    end
    if channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'channel')
    end
    redis.call('HSET', tag .. ':session', 'turn', later_turn(args[3], turn))
    keep_leaving(tag, list_without(leaving, args[2]))
    return restored == args[2] and 2 or 1
end

-- ARGV: sid, channel, number of the channel's change, turn. Reports, as session_exit does, that the app has removed the session
-- from the channel, and tells its gateway. This counts as a leave: a gateway that has missed it does not put the session back,
-- and is told again by session_reassert.
-- Returns as session_exit does, or {turn now, 1 when the session is in the channel} when it has joined or left a channel since
-- that turn.
local function session_removed(keys, args)
    local tag = keys[1]
    local sid, channel, leaving, turn, restored, gateway = unpack(
        redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn', 'restored', 'gateway'))
    if sid ~= args[1] then
        return 0
    end
    if channel == args[2] then
        if (turn or '0') ~= args[4] then
            return {turn or '0', 1}
        end
        local after = number(tonumber(args[4]) + 1)
        local removal = after .. ' ' .. args[3] .. ' ' .. channel
        redis.call('HDEL', tag .. ':session', 'channel')
        redis.call('HSET', tag .. ':session', 'turn', after, 'removed', removal)
        redis.call(PUBLISH, gateway_topic(tag, gateway), 'removed ' .. sid .. ' ' .. removal)
    end
    keep_leaving(tag, list_without(leaving, args[2]))
    return restored == args[2] and 2 or 1
end

-- ARGV: sid, refused channel, channel ('' for none), turn. Takes back what session_enter has recorded for a join that was
-- refused: the session is in the other channel still.
local function session_stay(keys, args)
    local tag = keys[1]
    local sid, channel, leaving, turn = unpack(
        redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn'))
    if sid ~= args[1] or channel ~= args[2] or (turn or '0') ~= args[4] then
        return redis.status_reply('OK')
    end
    if args[3] == '' then
        redis.call('HDEL', tag .. ':session', 'channel')
    else
        redis.call('HSET', tag .. ':session', 'channel', args[3])
        keep_leaving(tag, list_without(leaving, args[3]))
    end
    return redis.status_reply('OK')
end

-- ARGV: sid, channel. Reports that a reassertion has restored the session as a member of the channel.
-- Returns 1, or 0 when the session is not in the channel any more: the caller removes the member again.
local function session_restored(keys, args)
    local tag = keys[1]
    local sid, channel = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel'))
    if sid ~= args[1] or channel ~= args[2] then
        return 0
    end
    redis.call('HSET', tag .. ':session', 'restored', channel)
    return 1
end

-- ARGV: sid, channel. Reports that the session is not a member of a channel that it had to leave. The session's current
-- channel is not changed.
local function session_forgot(keys, args)
    local tag = keys[1]
    local sid, leaving, restored = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'leaving', 'restored'))
    if sid ~= args[1] then
        return redis.status_reply('OK')
    end
    if leaving then
        keep_leaving(tag, list_without(leaving, args[2]))
    end
    if restored == args[2] then
        redis.call('HDEL', tag .. ':session', 'restored')
    end
    return redis.status_reply('OK')
end

-- ARGV: deadline (ms, 0 for none), sid, gateway. Checks that the session may act; called immediately before the action
-- takes effect.
local function session_acts(keys, args)
    local deadline = tonumber(args[1])
    if deadline ~= 0 and clock() > deadline then
        return {err = REFUSED.timeout .. 'the deadline had passed'}
    end
    local refusal = session_error(keys[1], args[2], args[3])
    return refusal and {err = refusal} or redis.status_reply('OK')
end

register_vital('session_enter', session_enter)
register_vital('session_entered', session_entered)
register_vital('session_exit', session_exit)
register_vital('session_removed', session_removed)
register_vital('session_stay', session_stay)
register_vital('session_restored', session_restored)
register_vital('session_forgot', session_forgot)
register_vital('session_acts', session_acts)
