import CRing
import Glibc
import Testing

@testable import GatewayServer

/// A ring that fails in the middle of its sends, which no kernel does when a test wants it to.
enum FailingRing {
    /// How many bytes the socket has accepted whose send is not completed; nobody is told.
    static let accepted = 1

    /// - Parameter lost: the index of the socket whose send is begun and not completed. The sends before it are
    ///   completed, and those after it are not begun.
    static func sending(losing lost: Int) -> LaneWriter.RingSend {
        { ring, sockets, count, frames, taken, error in
            guard let sockets, let frames, let taken, let error, lost < count,
                cr_ring_send(ring, sockets, lost, frames, taken, error)
            else {
                Issue.record("the ring that is to fail has not begun")
                return false
            }
            let begin = lost == 0 ? 0 : frames.pointee.ends?[lost - 1] ?? 0
            let first = frames.pointee.bytes.advanced(by: begin)
            #expect(send(sockets[lost], first, accepted, CInt(MSG_DONTWAIT | MSG_NOSIGNAL)) == accepted)
            taken[lost] = LaneWriter.unknown
            for index in lost + 1..<count { taken[index] = 0 }
            error.pointee = EIO
            return false
        }
    }
}
