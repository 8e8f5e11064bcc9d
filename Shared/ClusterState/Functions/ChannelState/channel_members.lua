-- Members of channels.

local function sid_of(info)
    return string.match(info, '^%S+ (.*)$')
end

-- The latest members are also kept as text, :latest, so that a join need not look up each. What holds of it, where it is
-- there: its lines that are not blank are the latest members in the order of their joins, LATEST of them at least or else all;
-- `listed` of :state is their number. Where either is missing, the next join makes both anew. A text of this size costs
-- microseconds each time Lua touches it: it is read once, and changed in place.

local function latest_line(account, info)
    return string.match(info, '^%S+') .. ' ' .. account .. '\n'
end

-- Makes the text of the `count` latest members. Returns it, and how many there are.
local function make_latest(tag, count)
    local accounts = redis.call('ZREVRANGE', tag .. ':members', 0, count - 1)
    if #accounts == 0 then
        return '', 0
    end
    local infos = redis.call('HMGET', tag .. ':info', unpack(accounts))
    local list = {}
    for i = #accounts, 1, -1 do
        list[#list + 1] = latest_line(accounts[i], infos[i] or '0 -')
    end
    local text = table.concat(list)
    redis.call('SET', tag .. ':latest', text)
    return text, #accounts
end

local function latest_text(tag)
    local text = redis.call('GET', tag .. ':latest')
    if not text then
        local listed
        text, listed = make_latest(tag, LATEST)
        -- The channel may be gone when a join comes again.
        if listed > 0 then
            redis.call('HSET', tag .. ':state', 'listed', listed)
        end
    end
    return text
end

-- Blanks an account's line. Returns whether there was one. An account stands there once, and no other line ends like its.
local function blank_line(tag, account, info)
    local text = redis.call('GET', tag .. ':latest')
    -- A space is found sooner than a digit, which every line has many of.
    local space = text and string.find(text, ' ' .. account .. '\n', 1, true)
    if not space then
        return false
    end
    local uid = string.match(info, '^%S+')
    redis.call('SETRANGE', tag .. ':latest', space - 1 - #uid, string.rep(' ', #uid + 1 + #account))
    return true
end

-- A member has joined, the `join`th of the channel, or joined anew (`former`: its info before); `listed` members were there.
-- Returns the text, and how many are there now.
local function latest_joined(tag, join, account, info, former, listed)
    -- Now and then it is made anew, without what is blank and those who are not listed any more.
    if not listed or join % LATEST_SLACK == 0 then
        return make_latest(tag, listed and LATEST or LATEST + LATEST_SLACK)
    end
    if former and blank_line(tag, account, former) then
        listed = listed - 1
    end
    local line = latest_line(account, info)
    if redis.call('APPEND', tag .. ':latest', line) == #line then
        return make_latest(tag, LATEST)
    end
    return redis.call('GET', tag .. ':latest'), listed + 1
end

-- A member has left, `members` remain; `listed` members were there. Returns how many are there now; '' for no text.
local function latest_left(tag, account, info, members, listed)
    if listed and blank_line(tag, account, info) then
        listed = listed - 1
    end
    if not listed or members == 0 or (listed < LATEST and listed < members) then
        redis.call('DEL', tag .. ':latest')
        return ''
    end
    return listed
end

-- What follows `before` (see settings): the next id, the sequence number, a new one for an event, and the present ms.
local function next_numbers(before, announced)
    local ms, us = clock()
    local seq = tonumber(before.seq or ms)
    return number(math.max(us, tonumber(before.id or '0') + 1)), number(announced and seq + 1 or seq), ms
end

-- ARGV: command, deadline, account, uid, sid, 1 for a special channel.
-- Returns {outcome, sequence, members, change number, when to tell counter num, and total ('0' for never), text of the
-- latest members, client id, version of the cached attributes ('' for none), name, value, ... of the counters that are on};
-- the outcome is joined, replaced (by a newer session of the account) or present. Sequence and client id are those of the
-- lists, which a redelivery finds later than the change. The attributes are as many and large as they may be, and cost Redis
-- five times as much through Lua: the caller reads them by itself, right after this, and asks again where their version has
-- changed in between.
local function channel_join(keys, args)
    local tag = keys[1]
    local wanted, before = settings(tag)
    local latest, position
    -- Kept for a redelivery is only what it cannot find out again: the lists are long.
    local done = once(tag, args[1], args[2], function()
        local account, uid, sid = args[3], args[4], args[5]
        local info = redis.call('HGET', tag .. ':info', account)
        local outcome = 'joined'
        if info then
            outcome = sid_of(info) == sid and 'present' or 'replaced'
        end
        local announced = outcome == 'joined' and wanted.announced and args[6] ~= '1'
        local id, seq = next_numbers(before, announced)
        local num, total = '0', '0'
        if outcome == 'present' then
            redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq)
        else
            local join = tonumber(before.joins or '0') + 1
            redis.call('ZADD', tag .. ':members', join, account)
            redis.call('HSET', tag .. ':info', account, uid .. ' ' .. sid)
            local listed
            latest, listed = latest_joined(tag, join, account, uid .. ' ' .. sid, info, before.listed)
            redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq, 'joins', number(join), 'listed', listed)
            if before.emptied then
                redis.call('HDEL', tag .. ':state', 'emptied')
            end
            num = counter_changed(tag, 'num', wanted.num, account, uid)
            total = counter_changed(tag, 'total', wanted.total, account, uid)
        end
        if announced then
            publish_as(tag, seq, id, account, uid, 'join')
        end
        position = {seq, id}
        return {outcome, seq, id, num, total}
    end)
    if done.err then
        return done
    end
    -- What was published since then is in the lists already.
    position = position or {before.seq or done[2], before.id or done[3]}
    local members = redis.call('ZCARD', tag .. ':members')
    local version = redis.call('GET', tag .. ':attrver')
    if members > 0 and not version then
        -- PostgreSQL could not be read: whoever joins so is told of the attributes when it can.
        redis.call('HSET', tag .. ':state', 'unloaded', '1')
    end
    local result = {
        done[1], position[1], members, done[3], done[4], done[5], latest or latest_text(tag), position[2],
        version or '',
    }
    append_counters(tag, wanted, result)
    return result
