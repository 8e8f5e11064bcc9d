-- Which channel a session is in: what presence and memberships, two libraries, do to the fields of :session that say so.

-- The lines of a text, without those that equal `line` (nil: all lines).
local function list_without(text, line)
    local list = {}
    for other in string.gmatch(text or '', '[^\n]+') do
        if other ~= line then
            list[#list + 1] = other
        end
    end
    return list
end

-- Records the channels that are still to be left.
local function keep_leaving(tag, list)
    if #list == 0 then
        redis.call('HDEL', tag .. ':session', 'leaving')
    else
        redis.call('HSET', tag .. ':session', 'leaving', table.concat(list, '\n'))
    end
end
