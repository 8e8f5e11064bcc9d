#!lua name=heliograph_channels
-- Membership and attributes of channels. The Swift contract is ChannelFunctions.swift.
--
-- The channel_* functions take one key, a channel's tag, and work on
--   :members  zset: account -> number of its join; the latest members have the highest scores
--   :info     hash: account -> "uid sid"
--   :state    hash: seq (last event), id (last client id or change, us), joins, emptied (ms, when the last member left),
--             and copies of the built-in attributes under their own names (heliograph_messages reads _sendmsg_limit)
--   :log      stream SEQ-0, field e: the event as published; capped as in heliograph_messages
--   :attrs    hash: cached attributes, loaded while :attrver (PostgreSQL's version of them) exists
--   :attrwait hash: version -> packed change that came before its predecessor
--   :attrmin  string: a lower version must not be cached, it was read before a later commit
--   :arate:NAME  string: changes of an attribute in the present second
--   :done:ID  string, lives DONE_MS: the packed result of command ID

local DONE_MS = 60000
local FLOOR_MS = 60000
-- Shared with heliograph_messages: change both.
local LOG_EVENTS = 2000
local LOG_MS = 3600000
local WAITING_CHANGES = 1000
local BUILT_IN = {
    _userNotification = true, _channel_ttl = true, _auto_update_num = true, _auto_update_total_num = true,
    _sendmsg_limit = true, _setattr_limit = true,
}
local CHANNEL_TTL = 7200

local function clock()
    local time = redis.call('TIME')
    return time[1] * 1000 + math.floor(time[2] / 1000), time[1] * 1000000 + time[2]
end

local function number(value)
    return string.format('%.0f', value)
end

-- Runs `act` once per command: ARGV 1 is the command's id, ARGV 2 its deadline (ms, 0 for none).
local function once(tag, args, act)
    local key = tag .. ':done:' .. args[1]
    local stored = redis.call('GET', key)
    if stored then
        return cmsgpack.unpack(stored)
    end
    local deadline = tonumber(args[2])
    if deadline ~= 0 and clock() > deadline then
        return {err = 'SIG 1001 timeout the deadline had passed'}
    end
    local result = act()
    if not result.err then
        redis.call('SET', key, cmsgpack.pack(result), 'PX', DONE_MS)
    end
    return result
end

local function state(tag, field)
    return redis.call('HGET', tag .. ':state', field)
end

-- The channel's present sequence number; a new channel's is the clock, above whatever clients saw before.
local function sequence(tag)
    local seq = state(tag, 'seq')
    if not seq then
        seq = number((clock()))
        redis.call('HSET', tag .. ':state', 'seq', seq)
    end
    return seq
end

-- The next client id; also what orders changes of membership for the mirror.
local function next_id(tag)
    local _, now = clock()
    local id = number(math.max(now, tonumber(state(tag, 'id') or '0') + 1))
    redis.call('HSET', tag .. ':state', 'id', id)
    return id
end

-- Numbers, keeps and publishes an event.
local function publish(tag, id, account, uid, rest)
    local seq = number(tonumber(sequence(tag)) + 1)
    redis.call('HSET', tag .. ':state', 'seq', seq)
    local event = seq .. ' ' .. id .. ' ' .. account .. ' ' .. uid .. ' ' .. rest
    redis.call('XADD', tag .. ':log', 'MAXLEN', '~', LOG_EVENTS, seq .. '-0', 'e', event)
    redis.call('PEXPIRE', tag .. ':log', LOG_MS)
    redis.call('PUBLISH', tag .. ':events', event)
end

local function announced(tag, special)
    return special ~= '1' and state(tag, '_userNotification') ~= '0'
end

local function sid_of(info)
    return string.match(info, '^%S+ (.*)$')
end

-- ARGV: command, deadline, account, uid, sid, 1 for a special channel, latest members to list.
-- Returns {outcome, sequence, members, change number, version of the attributes or '', accounts listed,
-- account, info, ..., name, value, ...}; the outcome is joined, replaced (by a newer session of the account) or present.
local function channel_join(keys, args)
    local tag = keys[1]
    -- Kept for a redelivery is only what it cannot find out again: the lists are long.
    local done = once(tag, args, function()
        local account, uid, sid = args[3], args[4], args[5]
        local info = redis.call('HGET', tag .. ':info', account)
        local outcome = 'joined'
        if info then
            outcome = sid_of(info) == sid and 'present' or 'replaced'
        end
        local id = next_id(tag)
        if outcome ~= 'present' then
            local join = redis.call('HINCRBY', tag .. ':state', 'joins', 1)
            redis.call('ZADD', tag .. ':members', join, account)
            redis.call('HSET', tag .. ':info', account, uid .. ' ' .. sid)
            redis.call('HDEL', tag .. ':state', 'emptied')
        end
        if outcome == 'joined' and announced(tag, args[6]) then
            publish(tag, id, account, uid, 'join')
        end
        return {outcome, sequence(tag), id}
    end)
    if done.err then
        return done
    end
    local latest = redis.call('ZREVRANGE', tag .. ':members', 0, tonumber(args[7]) - 1)
    local result = {
        done[1], done[2], redis.call('ZCARD', tag .. ':members'), done[3], redis.call('GET', tag .. ':attrver') or '',
        #latest,
    }
    for _, member in ipairs(latest) do
        result[#result + 1] = member
        result[#result + 1] = redis.call('HGET', tag .. ':info', member) or '0 -'
    end
    for _, text in ipairs(redis.call('HGETALL', tag .. ':attrs')) do
        result[#result + 1] = text
    end
    return result
end

-- ARGV: command, deadline, account, sid, 1 for a special channel.
-- Returns {members, change number, uid, seconds to live when empty}, or {} when that session is not the member.
local function channel_leave(keys, args)
    local tag = keys[1]
    return once(tag, args, function()
        local account = args[3]
        local info = redis.call('HGET', tag .. ':info', account)
        if not info or sid_of(info) ~= args[4] then
            return {}
        end
        local uid = string.match(info, '^%S+')
        redis.call('ZREM', tag .. ':members', account)
        redis.call('HDEL', tag .. ':info', account)
        local id = next_id(tag)
        local count = redis.call('ZCARD', tag .. ':members')
        if count == 0 then
            redis.call('HSET', tag .. ':state', 'emptied', number((clock())))
        end
        if announced(tag, args[5]) then
            publish(tag, id, account, uid, 'leave')
        end
        return {count, id, uid, state(tag, '_channel_ttl') or tostring(CHANNEL_TTL)}
    end)
end

-- ARGV: account, uid, sid, ... Members that their gateway holds; known accounts are left as they are.
-- Returns {change number, account, ...} of those that were added.
local function channel_reassert(keys, args)
    local tag = keys[1]
    local result = {next_id(tag)}
    for i = 1, #args, 3 do
        if redis.call('HSETNX', tag .. ':info', args[i], args[i + 1] .. ' ' .. args[i + 2]) == 1 then
            local join = redis.call('HINCRBY', tag .. ':state', 'joins', 1)
            redis.call('ZADD', tag .. ':members', join, args[i])
            result[#result + 1] = args[i]
        end
    end
    redis.call('HDEL', tag .. ':state', 'emptied')
    return result
end

-- ARGV: join number to list below ('+inf' to begin), how many at most.
-- Returns {members, join number of the last listed or '', account, info, ...}, newest first.
local function channel_members(keys, args)
    local tag = keys[1]
    local below = args[1] == '+inf' and args[1] or '(' .. args[1]
    local page = redis.call('ZREVRANGEBYSCORE', tag .. ':members', below, '-inf', 'WITHSCORES', 'LIMIT', 0, args[2])
    local result = {redis.call('ZCARD', tag .. ':members'), page[#page] or ''}
    for i = 1, #page, 2 do
        result[#result + 1] = page[i]
        result[#result + 1] = redis.call('HGET', tag .. ':info', page[i]) or '0 -'
    end
    return result
end

-- ARGV: command, deadline, attribute ('' for clear). Asked before the change is committed.
-- Returns {1 when the attributes are cached, members}; an error when the channel's limit for the attribute is used up.
local function channel_attribute_begin(keys, args)
    local tag = keys[1]
    if redis.call('EXISTS', tag .. ':attrver') == 0 then
        return {0, redis.call('ZCARD', tag .. ':members')}
    end
    return once(tag, args, function()
        local limit = tonumber(state(tag, '_setattr_limit') or '0')
        if limit > 0 then
            local key = tag .. ':arate:' .. args[3]
            local changes = redis.call('INCR', key)
            if changes == 1 then
                redis.call('PEXPIRE', key, 1000)
            end
            if changes > limit then
                return {err = 'SIG 1001 rate_limited the attribute changed ' .. limit .. ' times in this second'}
            end
        end
        return {1, redis.call('ZCARD', tag .. ':members')}
    end)
end

local function set_attribute(tag, name, value)
    redis.call('HSET', tag .. ':attrs', name, value)
    if BUILT_IN[name] then
        redis.call('HSET', tag .. ':state', name, value)
    end
end

local function delete_attribute(tag, name)
    redis.call('HDEL', tag .. ':attrs', name)
    if BUILT_IN[name] then
        redis.call('HDEL', tag .. ':state', name)
    end
end

local function clear_attributes(tag)
    redis.call('DEL', tag .. ':attrs')
    for name in pairs(BUILT_IN) do
        redis.call('HDEL', tag .. ':state', name)
    end
end

local function publish_change(tag, account, uid, verb, name, value)
    local rest = 'attr clear'
    if verb == 'update' then
        rest = 'attr update ' .. #name .. ' ' .. name .. ' ' .. value
    elseif verb == 'del' then
        rest = 'attr del ' .. #name .. ' ' .. name
    end
    publish(tag, next_id(tag), account, uid, rest)
end

-- change: {account, uid, verb, name, value}
local function apply_change(tag, version, change)
    if change[3] == 'update' then
        set_attribute(tag, change[4], change[5])
    elseif change[3] == 'del' then
        delete_attribute(tag, change[4])
    else
        clear_attributes(tag)
    end
    redis.call('SET', tag .. ':attrver', number(version))
    publish_change(tag, unpack(change))
end

-- Applies changes that waited for their predecessor.
local function apply_waiting(tag, version)
    while true do
        version = version + 1
        local packed = redis.call('HGET', tag .. ':attrwait', number(version))
        if not packed then
            return
        end
        redis.call('HDEL', tag .. ':attrwait', number(version))
        apply_change(tag, version, cmsgpack.unpack(packed))
    end
end

local function raise_floor(tag, version)
    if version > tonumber(redis.call('GET', tag .. ':attrmin') or '0') then
        redis.call('SET', tag .. ':attrmin', number(version), 'PX', FLOOR_MS)
    end
end

-- ARGV: version, account, uid, verb (update, del, clear), name, value. A change was committed as `version`.
-- Returns applied, known (a reload or an earlier delivery had it), waiting (for the version before it) or first (the
-- channel had no attributes when they were cached: they must be loaded).
local function channel_attributes(keys, args)
    local tag = keys[1]
    local version = tonumber(args[1])
    local change = {args[2], args[3], args[4], args[5], args[6]}
    local cached = tonumber(redis.call('GET', tag .. ':attrver') or '-1')
    if cached < 0 then
        -- Expired in the middle of the command: members hear of it, the next reader loads it.
        raise_floor(tag, version)
        publish_change(tag, unpack(change))
        return redis.status_reply('applied')
    end
    if version <= cached then
        return redis.status_reply('known')
    end
    if cached == 0 and version > 1 then
        -- PostgreSQL's first version of a channel is a clock's: whether one came before cannot be told. A deletion leaves
        -- no difference that the reload could publish.
        if change[3] ~= 'update' then
            publish_change(tag, unpack(change))
        end
        return redis.status_reply('first')
    end
    if version > cached + 1 then
        if redis.call('HLEN', tag .. ':attrwait') < WAITING_CHANGES then
            redis.call('HSET', tag .. ':attrwait', number(version), cmsgpack.pack(change))
        end
        return redis.status_reply('waiting')
    end
    apply_change(tag, version, change)
    apply_waiting(tag, version)
    return redis.status_reply('applied')
end

-- ARGV: version, account, uid, name, value, ... What PostgreSQL has. When older attributes were cached, the differences
-- are published in the name of `account`.
-- Returns 1 when these or newer ones are cached now, 0 when they are older than a known commit.
local function channel_attributes_load(keys, args)
    local tag = keys[1]
    local version = tonumber(args[1])
    if version < tonumber(redis.call('GET', tag .. ':attrmin') or '0') then
        return 0
    end
    local cached = tonumber(redis.call('GET', tag .. ':attrver') or '-1')
    if version <= cached then
        return 1
    end
    local old = {}
    local flat = redis.call('HGETALL', tag .. ':attrs')
    for i = 1, #flat, 2 do
        old[flat[i]] = flat[i + 1]
    end
    clear_attributes(tag)
    for i = 4, #args, 2 do
        local name, value = args[i], args[i + 1]
        set_attribute(tag, name, value)
        if cached >= 0 and old[name] ~= value then
            publish_change(tag, args[2], args[3], 'update', name, value)
        end
        old[name] = nil
    end
    if cached >= 0 then
        for i = 1, #flat, 2 do
            if old[flat[i]] then
                publish_change(tag, args[2], args[3], 'del', flat[i], '')
            end
        end
    end
    redis.call('SET', tag .. ':attrver', number(version))
    for _, waiting in ipairs(redis.call('HKEYS', tag .. ':attrwait')) do
        if tonumber(waiting) <= version then
            redis.call('HDEL', tag .. ':attrwait', waiting)
        end
    end
    apply_waiting(tag, version)
    return 1
end

-- The channel's timer fired. Returns {'wait', when to look again (ms)}, {'due'} (its time is over),
-- {'idle'} (it never had a member: only the cache is to be dropped) or {'none'}.
local function channel_expiry(keys)
    local tag = keys[1]
    local now = clock()
    local life = tonumber(state(tag, '_channel_ttl') or CHANNEL_TTL) * 1000
    if redis.call('ZCARD', tag .. ':members') > 0 then
        return {'wait', number(now + math.max(life, 1000))}
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
    redis.call('DEL', tag .. ':members', tag .. ':info', tag .. ':state', tag .. ':log', tag .. ':attrs', tag .. ':attrver',
        tag .. ':attrwait')
    raise_floor(tag, tonumber(args[1]))
    return 1
end

redis.register_function('channel_join', channel_join)
redis.register_function('channel_leave', channel_leave)
redis.register_function('channel_reassert', channel_reassert)
redis.register_function('channel_members', channel_members)
redis.register_function('channel_attribute_begin', channel_attribute_begin)
redis.register_function('channel_attributes', channel_attributes)
redis.register_function('channel_attributes_load', channel_attributes_load)
redis.register_function('channel_expiry', channel_expiry)
redis.register_function('channel_delete', channel_delete)
