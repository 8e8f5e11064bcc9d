-- Members and attributes of channels. Called by ChannelFunctions.swift.
--
-- ClusterLibraries.swift joins the library's files in this order: channels, channel_counters, channel_bars,
-- channel_members, channel_attributes, channel_life. This file holds what all of them use.
--
-- The channel_* functions take one key, a channel's tag, and work on
--   :members  zset: account -> number of its join; the latest members have the highest scores
--   :info     hash: account -> "uid sid"
--   :latest   string: the latest members as lines "uid account", oldest first, with spaces in place of one that has left
--             (see channel_members.lua); may be missing
--   :state    hash: seq (last event), id (last client id or change, us), joins, emptied (ms, when the last member left),
--             listed (number of members in :latest; '' when it is missing), unloaded (1: somebody joined while the
--             attributes could not be read), barred (1: there may be restrictions, see channel_bars.lua), copies of the
--             built-in attributes under their own names (heliograph_messages reads _sendmsg_limit), and for each counter that is on: COUNTER_told (the value last
--             announced), COUNTER_at (ms, when), COUNTER_by ("account uid" of the member who last changed it)
--   :bars     hash: 'ban ACCOUNT' or 'mute ACCOUNT' -> 'UNTIL CREATED REASON', times in Unix seconds; expires with the
--             latest end, and outlives the channel (see channel_bars.lua)
--   :log      stream with ids SEQ-0, field e: the event as published; capped as in heliograph_messages
--   :attrs    hash: cached attributes; complete only while :attrver exists
--   :attrver  string: PostgreSQL's version of the cached attributes
--   :attrwait hash: version -> packed change that arrived before its predecessor
--   :attrload string: "version id" of the current reload of the attributes; expires RELOAD_MS after its last step
--   :attrmin  string: lowest version that may be cached; a lower one was read before a later commit
--   :follow   string: exists while the server API reads a special channel's events; gateways write it
--   :end      string: us, when the channel ended; channel-state deletes it when it has recorded that for webhooks
--   :arate    string: number of attribute changes in the current second
--   :arate:NAME  string: number of changes of one attribute in the current second
--   :done:ID  string, expires after DONE_MS: the packed result of command ID

-- Number of changes that may wait for their predecessor: as many as the rate limit allows in the time that one waits.
local WAITING_CHANGES = 100
-- Number and bytes of waiting changes that one call applies at most: Redis serves nobody else during a call.
local APPLIED_CHANGES = 32
local APPLIED_BYTES = 65536
local RELOAD_MS = 5000
-- :latest is rebuilt after this many joins. When it was missing, it is rebuilt with this many lines more than LATEST, as
-- a reserve for leaves.
local LATEST_SLACK = 50

local function state(tag, field)
    return redis.call('HGET', tag .. ':state', field)
end

-- Returns the channel's current sequence number. A new channel's starts at the clock, above all that clients have seen.
local function sequence(tag)
    local seq = state(tag, 'seq')
    if not seq then
        seq = number((clock()))
        redis.call('HSET', tag .. ':state', 'seq', seq)
    end
    return seq
end

-- Returns the next client id, which also orders membership changes for the mirror.
local function next_id(tag)
    local _, now = clock()
    local id = number(math.max(now, tonumber(state(tag, 'id') or '0') + 1))
    redis.call('HSET', tag .. ':state', 'id', id)
    return id
end

-- Logs and publishes an event whose sequence number is already recorded.
local function publish_as(tag, seq, id, account, uid, rest)
    local event = seq .. ' ' .. id .. ' ' .. account .. ' ' .. uid .. ' ' .. rest
    redis.call('XADD', tag .. ':log', 'MAXLEN', '~', LOG_EVENTS, seq .. '-0', 'e', event)
    redis.call('PEXPIRE', tag .. ':log', LOG_MS)
    redis.call(PUBLISH, tag .. ':events', event)
end

-- Gives an event the next sequence number, logs and publishes it.
local function publish(tag, id, account, uid, rest)
    local seq = number(tonumber(sequence(tag)) + 1)
    redis.call('HSET', tag .. ':state', 'seq', seq)
    publish_as(tag, seq, id, account, uid, rest)
end

-- Publishes an attribute change; `verb` is update, del or clear.
local function publish_change(tag, account, uid, verb, name, value)
    local rest = 'attr clear'
    if verb == 'update' then
        rest = 'attr update ' .. #name .. ' ' .. name .. ' ' .. value
    elseif verb == 'del' then
        rest = 'attr del ' .. #name .. ' ' .. name
    end
    publish(tag, next_id(tag), account, uid, rest)
end

-- Counts an action in the current second. Returns whether the count exceeds `bound`.
local function count_in_second(key, bound)
    local count = redis.call('INCR', key)
    if count == 1 then
        redis.call('PEXPIRE', key, 1000)
    end
    return count > bound
end
