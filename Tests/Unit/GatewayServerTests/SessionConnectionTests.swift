import BusProtocol
import ClusterBus
import NIOCore
import Pacing
import RedisClient
import SignalingProtocol
import SignalingWire
import Synchronization
import Testing
import WebSocketWire

@testable import GatewayLogic
@testable import GatewayServer

/// Connections with a session, at a gateway without Redis.
@Suite struct SessionConnectionTests {
    private static let upgrade = Gateway.request(path: "/")
    private static let session = SessionID("s-1")

    private static let line = "s-1.0123456789abcdef0123456789abcdef.app.alice"

    private static func event(_ json: String) -> SessionEvent {
        switch try? ClientFrame(decoding: Array(json.utf8), line: line) {
        case .call(let request): .call(request, bytes: json.utf8.count, at: .now)
        case .lineLogin(let request): .lineLogin(request, isAllowed: true)
        case .login, .ping, .mediaHello, .media, nil: preconditionFailure("the test's own frame")
        }
    }

    /// Moves the session to this gateway, as presence does.
    private static func resume(
        _ connection: ClientConnection, in channel: ChannelName? = nil, on shard: isolated GatewayShard
    ) {
        connection.handle(event(#"["line_login",{"line":"\#(line)"}]"#), on: shard)
        connection.handle(
            .session(.resumed(.success(SessionResumed(uid: 1, channel: channel, push: false)))), on: shard)
    }

    /// If the resume succeeded all the same, the client would get no events of its channel until it reconnected.
    @Test func aResumeWithoutItsChannelsEventsIsClosedAndLeavesNothing() async throws {
        let gateway = try Gateway(topics: 0)
        let room = try ChannelName("room")
        let answer = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                for connection in shard.connections.values { Self.resume(connection, in: room, on: shard) }
                #expect(shard.sessions.isEmpty && shard.channels.isEmpty && shard.connections.isEmpty)
                #expect(shard.detaching.contains(Self.session), "presence is told, so that it can be resumed again")
            }
            client.takeAll()
        }
        #expect(answer == Gateway.close(.goingAway), "no answer that says it had succeeded")
    }

    /// Presence may have looked into the mailbox before the news.
    @Test(arguments: [true, false])
    func newsOfTheMailboxReachWhoIsResuming(isPublished: Bool) async throws {
        let gateway = try Gateway()
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                guard let connection = shard.connections.values.first else { return }
                connection.handle(Self.event(#"["line_login",{"line":"\#(Self.line)"}]"#), on: shard)
                let before = connection.session.isMailMissed
                if isPublished {
                    shard.received(shard.ownTopic, ByteBuffer(string: "mail s-1 4 5 99 5 hello"))
                } else {
                    shard.resynchronize(.all)
                }
                let after = connection.session.isMailMissed
                #expect(!before && after)
                connection.cutOff(.heldEvents, on: shard)
            }
        }
    }

    /// One whose deadline is over, and one whose client has gone while it waited.
    @Test(arguments: [true, false])
    func presenceIsNotAskedForAResumeWithoutATurn(isLate: Bool) async throws {
        let gateway = try Gateway()
        let reason = Mutex<SignalingReason?>(nil)
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                guard let connection = shard.connections.values.first,
                    let line = try? Line(wire: Self.line), let context = connection.context
                else { return }
                if !isLate { connection.channelInactive(context: context) }
                let deadline = isLate ? LocalTime.now : .now + LocalTime.Span(.seconds(8))
                shard.ask(ResumeSession(gateway: shard.id, line: line), for: connection, inTurnBy: deadline) { result in
                    reason.withLock { $0 = result.failure?.reason }
                }
                #expect(shard.sender.pendingCount == 0 && shard.logins.count == 0)
                if isLate { connection.cutOff(.heldEvents, on: shard) }
            }
        }
        #expect(reason.withLock { $0 } == .overloaded)
    }

    @Test func whoSendsOnWithoutReadingIsCutOff() async throws {
        let gateway = try Gateway()
        // Pongs from a client are ignored, so they cause nothing but bytes to read.
        let frame = [0x8A, 0x80 | 125, 0, 0, 0, 0] + [UInt8](repeating: 0, count: 125)
        let fits = ClientConnection.pausedReadBound / frame.count
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                guard let connection = shard.connections.values.first, let context = connection.context else {
                    Issue.record("no connection")
                    return
                }
                // More than the kernel buffers, so that the gateway stops reading. Once a client has closed its side,
                // however, NIO reads all that it has sent.
                connection.outlet.send(ByteBuffer(repeating: 0, count: 64 << 20), isAnswer: true)
                for _ in 0..<fits { connection.channelRead(context: context, data: NIOAny(ByteBuffer(bytes: frame))) }
                #expect(shard.connections.count == 1)
                connection.channelRead(context: context, data: NIOAny(ByteBuffer(bytes: frame)))
                #expect(shard.connections.isEmpty)
            }
        }
        #expect(gateway.count(of: "slow client cut off") == 1)
    }

    @Test func aPollThatIsToWaitEndsWithItsConnection() async throws {
        let gateway = try Gateway()
        let isCancelled = Mutex(false)
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                guard let connection = shard.connections.values.first else { return }
                // Uses up the allowance of polls for minutes in advance.
                var rates = SessionRates()
                rates.answered(bytes: 100_000 * Limits.answerBytesPerAct, isPoll: true)
                shard.keep(rates, of: Self.session)
                Self.resume(connection, on: shard)
                let poll = #"["call2",["user_getmsg",1,{"line":"\#(Self.line)","ver_clear":0,"limit":30}]]"#
                connection.handle(Self.event(poll), on: shard)
                connection.pollTimer?.futureResult.whenFailure { error in
                    // Callbacks that are still scheduled when the loop ends would fail with another error.
                    isCancelled.withLock { $0 = error as? EventLoopError == .cancelled }
                }
                connection.cutOff(.heldEvents, on: shard)
            }
        }
        #expect(isCancelled.withLock { $0 })
    }
}
