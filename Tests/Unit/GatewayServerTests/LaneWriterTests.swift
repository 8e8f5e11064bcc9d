import CRing
import Glibc
import Testing

@testable import GatewayServer

/// The two ways to write to many sockets come to the same.
@Suite struct LaneWriterTests {
    /// A writer, what it said of its ring, and sockets that are read at their other ends.
    private final class Scene {
        var failures: [String] = []
        private(set) var near: [CInt] = []
        private var far: [CInt] = []
        private(set) lazy var writer = LaneWriter { [unowned self] in failures.append("\($0)") }

        init(_ count: Int, hasRing: Bool) throws {
            for _ in 0..<count {
                var ends: [CInt] = [-1, -1]
                try #require(socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0)
                near.append(ends[0])
                far.append(ends[1])
            }
            if hasRing { try writer.makeRing() }
        }

        deinit { for socket in near + far { close(socket) } }

        func write(_ bytes: [UInt8], to lanes: [CInt]) -> [CInt] {
            Array(bytes.withUnsafeBytes { writer.write($0, to: lanes) }[..<lanes.count])
        }

        func read(_ index: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let size = recv(far[index], &bytes, bytes.count, CInt(MSG_DONTWAIT))
            return Array(bytes[..<max(0, size)])
        }
    }

    @Test(arguments: [false, true], [3, 300]) func allOpenLanesAreWrittenTo(_ hasRing: Bool, _ count: Int) throws {
        let scene = try Scene(count, hasRing: hasRing)
        var lanes = scene.near
        lanes[1] = LaneWriter.closed
        var expected = [CInt](repeating: 2, count: count)
        expected[1] = 0
        #expect(scene.write([1, 2], to: lanes) == expected)
        #expect(scene.write([3, 4], to: lanes) == expected)
        for index in 0..<count { #expect(scene.read(index) == (index == 1 ? [] : [1, 2, 3, 4])) }
        // Fewer lanes than before: nothing is left of the longer answer.
        #expect(scene.write([5], to: Array(lanes[2...])) == [CInt](repeating: 1, count: count - 2))
    }

    @Test(arguments: [false, true], [3, 300]) func eachLaneHasItsPart(_ hasRing: Bool, _ count: Int) throws {
        let scene = try Scene(count, hasRing: hasRing)
        var lanes = scene.near
        lanes[1] = LaneWriter.closed
        let bytes: [UInt8] = (0..<count).flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(1)] }
        let taken = bytes.withUnsafeBytes { scene.writer.write($0, ends: (1...count).map { 2 * $0 }, to: lanes) }
        #expect(taken[..<count].indices.allSatisfy { taken[$0] == ($0 == 1 ? 0 : 2) })
        for index in 0..<count {
            #expect(scene.read(index) == (index == 1 ? [] : [UInt8(truncatingIfNeeded: index), 1]))
        }
    }

    @Test(arguments: [false, true]) func whatASocketDoesNotAcceptIsTold(_ hasRing: Bool) throws {
        let scene = try Scene(10, hasRing: hasRing)
        let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 / 5) }
        let taken = scene.write(bytes, to: scene.near)
        #expect(taken.allSatisfy { 0 < $0 && $0 < bytes.count })
        for index in taken.indices {
            var come: [UInt8] = []
            while case let more = scene.read(index), !more.isEmpty { come += more }
            #expect(come == Array(bytes[..<Int(taken[index])]))
        }
    }

    /// Its failure is told once; what the sockets have not got goes another way, and so do later messages.
    @Test func aRingThatFails() throws {
        let scene = try Scene(10, hasRing: true)
        let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
        let ring = try #require(scene.writer.ring)
        #expect(dup2(nothing, cr_ring_descriptor(ring)) >= 0)
        close(nothing)
        #expect(scene.write([1], to: scene.near) == [CInt](repeating: 0, count: 10))
        #expect(scene.failures == ["Operation not supported"] && scene.writer.ring == nil)
        #expect(scene.write([2], to: scene.near) == [CInt](repeating: 1, count: 10))
        #expect(scene.failures.count == 1 && scene.read(9) == [2])
    }
}
