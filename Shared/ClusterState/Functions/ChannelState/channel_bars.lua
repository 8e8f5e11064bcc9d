-- Restrictions: users whom the app keeps out of the channel ('ban'), or from sending to it ('mute'), for a time.
--
-- They are in :bars, which outlives the channel. `barred` of :state says that there may be some: joins and messages read
-- the state anyway, and nothing else while it is missing. A join sets it again when the state was deleted meanwhile.

-- Bytes that Redis needs for a restriction, besides its account and its reason.
local BAR_BYTES = 100
-- Restrictions that one page looks at, so that a call stays short.
local BARS_PAGE = 250

-- Returns the end of a restriction in Unix seconds.
local function bar_end(bar)
    return tonumber(string.match(bar, '^%d+'))
end

-- Returns whether a restriction of the account holds.
local function is_barred(tag, kind, account)
    local bar = redis.call('HGET', tag .. ':bars', kind .. ' ' .. account)
    return bar and bar_end(bar) * 1000 > clock()
end

-- Notes in the state whether there may be restrictions.
local function note_bars(tag)
    if redis.call('EXISTS', tag .. ':bars') == 1 then
        redis.call('HSET', tag .. ':state', 'barred', '1')
    else
        redis.call('HDEL', tag .. ':state', 'barred')
    end
end

-- Deletes the restrictions that have ended; `now` in Unix seconds.
local function prune_bars(tag, now)
    local flat = redis.call('HGETALL', tag .. ':bars')
    local ended = {}
    for i = 1, #flat, 2 do
        if bar_end(flat[i + 1]) <= now then
            ended[#ended + 1] = flat[i]
        end
    end
    if #ended > 0 then
        redis.call('HDEL', tag .. ':bars', unpack(ended))
    end
end

-- Returns the error when a restriction cannot be added, else nil.
local function bar_refusal(tag, field, reason, ms)
    if redis.call('HEXISTS', tag .. ':bars', field) == 1 then
        return nil
    end
    if redis.call('HLEN', tag .. ':bars') >= BARS then
        prune_bars(tag, math.floor(ms / 1000))
        if redis.call('HLEN', tag .. ':bars') >= BARS then
            return REFUSED.too_many_bars .. 'at most ' .. number(BARS) .. ' bans and mutes of a channel'
        end
    end
    if refuses_memory(tag, #field + #reason + BAR_BYTES, ms) then
        return MEMORY_FULL
    end
    return nil
end

-- ARGV: command, deadline, kind, account, end in Unix seconds (0: none is made), reason. Makes a restriction, which replaces
-- an earlier one of its kind.
-- Returns {when it was made, in Unix seconds; 1 when the channel has had members, so that its timer is set; "uid sid" of the
-- account when it is a member, else ''}.
local function channel_bar(keys, args)
    local tag = keys[1]
    return once(tag, args[1], args[2], function()
        local ms = clock()
        local field, ends, now = args[3] .. ' ' .. args[4], tonumber(args[5]), math.floor(ms / 1000)
        if ends > now then
            local refusal = bar_refusal(tag, field, args[6], ms)
            if refusal then
                return {err = refusal}
            end
            local expires = redis.call('PEXPIRETIME', tag .. ':bars')
            redis.call('HSET', tag .. ':bars', field, args[5] .. ' ' .. number(now) .. ' ' .. args[6])
            redis.call('PEXPIREAT', tag .. ':bars', number(math.max(expires, ends * 1000)))
            -- Also for a channel that does not exist yet: a join may be on its way that has seen no restriction.
            redis.call('HSET', tag .. ':state', 'barred', '1')
        end
        local info = redis.call('HGET', tag .. ':info', args[4])
        return {now, state(tag, 'joins') and 1 or 0, info or ''}
    end)
end

-- ARGV: kind, account. Ends a restriction. Returns 1, or 0 when there was none.
local function channel_unbar(keys, args)
    local tag = keys[1]
    local found = redis.call('HDEL', tag .. ':bars', args[1] .. ' ' .. args[2])
    if found == 1 and redis.call('EXISTS', tag .. ':bars') == 0 then
        redis.call('HDEL', tag .. ':state', 'barred')
    end
    return found
end

-- ARGV: kind, account after which to begin ('' for the first page), largest number of restrictions.
-- Returns {account after which the next page begins ('' when none follow), account, "UNTIL CREATED REASON", ...} of those that
-- hold, by account. A page has fewer than asked for when some of its restrictions have ended, and BARS_PAGE at most.
local function channel_bars(keys, args)
    local bars, head = keys[1] .. ':bars', args[1] .. ' '
    local accounts = {}
    for _, field in ipairs(redis.call('HKEYS', bars)) do
        local account = string.sub(field, #head + 1)
        if string.sub(field, 1, #head) == head and account > args[2] then
            accounts[#accounts + 1] = account
        end
    end
    if #accounts == 0 then
        return {''}
    end
    table.sort(accounts)
    local count, fields = math.min(tonumber(args[3]), BARS_PAGE, #accounts), {}
    for i = 1, count do
        fields[i] = head .. accounts[i]
    end
    local now, result = math.floor(clock() / 1000), {count < #accounts and accounts[count] or ''}
    for i, bar in ipairs(redis.call('HMGET', bars, unpack(fields))) do
        if bar_end(bar) > now then
            result[#result + 1] = accounts[i]
            result[#result + 1] = bar
        end
    end
    return result
end

register_vital('channel_bar', channel_bar)
register_vital('channel_unbar', channel_unbar)
redis.register_function{function_name = 'channel_bars', callback = channel_bars, flags = {'no-writes'}}