end

-- ARGV: command, deadline, account, sid, 1 for a special channel.
-- Returns {members, change number, uid, seconds to live when empty, when to tell counter num ('0' for never)}, or {}
-- when that session is not the member.
local function channel_leave(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local account = args[3]
        local info = redis.call('HGET', tag .. ':info', account)
        if not info or sid_of(info) ~= args[4] then
            return {}
        end
        local uid = string.match(info, '^%S+')
        local wanted, before = settings(tag)
        local announced = wanted.announced and args[5] ~= '1'
        local id, seq, ms = next_numbers(before, announced)
        redis.call('ZREM', tag .. ':members', account)
        redis.call('HDEL', tag .. ':info', account)
        local count = redis.call('ZCARD', tag .. ':members')
        local listed = latest_left(tag, account, info, count, before.listed)
        redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq, 'listed', listed)
        if count == 0 then
            redis.call('HSET', tag .. ':state', 'emptied', number(ms))
        end
        if announced then
            publish_as(tag, seq, id, account, uid, 'leave')
        end
        local num = counter_changed(tag, 'num', wanted.num, account, uid)
        return {count, id, uid, before._channel_ttl or tostring(CHANNEL_TTL), num}
    end)
end

-- ARGV: account, uid, sid, ... Members that their gateway holds, as their sessions' records confirm, each account once; one
-- that is a member by another session is one by this from now on.
-- Returns {change number, when to tell counter num, and total ('0' for never), account, ...} of those that were added.
local function channel_reassert(keys, args)
    local tag = keys[1]
    local accounts = {}
    for i = 1, #args, 3 do
        accounts[#accounts + 1] = args[i]
    end
    local infos = redis.call('HMGET', tag .. ':info', unpack(accounts))
    local changed, added, uid = {}, {}, nil
    for i, account in ipairs(accounts) do
        local info = args[3 * i - 1] .. ' ' .. args[3 * i]
        if infos[i] ~= info then
            changed[#changed + 1] = account
            changed[#changed + 1] = info
        end
        if not infos[i] then
            added[#added + 1] = account
            uid = args[3 * i - 1]
        end
    end
    if #changed > 0 then
        redis.call('HSET', tag .. ':info', unpack(changed))
    end
    if #added == 0 then
        return {'', '0', '0'}
    end
    local before = redis.call('HINCRBY', tag .. ':state', 'joins', #added) - #added
    local scores = {}
    for i, account in ipairs(added) do
        scores[2 * i - 1] = number(before + i)
        scores[2 * i] = account
    end
    redis.call('ZADD', tag .. ':members', unpack(scores))
    redis.call('HDEL', tag .. ':state', 'emptied')
    -- Made anew by the next join.
    redis.call('DEL', tag .. ':latest')
    local wanted = settings(tag)
    -- The last one is who changed the counters.
    return {
        next_id(tag), counter_changed(tag, 'num', wanted.num, added[#added], uid),
        counter_changed(tag, 'total', wanted.total, added[#added], uid), unpack(added),
    }
end

-- ARGV: account, sid, 1 to tell the members. That session is no member. Returns as channel_leave does.
local function channel_forget(keys, args)
    local tag = keys[1]
    local account = args[1]
    local info = redis.call('HGET', tag .. ':info', account)
    if not info or sid_of(info) ~= args[2] then
        return {}
    end
    local uid = string.match(info, '^%S+')
    local wanted, before = settings(tag)
    local announced = wanted.announced and args[3] == '1'
    local id, seq, ms = next_numbers(before, announced)
    redis.call('ZREM', tag .. ':members', account)
    redis.call('HDEL', tag .. ':info', account)
    redis.call('DEL', tag .. ':latest')
    redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq, 'listed', '')
    local count = redis.call('ZCARD', tag .. ':members')
    if count == 0 then
        redis.call('HSET', tag .. ':state', 'emptied', number(ms))
    end
    if announced then
        publish_as(tag, seq, id, account, uid, 'leave')
    end
    local num = counter_changed(tag, 'num', wanted.num, account, uid)
    return {count, id, uid, before._channel_ttl or tostring(CHANNEL_TTL), num}
end

-- ARGV: account, uid, 1 to tell the members. PostgreSQL's copy has a member that Redis does not know.
-- Returns the number of the change; '0' when it is a member.
local function channel_member_forgotten(keys, args)
    local tag = keys[1]
    if redis.call('HEXISTS', tag .. ':info', args[1]) == 1 then
        return '0'
    end
    local _, us = clock()
    if redis.call('EXISTS', tag .. ':members') == 0 then
        return number(us)
    end
    local wanted, before = settings(tag)
    local announced = wanted.announced and args[3] == '1'
    local id, seq = next_numbers(before, announced)
    redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq)
    if announced then
        publish_as(tag, seq, id, args[1], args[2], 'leave')
    end
    return id
end

-- ARGV: join number to list below ('+inf' to begin), how many at most.
-- Returns {members, join number of the last listed or '', account, info, ...}, newest first.
local function channel_members(keys, args)
    local tag = keys[1]
    local below = args[1] == '+inf' and args[1] or '(' .. args[1]
    local page = redis.call('ZREVRANGEBYSCORE', tag .. ':members', below, '-inf', 'WITHSCORES', 'LIMIT', 0, args[2])
    local result = {redis.call('ZCARD', tag .. ':members'), page[#page] or ''}
    local accounts = {}
    for i = 1, #page, 2 do
        accounts[#accounts + 1] = page[i]
    end
    local infos = #accounts > 0 and redis.call('HMGET', tag .. ':info', unpack(accounts)) or {}
    for i, account in ipairs(accounts) do
        result[#result + 1] = account
        result[#result + 1] = infos[i] or '0 -'
    end
    return result
end

redis.register_function('channel_join', channel_join)
register_vital('channel_leave', channel_leave)
register_vital('channel_reassert', channel_reassert)
register_vital('channel_forget', channel_forget)
register_vital('channel_member_forgotten', channel_member_forgotten)
register_vital('channel_members', channel_members)
