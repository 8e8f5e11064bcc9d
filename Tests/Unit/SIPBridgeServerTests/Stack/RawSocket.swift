import Glibc

/// A plain UDP socket, to send messages that no SIP stack would send.
struct RawSocket: ~Copyable {
    struct Failure: Error { var act: String }

    private let descriptor: Int32
    let port: Int

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        var address = Self.loopback(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
                bind(descriptor, name, size) == 0 ? getsockname(descriptor, name, &size) : -1
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        var patience = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        guard status == 0 else { throw Failure(act: "bind") }
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8], to port: Int) throws {
        var address = Self.loopback(port: port)
        let count = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard count == bytes.count else { throw Failure(act: "send") }
    }

    /// Receives the next datagram; fails after 5 s.
    func receive() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw Failure(act: "receive") }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func loopback(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }
}
