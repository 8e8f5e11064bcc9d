-- The streams by which services tell each other what must not be lost. The contract is declared in StreamAppend.swift.

-- KEYS: the stream. ARGV: the other words of XADD. Returns what XADD does: the entry's id, or false.
local function append(keys, args)
    return redis.call('XADD', keys[1], unpack(args))
end

redis.register_function{function_name = 'heliograph_append', callback = append, flags = {'allow-oom'}}
