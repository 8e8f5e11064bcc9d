internal import CHiredis
package import NIOCore

/// Parses replies with hiredis and passes them to a ``ReplyBuilder``. Use it on one event loop only.
package final class ReplyReader {
    /// The largest slice passed to hiredis at once. hiredis moves the rest of its buffer after each reply, so with a
    /// much larger buffer parsing takes quadratic time.
    private static let sliceBytes = 16 * 1024

    private let builder: ReplyBuilder
    private let maxReplyBytes: Int
    private let functions: UnsafeMutablePointer<redisReplyObjectFunctions>
    private let reader: UnsafeMutablePointer<redisReader>?

    /// Creates a reader that passes each complete reply to the builder.
    /// - Parameter maxReplyBytes: the largest reply in bytes.
    package init(builder: ReplyBuilder, maxReplyBytes: Int) {
        self.builder = builder
        self.maxReplyBytes = maxReplyBytes
        functions = .allocate(capacity: 1)
        functions.initialize(to: callbacks())
        reader = redisReaderCreateWithFunctions(functions)
        // Unretained: the builder outlives hiredis' reader, because both are `let` and
        // `deinit` frees that reader first.
        reader?.pointee.privdata = Unmanaged.passUnretained(builder).toOpaque()
    }

    deinit {
        if let reader { redisReaderFree(reader) }
        functions.deinitialize(count: 1)
        functions.deallocate()
    }

    /// Parses received bytes. Each complete reply is passed to the builder's callback before this returns.
    /// - Throws: code `PROTOCOL`; the connection must then be closed.
    package func feed(_ buffer: ByteBuffer) throws(RedisError) {
        guard let reader else { throw RedisError(code: .malformed, message: "out of memory for the reply parser") }
        let failure: RedisError? = buffer.withUnsafeReadableBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let slice = UnsafeRawBufferPointer(rebasing: bytes[offset..<min(offset + Self.sliceBytes, bytes.count)])
                offset += slice.count
                if let failure = parse(slice, reader) { return failure }
            }
            return nil
        }
        if let failure { throw failure }
    }

    private func parse(_ slice: UnsafeRawBufferPointer, _ reader: UnsafeMutablePointer<redisReader>) -> RedisError? {
        let text = slice.assumingMemoryBound(to: CChar.self)
        guard redisReaderFeed(reader, text.baseAddress, text.count) == REDIS_OK else { return failure(reader) }
        while true {
            var reply: UnsafeMutableRawPointer?
            guard redisReaderGetReply(reader, &reply) == REDIS_OK else { return failure(reader) }
            guard reply != nil else { break }
            builder.finish()
        }
        guard reader.pointee.len - reader.pointee.pos <= maxReplyBytes else {
            return RedisError(code: .malformed, message: "a reply has more than \(maxReplyBytes) bytes")
        }
        return nil
    }

    private func failure(_ reader: UnsafeMutablePointer<redisReader>) -> RedisError {
        let text = withUnsafeBytes(of: reader.pointee.errstr) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        return RedisError(code: .malformed, message: "the server does not speak RESP: \(text)")
    }
}

private func callbacks() -> redisReplyObjectFunctions {
    redisReplyObjectFunctions(
        createString: { task, text, length in
            guard let task, let text else { return nil }
            let kind: ReplyBuilder.TextKind =
                switch task.pointee.type {
                case REDIS_REPLY_ERROR: .error
                case REDIS_REPLY_STATUS: .status
                default: .bulk
                }
            builder(task).addText(kind, UnsafeRawBufferPointer(start: text, count: length), depth: depth(task))
            return task.pointee.privdata
        },
        createArray: { task, count in
            guard let task else { return nil }
            builder(task).beginArray(count: Int(count), depth: depth(task))
            return task.pointee.privdata
        },
        createInteger: { task, value in
            guard let task else { return nil }
            builder(task).addInteger(Int64(value), depth: depth(task))
            return task.pointee.privdata
        },
        createNil: { task in
            guard let task else { return nil }
            builder(task).addNull(depth: depth(task))
            return task.pointee.privdata
        },
        // The builder owns all values; the object that hiredis would free is only the builder's address.
        freeObject: { _ in }
    )
}

private func builder(_ task: UnsafePointer<redisReadTask>) -> ReplyBuilder {
    Unmanaged<ReplyBuilder>.fromOpaque(task.pointee.privdata).takeUnretainedValue()
}

private func depth(_ task: UnsafePointer<redisReadTask>) -> Int { task.pointee.parent == nil ? 0 : 1 }
