-- Members and attributes of channels. Called by ChannelFunctions.swift.
--
-- ClusterLibraries.swift joins the library's files in this order: channels, channel_counters, channel_members,
-- channel_attributes, channel_life. This file has what all of them use.
--
-- The channel_* functions take one key, a channel's tag, and work on
--   :members  zset: account -> number of its join; the latest members have the highest scores
--   :info     hash: account -> "uid sid"
--   :latest   string: the latest members as lines "uid account", oldest first, blank where one
--             has left (see channel_members); may be missing
--   :state    hash: seq (last event), id (last client id or change, us), joins, emptied (ms, when the last member left),
--             listed (members in :latest; '' for no text), unloaded (1: somebody joined while the attributes could not be
--             read),
--             copies of the built-in attributes under their own names (heliograph_messages reads _sendmsg_limit),
--             and of each counter that is on: COUNTER_told (the number last told), COUNTER_at (ms, when),
--             COUNTER_by ("account uid" of who changed it last)
--   :log      stream SEQ-0, field e: the event as published; capped as in heliograph_messages
--   :attrs    hash: cached attributes, loaded while :attrver (PostgreSQL's version of them) exists
--   :attrwait hash: version -> packed change that came before its predecessor
--   :attrload string: "version id" of the reload of attributes that is under way; lives RELOAD_MS after its last step
--   :attrmin  string: a lower version must not be cached, it was read before a later commit
--   :arate    string: changes of attributes in the present second
--   :arate:NAME  string: changes of one attribute in the present second
--   :done:ID  string, lives DONE_MS: the packed result of command ID

-- Changes that may wait for their predecessor: as many as the rate limit allows in the time that one waits.
local WAITING_CHANGES = 100
-- The waiting changes, and their bytes, that one call applies at most: Redis does nothing else meanwhile.
local APPLIED_CHANGES = 32
local APPLIED_BYTES = 65536
local RELOAD_MS = 5000
-- After so many joins :latest is made anew; where it was missing, with so many lines more than LATEST, which leaves use up.
local LATEST_SLACK = 50

local function state(tag, field)
    return redis.call('HGET', tag .. ':state', field)
end

-- The channel's present sequence number; a new channel's is the clock, above whatever clients saw before.
local function sequence(tag)
    local seq = state(tag, 'seq')
    if not seq then
        seq = number((clock()))
        redis.call('HSET', tag .. ':state', 'seq', seq)
    end
    return seq
end

-- The next client id; also what orders changes of membership for the mirror.
local function next_id(tag)
    local _, now = clock()
    local id = number(math.max(now, tonumber(state(tag, 'id') or '0') + 1))
    redis.call('HSET', tag .. ':state', 'id', id)
    return id
end

-- Keeps and publishes an event whose number is recorded.
local function publish_as(tag, seq, id, account, uid, rest)
    local event = seq .. ' ' .. id .. ' ' .. account .. ' ' .. uid .. ' ' .. rest
    redis.call('XADD', tag .. ':log', 'MAXLEN', '~', LOG_EVENTS, seq .. '-0', 'e', event)
    redis.call('PEXPIRE', tag .. ':log', LOG_MS)
    redis.call('PUBLISH', tag .. ':events', event)
end

-- Numbers, keeps and publishes an event.
local function publish(tag, id, account, uid, rest)
    local seq = number(tonumber(sequence(tag)) + 1)
    redis.call('HSET', tag .. ':state', 'seq', seq)
    publish_as(tag, seq, id, account, uid, rest)
end

-- Publishes a change of attributes; verb: update, del or clear.
local function publish_change(tag, account, uid, verb, name, value)
    local rest = 'attr clear'
    if verb == 'update' then
        rest = 'attr update ' .. #name .. ' ' .. name .. ' ' .. value
    elseif verb == 'del' then
        rest = 'attr del ' .. #name .. ' ' .. name
    end
    publish(tag, next_id(tag), account, uid, rest)
end

-- Counts an act of the present second. Returns whether it is one more than `bound`.
local function count_in_second(key, bound)
    local count = redis.call('INCR', key)
    if count == 1 then
        redis.call('PEXPIRE', key, 1000)
    end
    return count > bound
end
