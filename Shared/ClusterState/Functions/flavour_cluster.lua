-- What is particular to a Redis Cluster; flavour_single.lua has the same for a single Redis. RedisFunctionLibrary.swift puts one
-- of them before the prelude.

-- The command that publishes: to a topic of the slot that the function works on, and only on this master.
local PUBLISH = 'SPUBLISH'

-- Whether a function that works on one user can read the keys of another: they are in another slot.
local SEES_ALL_USERS = false

-- Whether each number of a sequence is at least the clock. A master that was suspended and replaced meanwhile carries out what
-- waits in its sockets when it goes on, before it hears of its successor, and tells gateways. The successor's numbers must be
-- above these from then on, or the users would take everything new for something old.
local RISES_WITH_CLOCK = true

-- Returns the topic on which a gateway hears what concerns the user of a tag: that of the user's bucket. A gateway is
-- subscribed to its topics of all buckets.
local function gateway_topic(tag, gateway)
    return string.sub(tag, 1, string.find(tag, '}', 1, true)) .. 'g:' .. gateway
end

-- Returns a function as it is to be registered. The client adds a last key that never exists, by which the server refuses
-- the call while the slot is being moved; functions do not see it. A call made by hand may come without.
local function receiving_call(callback)
    return function(keys, args)
        if #keys > 1 and keys[#keys] == keys[1] .. '!' then
            keys[#keys] = nil
        end
        return callback(keys, args)
    end
end
