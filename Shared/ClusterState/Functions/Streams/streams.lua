-- Appends to streams in a full Redis too: for entries that must not be lost. Called by StreamAppend.swift.

-- KEYS: the stream. ARGV: the arguments of XADD behind the stream. Returns the reply of XADD: the entry's id, or false.
local function append(keys, args)
    return redis.call('XADD', keys[1], unpack(args))
end

redis.register_function{function_name = 'heliograph_append', callback = append, flags = {'allow-oom'}}
