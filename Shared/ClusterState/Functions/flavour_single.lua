-- What is particular to a single Redis; flavour_cluster.lua has the same for a cluster. RedisFunctionLibrary.swift puts one of
-- them before the prelude.

-- The command that publishes.
local PUBLISH = 'PUBLISH'

-- Whether a function that works on one user can read the keys of another.
local SEES_ALL_USERS = true

-- Whether each number of a sequence is at least the clock, and not only the first after a pause.
local RISES_WITH_CLOCK = false

-- Returns the topic on which a gateway hears what concerns the user of a tag: the gateway's only one.
local function gateway_topic(tag, gateway)
    return 'gateway:' .. gateway .. ':events'
end

-- Returns a function as it is to be registered.
local function receiving_call(callback)
    return callback
end
