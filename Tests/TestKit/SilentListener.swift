internal import Glibc

/// A TCP port on 127.0.0.1 where the system accepts connections and nobody ever answers.
package struct SilentListener: Sendable {
    /// The port.
    package let port: UInt16
    private let descriptor: Int32

    /// Begins to listen.
    /// - Throws: ``TestFailure``.
    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard result else { throw TestFailure("no port to listen on: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
    }

    /// Stops listening.
    package func close() { Glibc.close(descriptor) }
}
