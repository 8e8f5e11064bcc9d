import BusProtocol
import ClusterState
import GatewayLogic
import NIOCore
import Pacing
import RedisClient
import SignalingProtocol
import SignalingWire
import WebSocketWire

extension Benchmark {
    /// All benchmarks, in the order of a message's way through the gateway.
    static func all() -> [Benchmark] {
        frames() + events() + commands() + states() + redis() + bounds()
    }

    private static let body = String(repeating: "x", count: 200)

    private static func buffer(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }

    /// Decoding and encoding clients' frames.
    private static func frames() -> [Benchmark] {
        let line = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2-bench-17-gateway-1.0-2s-0123456789abcdef0123456789abcdef"
        let send = buffer(
            #"["call2",["channel_sendmsg",17,{"line":"\#(line)","name":"bench","msg":"\#(body)"}]]"#)
        let tell = buffer(
            #"["call2",["user_sendmsg",18,{"line":"\#(line)","peer":"bench-2","flag":"v1:E:3600","t":"instant","content":"\#(body)"}]]"#
        )
        let sendBytes = Array(send.readableBytesView), tellBytes = Array(tell.readableBytesView)
        let ping = Array(#"["ping",17]"#.utf8)
        let message = entry(1)
        let received = masked(tell)
        var payload: [UInt8] = []
        return [
            Benchmark("frame.read.user_sendmsg") {
                var reader = WebSocketFrameReader()
                var position = 0
                use(try? reader.next(in: received.readableBytesSpan, from: &position, payload: &payload))
            },
            Benchmark("frame.decode.channel_sendmsg") { decode(sendBytes, line: line) },
            Benchmark("frame.decode.user_sendmsg") { decode(tellBytes, line: line) },
            Benchmark("frame.decode.ping") { use(try? ClientFrame(decoding: ping)) },
            Benchmark("frame.encode.channel_msg") {
                use(ServerFrame.channelEvent(event, channel: channel, id: event.id))
            },
            Benchmark("frame.encode.push") { use(ServerFrame.pushMessage(message)) },
            Benchmark("frame.encode.notify") { use(ServerFrame.notifyMessage(version: 1_700_000_000_000)) },
            Benchmark("frame.encode.done") { use(ServerFrame.callSucceeded(id: "17", .done)) },
            Benchmark("frame.encode.joined-200") {
                let list = MemberListText(members)
                use(ServerFrame.callSucceeded(id: "17", .joined(id: event.id, members: list, attributes: [])))
            },
            Benchmark("frame.encode.joined-next") {
                let list = MemberListText(members, after: former)
                use(ServerFrame.callSucceeded(id: "17", .joined(id: event.id, members: list, attributes: [])))
            },
        ]
    }

    /// A masked frame with a payload of 126 to 65,535 bytes.
    private static func masked(_ text: ByteBuffer) -> ByteBuffer {
        let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
        var frame = ByteBuffer(bytes: [0x81, 0x80 | 126])
        frame.writeInteger(UInt16(text.readableBytes))
        frame.writeBytes(key + text.readableBytesView.enumerated().map { $1 ^ key[$0 & 3] })
        return frame
    }

    private static func decode(_ text: [UInt8], line: String) {
        use(try? ClientFrame(decoding: text, line: line))
    }

    /// Decoding publications to gateways.
    private static func events() -> [Benchmark] {
        let channelEvent = buffer(event.payload)
        let delivery = MailDelivery(session: SessionID("gateway-1.0-2s"), previous: 0, entry: entry(1))
        let mail = ByteBuffer(bytes: GatewayEvent.mail([delivery]).payload)
        return [
            Benchmark("event.decode.channel") { use(channelEvent.withBytes(ChannelPublication.decode)) },
            Benchmark("event.decode.mail") { use(mail.withBytes(GatewayEvent.decode)) },
        ]
    }

    /// Encoding and decoding commands to services, and their replies.
    private static func commands() -> [Benchmark] {
        let join = JoinChannel(
            actor: Actor(user: UserKey(app: app, account: account(1)), uid: 17, session: SessionID("gateway-1.0-2s")),
            channel: channel)
        let answer = packed(ChannelJoined(sequence: 1, id: event.id, members: members, attributes: []))
        return [
            Benchmark("command.encode.join") { use(packed(join)) },
            Benchmark("command.encode.joined-200") {
                use(packed(ChannelJoined(sequence: 1, id: event.id, members: members, attributes: [])))
            },
            Benchmark("command.decode.joined-200") {
                use(try? ChannelJoined(from: FieldReader(encoded: answer)))
            },
        ]
    }

    private static func packed(_ record: some FieldCodable) -> [UInt8] {
        var writer = FieldWriter()
        record.write(to: &writer)
        return writer.encoded
    }

    /// The state machines, for one message each.
    private static func states() -> [Benchmark] {
        let mailboxes = Mailboxes()
        let feeds = Feeds()
        return [
            Benchmark("state.mailbox.push-and-clear") { mailboxes.pushAndClear() },
            Benchmark("state.feed.received") { feeds.receive() },
            Benchmark("state.calls.message") { feeds.call() },
            Benchmark("state.rates.refusal") { feeds.admit() },
        ]
    }

    /// RESP.
    private static func redis() -> [Benchmark] {
        let tag = KeySpace.tag(ChannelKey(app: app, name: channel))
        func command() -> RedisCommand {
            var command = RedisCommand.function("message_to_channel", keys: 1, bytes: 512)
            for argument in [tag, "", "bench-17"] { command.append(argument) }
            command.append(17)
            for argument in ["gateway-1.0-2s", "gateway-1.0"] { command.append(argument) }
            for argument in [0, 1_000_000] { command.append(argument) }
            command.append(body)
            return command
        }
        let function = command()
        let registration = Array("redis.register_function('message_to_channel', message_to_channel)".utf8)
        let names = FunctionNames([RedisFunctionLibrary(name: "bench", parts: [registration])])
        let payload = event.payload
        let topic = KeySpace.topic(ChannelKey(app: app, name: channel))
        let push = buffer(
            "*3\r\n$7\r\nmessage\r\n$\(topic.utf8.count)\r\n\(topic)\r\n$\(payload.utf8.count)\r\n\(payload)\r\n")
        let reply = buffer("*2\r\n:1700000000000\r\n:1700000000000000\r\n")
        let pushes = PushBuilder(), replies = ReplyBuilder()
        pushes.onMessage = { topic, payload in use(payload) }
        replies.onReply = { use($0) }
        let pushReader = ReplyReader(builder: pushes, maxReplyBytes: 1 << 20)
        let replyReader = ReplyReader(builder: replies, maxReplyBytes: 1 << 20)
        var out = ByteBuffer()
        return [
            Benchmark("redis.make.fcall") { use(command()) },
            Benchmark("redis.encode.fcall") {
                out.clear()
                function.encode(into: &out, functions: names)
            },
            Benchmark("redis.decode.reply") { try? replyReader.feed(reply) },
            Benchmark("redis.decode.message") { try? pushReader.feed(push) },
        ]
    }

    // MARK: - Inputs

    private static let app = make { try AppID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa2") }
    fileprivate static let channel = make { try ChannelName("bench") }
    private static func account(_ number: Int) -> Account { make { try Account("bench-\(number)") } }
    private static let members = LatestMembers((0..<200).map { Member(account: account($0), uid: UInt32($0)) })
    /// The list before the newest member joined.
    private static let former = MemberListText(
        LatestMembers((1..<200).map { Member(account: account($0), uid: UInt32($0)) }))
    static let event = ChannelEvent(
        sequence: 1_700_000_000_000, id: 1_700_000_000_000_000, account: account(17), uid: 17, kind: .message(body))

    static func entry(_ version: Int64) -> MailboxEntry {
        MailboxEntry(
            version: version, expiresAt: RedisTime(milliseconds: .max),
            line: MessageLine.instant(
                from: account(1), to: account(2), ttl: 3600, time: 1_700_000_000, content: body))
    }

    private static func make<Value>(_ body: () throws -> Value) -> Value {
        // The inputs are constants, so an error is a mistake in this file.
        do { return try body() } catch { fatalError("\(error)") }
    }
}

/// A mailbox whose client accepts pushed entries and acknowledges every thirtieth.
private final class Mailboxes {
    private var machine = MailboxStateMachine(takesPushes: true)
    private var template = Benchmark.entry(1)

    init() {
        use(machine.start(fresh: true))
        use(machine.loaded(MailboxPage(cleared: 0, highest: 0, entries: [], now: RedisTime(milliseconds: 0))))
    }

    func pushAndClear() {
        template.version += 1
        use(machine.pushed(template, after: template.version - 1, now: nil))
        if template.version % 30 == 0 { use(machine.poll(verClear: template.version, limit: 30, now: nil)) }
    }
}

/// A channel's feed, a session's calls and its rate limit.
private final class Feeds {
    private var feed = ChannelFeed()
    private var messages = Messages()
    private var rates: SessionRates
    private let message = ClientCall.Act.message(.toChannel(Benchmark.channel, body: "hello", force: false))
    private var event = Benchmark.event
    /// Nanoseconds of the local clock.
    private var now: Int64 = 0

    init() {
        var limits = AppLimits()
        limits.messagesPerSecond = AppLimit.unlimited
        rates = SessionRates(limits)
    }

    func receive() {
        event.sequence += 1
        event.id += 1
        use(feed.received(event))
    }

    func call() { messages.pass() }

    func admit() {
        now += 1_000_000
        use(rates.refusal(of: message, now: LocalTime(nanoseconds: now)))
    }
}

/// Messages in the order of a session's calls. A value, as in the session: the run time checks one access to a property
/// of a class, where each use of the pipeline would be an access of its own and cost more than the pipeline.
private struct Messages: ~Copyable {
    private var calls = CallPipeline(held: false)
    private var message = QueuedCall(
        ticket: CallTicket(id: "17", ordering: .message, arrivedAt: LocalTime(nanoseconds: 0)),
        call: .failure(.timeout()),
        bytes: 200)

    mutating func pass() {
        use(calls.enter(&message))
        calls.completed(.message)
        use(calls.next())
    }
}

extension ByteBuffer {
    /// Passes the bytes on as the gateway does with a publication.
    fileprivate func withBytes<Value>(_ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        withUnsafeReadableBytes { $0.withMemoryRebound(to: UInt8.self, body) }
    }
}
