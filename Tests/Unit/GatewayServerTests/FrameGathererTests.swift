import CRing
import GatewayLogic
import Glibc
import NIOCore
import Testing

@testable import GatewayServer

/// Frames that are gathered for many clients are sent together, and in the order of each client's frames.
@Suite struct FrameGathererTests {
    /// So many that the ring is used.
    private static let count = 12

    @Test func framesAreSentTogetherAtTheEnd() async throws {
        try await withGatherer { gatherer, outlets, peers in
            gatherer.gather {
                for (number, outlet) in outlets.enumerated() {
                    gatherer.send(frame("\(number)"), to: outlet, isAnswer: true)
                }
                for peer in peers {
                    peer.takeWhatIsThere()
                    #expect(peer.taken == 0)
                }
            }
            for (number, peer) in peers.enumerated() { #expect(text(peer) == "\(number)") }
        }
    }

    /// Whatever else is written to a client, directly or gathered, comes after what was gathered for it.
    @Test func framesOfAClientKeepTheirOrder() async throws {
        try await withGatherer { gatherer, outlets, peers in
            gatherer.gather {
                for outlet in outlets { gatherer.send(frame("a"), to: outlet, isAnswer: true) }
                gatherer.send(frame("b"), to: outlets[0], isAnswer: true)
                outlets[1].send(frame("c"))
                gatherer.send(frame("d"), to: outlets[1], isAnswer: false)
                outlets[0].send(frame("e"))
                gatherer.send(frame("f"), to: outlets[2], isAnswer: false)
                outlets[2].sendLast(frame("g"))
            }
            #expect(text(peers[0]) == "abe" && text(peers[1]) == "acd" && text(peers[3]) == "a")
            peers[2].takeAll()
            #expect(text(peers[2]) == "afg")
        }
    }

    /// The rest goes through NIO, which waits for the sockets; later frames follow it.
    @Test func whatSocketsDoNotTakeFollows() async throws {
        let large = String(repeating: "x", count: 8 << 20)
        try await withGatherer(
            { gatherer, outlets, _ in
                gatherer.gather {
                    for outlet in outlets { gatherer.send(frame("\(large)1"), to: outlet, isAnswer: false) }
                    for outlet in outlets { gatherer.send(frame("2"), to: outlet, isAnswer: false) }
                }
                for outlet in outlets { #expect(outlet.output.waiting > 0 && outlet.lane == nil && !outlet.isGathered) }
            },
            then: { peers in
                for peer in peers {
                    peer.take(large.utf8.count + 2)
                    #expect(peer.taken == large.utf8.count + 2 && peer.text.suffix(3) == Array("x12".utf8))
                }
            })
    }

    @Test func aConnectionThatEndsMeanwhileDisturbsNobody() async throws {
        try await withGatherer { gatherer, outlets, peers in
            gatherer.gather {
                for outlet in outlets { gatherer.send(frame("a"), to: outlet, isAnswer: false) }
                outlets[4].closeAtOnce()
            }
            #expect(text(peers[3]) == "a" && text(peers[4]).isEmpty && text(peers[5]) == "a")
        }
    }

    /// Without a ring, and outside of a gathering, a frame is sent at once.
    @Test(arguments: [false, true]) func nothingWaitsWithoutNeed(_ hasRing: Bool) async throws {
        try await withGatherer(hasRing: hasRing) { gatherer, outlets, peers in
            gatherer.send(frame("a"), to: outlets[0], isAnswer: false)
            #expect(text(peers[0]) == "a")
            gatherer.gather {
                gatherer.gather { gatherer.send(frame("b"), to: outlets[0], isAnswer: false) }
                #expect(text(peers[0]) == (hasRing ? "a" : "ab"))
            }
            #expect(text(peers[0]) == "ab")
        }
    }

    /// More frames than are gathered at most: those before are sent, and all come.
    @Test func gatheringHasABound() async throws {
        let half = String(repeating: "y", count: 1 << 17)
        try await withGatherer { gatherer, outlets, peers in
            gatherer.gather {
                for outlet in outlets.prefix(3) { gatherer.send(frame(half), to: outlet, isAnswer: false) }
                #expect(outlets[0].isGathered == false && outlets[2].isGathered)
            }
            for peer in peers.prefix(3) { #expect(text(peer) == half) }
        }
    }

    /// What the ring has not begun goes through NIO.
    @Test func aRingThatFailsLosesNothing() async throws {
        try await withGatherer(
            { gatherer, outlets, _ in
                gatherer.gather {
                    for outlet in outlets { gatherer.send(frame("a"), to: outlet, isAnswer: false) }
                    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
                    #expect(dup2(nothing, cr_ring_descriptor(gatherer.writer.ring)) >= 0)
                    Glibc.close(nothing)
                }
                #expect(gatherer.writer.ring == nil)
                gatherer.gather { gatherer.send(frame("b"), to: outlets[0], isAnswer: false) }
            },
            then: { peers in
                peers[0].take(2)
                peers[1].take(1)
                #expect(text(peers[0]) == "ab" && text(peers[1]) == "a")
            })
    }

    /// Nobody knows how much of its frame the client has got: what follows could only be torn, or come twice.
    @Test func aClientWhoseSendIsNotCompletedIsClosedAtOnce() async throws {
        let lost = 4
        try await withGatherer(
            hasRing: false,
            { gatherer, outlets, _ in
                try gatherer.writer.makeRing(sending: FailingRing.sending(losing: lost))
                gatherer.gather {
                    for outlet in outlets { gatherer.send(frame("ab"), to: outlet, isAnswer: false) }
                }
                #expect(gatherer.writer.ring == nil, "the frames went by the ring, which has failed")
                #expect(outlets[lost].lane == nil && outlets[lost].output.waiting == 0)
                for outlet in outlets { gatherer.send(frame("c"), to: outlet, isAnswer: false) }
            },
            then: { peers in
                for (number, peer) in peers.enumerated() where number != lost {
                    peer.take(3)
                    #expect(text(peer) == "abc")
                }
                peers[lost].takeAll()
                #expect(text(peers[lost]) == "a", "nothing more was sent to this one")
            })
    }

    private func frame(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }

    private func text(_ peer: Peer) -> String {
        peer.takeWhatIsThere()
        return String(decoding: peer.text, as: UTF8.self)
    }

    /// Runs `body` on the outlets' event loop, as the shard's code runs; then `after` elsewhere, so that NIO can go on.
    private func withGatherer(
        hasRing: Bool = true,
        _ body: @escaping @Sendable (FrameGatherer, [FrameOutlet], [Peer]) throws -> Void,
        then after: ([Peer]) throws -> Void = { _ in }
    ) async throws {
        try await withOutlets(Self.count) { outlets, loop, peers in
            try await loop.run {
                let writer = LaneWriter { _ in }
                if hasRing { try writer.makeRing() }
                let gatherer = FrameGatherer(writer)
                for outlet in outlets { outlet.owner.onGathered = { gatherer.flush() } }
                defer { for outlet in outlets { outlet.owner.onGathered = {} } }
                try body(gatherer, outlets.map(\.outlet), peers)
            }
            try after(peers)
        }
    }
}
