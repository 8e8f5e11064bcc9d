package import SignalingProtocol

extension CallAct: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("verb", verb.rawValue)
        actor.write(to: &writer)
        writer.put("channel", channel.rawValue)
        writer.put("peer", peer)
        writer.put("extra", extra)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        guard let verb = CallVerb(rawValue: try reader.string("verb")) else {
            throw FieldReader.malformed("verb", "verb")
        }
        self.init(
            verb: verb, actor: try Actor(from: reader), channel: try reader.channel(), peer: try reader.string("peer"),
            extra: try reader.string("extra"))
    }
}

extension EndSessionCalls: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(user)
        writer.put("session", session.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(user: try reader.user(), session: try reader.session())
    }
}
