-- Appends entries that must not be lost to streams, also when Redis is full. Called by StreamAppend.swift.

-- KEYS: the stream. ARGV: the arguments of XADD after the key. Returns XADD's reply: the entry's id, or false.
local function append(keys, args)
    return redis.call('XADD', keys[1], unpack(args))
end

-- KEYS: a mirror. ARGV: the number of entries that it has at most, about; the name of an entry's only field; then its
-- value per entry. Returns how many of the oldest entries were removed, which nothing has copied.
local function mirror_append(keys, args)
    local stream = keys[1]
    local before = redis.call('XLEN', stream)
    for i = 3, #args do
        redis.call('XADD', stream, 'MAXLEN', '~', args[1], '*', args[2], args[i])
    end
    return before + #args - 2 - redis.call('XLEN', stream)
end

-- The messages have been sent already, so their entries must also find room when Redis is full.
redis.register_function{function_name = 'mirror_append', callback = mirror_append, flags = {'allow-oom'}}
redis.register_function{function_name = 'heliograph_append', callback = append, flags = {'allow-oom'}}
