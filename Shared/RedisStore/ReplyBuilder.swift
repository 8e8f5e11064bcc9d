internal import NIOCore

/// Collects what hiredis' reader reports into Swift values, without a tree of `redisReply` in between.
///
/// A class, because C callbacks find it through one pointer; its subclass for pub/sub avoids most of the work.
class ReplyBuilder {
    /// The kinds of text that RESP2 has.
    enum TextKind {
        case bulk
        case status
        case error
    }

    private struct OpenArray {
        var remaining: Int
        var elements: [RedisValue]
    }

    /// Receives each whole reply.
    var onReply: (RedisValue) -> Void = { _ in }
    private var openArrays: [OpenArray] = []
    private var complete: RedisValue?

    func beginArray(count: Int, depth: Int) {
        guard count > 0 else { return add(.array([])) }
        var open = OpenArray(remaining: count, elements: [])
        // The count is the peer's claim: reserve for the usual, let longer lists grow.
        open.elements.reserveCapacity(min(count, 1024))
        openArrays.append(open)
    }

    func addText(_ kind: TextKind, _ bytes: UnsafeRawBufferPointer, depth: Int) {
        switch kind {
        case .bulk: add(.bulk(ByteBuffer(bytes: bytes)))
        case .status: add(.simple(String(decoding: bytes, as: UTF8.self)))
        case .error: add(.error(RedisError(reply: String(decoding: bytes, as: UTF8.self))))
        }
    }

    func addInteger(_ value: Int64, depth: Int) { add(.integer(value)) }

    func addNull(depth: Int) { add(.null) }

    /// The reply that was begun is whole.
    func finish() {
        guard let value = complete else { return }
        complete = nil
        onReply(value)
    }

    private func add(_ value: RedisValue) {
        var value = value
        while let last = openArrays.indices.last {
            openArrays[last].elements.append(value)
            openArrays[last].remaining -= 1
            guard openArrays[last].remaining == 0 else { return }
            value = .array(openArrays.removeLast().elements)
        }
        complete = value
    }
}
