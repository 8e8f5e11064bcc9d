-- The channel fields of :session; part of two libraries, presence and memberships.

-- Returns the lines of `text` other than `line` (nil: all lines).
local function list_without(text, line)
    local list = {}
    for other in string.gmatch(text or '', '[^\n]+') do
        if other ~= line then
            list[#list + 1] = other
        end
    end
    return list
end

-- Records the channels that the session still has to leave.
local function keep_leaving(tag, list)
    if #list == 0 then
        redis.call('HDEL', tag .. ':session', 'leaving')
    else
        redis.call('HSET', tag .. ':session', 'leaving', table.concat(list, '\n'))
    end
end
