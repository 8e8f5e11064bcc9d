package import NIOCore

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The reply builder of a pub/sub connection. Handling a message costs a single copy: the word `message` is compared in
/// place, a repeated topic reuses its String, and a payload reuses the previous payload's buffer
/// unless the receiver has kept that.
package final class PushBuilder: ReplyBuilder {
    private enum Kind {
        case message
        case subscribed
        case unsubscribed
        case other
    }

    /// Called for each message.
    package var onMessage: (_ topic: String, _ payload: ByteBuffer) -> Void = { _, _ in }
    /// Called for each confirmation of SUBSCRIBE or SSUBSCRIBE (true), UNSUBSCRIBE or SUNSUBSCRIBE (false). A server
    /// also sends the last one by itself, when it no longer serves the topic's slot.
    var onConfirmation: (_ topic: String, _ subscribed: Bool) -> Void = { _, _ in }

    private var isPush = false
    private var position = 0
    private var kind = Kind.other
    private var topic = ""
    private var topicBytes: [UInt8] = []
    private var payload = ByteBuffer()

    override func beginArray(count: Int, depth: Int) {
        guard depth == 0 else { return super.beginArray(count: count, depth: depth) }
        isPush = true
        position = 0
        kind = .other
    }

    override func addText(_ textKind: TextKind, _ bytes: UnsafeRawBufferPointer, depth: Int) {
        guard isPush else { return super.addText(textKind, bytes, depth: depth) }
        switch position {
        case 0: kind = Self.kind(of: bytes)
        case 1: setTopic(bytes)
        case 2: setPayload(bytes)
        default: break
        }
        position += 1
    }

    override func addInteger(_ value: Int64, depth: Int) {
        guard isPush else { return super.addInteger(value, depth: depth) }
        position += 1
    }

    override func addNull(depth: Int) {
        guard isPush else { return super.addNull(depth: depth) }
        position += 1
    }

    override func finish() {
        guard isPush else { return super.finish() }
        isPush = false
        switch kind {
        case .message:
            guard position == 3 else { return }
            onMessage(topic, payload)
        case .subscribed: onConfirmation(topic, true)
        case .unsubscribed: onConfirmation(topic, false)
        case .other: break  // The reply to PING; its arrival alone proves that the connection is alive.
        }
    }

    private func setPayload(_ bytes: UnsafeRawBufferPointer) {
        guard kind == .message else { return }
        // The memory of a large payload is freed.
        if payload.capacity > 1 << 16 { payload = ByteBuffer() } else { payload.clear() }
        payload.writeBytes(bytes)
    }

    private func setTopic(_ bytes: UnsafeRawBufferPointer) {
        let isSame = topicBytes.withUnsafeBytes { last in
            guard last.count == bytes.count, let left = last.baseAddress, let right = bytes.baseAddress else {
                return false
            }
            return memcmp(left, right, last.count) == 0
        }
        guard !isSame else { return }
        topicBytes = Array(bytes)
        topic = String(decoding: bytes, as: UTF8.self)
    }

    private static func kind(of bytes: UnsafeRawBufferPointer) -> Kind {
        switch bytes.count {
        case 7 where bytes.elementsEqual("message".utf8): .message
        case 8 where bytes.elementsEqual("smessage".utf8): .message
        case 9 where bytes.elementsEqual("subscribe".utf8): .subscribed
        case 10 where bytes.elementsEqual("ssubscribe".utf8): .subscribed
        case 11 where bytes.elementsEqual("unsubscribe".utf8): .unsubscribed
        case 12 where bytes.elementsEqual("sunsubscribe".utf8): .unsubscribed
        default: .other
        }
    }
}
