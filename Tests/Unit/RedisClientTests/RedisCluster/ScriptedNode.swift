import Logging
import NIOCore
import NIOPosix
import Synchronization
import TestKit

@testable import RedisClient

/// A server on 127.0.0.1 that answers a client's connections like a node of a Redis
/// Cluster, and commands as a test says.
final class ScriptedNode: Sendable {
    /// A command that a connection for commands has sent.
    struct Received: Sendable {
        let words: [String]
        let time: NIODeadline
    }

    private struct State {
        var slots = "*0\r\n"
        var received: [Received] = []
    }

    let port: Int
    private let listener: any Channel
    private let state = Mutex(State())

    /// - Parameter answer: the answer to a command that is none of a connection's start; gets its words, and how often
    ///   a command with these words came before.
    init(_ answer: @escaping @Sendable (_ words: [String], _ count: Int) -> String) async throws {
        let port = try RedisServer.freePort()
        self.port = port
        let shared = Responder()
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton.next())
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { client in
                client.eventLoop.makeCompletedFuture {
                    try client.pipeline.syncOperations.addHandler(Conversing(shared))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        shared.set { [unowned self] words in self.respond(to: words, answer) }
        own(0...16_383)
    }

    /// The address, as a client's configuration has it.
    var address: NodeAddress { NodeAddress(host: "127.0.0.1", port: port) }

    /// Makes the node say that it owns slots; nil for a node that knows no masters.
    func own(_ slots: ClosedRange<Int>?) {
        let text = slots.map { slots in
            let node = "*3\r\n$9\r\n127.0.0.1\r\n:\(port)\r\n$2\r\nid\r\n"
            return "*1\r\n*3\r\n:\(slots.lowerBound)\r\n:\(slots.upperBound)\r\n\(node)"
        }
        state.withLock { $0.slots = text ?? "*0\r\n" }
    }

    /// The commands that came, without those of a connection's start.
    var received: [Received] { state.withLock(\.received) }

    func close() async throws { try await listener.close() }

    private func respond(to words: [String], _ answer: ([String], Int) -> String) -> String {
        switch words[0] {
        case "PING": return "+PONG\r\n"
        case "TIME": return "*2\r\n$10\r\n1700000000\r\n$1\r\n0\r\n"
        case "CLUSTER": return state.withLock(\.slots)
        case "ASKING": return "+OK\r\n"
        default:
            let count = state.withLock { state in
                defer { state.received.append(Received(words: words, time: .now())) }
                return state.received.count { $0.words == words }
            }
            return answer(words, count)
        }
    }
}

/// What a node's connections ask for their answers; set when the node exists.
private final class Responder: Sendable {
    private let respond = Mutex<(@Sendable ([String]) -> String)?>(nil)

    init() {}

    func set(_ respond: @escaping @Sendable ([String]) -> String) { self.respond.withLock { $0 = respond } }

    func answer(_ words: [String]) -> String { respond.withLock { $0 }?(words) ?? "-ERR not yet\r\n" }
}

/// Parses the commands of one connection.
private final class Conversing: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let responder: Responder
    private var reader: ReplyReader?

    init(_ responder: Responder) { self.responder = responder }

    func channelActive(context: ChannelHandlerContext) {
        let channel = context.channel
        // Commands have the same form as replies.
        let builder = ReplyBuilder()
        builder.onReply = { [responder] value in
            let words = value.array?.compactMap(\.string) ?? []
            channel.write(ByteBuffer(string: responder.answer(words)), promise: nil)
        }
        reader = ReplyReader(builder: builder, maxReplyBytes: 1 << 20)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        do throws(RedisError) {
            try reader?.feed(unwrapInboundIn(data))
            context.flush()
        } catch {
            context.close(promise: nil)
        }
    }
}
