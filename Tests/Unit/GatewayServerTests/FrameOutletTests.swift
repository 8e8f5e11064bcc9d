import GatewayLogic
import NIOCore
import Testing

@testable import GatewayServer

/// An outlet writes by two paths, through NIO or directly to the socket; writes must never overtake each other.
@Suite struct FrameOutletTests {
    /// More bytes than the kernel buffers for one connection.
    private static let large = 16 << 20

    @Test func nothingOvertakesWhatTheSocketDidNotTake() async throws {
        try await withOutlet { outlet, loop, client in
            await loop.run {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                #expect(outlet.outlet.lane == nil)
                // The socket has room again, but the event loop has had no chance to write.
                client.takeWhatIsThere()
                outlet.outlet.send(ByteBuffer(string: "after"))
            }
            client.take(Self.large - client.taken)
            #expect(client.last == UInt8(ascii: "a"))
            client.take(5)
            #expect(client.text.suffix(5) == Array("after".utf8))
        }
    }

    @Test func theLaneOpensAgain() async throws {
        try await withOutlet { outlet, loop, client in
            let closed = await loop.run {
                var closed = 0
                outlet.owner.onLaneClosed = { closed += 1 }
                #expect(outlet.outlet.lane != nil)
                outlet.outlet.send(ByteBuffer(string: "x"))
                #expect(closed == 0)
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                return closed
            }
            #expect(closed == 1)
            client.take(Self.large + 1)
            var isOpen = false
            while !isOpen { isOpen = await loop.run { outlet.outlet.lane != nil } }
        }
    }

    @Test func theLaneOfAClosedConnectionIsGoneAtOnce() async throws {
        try await withOutlet { outlet, loop, _ in
            await loop.run {
                var closed = 0
                outlet.owner.onLaneClosed = { closed += 1 }
                outlet.channel.close(promise: nil)
                // Checked within the same tick, before another connection could reuse the descriptor.
                #expect(outlet.outlet.lane == nil)
                #expect(closed == 1)
                outlet.outlet.send(ByteBuffer(string: "nobody"))
            }
        }
    }

    @Test func theLastFrameFollowsWhatWaits() async throws {
        try await withOutlet { outlet, loop, client in
            await loop.run {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                outlet.outlet.sendLast(ByteBuffer(string: "last"))
                #expect(outlet.outlet.lane == nil)
                outlet.outlet.send(ByteBuffer(string: "too late"))
                #expect(outlet.channel.isActive)
            }
            client.takeAll()
            #expect(client.taken == Self.large + 4)
            #expect(client.text.suffix(4) == Array("last".utf8))
        }
    }

    @Test func theConnectionClosesWithTheLastFrame() async throws {
        try await withOutlet { outlet, loop, client in
            await loop.run {
                outlet.outlet.sendLast(ByteBuffer(string: "last"))
                outlet.outlet.send(ByteBuffer(string: "too late"))
                #expect(!outlet.channel.isActive)
            }
            client.takeAll()
            #expect(client.text == Array("last".utf8))
        }
    }

    @Test func encryptedConnectionsHaveNone() async throws {
        try await withOutlet(isPlain: false) { outlet, loop, client in
            await loop.run {
                #expect(outlet.outlet.lane == nil)
                outlet.outlet.send(ByteBuffer(string: "hello"))
            }
            client.take(5)
            #expect(client.text == Array("hello".utf8))
        }
    }

    @Test(arguments: [true, false])
    func aClientThatDoesNotReadIsCutOffAtTheBound(isPlain: Bool) async throws {
        try await withOutlet(isPlain: isPlain, bound: 1 << 20) { outlet, loop, _ in
            await loop.run {
                var pauses: [Bool] = []
                var bounds: [OutputBudget.Bound] = []
                outlet.owner.onPause = { pauses.append($0) }
                outlet.owner.onFull = { [unowned outlet] in
                    bounds.append($0)
                    outlet.outlet.closeAtOnce()
                }
                while outlet.channel.isActive {
                    outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: 60_000))
                    #expect(outlet.outlet.output.waiting < 1 << 21)
                }
                #expect(bounds == [.connection])
                #expect(pauses.first == true)
                #expect(outlet.outlet.output.waiting == 0)
            }
        }
    }

    @Test func readingGoesOnWhenTheClientHasRead() async throws {
        try await withOutlet(bound: 1 << 20) { outlet, loop, client in
            await loop.run {
                outlet.owner.onPause = { [unowned outlet] in outlet.pauses.append($0) }
                while outlet.pauses.isEmpty {
                    outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: 60_000))
                }
            }
            while await loop.run({ outlet.pauses.count }) < 2 { client.takeWhatIsThere() }
            #expect(await loop.run { outlet.pauses } == [true, false])
        }
    }

    @Test func theLargestGoesWhenAllTogetherHaveTooMuch() async throws {
        let budget = Budget(OutputBudget(bound: 4 << 20))
        try await withOutlet(bound: 64 << 20, budget: budget) { outlet, loop, _ in
            await loop.run {
                outlet.owner.onFull = { [unowned outlet] in
                    #expect($0 == .all)
                    outlet.outlet.closeAtOnce()
                }
                while outlet.channel.isActive {
                    outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: 60_000))
                    #expect(budget.budget.waiting <= 5 << 20)
                }
                #expect(budget.budget.waiting == 0)
            }
        }
    }

    @Test func whatWaitsKeepsNoLargerMemory() async throws {
        try await withOutlet { outlet, loop, _ in
            await loop.run {
                outlet.outlet.send(ByteBuffer(repeating: UInt8(ascii: "a"), count: Self.large))
                var frame = ByteBufferAllocator().buffer(capacity: 65_536)
                frame.writeString("small")
                outlet.outlet.send(frame)
                // The buffer's storage is not shared, so that it can be written to without being copied.
                let before = frame.withUnsafeReadableBytes { $0.baseAddress }
                frame.clear()
                frame.writeString("other")
                #expect(frame.withUnsafeReadableBytes { $0.baseAddress } == before)
            }
        }
    }

    private func withOutlet(
        isPlain: Bool = true, bound: Int = 64 << 20, budget: Budget? = nil,
        _ body: (Accepted, any EventLoop, Peer) async throws -> Void
    ) async throws {
        try await withOutlets(1, isPlain: isPlain, bound: bound, budget: budget) { outlets, loop, peers in
            try await body(outlets[0], loop, peers[0])
        }
    }
}
