-- Appends entries that must not be lost to streams, also when Redis is full. Called by StreamAppend.swift.

-- KEYS: the stream. ARGV: the arguments of XADD after the key. Returns XADD's reply: the entry's id, or false.
local function append(keys, args)
    return redis.call('XADD', keys[1], unpack(args))
end

redis.register_function{function_name = 'heliograph_append', callback = append, flags = {'allow-oom'}}
