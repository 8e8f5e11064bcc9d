-- A service's timers, which outlive the process that set them. The only key is a zset: member -> time when it is due
-- (Redis clock, ms). Called by DueTimers.swift.

-- ARGV: limit, lease (ms). Claims timers that are due by postponing them by the lease: if the process that claimed them
-- dies, they become due again.
-- Returns member, end of the lease, member, end of the lease, ...
-- A claimed timer's score is the end of the lease plus half a millisecond, a score that a timer that was set never has.
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

-- ARGV: member, end of the lease, member, end of the lease, ... Removes timers that were handled. A timer that was set
-- again after the claim is kept: its score is not the claim's.
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

-- ARGV: score (Redis clock, ms), member. Sets or moves a timer.
local function set(keys, args)
    return redis.call('ZADD', keys[1], args[1], args[2])
end

register_vital('heliograph_due_claim', claim)
register_vital('heliograph_due_done', done)
register_vital('heliograph_due_set', set)
