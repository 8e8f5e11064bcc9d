internal import NIOCore
internal import RedisClient
internal import SignalingProtocol

/// One entry of a Redis stream.
struct StreamEntry: Equatable, Sendable {
    /// `MILLISECONDS-NUMBER`, by Redis' clock.
    let id: String
    /// The fields in order.
    let fields: [(name: String, value: [UInt8])]

    static func == (left: StreamEntry, right: StreamEntry) -> Bool {
        left.id == right.id && left.fields.elementsEqual(right.fields, by: ==)
    }

    /// When the entry was added; nil when the id is none.
    var time: RedisTime? { id.split(separator: "-").first.flatMap { RedisTime(text: String($0)) } }

    /// Reads `[id, [name, value, ...]]`; nil for an entry that has been deleted, whose fields are null.
    init?(_ value: RedisValue) {
        guard let parts = value.array, parts.count == 2, let id = parts[0].string, let flat = parts[1].array,
            flat.count.isMultiple(of: 2)
        else { return nil }
        self.id = id
        fields = stride(from: 0, to: flat.count, by: 2).map { index in
            (name: flat[index].string ?? "", value: flat[index + 1].bytes ?? [])
        }
    }

    init(id: String, fields: [(name: String, value: [UInt8])]) {
        self.id = id
        self.fields = fields
    }
}
