-- Joins and leaves of a session, as its record keeps them: channel-state calls these functions before and after it changes a
-- channel's members. Its calls are in ChannelFunctions.swift.
--
-- Each function takes one key, a user's tag, and works on
--   :session  hash of heliograph_presence: sid, channel, leaving (channels still to be left, one a line), turn (number of
--             the session's last join or leave)
--   :done:ID  string, lives DONE_MS: the packed result of command ID

-- The number to record after a join or leave; one without a number (0) counts as the latest.
local function later_turn(turn, known)
    return number(math.max(tonumber(turn), tonumber(known or '0')))
end

-- ARGV: command, deadline, sid, channel, turn. Records `channel` as the session's channel.
-- Returns the channels that the session must leave; they stay recorded until session_entered.
local function session_enter(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local sid, channel, leaving, turn = unpack(
            redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn'))
        if sid ~= args[3] then
            return {err = 'SIG 1003 session_over the session is over'}
        end
        if args[5] ~= '0' and tonumber(args[5]) < tonumber(turn or '0') then
            return {err = 'SIG 300 superseded the session joined or left a channel meanwhile'}
        end
        local list = {}
        for _, left in ipairs(list_without(leaving, channel)) do
            if left ~= args[4] then
                list[#list + 1] = left
            end
        end
        if channel and channel ~= args[4] then
            list[#list + 1] = channel
        end
        if leaving or #list > 0 then
            keep_leaving(tag, list)
        end
        redis.call('HSET', tag .. ':session', 'channel', args[4], 'turn', later_turn(args[5], turn))
        return list
    end)
end

-- ARGV: sid, channel. The session has left all channels that session_enter returned. No effect after a later join.
local function session_entered(keys, args)
    local tag = keys[1]
    local sid, channel = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel'))
    if sid == args[1] and channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'leaving')
    end
    return redis.status_reply('OK')
end

-- ARGV: sid, channel, turn. The session has left the channel.
local function session_exit(keys, args)
    local tag = keys[1]
    local sid, channel, leaving, turn = unpack(
        redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving', 'turn'))
    if sid ~= args[1] then
        return 0
    end
    if channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'channel')
    end
    redis.call('HSET', tag .. ':session', 'turn', later_turn(args[3], turn))
    keep_leaving(tag, list_without(leaving, args[2]))
    return 1
end

-- ARGV: sid, channel. The session is no member of a channel that it was to leave. Its present channel stays.
local function session_forgot(keys, args)
    local tag = keys[1]
    local sid, leaving = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'leaving'))
    if sid == args[1] and leaving then
        keep_leaving(tag, list_without(leaving, args[2]))
    end
    return redis.status_reply('OK')
end

-- ARGV: deadline (ms, 0 for none), sid, gateway. Checks a session's right to act, just before the act takes effect.
local function session_acts(keys, args)
    local deadline = tonumber(args[1])
    if deadline ~= 0 and clock() > deadline then
        return {err = 'SIG 1001 timeout the deadline had passed'}
    end
    local refusal = session_error(keys[1], args[2], args[3])
    return refusal and {err = refusal} or redis.status_reply('OK')
end

register_vital('session_enter', session_enter)
register_vital('session_entered', session_entered)
register_vital('session_exit', session_exit)
register_vital('session_forgot', session_forgot)
register_vital('session_acts', session_acts)
