-- Members of channels.

local function sid_of(info)
    return string.match(info, '^%S+ (.*)$')
end

-- The latest members are also kept as text, :latest, so that a join need not look up each. What holds of it, where it is
-- there: its lines are the latest members in the order of their joins, LATEST of them at least or else all.

local function latest_line(account, info)
    return string.match(info, '^%S+') .. ' ' .. account .. '\n'
end

-- The lines of members by their rank from the latest on, oldest first.
local function latest_lines(tag, first, last)
    local accounts = redis.call('ZREVRANGE', tag .. ':members', first, last)
    if #accounts == 0 then
        return ''
    end
    local infos = redis.call('HMGET', tag .. ':info', unpack(accounts))
    local list = {}
    for i = #accounts, 1, -1 do
        list[#list + 1] = latest_line(accounts[i], infos[i] or '0 -')
    end
    return table.concat(list)
end

-- The text, made anew where it is missing.
local function latest_text(tag)
    local text = redis.call('GET', tag .. ':latest')
    if not text then
        text = latest_lines(tag, 0, LATEST - 1)
        if text ~= '' then
            redis.call('SET', tag .. ':latest', text)
        end
    end
    return text
end

-- The text without a line; nil when it does not stand there. An account stands there once: no other line ends like this.
local function without_line(text, line)
    local first, last = string.find(text, line, 1, true)
    return first and string.sub(text, 1, first - 1) .. string.sub(text, last + 1)
end

local function count_lines(text)
    return select(2, string.gsub(text, '\n', ''))
end

-- A member has joined, the `join`th of the channel, or joined anew (`former`: its info before). Returns the text.
local function latest_joined(tag, join, account, info, former)
    local key = tag .. ':latest'
    local text = redis.call('GET', key)
    if not text or join % LATEST_SLACK == 0 then
        -- More lines than are listed are cut off now and then: mostly a join writes no more than its own.
        text = latest_lines(tag, 0, LATEST - 1)
        redis.call('SET', key, text)
        return text
    end
    local line = latest_line(account, info)
    local rest = former and without_line(text, latest_line(account, former))
    if rest then
        redis.call('SET', key, rest .. line)
    else
        redis.call('APPEND', key, line)
    end
    return (rest or text) .. line
end

-- A member has left. Called after that.
local function latest_left(tag, account, info)
    local key = tag .. ':latest'
    local members = redis.call('ZCARD', tag .. ':members')
    if members == 0 then
        redis.call('DEL', key)
        return
    end
    local text = redis.call('GET', key)
    local rest = text and without_line(text, latest_line(account, info))
    if not rest then
        return
    end
    if members >= LATEST and count_lines(rest) < LATEST then
        rest = latest_lines(tag, LATEST - 1, LATEST - 1) .. rest
    end
    redis.call('SET', key, rest)
end

-- ARGV: command, deadline, account, uid, sid, 1 for a special channel.
-- Returns {outcome, sequence, members, change number, when to tell counter num, and total ('0' for never), text of the
-- latest members, name, value, ...}; the outcome is joined, replaced (by a newer session of the account) or present.
local function channel_join(keys, args)
    local tag = keys[1]
    local wanted, before = settings(tag)
    local latest
    -- Kept for a redelivery is only what it cannot find out again: the lists are long.
    local done = once(tag, args[1], args[2], function()
        local account, uid, sid = args[3], args[4], args[5]
        local info = redis.call('HGET', tag .. ':info', account)
        local outcome = 'joined'
        if info then
            outcome = sid_of(info) == sid and 'present' or 'replaced'
        end
        local ms, us = clock()
        local id = number(math.max(us, tonumber(before.id or '0') + 1))
        local seq = tonumber(before.seq or ms)
        local announced = outcome == 'joined' and wanted.announced and args[6] ~= '1'
        if announced then
            seq = seq + 1
        end
        local num, total = '0', '0'
        if outcome == 'present' then
            redis.call('HSET', tag .. ':state', 'id', id, 'seq', number(seq))
        else
            local join = tonumber(before.joins or '0') + 1
            redis.call('HSET', tag .. ':state', 'id', id, 'seq', number(seq), 'joins', number(join))
            redis.call('ZADD', tag .. ':members', join, account)
            redis.call('HSET', tag .. ':info', account, uid .. ' ' .. sid)
            if before.emptied then
                redis.call('HDEL', tag .. ':state', 'emptied')
            end
            latest = latest_joined(tag, join, account, uid .. ' ' .. sid, info)
            num = counter_changed(tag, 'num', wanted.num, account, uid)
            total = counter_changed(tag, 'total', wanted.total, account, uid)
        end
        if announced then
            publish_as(tag, number(seq), id, account, uid, 'join')
        end
        return {outcome, number(seq), id, num, total}
    end)
    if done.err then
        return done
    end
    local result = {
        done[1], done[2], redis.call('ZCARD', tag .. ':members'), done[3], done[4], done[5], latest or latest_text(tag),
    }
    for _, text in ipairs(redis.call('HGETALL', tag .. ':attrs')) do
        result[#result + 1] = text
    end
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
        redis.call('ZREM', tag .. ':members', account)
        redis.call('HDEL', tag .. ':info', account)
        latest_left(tag, account, info)
        local id = next_id(tag)
        local count = redis.call('ZCARD', tag .. ':members')
        if count == 0 then
            redis.call('HSET', tag .. ':state', 'emptied', number((clock())))
        end
        local wanted = settings(tag)
        if wanted.announced and args[5] ~= '1' then
            publish(tag, id, account, uid, 'leave')
        end
        local num = counter_changed(tag, 'num', wanted.num, account, uid)
        return {count, id, uid, state(tag, '_channel_ttl') or tostring(CHANNEL_TTL), num}
    end)
end

-- ARGV: account, uid, sid, ... Members that their gateway holds; known accounts are left as they are.
-- Returns {change number, when to tell counter num, and total ('0' for never), account, ...} of those that were added.
local function channel_reassert(keys, args)
    local tag = keys[1]
    local wanted = settings(tag)
    local result = {next_id(tag), '0', '0'}
    for i = 1, #args, 3 do
        if redis.call('HSETNX', tag .. ':info', args[i], args[i + 1] .. ' ' .. args[i + 2]) == 1 then
            local join = redis.call('HINCRBY', tag .. ':state', 'joins', 1)
            redis.call('ZADD', tag .. ':members', join, args[i])
            result[2] = counter_changed(tag, 'num', wanted.num, args[i], args[i + 1])
            result[3] = counter_changed(tag, 'total', wanted.total, args[i], args[i + 1])
            result[#result + 1] = args[i]
        end
    end
    redis.call('HDEL', tag .. ':state', 'emptied')
    -- Made anew by the next join.
    redis.call('DEL', tag .. ':latest')
    return result
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
redis.register_function('channel_leave', channel_leave)
redis.register_function('channel_reassert', channel_reassert)
redis.register_function('channel_members', channel_members)
