internal import BusProtocol
internal import ClusterState
internal import RedisClient
internal import SignalingProtocol

/// The metadata of a command on a stream. The entry has one field, `c`, with these packed: `v` (the envelope's version;
/// absent for 1), `op`, `id`, `from` or `bridge` (the gateway or the sip-bridge that wants a reply; neither when
/// none is wanted), `key`, `request` and `trace` (the ``CommandCause``, where one is known), `until`, then the
/// command's own fields. Those may have the same names, so `until` always ends the envelope. A newer release may add
/// fields before `until` that older ones may ignore; if they must not ignore them, it increases the version.
///
/// Packed into one field because Redis, the reader's parser and every deletion process an entry field by field.
struct CommandEnvelope: Equatable {
    /// The name of the entry's field.
    static let field = "c"
    /// The approximate bound of a stream of commands that want a reply; entries cut off beyond it are long past their
    /// deadline. A stream of commands without a reply is never cut: their sender does not keep them.
    static let maxStreamLength = 100_000

    /// The version that this release writes, and the latest that it understands.
    static let version = 1

    /// The envelope's version; at least 1.
    var version = CommandEnvelope.version
    let operation: String
    let id: CommandID
    let from: AskerID?
    /// After it the command must have no effect; nil (0 on the stream) for never.
    let deadline: RedisTime?
    /// Which request the command is sent for.
    var cause = CommandCause()

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
        // Version 1 is not written, so that commands stay short.
        if version > 1 { writer.put("v", version) }
        writer.put("op", operation)
        writer.put("id", id.rawValue)
        switch from {
        case .gateway(let gateway): writer.put("from", gateway.rawValue)
        case .bridge(let bridge): writer.put("bridge", bridge.rawValue)
        case nil: break
        }
        for (name, value) in [("key", cause.key), ("request", cause.request), ("trace", cause.trace)] {
            if let value { writer.put(name, value) }
        }
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

    /// Parses an entry; nil when it is not a command. Unknown fields of a newer envelope are ignored.
    init?(_ entry: StreamEntry) {
        guard entry.fields.count == 1, entry.fields[0].name == CommandEnvelope.field,
            let fields = try? FieldReader(encoded: entry.fields[0].value).fields,
            let envelope = Self.envelope(fields)
        else { return nil }
        self.envelope = envelope.value
        self.fields = FieldReader(fields: fields[envelope.end...])
    }

    /// Reads the fields up to and including `until`, ignoring unknown ones.
    /// - Returns: the envelope, and the index of the first field after it; nil when a required field is missing.
    private static func envelope(
        _ fields: ArraySlice<(name: String, value: ArraySlice<UInt8>)>
    ) -> (value: CommandEnvelope, end: Int)? {
        var version = 1
        var operation: String?, id: String?, from: AskerID?
        var cause = CommandCause()
        for index in fields.indices {
            let value = fields[index].value
            switch fields[index].name {
            case "v":
                guard let number = Int(text(value)), number > 0 else { return nil }
                version = number
            case "op": operation = text(value)
            case "id": id = text(value)
            case "from": from = .gateway(GatewayID(text(value)))
            case "bridge": from = .bridge(BridgeID(text(value)))
            case "key": cause.key = text(value)
            case "request": cause.request = text(value)
            case "trace": cause.trace = text(value)
            case "until":
                guard let operation, let id, let deadline = Int64(text(value)), deadline >= 0 else { return nil }
                let envelope = CommandEnvelope(
                    version: version, operation: operation, id: CommandID(id), from: from,
                    deadline: deadline == 0 ? nil : RedisTime(milliseconds: deadline), cause: cause)
                return (envelope, index + 1)
            default: continue
            }
        }
        return nil
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }
}

extension ServiceCommand {
    /// The command's own fields.
    var fields: FieldWriter {
        var writer = FieldWriter()
        write(to: &writer)
        return writer
    }
}
