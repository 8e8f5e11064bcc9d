-- Which channel a session is in, as the user's own keys tell. The Swift contract is ChannelFunctions.swift.
--
-- Each function takes one key, a user's tag, and works on
--   :session  hash of heliograph_presence: sid, channel, leaving (channels still to be left, one a line)
--   :done:ID  string, lives DONE_MS: the packed result of command ID

local function lines(text)
    local list = {}
    for line in string.gmatch(text or '', '[^\n]+') do
        list[#list + 1] = line
    end
    return list
end

local function keep_leaving(tag, list)
    if #list == 0 then
        redis.call('HDEL', tag .. ':session', 'leaving')
    else
        redis.call('HSET', tag .. ':session', 'leaving', table.concat(list, '\n'))
    end
end

-- ARGV: command, deadline, sid, channel. The session turns to `channel`.
-- Returns the channels that it must leave; they stay recorded until session_entered.
local function session_enter(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local sid, channel, leaving = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving'))
        if sid ~= args[3] then
            return {err = 'SIG 1003 session_over the session is over'}
        end
        local list = {}
        for _, left in ipairs(lines(leaving)) do
            if left ~= args[4] and left ~= channel then
                list[#list + 1] = left
            end
        end
        if channel and channel ~= args[4] then
            list[#list + 1] = channel
        end
        if leaving or #list > 0 then
            keep_leaving(tag, list)
        end
        redis.call('HSET', tag .. ':session', 'channel', args[4])
        return list
    end)
end

-- ARGV: sid, channel. All that session_enter returned is left; no effect when a later join came in between.
local function session_entered(keys, args)
    local tag = keys[1]
    local sid, channel = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel'))
    if sid == args[1] and channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'leaving')
    end
    return redis.status_reply('OK')
end

-- ARGV: sid, channel. The session has left the channel.
local function session_exit(keys, args)
    local tag = keys[1]
    local sid, channel, leaving = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel', 'leaving'))
    if sid ~= args[1] then
        return 0
    end
    if channel == args[2] then
        redis.call('HDEL', tag .. ':session', 'channel')
    end
    local list = {}
    for _, left in ipairs(lines(leaving)) do
        if left ~= args[2] then
            list[#list + 1] = left
        end
    end
    keep_leaving(tag, list)
    return 1
end

-- ARGV: sid, channel. Its gateway says that the session is in the channel. Returns 1 unless Redis knows better.
local function session_rejoin(keys, args)
    local tag = keys[1]
    local sid, channel = unpack(redis.call('HMGET', tag .. ':session', 'sid', 'channel'))
    if sid ~= args[1] or (channel and channel ~= args[2]) then
        return 0
    end
    redis.call('HSET', tag .. ':session', 'channel', args[2])
    return 1
end

-- ARGV: deadline (ms, 0 for none), sid, gateway. The last look before an act of a session takes effect.
local function session_acts(keys, args)
    local deadline = tonumber(args[1])
    if deadline ~= 0 and clock() > deadline then
        return {err = 'SIG 1001 timeout the deadline had passed'}
    end
    local refusal = session_error(keys[1], args[2], args[3])
    return refusal and {err = refusal} or redis.status_reply('OK')
end

redis.register_function('session_acts', session_acts)
redis.register_function('session_enter', session_enter)
redis.register_function('session_entered', session_entered)
redis.register_function('session_exit', session_exit)
redis.register_function('session_rejoin', session_rejoin)
