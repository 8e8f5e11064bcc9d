-- Routes, by which the sessions of a gateway are found; part of the presence library.
--
--   {BUCKET}r:GATEWAY  set: 'SID a:APP:u:ACCOUNT' of each session of the bucket's users whose record names the gateway.
--
-- It is in the slot of the users' keys, so that a session and its route change in one call. A detached session keeps its
-- route, until presence has set the timer of a session whose gateway is lost (LostGateways.swift).

-- Returns the key of the gateway's routes in the user's bucket, and the route of the user's session.
local function route_of(tag, gateway, sid)
    local close = string.find(tag, '}', 1, true)
    return string.sub(tag, 1, close) .. 'r:' .. gateway, sid .. ' ' .. string.sub(tag, close + 1)
end

local function add_route(tag, gateway, sid)
    redis.call('SADD', route_of(tag, gateway, sid))
end

local function remove_route(tag, gateway, sid)
    redis.call('SREM', route_of(tag, gateway, sid))
end
