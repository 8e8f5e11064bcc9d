import BusProtocol
import SignalingProtocol
import Synchronization
import Testing
import WebSocketWire

@testable import GatewayServer

/// Connections without a session, at a gateway without Redis.
@Suite struct ClientConnectionTests {
    private static let upgrade = Gateway.request(path: "/")

    /// A client's frame, with a mask of zeros.
    private static func frame(_ first: UInt8, _ payload: String) -> [UInt8] {
        [first, 0x80 | UInt8(payload.utf8.count), 0, 0, 0, 0] + Array(payload.utf8)
    }

    private static let pong = Gateway.answer(0x81, Array(#"["pong",1]"#.utf8))

    @Test func theHandshake() async throws {
        let answer = try await Gateway().answers { client in
            client.send(Self.upgrade + Self.frame(0x88, ""))
            client.takeAll()
        }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
        #expect(text.contains("\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"))
        #expect(text.contains("\r\nUpgrade: websocket\r\n"))
        #expect(text.contains("\r\nConnection: upgrade\r\n"))
    }

    @Test(arguments: [
        (Gateway.request(path: "/nothing"), "404"), (Gateway.request(path: "/", version: "8"), "426"),
        (Gateway.request(path: "/", version: "13, 8"), "426"), (Gateway.request(path: "/", key: nil), "426"),
        (Gateway.request(path: "/", key: "c2hvcnQ="), "426"), (Gateway.request(method: "PUT", path: "/"), "426"),
    ])
    func whatIsNoHandshakeIsAnswered(request: [UInt8], status: String) async throws {
        let answer = try await Gateway().answers { client in
            client.send(request)
            client.takeAll()
        }
        let text = String(decoding: answer, as: UTF8.self)
        #expect(text.hasPrefix("HTTP/1.1 \(status) "))
        #expect(text.contains("\r\nSec-WebSocket-Version: 13\r\n") == (status == "426"))
    }

    @Test(arguments: [0, 1, 8, 23])
    func framesMayComeWithTheHandshake(early: Int) async throws {
        let frames = Self.frame(0x81, #"["ping",1]"#) + Self.frame(0x89, "x")
        let answer = try await Gateway().answers { client in
            client.send(Self.upgrade + frames[..<early])
            client.takeHandshake()
            client.send(frames[early...] + Self.frame(0x88, ""))
            client.takeAll()
        }
        #expect(frames.count == 23)
        let expected = Self.pong + Gateway.answer(0x8A, Array("x".utf8)) + Gateway.close(.normalClosure)
        #expect(Array(answer.suffix(expected.count)) == expected)
    }

    @Test func fragmentsWithAPingBetween() async throws {
        let expected = Gateway.answer(0x8A, Array("x".utf8)) + Self.pong
        let answer = try await Gateway().answers { client in
            client.open(Self.upgrade)
            client.send(Self.frame(0x01, #"["ping""#) + Self.frame(0x89, "x") + Self.frame(0x80, ",1]"))
            client.take(expected.count)
        }
        #expect(answer == expected)
    }

    @Test(arguments: [
        (frame(0x82, "x"), WebSocketCloseCode.unacceptableData), (frame(0xC1, "x"), .protocolError),
        ([0x81, 1, 65], .protocolError), (frame(0x80, "x"), .protocolError), (frame(0x88, "x"), .protocolError),
        ([0x81, 0xFF, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0], .messageTooLarge),
        (frame(0x81, "no JSON"), .inconsistentData),
        (frame(0x81, #"["unknown",1]"#), .inconsistentData), (frame(0x88, ""), .normalClosure),
    ])
    func nothingIsReadAfterTheEnd(last: [UInt8], code: WebSocketCloseCode) async throws {
        let gateway = try Gateway()
        let answer = try await gateway.answers { client in
            client.open(Self.upgrade)
            client.send(Self.frame(0x81, #"["ping",1]"#) + last + Self.frame(0x81, "no JSON"))
            client.takeAll()
        }
        #expect(answer == Self.pong + Gateway.close(code))
        #expect(gateway.violations == (code == .normalClosure ? 0 : 1))
    }

    @Test func aClientThatDoesNotReadIsNotReadFrom() async throws {
        let gateway = try Gateway()
        let waiting = Mutex(0)
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            let ping = Self.frame(0x81, #"["ping","\#(String(repeating: "x", count: 100))"]"#)
            let pings = [UInt8](Array(repeating: ping, count: 500).joined())
            // Sends until the kernel's buffers are full in both directions.
            client.sendUntilFull(pings)
            gateway.onLoop { shard in waiting.withLock { $0 = shard.output.waiting } }
        }
        #expect(waiting.withLock { $0 } <= 2 * 65_536)
    }

    @Test func aFrameBeforeTheLoginIsNoLargerThanALogin() async throws {
        let answer = try await Gateway().answers { client in
            client.open(Self.upgrade)
            client.send([0x81, 0xFE, 0x40, 0x01, 0, 0, 0, 0])
            client.takeAll()
        }
        #expect(answer == Gateway.close(.messageTooLarge))
    }

    @Test func tooManySocketsAreClosedAtOnce() async throws {
        let gateway = try Gateway(connectionBound: 1, handshakeBound: 1)
        let sockets = Mutex<[Int]>([])
        let answer = try await gateway.answers { client in
            client.open(Self.upgrade)
            let second = gateway.client(), third = gateway.client()
            // The connection is closed at once, without any frame.
            third.takeAll()
            gateway.onLoop { shard in sockets.withLock { $0.append(shard.sockets) } }
            second.close()
            third.close()
            while sockets.withLock({ $0.last != 1 }) {
                gateway.onLoop { shard in sockets.withLock { $0.append(shard.sockets) } }
            }
            let fourth = gateway.client()
            fourth.open(Self.upgrade)
            client.send(Self.frame(0x88, ""))
            client.takeAll()
            fourth.close()
        }
        #expect(sockets.withLock { $0.first } == 2)
        #expect(answer == Gateway.close(.normalClosure), "who was there goes on")
    }

    @Test func tooManyConnectionsAreRefused() async throws {
        let answer = try await Gateway(connectionBound: 0).answers { client in
            client.send(Self.upgrade)
            client.takeAll()
        }
        #expect(Array(answer.suffix(4)) == Gateway.close(.goingAway))
    }

    @Test func theLaneOfAClosedConnectionIsGoneAtOnce() async throws {
        let gateway = try Gateway()
        let lanes = Mutex<[Bool]>([])
        _ = try await gateway.answers { client in
            client.open(Self.upgrade)
            gateway.onLoop { shard in
                for connection in shard.connections.values {
                    lanes.withLock { $0.append(connection.outlet.lane != nil) }
                    connection.cutOff(.heldEvents, on: shard)
                    // Checked within the same tick, before another connection could reuse the descriptor.
                    lanes.withLock { $0.append(connection.outlet.lane != nil) }
                }
            }
        }
        #expect(lanes.withLock { $0 } == [true, false])
    }
}
