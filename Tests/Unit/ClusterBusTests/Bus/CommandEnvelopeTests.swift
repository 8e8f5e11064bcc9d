import BusProtocol
import ClusterState
import NIOCore
import SignalingProtocol
import Testing

@testable import ClusterBus
@testable import RedisClient

@Suite struct CommandEnvelopeTests {
    private func arguments(of command: RedisCommand) throws -> [RedisValue] {
        var sent = ByteBuffer()
        command.encode(into: &sent)
        var arguments: [RedisValue] = []
        let builder = ReplyBuilder()
        builder.onReply = { arguments = $0.array ?? [] }
        try ReplyReader(builder: builder, maxReplyBytes: 1 << 20).feed(sent)
        return arguments
    }

    /// The stream entry that this XADD would create.
    private func entry(_ command: RedisCommand) throws -> StreamEntry {
        let arguments = try arguments(of: command)
        let start = try #require(arguments.firstIndex(of: .bulk(ByteBuffer(string: "*"))))
        let fields = Array(arguments[(start + 1)...])
        return try #require(StreamEntry(.array([.bulk(ByteBuffer(string: "1700000000123-4")), .array(fields)])))
    }

    @Test(arguments: [nil, .gateway(GatewayID("g-1")), .bridge(BridgeID("b-1"))] as [AskerID?])
    func roundTrip(_ from: AskerID?) throws {
        // A command's own fields may have the same names as the envelope's.
        var fields = FieldWriter()
        fields.put("from", [1])
        fields.put("until", [0xFF, 0])
        fields.put("op", [UInt8]())
        let sent = CommandEnvelope(
            operation: "a.b", id: CommandID("c-1"), from: from, deadline: RedisTime(milliseconds: 8000))
        let entry = try entry(sent.adding(fields, to: "cmd:x", isVital: false))
        let got = try #require(ReceivedCommand(entry))
        #expect(got.envelope == sent)
        #expect(got.fields.pairs.elementsEqual(fields.pairs, by: ==))
    }

    @Test(arguments: [
        [], ["op", "x"], ["op", "x", "id", "1"], ["op", "x", "id", "1", "until", "x"],
        ["op", "x", "id", "1", "until", "-1"], ["op", "x", "until", "1"], ["id", "x", "until", "1"], ["until", "1"],
        ["v", "0", "op", "x", "id", "1", "until", "1"], ["v", "new", "op", "x", "id", "1", "until", "1"],
        ["v", "", "op", "x", "id", "1", "until", "1"], ["op", "x", "until", "1", "id", "1"],
    ])
    func noCommand(_ flat: [String]) {
        var fields = FieldWriter()
        for index in stride(from: 0, to: flat.count, by: 2) { fields.put(flat[index], flat[index + 1]) }
        #expect(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", fields.encoded)])) == nil)
    }

    @Test func noEnvelope() {
        let bytes = Array("2:op1:x2:id1:15:until1:5".utf8)
        #expect(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", bytes)])) != nil)
        #expect(ReceivedCommand(StreamEntry(id: "1-1", fields: [("d", bytes)])) == nil)
        #expect(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", bytes), ("c", bytes)])) == nil)
        #expect(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", Array(bytes.dropLast()))])) == nil)
    }

