-- The end of empty channels.

-- A channel with members is looked at no more often. A leave at the same moment is seen at the next look.
local WATCH_MS = 60000

-- The channel's timer fired. Returns {'wait', when to look again (ms)}, {'due'} (its time is over),
-- {'idle'} (it never had a member: only the cache is to be dropped) or {'none'}.
local function channel_expiry(keys)
    local tag = keys[1]
    local now = clock()
    local life = tonumber(state(tag, '_channel_ttl') or CHANNEL_TTL) * 1000
    if redis.call('ZCARD', tag .. ':members') > 0 then
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

-- ARGV: version of the attributes after they were cleared, 0 when they were not.
-- Returns 1, or 0 when the channel has members again.
local function channel_delete(keys, args)
    local tag = keys[1]
    if redis.call('ZCARD', tag .. ':members') > 0 then
        return 0
    end
    redis.call('UNLINK', tag .. ':members', tag .. ':info', tag .. ':latest', tag .. ':state', tag .. ':log',
        tag .. ':attrs', tag .. ':attrver', tag .. ':attrwait', tag .. ':attrload')
    raise_floor(tag, tonumber(args[1]))
    return 1
end

-- Redis has forgotten the channel, which had members: it is as if the last had just left.
-- Returns 1, or 0 when it is known.
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
