import Glibc
import NIOCore
import NIOPosix
import Testing

@testable import GatewayServer

/// The two ways to a client's socket: nothing may overtake what waits on the other.
@Suite struct FrameOutletTests {
    /// More than the kernel takes for a connection at once.
    private static let large = 16 << 20

    @Test func nothingOvertakesWhatTheSocketDidNotTake() async throws {
        try await withOutlet { outlet, loop, client in
            try await loop.submit {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                #expect(outlet.outlet.lane == nil)
                // The loop cannot write meanwhile, but the socket has room again.
                client.takeWhatIsThere()
                outlet.outlet.send(ByteBuffer(string: "after"))
            }.get()
            client.take(Self.large - client.taken)
            #expect(client.last == UInt8(ascii: "a"))
            client.take(5)
            #expect(client.text.suffix(5) == Array("after".utf8))
        }
    }

    @Test func theLaneOpensAgain() async throws {
        try await withOutlet { outlet, loop, client in
            let closed = try await loop.submit {
                var closed = 0
                outlet.outlet.onLaneClosed = { closed += 1 }
                #expect(outlet.outlet.lane != nil)
                outlet.outlet.send(ByteBuffer(string: "x"))
                #expect(closed == 0)
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                return closed
            }.get()
            #expect(closed == 1)
            client.take(Self.large + 1)
            var isOpen = false
            while !isOpen { isOpen = try await loop.submit { outlet.outlet.lane != nil }.get() }
        }
    }

    @Test func theLaneOfAClosedConnectionIsGoneAtOnce() async throws {
        try await withOutlet { outlet, loop, _ in
            try await loop.submit {
                var closed = 0
                outlet.outlet.onLaneClosed = { closed += 1 }
                outlet.channel.close(promise: nil)
                // No tick in between, in which another connection could get the socket's number.
                #expect(outlet.outlet.lane == nil)
                #expect(closed == 1)
                outlet.outlet.send(ByteBuffer(string: "nobody"))
            }.get()
        }
    }

    @Test func encryptedConnectionsHaveNone() async throws {
        try await withOutlet(isPlain: false) { outlet, loop, client in
            try await loop.submit {
                #expect(outlet.outlet.lane == nil)
                outlet.outlet.send(ByteBuffer(string: "hello"))
            }.get()
            client.take(5)
            #expect(client.text == Array("hello".utf8))
        }
    }

    private func withOutlet(
        isPlain: Bool = true, _ body: (Accepted, any EventLoop, Peer) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let accepted = loop.makePromise(of: Accepted.self)
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let outlet = FrameOutlet(isPlain: isPlain)
                    try channel.pipeline.syncOperations.addHandler(outlet)
                    accepted.succeed(Accepted(outlet: outlet, channel: channel))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let peer = Peer(port: server.localAddress?.port ?? 0)
        let outlet = try await accepted.futureResult.get()
        // Until the connection is registered, and the handler added to an active channel.
        while try await !loop.submit({ outlet.channel.isActive }).get() {}
        do {
            try await body(outlet, loop, peer)
        } catch {
            peer.close()
            throw error
        }
        peer.close()
        try await server.close().get()
        try await group.shutdownGracefully()
    }
}

/// `@unchecked Sendable`: the outlet is used on its loop only.
private struct Accepted: @unchecked Sendable {
    let outlet: FrameOutlet
    let channel: any Channel
}

/// A client of blocking reads. `@unchecked Sendable`: one at a time reads.
private final class Peer: @unchecked Sendable {
    private let descriptor: CInt
    private(set) var text: [UInt8] = []

    init(port: Int) {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        precondition(connected == 0, "the server takes connections")
    }

    var taken: Int { text.count }
    var last: UInt8? { text.last }

    /// Reads just so many bytes.
    func take(_ count: Int) {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var left = count
        while left > 0 {
            let got = recv(descriptor, &chunk, min(left, chunk.count), 0)
            guard got > 0 else { return }
            text.append(contentsOf: chunk[..<got])
            left -= got
        }
    }

    /// Reads what the kernel holds.
    func takeWhatIsThere() {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT)), got > 0 {
            text.append(contentsOf: chunk[..<got])
        }
    }

    func close() { _ = Glibc.close(descriptor) }
}