    @Test(
        arguments: [(.gateway(GatewayID("g")), "4:from1:g"), (.bridge(BridgeID("b")), "6:bridge1:b")]
            as [(AskerID, String)])
    func golden(_ from: AskerID, _ field: String) {
        let sent = CommandEnvelope(
            operation: "a.b", id: CommandID("c-1"), from: from, deadline: RedisTime(milliseconds: 8000))
        var fields = FieldWriter()
        fields.put("x", "1")
        #expect(
            sent.adding(fields, to: "cmd:x", isVital: false)
                == RedisCommand(
                    "XADD", "cmd:x", "MAXLEN", "~", 100_000, "*", "c",
                    .string("2:op3:a.b2:id3:c-1\(field)5:until4:80001:x1:1")))
    }

    /// A newer release may put further fields into the envelope, and raises the version when
    /// older ones must not ignore them.
    @Test func newerForms() throws {
        var fields = FieldWriter()
        for (name, value) in [("v", "2"), ("op", "a.b"), ("id", "c-1"), ("later", "t"), ("from", "g"), ("until", "8")] {
            fields.put(name, value)
        }
        fields.put("v", "own")
        let newer = try #require(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", fields.encoded)])))
        #expect(
            newer.envelope
                == CommandEnvelope(
                    version: 2, operation: "a.b", id: CommandID("c-1"), from: .gateway(GatewayID("g")),
                    deadline: RedisTime(milliseconds: 8)))
        #expect(newer.fields.pairs.map(\.name) == ["v"])
        let written = try entry(newer.envelope.adding(FieldWriter(), to: "cmd:x", isVital: false))
        #expect(
            String(decoding: written.fields[0].value, as: UTF8.self) == "1:v1:22:op3:a.b2:id3:c-14:from1:g5:until1:8")
        let first = "1:v1:12:op1:x5:later1:t2:id1:15:until1:5"
        let same = try #require(ReceivedCommand(StreamEntry(id: "1-1", fields: [("c", Array(first.utf8))])))
        #expect(same.envelope.version == 1 && same.envelope.from == nil)
    }

    /// The request of a command is written where it is known, before the command's own fields, whose names may be the
    /// same; a release that does not know the fields passes over them, as over any before `until`.
    @Test(arguments: [
        (CommandCause(), ""), (CommandCause(request: "r-1"), "7:request3:r-1"),
        (CommandCause(key: "k", request: "r", trace: "t"), "3:key1:k7:request1:r5:trace1:t"),
    ])
    func theRequestTravels(_ cause: CommandCause, _ written: String) throws {
        var fields = FieldWriter()
        fields.put("request", "own")
        let sent = CommandEnvelope(
            operation: "a.b", id: CommandID("c-1"), from: .gateway(GatewayID("g")),
            deadline: RedisTime(milliseconds: 8), cause: cause)
        let entry = try entry(sent.adding(fields, to: "cmd:x", isVital: false))
        #expect(
            String(decoding: entry.fields[0].value, as: UTF8.self)
                == "2:op3:a.b2:id3:c-14:from1:g\(written)5:until1:87:request3:own")
        let got = try #require(ReceivedCommand(entry))
        #expect(got.envelope == sent && got.envelope.cause == cause)
        #expect(got.fields.pairs.map(\.name) == ["request"])
    }

    @Test func deletedEntry() {
        #expect(StreamEntry(.array([.bulk(ByteBuffer(string: "1-1")), .null])) == nil)
    }

    @Test func aPostedCommandSaysWhoseConsequenceItIs() throws {
        let command = CountMembers(channel: ChannelKey(app: try AppID("a"), name: try ChannelName("c")))
        let cause = CommandCause(key: "k", request: "r", trace: "t")
        let id = CommandID("c.1")
        for posted in [
            PostedCommand.command(on: .single, for: command, id: id, cause: cause),
            PostedCommand.command(for: command, id: id, to: BridgeID("b"), cause: cause),
        ] {
            #expect(try #require(ReceivedCommand(try entry(posted))).envelope.cause == cause)
        }
    }

    @Test func aPostedCommandHasNoSender() throws {
        let command = CountMembers(channel: ChannelKey(app: try AppID("a"), name: try ChannelName("c")))
        let posted = PostedCommand.command(on: .single, for: command, id: CommandID("c.1"))
        // There is no MAXLEN, because trimming could remove unread commands.
        #expect(
            try arguments(of: posted).prefix(6).map(\.string)
                == ["FCALL", "heliograph_append", "1", "post:channel-state", "*", "c"])
        let envelope = try #require(ReceivedCommand(try entry(posted))).envelope
        #expect(envelope.from == nil)
        #expect(envelope.operation == "channel.count")
        #expect(envelope.deadline == nil)
        #expect(envelope.cause == CommandCause())
        let toBridge = PostedCommand.command(for: command, id: CommandID("c.1"), to: BridgeID("b"))
        #expect(
            try arguments(of: toBridge).prefix(5).map(\.string)
                == ["FCALL", "heliograph_append", "1", "{bridge:b}:cmd", "NOMKSTREAM"])
    }
}
