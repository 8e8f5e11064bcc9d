/// What an act has cost the cluster, counted in requests of a key's rate.
package struct APIWork: Equatable, Sendable {
    /// Bytes that count as much as a request.
    package static let bytesOfRequest = 16 << 10

    /// Calls of Redis or of a service.
    package var calls: Int
    /// Bytes that were read there.
    package var bytes: Int

    package init(calls: Int = 1, bytes: Int = 0) {
        self.calls = calls
        self.bytes = bytes
    }

    /// The requests that it counts as, at least one.
    /// - Parameter answer: bytes of the answer, which may be more than was read.
    package func cost(answer: Int) -> Int { max(1, calls + max(bytes, answer) / Self.bytesOfRequest) }
}
