-- Joining and leaving channels, and lists of members.

local function sid_of(info)
    return string.match(info, '^%S+ (.*)$')
end

-- The latest members are also kept as one text, :latest, so that a join need not look up each member. Whenever the text
-- exists, its non-blank lines are the latest members in the order of their joins, at least LATEST of them or all;
-- `listed` of :state is their number. If either is missing, the next join rebuilds both. Each time Lua handles a text of
-- this size it costs microseconds, so it is read once and changed in place.

local function latest_line(account, info)
    return string.match(info, '^%S+') .. ' ' .. account .. '\n'
end

-- Rebuilds :latest with the `count` latest members. Returns the text and the number of members in it.
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
        -- With a redelivered join, the channel may no longer exist.
        if listed > 0 then
            redis.call('HSET', tag .. ':state', 'listed', listed)
        end
    end
    return text
end

-- Overwrites an account's line with spaces. Returns whether there was one. At most one line ends in this account: each
-- account is listed once, and the search includes the space before it.
local function blank_line(tag, account, info)
    local text = redis.call('GET', tag .. ':latest')
    -- The search starts with the space rather than the uid: a line has many digits, so that a digit would give false
    -- starts.
    local space = text and string.find(text, ' ' .. account .. '\n', 1, true)
    if not space then
        return false
    end
    local uid = string.match(info, '^%S+')
    redis.call('SETRANGE', tag .. ':latest', space - 1 - #uid, string.rep(' ', #uid + 1 + #account))
    return true
end

-- Updates :latest after the `join`th join of the channel. `former` is the member's previous info when it has joined
-- again, `listed` the number of members in the text before. Returns the text and the number of members in it.
local function latest_joined(tag, join, account, info, former, listed)
    -- Rebuilt regularly, which removes blank lines and members beyond the latest ones.
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

-- Updates :latest after a leave; `members` remain in the channel, `listed` were in the text. Returns the number of
-- members in the text, '' when it was deleted.
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

-- Returns the next client id, the sequence number (a new one for an event) and the clock (ms). `before` is the state as
-- settings() returned it.
local function next_numbers(before, announced)
    local ms, us = clock()
    local seq = tonumber(before.seq or ms)
    return number(math.max(us, tonumber(before.id or '0') + 1)), number(announced and seq + 1 or seq), ms
end

-- ARGV: command, deadline, account, uid, sid, 1 for a special channel, 1 when the channel has restrictions.
-- Returns {outcome, sequence, members, change number, when to announce counter num, and total ('0' for never), text of
-- the latest members, client id, '1' for the channel's first join, version of the cached attributes ('' for none), name, value, ... of the counters that
-- are on}. The outcome is joined, replaced (the account was a member with another session) or present. Sequence and
-- client id are those of the returned lists; for a redelivered join they are later than the change itself.
-- The attributes are not returned: they may be many and large, and reading them through Lua costs Redis five times as
-- much. The caller reads them right afterwards, and repeats this when their version has changed in between.
local function channel_join(keys, args)
    local tag = keys[1]
    local wanted, before = settings(tag)
    local latest, position
    -- Only what a redelivered command cannot determine again is kept, since the lists are long.
    local done = once(tag, args[1], args[2], function()
        local account, uid, sid = args[3], args[4], args[5]
        -- The channel's state may have been lost, or have ended, since the restrictions were made.
        if before.barred or args[7] == '1' then
            if is_barred(tag, 'ban', account) then
                return {err = REFUSED.kept_out .. 'the app has removed the user from the channel for a time'}
            end
            note_bars(tag)
        end
        local info = redis.call('HGET', tag .. ':info', account)
        local outcome = 'joined'
        if info then
            outcome = sid_of(info) == sid and 'present' or 'replaced'
        end
        local announced = outcome == 'joined' and wanted.announced and args[6] ~= '1'
        local id, seq = next_numbers(before, announced)
        local num, total, first = '0', '0', ''
        if outcome == 'present' then
            redis.call('HSET', tag .. ':state', 'id', id, 'seq', seq)
        else
            local join = tonumber(before.joins or '0') + 1
            first = join == 1 and '1' or ''
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
        return {outcome, seq, id, num, total, first}
    end)
    if done.err then
        return done
    end
    -- For a redelivered command, the lists already include what was published since.
    position = position or {before.seq or done[2], before.id or done[3]}
    local members = redis.call('ZCARD', tag .. ':members')
    local version = redis.call('GET', tag .. ':attrver')
    if members > 0 and not version then
        -- The attributes could not be read from PostgreSQL: they will be published to the members once they can be.
        redis.call('HSET', tag .. ':state', 'unloaded', '1')
    end
    local result = {
        done[1], position[1], members, done[3], done[4], done[5], latest or latest_text(tag), position[2],
        -- Without it in what the release before has kept.
        done[6] or '', version or '',
    }
    append_counters(tag, wanted, result)
    return result
end

-- Removes a member. `told` is false where the leave is not published even if the channel publishes leaves.
-- Returns {members, change number, uid, time to live of the empty channel (s), when to announce counter num ('0' for
-- never), the sequence number of the last event published}.
local function remove_member(tag, account, info, told)
    local uid = string.match(info, '^%S+')
    local wanted, before = settings(tag)
    local announced = wanted.announced and told
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
    return {count, id, uid, before._channel_ttl or tostring(CHANNEL_TTL), num, seq}
end

-- ARGV: command, deadline, account, sid, 1 for a special channel.
-- Returns as remove_member does, or {} when the account is not a member with that session.
local function channel_leave(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local account = args[3]
        local info = redis.call('HGET', tag .. ':info', account)
        if not info or sid_of(info) ~= args[4] then
            return {}
        end
        return remove_member(tag, account, info, args[5] ~= '1')
    end)
end

-- ARGV: account, uid, sid, ... Records members that their gateway reports and whose sessions' records confirm it, each
-- account once. The session of an account that is already a member is replaced by this one.
-- Returns {change number, when to announce counter num, and total ('0' for never), account, ...} of the members that
-- were added.
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
    note_bars(tag)
    -- The next join rebuilds it.
    redis.call('DEL', tag .. ':latest')
    local wanted = settings(tag)
    -- The counters' change is attributed to the last one.
    return {
        next_id(tag), counter_changed(tag, 'num', wanted.num, added[#added], uid),
        counter_changed(tag, 'total', wanted.total, added[#added], uid), unpack(added),
    }
end

-- ARGV: account, sid, 1 to publish the leave. Removes a member whose session is no longer in the channel.
-- Returns as channel_leave does.
local function channel_forget(keys, args)
    local tag = keys[1]
    local account = args[1]
    local info = redis.call('HGET', tag .. ':info', account)
    if not info or sid_of(info) ~= args[2] then
        return {}
    end
    return remove_member(tag, account, info, args[3] == '1')
end

-- ARGV: account, uid, 1 to publish the leave. Called for a member that PostgreSQL's copy has and Redis does not know.
-- Returns the number of the change, or '0' when the account is a member.
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

-- ARGV: join number to list below ('+inf' for the first page), maximum number of members.
-- Returns {number of members, join number of the last one listed or '', account, info, ...}, newest first.
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
