internal import ClusterState
internal import SignalingProtocol
internal import SignalingWire

/// The metadata of a command on a stream. The entry has one field, `c`, with these packed: `op`, `id`, `from` (absent when
/// no reply is wanted), `until`, then the command's own fields. Those may have the same names, so `until` always ends the
/// envelope.
///
/// Packed into one field because Redis, the reader's parser and every deletion process an entry field by field.
struct CommandEnvelope: Equatable {
    /// The name of the entry's field.
    static let field = "c"
    /// The approximate bound of a stream of commands that want a reply; entries cut off beyond it are long past their
    /// deadline. A stream of commands without a reply is never cut: their sender does not keep them.
    static let maxStreamLength = 100_000

    let operation: String
    let id: CommandID
    let from: AskerID?
    /// After it the command must have no effect; nil (0 on the stream) for never.
    let deadline: RedisTime?

    /// The Redis command that appends the command to a stream.
    /// - Parameters:
    ///   - fields: the command's own fields.
    ///   - onlyIfThere: whether to do nothing, and reply with null, when the stream does not exist.
    ///   - isVital: as for ``StreamAppend/command(to:isVital:)``.
    func adding(
        _ fields: FieldWriter, to stream: String, onlyIfThere: Bool = false, isVital: Bool
    ) -> RedisCommand {
        var command = StreamAppend.command(to: stream, isVital: isVital)
        if onlyIfThere { command.append("NOMKSTREAM") }
        if from != nil {
            for argument: RedisArgument in ["MAXLEN", "~", .int(Self.maxStreamLength)] { command.append(argument) }
        }
        let entry: [RedisArgument] = ["*", .string(Self.field), .bytes(packed(with: fields))]
        for argument in entry { command.append(argument) }
        return command
    }

    private func packed(with fields: FieldWriter) -> [UInt8] {
        var writer = FieldWriter()
        writer.put("op", operation)
        writer.put("id", id.rawValue)
        if let from { writer.put("from", from.rawValue) }
        writer.put("until", deadline?.milliseconds ?? 0)
        writer.append(fields)
        return writer.encoded
    }
}

/// A command read from a stream.
struct ReceivedCommand {
    let envelope: CommandEnvelope
    /// The command's own fields.
    let fields: FieldReader

    /// Reads an entry; nil when it is not a command.
    init?(_ entry: StreamEntry) {
        guard entry.fields.count == 1, entry.fields[0].name == CommandEnvelope.field,
            let fields = try? FieldReader(encoded: entry.fields[0].value).fields,
            let end = fields.firstIndex(where: { $0.name == "until" }), end >= 2, end <= 3,
            fields[0].name == "op", fields[1].name == "id",
            let deadline = Int64(Self.text(fields[end].value)), deadline >= 0
        else { return nil }
        guard end == 2 || fields[2].name == "from" else { return nil }
        envelope = CommandEnvelope(
            operation: Self.text(fields[0].value), id: CommandID(Self.text(fields[1].value)),
            from: end == 3 ? AskerID(Self.text(fields[2].value)) : nil,
            deadline: deadline == 0 ? nil : RedisTime(milliseconds: deadline))
        self.fields = FieldReader(fields: fields[(end + 1)...])
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension WireCommand {
    /// The command's own fields.
    var fields: FieldWriter {
        var writer = FieldWriter()
        write(to: &writer)
        return writer
    }
}
