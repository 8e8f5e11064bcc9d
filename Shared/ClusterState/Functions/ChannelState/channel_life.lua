-- Expiry and deletion of empty channels.

-- Least interval between two checks of a channel that is used. A leave that coincides with a check is noticed by the
-- next one.
local WATCH_MS = 60000

-- An end that nobody records is forgotten after this time.
local END_MS = 86400000

-- Whether a channel has members, or is a special one whose events the server API reads (see ChannelKeys.swift).
local function is_used(tag)
    return redis.call('EXISTS', tag .. ':members', tag .. ':follow') > 0
end

-- Called when the channel's timer fires. Returns {'ended', time (us)} (an end that is not recorded yet), {'wait', time to check
-- again (ms)}, {'due'} (its time to live is over), {'idle'} (it never had a member: only its cache must be dropped) or {'none'}.
local function channel_expiry(keys)
    local tag = keys[1]
    local ended = redis.call('GET', tag .. ':end')
    if ended then
        return {'ended', ended}
    end
    local now = clock()
    local life = tonumber(state(tag, '_channel_ttl') or CHANNEL_TTL) * 1000
    if is_used(tag) then
        return {'wait', number(now + math.max(life, WATCH_MS))}
    end
    if redis.call('EXISTS', tag .. ':state', tag .. ':attrver') == 0 then
        return {'none'}
    end
    local emptied = state(tag, 'emptied')
    if not emptied then
        return {'idle'}
    end
    if tonumber(emptied) + life > now then
        return {'wait', number(tonumber(emptied) + life)}
    end
    return {'due'}
end

-- ARGV: version of the attributes after they were cleared, 0 when they were not. Deletes an empty channel; of one that had
-- members it notes the end.
-- Returns 1, or 0 when the channel has members again, or is followed.
local function channel_delete(keys, args)
    local tag = keys[1]
    if is_used(tag) then
        return 0
    end
    if state(tag, 'joins') then
        redis.call('SET', tag .. ':end', next_id(tag), 'PX', END_MS)
    end
    redis.call('UNLINK', tag .. ':members', tag .. ':info', tag .. ':latest', tag .. ':state', tag .. ':log',
        tag .. ':attrs', tag .. ':attrver', tag .. ':attrwait', tag .. ':attrload')
    raise_floor(tag, tonumber(args[1]))
    return 1
end

-- Called for a channel that had members and that Redis has lost: it is recorded as if the last member had just left.
-- Returns 1, or 0 when Redis knows the channel.
local function channel_adopt(keys)
    local tag = keys[1]
    if state(tag, 'joins') then
        return 0
    end
    redis.call('HSET', tag .. ':state', 'joins', '0', 'emptied', number((clock())))
    return 1
end

register_vital('channel_adopt', channel_adopt)
register_vital('channel_expiry', channel_expiry)
register_vital('channel_delete', channel_delete)
