import NIOCore

/// Collects what hiredis' reader reports into Swift values, without a tree of `redisReply` in between.
///
/// A class, because C callbacks find it through one pointer; its subclass for pub/sub avoids most of the work.
package class ReplyBuilder {
    /// The kinds of text that RESP2 has.
    enum TextKind {
        case bulk
        case status
        case error
    }

    /// Receives each whole reply.
    package var onReply: (RedisValue) -> Void = { _ in }
    /// The innermost list that is being read, and how many elements it wants yet; 0 outside of lists.
    private var elements: [RedisValue] = []
    private var missing = 0
    /// The lists around it.
    private var outer: [(elements: [RedisValue], missing: Int)] = []
    private var complete: RedisValue?

    /// A builder that nobody listens to yet.
    package init() {}

    func beginArray(count: Int, depth: Int) {
        guard count > 0 else { return add(.array([])) }
        if missing > 0 { outer.append((elements, missing)) }
        missing = count
        elements = []
        // The count is the peer's claim: reserve for the usual, let longer lists grow.
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

    /// The reply that was begun is whole.
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
