-- The cache of a channel's attributes.
--
-- The cache is filled by a reload: it begins, applies the differences between PostgreSQL and the cache in steps, and
-- ends by setting :attrver. During a reload (:attrload) committed changes wait for its end, so that nobody sees an older
-- value after a newer one. Each difference is published to the members, unless nothing was cached and nobody had joined
-- without attributes (`unloaded` of :state).

-- ARGV: command, deadline, attribute ('' for clear), changes of the channel allowed per second, 1 for an update, bytes that it adds.
-- Called before the change is committed.
-- Returns {1 when the attributes are cached, number of members, clock (ms)}, or an error when a rate limit is exceeded,
-- the channel has its maximum number of attributes, or Redis is nearly full.
local function channel_attribute_begin(keys, args)
    local tag = keys[1]
    local now = clock()
    if redis.call('EXISTS', tag .. ':attrver') == 0 then
        return {0, redis.call('ZCARD', tag .. ':members'), now}
    end
    return once(tag, args[1], args[2], function()
        local bound = tonumber(args[4])
        if count_in_second(tag .. ':arate', bound) then
            return {err = REFUSED.too_many_changes .. 'attributes of the channel changed ' .. bound .. ' times in this second'}
        end
        local limit = tonumber(state(tag, '_setattr_limit') or '0')
        if limit > 0 and count_in_second(tag .. ':arate:' .. args[3], limit) then
            return {err = REFUSED.too_many_changes .. 'the attribute changed ' .. limit .. ' times in this second'}
        end
        if args[5] == '1' then
            if refuses_memory(tag, tonumber(args[6] or 0), now) then
                return {err = MEMORY_FULL}
            end
            if redis.call('HLEN', tag .. ':attrs') >= ATTRIBUTES
                and redis.call('HEXISTS', tag .. ':attrs', args[3]) == 0 then
                return {err = REFUSED.too_many_attributes .. 'a channel has at most ' .. ATTRIBUTES .. ' attributes'}
            end
        end
        return {1, redis.call('ZCARD', tag .. ':members'), now}
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
    redis.call('UNLINK', tag .. ':attrs')
    for name in pairs(BUILT_IN) do
        redis.call('HDEL', tag .. ':state', name)
    end
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
    if change[3] == 'clear' or BUILT_IN[change[4]] then
        adjust_counters(tag)
    end
    publish_change(tag, unpack(change))
end

-- Applies changes that waited for their predecessor, at most APPLIED_CHANGES and APPLIED_BYTES of them. The rest need no
-- further trigger: those who wait for them check again by themselves.
local function apply_waiting(tag, version)
    local count, bytes = 0, 0
    while count < APPLIED_CHANGES and bytes < APPLIED_BYTES do
        version = version + 1
        local packed = redis.call('HGET', tag .. ':attrwait', number(version))
        if not packed then
            return
        end
        redis.call('HDEL', tag .. ':attrwait', number(version))
        apply_change(tag, version, read_list(packed))
        count = count + 1
        bytes = bytes + #packed
    end
end

local function raise_floor(tag, version)
    if version > tonumber(redis.call('GET', tag .. ':attrmin') or '0') then
        redis.call('SET', tag .. ':attrmin', number(version), 'PX', FLOOR_MS)
    end
end

-- Returns the version that the current reload loads, or nil without a reload.
local function reloading(tag)
    local held = redis.call('GET', tag .. ':attrload')
    return held and tonumber(string.match(held, '^%S+'))
end

local function keep_waiting(tag, version, change)
    if redis.call('HLEN', tag .. ':attrwait') < WAITING_CHANGES then
        redis.call('HSET', tag .. ':attrwait', number(version), pack_list(change))
    end
end

-- ARGV: version, account, uid, verb (update, del, clear), name, value. Applies a change that was committed as `version`.
-- Returns applied; known (a reload or an earlier delivery has already brought it, or PostgreSQL has gone back to older
-- data); waiting (for the preceding version or for a reload); or first (the channel had no attributes when they were
-- cached: they must be reloaded).
local function channel_attributes(keys, args)
    local tag = keys[1]
    local version = tonumber(args[1])
    local change = {args[2], args[3], args[4], args[5], args[6]}
    local cached = tonumber(redis.call('GET', tag .. ':attrver') or '-1')
    if cached >= 0 and version <= cached then
        return redis.status_reply('known')
    end
    local brought = reloading(tag)
    if brought then
        if version > brought then
            keep_waiting(tag, version, change)
        end
        return redis.status_reply('waiting')
    end
    if cached < 0 then
        -- The cache was dropped during the command: members are told, and the next reader reloads the attributes.
        raise_floor(tag, version)
        publish_change(tag, unpack(change))
        return redis.status_reply('applied')
    end
    if cached == 0 and version > 1 then
        -- A channel's first version in PostgreSQL is taken from the clock, so it does not tell whether other changes
        -- came before this one. The reload that follows publishes updates, but a deletion leaves no difference to
        -- publish.
        if change[3] ~= 'update' then
            publish_change(tag, unpack(change))
        end
        return redis.status_reply('first')
    end
    if version > cached + 1 then
        keep_waiting(tag, version, change)
        return redis.status_reply('waiting')
    end
    redis.call('HDEL', tag .. ':attrwait', number(version))
    apply_change(tag, version, change)
    apply_waiting(tag, version)
    return redis.status_reply('applied')
end

-- Returns whether differences must be published: not when nobody can have seen other values.
local function tells(tag)
    return redis.call('EXISTS', tag .. ':attrver') == 1 or state(tag, 'unloaded') == '1'
end

local function end_reload(tag, version)
    adjust_counters(tag)
    redis.call('SET', tag .. ':attrver', number(version))
    redis.call('HDEL', tag .. ':state', 'unloaded')
    redis.call('DEL', tag .. ':attrload')
    for _, waiting in ipairs(redis.call('HKEYS', tag .. ':attrwait')) do
        if tonumber(waiting) <= version then
            redis.call('HDEL', tag .. ':attrwait', waiting)
        end
    end
    apply_waiting(tag, version)
end

-- Applies differences and publishes them. From args[first] on: verb (update or del), name, value ('' for del), ...
local function apply_differences(tag, account, uid, args, first)
    local told = tells(tag)
    for i = first, #args, 3 do
        if args[i] == 'update' then
            set_attribute(tag, args[i + 1], args[i + 2])
        else
            delete_attribute(tag, args[i + 1])
        end
        if told then
            publish_change(tag, account, uid, args[i], args[i + 1], args[i + 2])
        end
    end
end

-- ARGV: reload, version. Begins a reload that brings PostgreSQL's attributes of that version into the cache.
-- Returns begun (nothing is cached), differs (an older version is cached: the caller must determine the differences),
-- known (this or a newer version is cached), old (a later commit is known: read again) or busy (another reload is in
-- progress).
local function channel_reload(keys, args)
    local tag = keys[1]
    local version = tonumber(args[2])
    if version < tonumber(redis.call('GET', tag .. ':attrmin') or '0') then
        return redis.status_reply('old')
    end
    local cached = tonumber(redis.call('GET', tag .. ':attrver') or '-1')
    if version <= cached then
        return redis.status_reply('known')
    end
    local held = redis.call('GET', tag .. ':attrload')
    if held and string.match(held, ' (.*)$') ~= args[1] then
        return redis.status_reply('busy')
    end
    redis.call('SET', tag .. ':attrload', number(version) .. ' ' .. args[1], 'PX', RELOAD_MS)
    if cached >= 0 then
        return redis.status_reply('differs')
    end
    -- Removes what an unfinished reload has left.
    clear_attributes(tag)
    return redis.status_reply('begun')
end

-- ARGV: reload, version, account, uid, 1 for the last step, verb, name, value, ... Performs one step of a reload; the
-- differences are published in the name of that account.
-- Returns 1, or 0 when the reload is no longer in progress.
local function channel_reload_step(keys, args)
    local tag = keys[1]
    local version = tonumber(args[2])
    if redis.call('GET', tag .. ':attrload') ~= number(version) .. ' ' .. args[1] then
        return 0
    end
    apply_differences(tag, args[3], args[4], args, 6)
    if args[5] == '1' then
        end_reload(tag, version)
    else
        redis.call('PEXPIRE', tag .. ':attrload', RELOAD_MS)
    end
    return 1
end

-- ARGV: version, account, uid, verb, name, value, ... Performs a whole reload in one call, when nothing of the channel
-- is cached.
-- Returns as channel_reload does; begun means that the reload is complete.
local function channel_reload_at_once(keys, args)
    local tag = keys[1]
    local answer = channel_reload(keys, {'-', args[1]})
    if answer.ok == 'begun' then
        apply_differences(tag, args[2], args[3], args, 4)
        end_reload(tag, tonumber(args[1]))
    elseif answer.ok == 'differs' then
        redis.call('DEL', tag .. ':attrload')
    end
    return answer
end

redis.register_function('channel_attribute_begin', channel_attribute_begin)
redis.register_function('channel_attributes', channel_attributes)
redis.register_function('channel_reload', channel_reload)
redis.register_function('channel_reload_step', channel_reload_step)
redis.register_function('channel_reload_at_once', channel_reload_at_once)
