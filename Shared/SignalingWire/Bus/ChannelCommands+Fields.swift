package import SignalingProtocol

extension JoinChannel: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        actor.write(to: &writer)
        writer.put("channel", channel.rawValue)
        writer.put("turn", turn)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(actor: try Actor(from: reader), channel: try reader.channel(), turn: try reader.int64("turn"))
    }
}

extension ChannelJoined: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("sequence", sequence)
        writer.put("event", id)
        writer.put("latest", members.text)
        writer.put("attributes", list: attributes)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            sequence: try reader.int64("sequence"), id: try reader.int64("event"),
            members: LatestMembers(text: try reader.text("latest")),
            attributes: try reader.list("attributes", of: Attribute.self))
    }
}

extension LeaveChannel: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        actor.write(to: &writer)
        writer.put("channel", channel.rawValue)
        writer.put("reason", reason)
        writer.put("turn", turn)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            actor: try Actor(from: reader), channel: try reader.channel(), reason: try reader.code("reason"),
            turn: try reader.int64("turn"))
    }
}

extension ChangeChannelAttributes: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        actor.write(to: &writer)
        writer.put("channel", channel.rawValue)
        change.write(to: &writer)
        writer.put("limit", limitPerSecond)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(
            actor: try Actor(from: reader), channel: try reader.channel(), change: try AttributeChange(from: reader),
            limitPerSecond: try reader.int("limit"))
    }
}

extension CountMembers: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(channel)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(channel: try reader.channelKey())
    }
}

extension MemberCount: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("count", count)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(count: try reader.int("count"))
    }
}

extension QueryMember: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(channel)
        writer.put("account", account.rawValue)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(channel: try reader.channelKey(), account: try Account(try reader.string("account")))
    }
}

extension MemberStatus: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("member", isMember)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(isMember: try reader.bool("member"))
    }
}

extension ListMembers: WireCommand {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put(channel)
        writer.put("limit", limit)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(channel: try reader.channelKey(), limit: try reader.int("limit"))
    }
}

extension MemberList: FieldCodable {
    /// Adds the fields.
    package func write(to writer: inout FieldWriter) {
        writer.put("total", total)
        writer.put("members", list: members)
    }

    /// Reads the fields.
    package init(from reader: FieldReader) throws(SignalingError) {
        self.init(total: try reader.int("total"), members: try reader.list("members", of: Member.self))
    }
}
