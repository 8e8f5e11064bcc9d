internal import ClusterState
internal import SignalingProtocol
internal import SignalingWire

/// What goes with a command on a stream. The entry's one field `c` has, packed: `op`, `id`, `from` (absent: no reply),
/// `until`, then the command's own fields, which may have the same names; `until` therefore always ends the envelope.
///
/// Packed, because Redis, the reader's parser and each deletion on the stream go through an entry field by field.
struct CommandEnvelope: Equatable {
    /// The entry's field.
    static let field = "c"
    /// Entries that a stream of commands with askers keeps, about; the oldest beyond it are long past their deadline. What
    /// nobody asks after is never cut off unread: who posted it has forgotten it.
    static let maxStreamLength = 100_000

    let operation: String
    let id: CommandID
    let from: GatewayID?
    /// When it must no longer take effect; nil for never, which is 0 on the stream.
    let deadline: RedisTime?

    /// The command that puts it on a stream.
    /// - Parameters:
    ///   - fields: the command's own.
    ///   - onlyIfThere: a stream that does not exist is not made; the answer is null then.
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

/// A command as it was read from a stream.
struct ReceivedCommand {
    let envelope: CommandEnvelope
    /// The command's own.
    let fields: FieldReader

    /// Reads an entry; nil for what is no command.
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
            from: end == 3 ? GatewayID(Self.text(fields[2].value)) : nil,
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
