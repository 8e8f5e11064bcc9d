import Glibc
import NIOCore

/// A client with blocking reads. `@unchecked Sendable`: only one thread reads at a time.
final class Peer: @unchecked Sendable {
    private let descriptor: CInt
    private(set) var text: [UInt8] = []

    init(port: Int) {
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        // By NIO's type: which C module owns `sockaddr_in` depends on the files that are compiled together.
        guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else {
            preconditionFailure("an address")
        }
        let connected = address.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
        precondition(connected == 0, "the server takes connections")
        // A read that gets nothing fails after this time instead of blocking for ever.
        var patience = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    var taken: Int { text.count }
    var last: UInt8? { text.last }

    /// Reads exactly `count` bytes.
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

    /// Reads until the other side closes the connection.
    func takeAll() { take(.max) }

    /// Reads the answer to the WebSocket handshake.
    func takeHandshake() {
        while !text.suffix(4).elementsEqual("\r\n\r\n".utf8), case let before = taken {
            take(1)
            guard taken > before else { return }
        }
    }

    /// Opens a WebSocket and discards the handshake's answer.
    func open(_ handshake: [UInt8]) {
        send(handshake)
        takeHandshake()
        text = []
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Writes the bytes repeatedly, until the socket accepts nothing for a while or the other side has closed.
    func sendUntilFull(_ bytes: [UInt8]) {
        var patience = timeval(tv_sec: 0, tv_usec: 500_000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var sent = 1
        while sent > 0 {
            sent = bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
        }
    }

    /// Reads what the kernel has buffered.
    func takeWhatIsThere() {
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        while case let got = recv(descriptor, &chunk, chunk.count, CInt(MSG_DONTWAIT)), got > 0 {
            text.append(contentsOf: chunk[..<got])
        }
    }

    func close() { _ = Glibc.close(descriptor) }
}
