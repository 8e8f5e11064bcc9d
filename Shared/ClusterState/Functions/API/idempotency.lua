-- Answers to writes of the server API, kept so that a repetition gets the answer of the first request. The Swift contract is
-- IdempotencyStore.swift.
--
-- Each function takes one key, the tag of a client's idempotency key, and works on
--   :idem  hash with an expiry: digest (of the request), begun (ms, when the first attempt began), busy (ms, until when the present
--          attempt counts as in progress), and once there is an answer: status, body, and open ('1': a part of the batch has failed
--          and may be tried again)

-- Bytes counted for a request and the answer to it, which has fewer, but for a batch's.
local ANSWER_BYTES = 768

-- ARGV: digest of the request, time (ms) after which an attempt without an answer counts as lost, how long to know the request (ms).
-- Returns {'fresh', begun}: the caller carries the request out; {'partly', begun, body}: it carries out what has failed;
-- {'done', status, body}; {'running'}; or {'other'} when the key was used for another request. `begun` is that of the first attempt:
-- times that the request means count from then.
local function api_begin(keys, args)
    local key = keys[1] .. ':idem'
    local known = redis.call('HMGET', key, 'digest', 'begun', 'busy', 'status', 'body', 'open')
    local now = clock()
    local begun = known[2]
    if not known[1] then
        if refuses_memory(keys[1], ANSWER_BYTES, now) then
            return {err = MEMORY_FULL}
        end
        begun = number(now)
        redis.call('HSET', key, 'digest', args[1], 'begun', begun)
        redis.call('PEXPIRE', key, args[3])
    elseif known[1] ~= args[1] then
        return {'other'}
    elseif known[4] and not known[6] then
        return {'done', known[4], known[5]}
    elseif not begun or tonumber(known[3]) > now then
        -- A process of an earlier release keeps no times; what it has begun expires by itself.
        return {'running'}
    end
    redis.call('HSET', key, 'busy', number(now + args[2]))
    if known[4] then
        return {'partly', begun, known[5]}
    end
    return {'fresh', begun}
end

-- ARGV: digest, status, body, how long to keep the answer (ms), '1' when a part of it may be tried again. Does nothing when the key
-- has expired meanwhile.
local function api_answered(keys, args)
    local key = keys[1] .. ':idem'
    if redis.call('HGET', key, 'digest') == args[1] then
        -- Kept also when that is more than the share: the write has happened.
        refuses_memory(keys[1], #args[3], (clock()))
        redis.call('HSET', key, 'busy', '0', 'status', args[2], 'body', args[3])
        if args[5] == '1' then
            redis.call('HSET', key, 'open', '1')
        else
            redis.call('HDEL', key, 'open')
        end
        redis.call('PEXPIRE', key, args[4])
    end
    return redis.status_reply('OK')
end

-- ARGV: digest. The attempt failed, and another may be made with the same key.
local function api_forget(keys, args)
    local key = keys[1] .. ':idem'
    if redis.call('HGET', key, 'digest') == args[1] then
        redis.call('HSET', key, 'busy', '0')
    end
    return redis.status_reply('OK')
end

redis.register_function('api_begin', api_begin)
register_vital('api_answered', api_answered)
register_vital('api_forget', api_forget)
