import CRing
import Dispatch
import Testing

#if canImport(Glibc)
    import Glibc
#endif

/// Sends to many sockets by a ring. Where io_uring is refused, the tests fail and say why.
@Suite struct RingTests {
    /// Pairs of connected sockets: what is sent at one end is read at the other.
    private final class Pairs {
        let near: [CInt]
        private var far: [CInt]

        init(_ count: Int, sendBuffer: CInt? = nil) {
            var (near, far): ([CInt], [CInt]) = ([], [])
            for _ in 0..<count {
                var ends: [CInt] = [-1, -1]
                precondition(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0, "no more sockets")
                if var size = sendBuffer {
                    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<CInt>.size))
                }
                near.append(ends[0])
                far.append(ends[1])
            }
            (self.near, self.far) = (near, far)
        }

        deinit { for socket in near + far where socket >= 0 { close(socket) } }

        func closeFar(_ index: Int) {
            close(far[index])
            far[index] = -1
        }

        /// What has come, as far as it can be read at once.
        func read(_ index: Int, atMost bound: Int = 1 << 20) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: bound)
            let size = recv(far[index], &bytes, bound, CInt(MSG_DONTWAIT))
            return Array(bytes[..<max(0, size)])
        }
    }

    private func send(_ bytes: [UInt8], to sockets: [CInt], by ring: OpaquePointer) -> (taken: [CInt], error: CInt) {
        bytes.withUnsafeBytes { bytes in
            send(cr_frames(bytes: bytes.baseAddress, size: bytes.count, ends: nil), to: sockets, by: ring)
        }
    }

    private func send(
        _ frames: cr_frames, to sockets: [CInt], by ring: OpaquePointer
    ) -> (taken: [CInt], error: CInt) {
        var (frames, taken, error) = (frames, [CInt](repeating: 7, count: sockets.count), CInt(0))
        let succeeded = cr_ring_send(ring, sockets, sockets.count, &frames, &taken, &error)
        #expect(succeeded == (error == 0))
        return (taken, error)
    }

    /// Each socket gets its own part, over more than one batch; a closed lane's part goes nowhere; parts may be empty.
    @Test func eachSocketHasItsPart() throws {
        let count = Int(CR_BATCH) + 10
        let pairs = Pairs(count)
        let parts = (0..<count).map { [UInt8](repeating: UInt8(truncatingIfNeeded: $0), count: $0 % 7) }
        var sockets = pairs.near
        sockets[5] = -1
        var end = 0
        let ends = parts.map { part -> Int in
            end += part.count
            return end
        }
        try withRing { ring in
            let sent = parts.flatMap { $0 }.withUnsafeBytes { bytes in
                ends.withUnsafeBufferPointer { ends in
                    send(
                        cr_frames(bytes: bytes.baseAddress, size: bytes.count, ends: ends.baseAddress), to: sockets,
                        by: ring)
                }
            }
            #expect(sent.taken == parts.indices.map { $0 == 5 ? 0 : CInt(parts[$0].count) } && sent.error == 0)
        }
        for index in 0..<count { #expect(pairs.read(index) == (index == 5 ? [] : parts[index])) }
    }

    private func withRing(_ body: (OpaquePointer) -> Void) throws {
        var error: CInt = 0
        let made = cr_ring_make(&error)
        let ring = try #require(made, "no io_uring: \(String(cString: strerror(error)))")
        body(ring)
        cr_ring_free(ring)
    }

    /// More than two batches; messages to a socket come in the order of the calls.
    @Test func everySocketHasAll() throws {
        let count = 2 * Int(CR_BATCH) + 10
        let pairs = Pairs(count)
        try withRing { ring in
            for message: [UInt8] in [[1, 2, 3], [4], [5, 6]] {
                let sent = send(message, to: pairs.near, by: ring)
                #expect(sent.taken == [CInt](repeating: CInt(message.count), count: count) && sent.error == 0)
            }
        }
        for index in 0..<count { #expect(pairs.read(index) == [1, 2, 3, 4, 5, 6]) }
    }

    @Test func closedLanesAreLeftOut() throws {
        let pairs = Pairs(3)
        try withRing { ring in
            #expect(
                send([1], to: [-1, pairs.near[0], -1, -1, pairs.near[2], -1], by: ring).taken == [0, 1, 0, 0, 1, 0])
            #expect(send([1], to: [-1, -1], by: ring).taken == [0, 0])
            #expect(send([1], to: [], by: ring).taken == [])
        }
        #expect(pairs.read(0) == [1] && pairs.read(1) == [] && pairs.read(2) == [1])
    }

    /// A socket that is full takes a part or nothing, at once, as with `send`: nobody waits for who does not read.
    @Test func aFullSocketHoldsUpNobody() throws {
        let pairs = Pairs(20, sendBuffer: 4096)
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        try withRing { ring in
            let first = send(bytes, to: pairs.near, by: ring).taken
            for (index, taken) in first.enumerated() {
                #expect(taken > 0 && taken < bytes.count)
                #expect(pairs.read(index) == Array(bytes[..<Int(taken)]))
                _ = Glibc.send(pairs.near[index], bytes, bytes.count, CInt(MSG_DONTWAIT))
            }
            #expect(send(bytes, to: pairs.near, by: ring).taken.allSatisfy { $0 == 0 })
        }
    }

    /// No signal ends the process; the others have the message.
    @Test func aBrokenConnectionTakesNothing() throws {
        let pairs = Pairs(10)
        pairs.closeFar(3)
        try withRing { ring in
            let sent = send([9], to: pairs.near + [12_345_678], by: ring)
            #expect(sent.taken == [1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 0] && sent.error == 0)
        }
        #expect(pairs.read(4) == [9])
    }

    /// As hostile clients reset their connections: the kernel tells of it before a send, or while it is under way.
    @Test func farEndsThatAreResetMeanwhileDisturbNobody() throws {
        // More than one batch, and one of them is reset in each round.
        let (count, size) = (400, 100)
        let pairs = TCPPairs(count)
        let (healthy, broken) = ((0..<count).filter { $0 % 2 == 0 }, (0..<count).filter { $0 % 2 == 1 })
        try withRing { ring in
            let resets = pairs.startResets(broken)
            var failed: Set<Int> = []
            for round in broken.indices {
                let message = (0..<size).map { UInt8(truncatingIfNeeded: round + $0) }
                pairs.allowReset()
                let sent = send(message, to: pairs.near, by: ring)
                #expect(sent.error == 0 && healthy.allSatisfy { sent.taken[$0] == CInt(size) })
                #expect(healthy.allSatisfy { pairs.read($0, size) == message })
                // An error counts as nothing taken, and nothing is taken after it.
                let mistaken = broken.filter {
                    sent.taken[$0] != 0 && (sent.taken[$0] != CInt(size) || failed.contains($0))
                }
                #expect(mistaken.isEmpty)
                failed.formUnion(broken.filter { sent.taken[$0] == 0 })
            }
            resets.wait()
            #expect(!failed.isEmpty, "some were reset while others were still sent to")
            #expect(broken.allSatisfy { pairs.isTold($0) })
            let last = [UInt8](repeating: 7, count: size)
            let sent = send(last, to: pairs.near, by: ring)
            #expect(sent.taken == (0..<count).map { $0 % 2 == 0 ? CInt(size) : 0 } && sent.error == 0)
            #expect(healthy.allSatisfy { pairs.read($0, size) == last })
        }
    }

    /// Where the kernel takes no entry any more, nothing was sent, and the caller sends by itself.
    @Test func aRingThatFails() throws {
        let pairs = Pairs(10)
        try withRing { ring in
            let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
            #expect(dup2(nothing, cr_ring_descriptor(ring)) >= 0)
            close(nothing)
            let sent = send([9], to: [-1] + pairs.near, by: ring)
            #expect(sent.taken == [CInt](repeating: 0, count: 11) && sent.error == EOPNOTSUPP)
        }
        #expect(pairs.read(4) == [])
    }

    /// A ring belongs to its thread; a second one of the same thread is another ring.
    @Test func ringsDoNotDisturbEachOther() throws {
        let pairs = Pairs(10)
        try withRing { first in
            try? withRing { second in
                #expect(send([1], to: pairs.near, by: second).error == 0)
                #expect(send([2], to: pairs.near, by: first).error == 0)
            }
        }
        #expect(pairs.read(9) == [1, 2])
    }
}
