internal import CRing
internal import NIOCore

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Darwin)
    internal import Darwin
#endif

/// Writes to the sockets of many clients: the same bytes to the members of a channel, or a frame of its own to each of
/// those who are answered together (``FrameGatherer``). Isolated to its shard.
///
/// Where the kernel allows it by one system call for many sockets (io_uring), else by one for each. Order, partial
/// writes and errors are the same both ways: when ``write(_:to:)`` or ``write(_:ends:to:)`` returns, no write is under
/// way. Measured in `Docs/decisions/0039-ring.md`.
final class LaneWriter {
    /// Instead of a socket: nothing is written.
    static let closed: NIOBSDSocket.Handle = -1
    /// Instead of a number of bytes: how many the socket has accepted is not known, because the ring has failed. The
    /// connection must be closed.
    static let unknown = CInt(CR_UNKNOWN)
    /// For fewer sockets than this the ring saves nothing.
    private static let smallest = 8

    /// Sends by a ring, as `cr_ring_send` does.
    typealias RingSend = (
        _ ring: OpaquePointer?, _ sockets: UnsafePointer<CInt>?, _ count: Int, _ frames: UnsafePointer<cr_frames>?,
        _ taken: UnsafeMutablePointer<CInt>?, _ error: UnsafeMutablePointer<CInt>?
    ) -> Bool

    /// Nil where each write is a system call.
    private(set) var ring: OpaquePointer?
    private var sendByRing: RingSend = cr_ring_send
    private var taken: [CInt] = []
    private let ringEnded: (SystemError) -> Void

    /// Why there is no ring.
    struct SystemError: Error, CustomStringConvertible {
        /// Of the system call.
        var number: CInt

        var description: String { String(cString: strerror(number)) }
    }

    /// Makes one without a ring.
    /// - Parameter ringEnded: called when the ring has failed, and writes go on without it.
    init(ringEnded: @escaping (SystemError) -> Void) { self.ringEnded = ringEnded }

    deinit { cr_ring_free(ring) }

    /// Uses a ring from now on; called by the thread that writes.
    /// - Parameter sending: what sends by it.
    /// - Throws: why there can be none, as where the kernel is too old or a seccomp profile refuses it.
    func makeRing(sending: @escaping RingSend = cr_ring_send) throws(SystemError) {
        var error: CInt = 0
        ring = cr_ring_make(&error)
        if ring == nil { throw SystemError(number: error) }
        sendByRing = sending
    }

    /// Writes the same bytes to all sockets but those that are ``closed``.
    /// - Returns: for each socket how many bytes it has accepted, or ``unknown``; valid until the next write.
    func write(_ bytes: UnsafeRawBufferPointer, to lanes: [NIOBSDSocket.Handle]) -> [CInt] {
        write(cr_frames(bytes: bytes.baseAddress, size: bytes.count, ends: nil), to: lanes) { _ in bytes }
    }

    /// Writes a part of the bytes to each socket but those that are ``closed``. A socket may occur once only.
    /// - Parameter ends: where the part of each socket ends, which begins where the one before ends.
    /// - Returns: as ``write(_:to:)``.
    func write(_ bytes: UnsafeRawBufferPointer, ends: [Int], to lanes: [NIOBSDSocket.Handle]) -> [CInt] {
        ends.withUnsafeBufferPointer { pointer in
            write(cr_frames(bytes: bytes.baseAddress, size: bytes.count, ends: pointer.baseAddress), to: lanes) {
                UnsafeRawBufferPointer(rebasing: bytes[($0 == 0 ? 0 : ends[$0 - 1])..<ends[$0]])
            }
        }
    }

    private func write(
        _ frames: cr_frames, to lanes: [NIOBSDSocket.Handle], part: (Int) -> UnsafeRawBufferPointer
    ) -> [CInt] {
        if taken.count < lanes.count { taken = [CInt](repeating: 0, count: 2 * lanes.count) }
        if let ring, lanes.count >= Self.smallest {
            var (frames, error) = (frames, CInt(0))
            if !sendByRing(ring, lanes, lanes.count, &frames, &taken, &error) {
                cr_ring_free(ring)
                self.ring = nil
                ringEnded(SystemError(number: error))
            }
        } else {
            for (slot, lane) in lanes.enumerated() {
                taken[slot] = lane == Self.closed ? 0 : CInt(FrameLane.write(part(slot), to: lane))
            }
        }
        return taken
    }
}
