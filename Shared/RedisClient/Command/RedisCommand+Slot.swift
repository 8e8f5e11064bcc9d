internal import ClusterState

// What only a cluster of several masters must know of a command.
extension RedisCommand {
    /// The same command with the slot of its keys (see ``KeySlot``), which decides to which master a ``RedisClient``
    /// sends it. Needed for a command that was not made with its key as the first argument, and is no function call.
    /// One without keys (TIME, INFO) goes to the master of this slot.
    package func inSlot(_ slot: UInt16) -> RedisCommand {
        var command = self
        command.namedSlot = slot
        return command
    }

    /// The slot of the command's keys: as its sender has named it, or else that of its first key. Nil when neither is
    /// known. Asked for in a cluster only.
    var slot: UInt16? {
        if let namedSlot { return namedSlot }
        guard isFunctionCall ? numberOfKeys > 0 : hasKey else { return nil }
        return KeySlot.of(words.body.span.extracting(words.range(ofArgument: 1)))
    }

    /// A function call with one more key behind the others: the first key followed by `!`.
    ///
    /// The first key of our functions is a tag, which never exists as a key, and neither does this one. While a slot is
    /// being moved, the server it leaves refuses a call with keys that do not exist (ASK), and the server it goes to
    /// refuses a call with several keys of which one does not exist (TRYAGAIN). So no function runs on half of a slot.
    var fenced: RedisCommand {
        let keys = isFunctionCall ? numberOfKeys : 0
        guard keys > 0 else { return self }
        var fence = RedisArguments()
        fence.append(.bytes(words.body[words.range(ofArgument: 1)] + [UInt8(ascii: "!")]))
        var number = RedisArguments()
        number.append(keys + 1)
        var command = self
        command.words.insert(fence, at: words.range(ofArgument: keys).upperBound + RedisArguments.lineEnd)
        command.words.removeFirst(bytes: words.range(ofArgument: 0).upperBound + RedisArguments.lineEnd)
        command.words.insert(number, at: 0)
        return command
    }

    /// The number of a function call's keys.
    private var numberOfKeys: Int {
        var number = 0
        for index in words.range(ofArgument: 0) { number = number * 10 + Int(words.body[index] - UInt8(ascii: "0")) }
        return number
    }
}

extension RedisArguments {
    /// The bytes of CRLF.
    fileprivate static let lineEnd = 2

    /// Where the bytes of an argument lie in ``body``, without its length and line end.
    fileprivate func range(ofArgument index: Int) -> Range<Int> {
        var end = 0
        var argument = 0..<0
        for _ in 0...index {
            // `$LENGTH`
            var start = end + 1
            var length = 0
            while body[start] != 0x0D {
                length = length * 10 + Int(body[start] - UInt8(ascii: "0"))
                start += 1
            }
            argument = start + Self.lineEnd..<start + Self.lineEnd + length
            end = argument.upperBound + Self.lineEnd
        }
        return argument
    }
}
