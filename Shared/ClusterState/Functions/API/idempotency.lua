-- Answers to writes of the server API, kept so that a repetition gets the answer of the first request. The Swift contract is
-- IdempotencyStore.swift.
--
-- Each function takes one key, the tag of a client's idempotency key, and works on
--   :idem  hash with an expiry: digest (of the request), and once it is answered: status, body

-- ARGV: digest of the request, time (ms) after which a request without an answer counts as lost.
-- Returns {'fresh'}: the caller carries the request out; {'done', status, body}; {'running'}; or {'other'} when the key was
-- used for another request.
local function api_begin(keys, args)
    local key = keys[1] .. ':idem'
    local known = redis.call('HMGET', key, 'digest', 'status', 'body')
    if not known[1] then
        if crowded((clock())) then
            return {err = MEMORY_FULL}
        end
        redis.call('HSET', key, 'digest', args[1])
        redis.call('PEXPIRE', key, args[2])
        return {'fresh'}
    end
    if known[1] ~= args[1] then
        return {'other'}
    end
    if not known[2] then
        return {'running'}
    end
    return {'done', known[2], known[3]}
end

-- ARGV: digest, status, body, how long to keep the answer (ms). Does nothing when the key has expired meanwhile.
local function api_answered(keys, args)
    local key = keys[1] .. ':idem'
    if redis.call('HGET', key, 'digest') == args[1] then
        redis.call('HSET', key, 'status', args[2], 'body', args[3])
        redis.call('PEXPIRE', key, args[4])
    end
    return redis.status_reply('OK')
end

-- ARGV: digest. The request failed, and may be tried again with the same key.
local function api_forget(keys, args)
    local key = keys[1] .. ':idem'
    if redis.call('HGET', key, 'digest') == args[1] then
        redis.call('DEL', key)
    end
    return redis.status_reply('OK')
end

redis.register_function('api_begin', api_begin)
register_vital('api_answered', api_answered)
register_vital('api_forget', api_forget)
