-- Deadlines that outlive the process that set them: a zset of members by the Redis clock (ms) at which they are due.
-- The contract is declared in DueTimers.swift. The one key is the zset.

-- ARGV: limit, lease (ms). Takes what is due by moving it a lease into the future, so that a claimant that dies loses it.
-- Returns member, end of the lease, member, end of the lease, ...
-- The score of a claim is half a millisecond more than the lease's end, so that no timer that is set has it.
local function claim(keys, args)
    local now = clock()
    local due = redis.call('ZRANGE', keys[1], '-inf', now, 'BYSCORE', 'LIMIT', 0, args[1])
    local lease = number(now + args[2])
    local claimed = {}
    for _, member in ipairs(due) do
        redis.call('ZADD', keys[1], lease .. '.5', member)
        claimed[#claimed + 1] = member
        claimed[#claimed + 1] = lease
    end
    return claimed
end

-- ARGV: member, end of the lease, member, end of the lease, ... Removes each that is as it was claimed: one that was set anew
-- meanwhile stays, also when it is due in the millisecond in which the lease ends.
local function done(keys, args)
    local removed = 0
    for i = 1, #args, 2 do
        local score = redis.call('ZSCORE', keys[1], args[i])
        if score and tonumber(score) == tonumber(args[i + 1]) + 0.5 then
            removed = removed + redis.call('ZREM', keys[1], args[i])
        end
    end
    return removed
end

-- ARGV: score (the Redis clock, ms), member. Sets a timer, or moves one.
local function set(keys, args)
    return redis.call('ZADD', keys[1], args[1], args[2])
end

register_vital('heliograph_due_claim', claim)
register_vital('heliograph_due_done', done)
register_vital('heliograph_due_set', set)
