import NIOCore

/// Builds Swift values directly from hiredis' parser callbacks, without an intermediate tree of `redisReply`.
///
/// A class, because the C callbacks find it through one pointer. A subclass handles pub/sub messages with less work.
package class ReplyBuilder {
    /// The kinds of text that RESP2 has.
    enum TextKind {
        case bulk
        case status
        case error
    }

    /// Called for each complete reply.
    package var onReply: (RedisValue) -> Void = { _ in }
    /// The innermost array being read, and the number of its elements still to come; 0 outside of arrays.
    private var elements: [RedisValue] = []
    private var missing = 0
    /// The enclosing arrays.
    private var outer: [(elements: [RedisValue], missing: Int)] = []
    private var complete: RedisValue?

    /// Creates a builder without a callback.
    package init() {}

    func beginArray(count: Int, depth: Int) {
        guard count > 0 else { return add(.array([])) }
        if missing > 0 { outer.append((elements, missing)) }
        missing = count
        elements = []
        // The count is sent by the peer and may be false: reserve a usual size and let longer arrays grow.
        elements.reserveCapacity(min(count, 1024))
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

    /// Passes on the reply, which is complete.
    func finish() {
        guard let value = complete else { return }
        complete = nil
        onReply(value)
    }

    private func add(_ value: RedisValue) {
        guard missing > 0 else {
            complete = value
            return
        }
        elements.append(value)
        missing -= 1
        if missing == 0 { closeList() }
    }

    private func closeList() {
        let list = RedisValue.array(elements)
        (elements, missing) = outer.popLast() ?? ([], 0)
        add(list)
    }
}
