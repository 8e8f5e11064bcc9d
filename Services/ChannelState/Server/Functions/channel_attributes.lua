-- Attributes in the cache.

-- ARGV: command, deadline, attribute ('' for clear). Asked before the change is committed.
-- Returns {1 when the attributes are cached, members}; an error when the channel's limit for the attribute is used up.
local function channel_attribute_begin(keys, args)
    local tag = keys[1]
    if redis.call('EXISTS', tag .. ':attrver') == 0 then
        return {0, redis.call('ZCARD', tag .. ':members')}
    end
    return once(tag, args[1], args[2], function()
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
        -- PostgreSQL's first version of a channel is a clock's: whether one came before cannot be told. A deletion
        -- leaves no difference that the reload could publish.
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
    adjust_counters(tag)
    redis.call('SET', tag .. ':attrver', number(version))
    for _, waiting in ipairs(redis.call('HKEYS', tag .. ':attrwait')) do
        if tonumber(waiting) <= version then
            redis.call('HDEL', tag .. ':attrwait', waiting)
        end
    end
    apply_waiting(tag, version)
    return 1
end

redis.register_function('channel_attribute_begin', channel_attribute_begin)
redis.register_function('channel_attributes', channel_attributes)
redis.register_function('channel_attributes_load', channel_attributes_load)
