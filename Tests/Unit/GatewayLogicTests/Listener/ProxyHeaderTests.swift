import GatewayLogic
import Testing

@Suite struct ProxyHeaderTests {
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

    private func read(_ bytes: [UInt8]) -> ProxyHeader {
        ProxyHeader(bytes) { text in
            let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
            if text == "::1" { return Array(repeating: 0, count: 15) + [1] }
            return parts.count == 4 && parts.allSatisfy { $0 != nil } ? parts.map { $0 ?? 0 } : nil
        }
    }

    private func binary(_ command: UInt8, _ family: UInt8, _ body: [UInt8]) -> [UInt8] {
        Self.signature + [command, family, UInt8(body.count >> 8), UInt8(body.count & 255)] + body
    }

    @Test(
        arguments: [
            ("PROXY TCP4 1.2.3.4 10.0.0.1 5000 80\r\n", [1, 2, 3, 4]),
            ("PROXY TCP6 ::1 ::1 5000 80\r\n", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("PROXY UNKNOWN\r\n", nil), ("PROXY UNKNOWN ffff::1 whatever\r\n", nil),
        ] as [(String, [UInt8]?)])
    func lines(text: String, address: [UInt8]?) {
        let bytes = Array(text.utf8)
        for count in 0..<bytes.count { #expect(read(Array(bytes[..<count])) == .incomplete) }
        #expect(read(bytes) == .complete(size: bytes.count, address: address))
        #expect(read(bytes + Array("GET /".utf8)) == .complete(size: bytes.count, address: address))
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXY TCP4 1.2.3.4 10.0.0.1 5000 80\n", "PROXY TCP4 1.2.3.4 10.0.0.1 5000\r\n",
        "PROXY TCP4 1.2.3.4 10.0.0.1 5000 80 1\r\n", "PROXY TCP4 1.2.3.4 ::1 5000 80\r\n",
        "PROXY TCP4 1.2.3.4 10.0.0.1 5000 65536\r\n", "PROXY TCP4 ::1 ::1 5000 80\r\n",
        "PROXY TCP6 1.2.3.4 ::1 1 2\r\n",
        "PROXY TCP4 1.2.3 10.0.0.1 5000 80\r\n", "PROXY  TCP4 1.2.3.4 10.0.0.1 5000 80\r\n", "PROXY \r\n", "\n",
        "PROXY UNKNOWN " + String(repeating: "x", count: 200),
    ])
    func linesThatAreNone(text: String) { #expect(read(Array(text.utf8)) == .invalid) }

    @Test func binaryHeaders() {
        let body: [UInt8] = [1, 2, 3, 4, 10, 0, 0, 1, 0, 1, 0, 2]
        let header = binary(0x21, 0x11, body)
        for count in 0..<header.count { #expect(read(Array(header[..<count])) == .incomplete) }
        #expect(read(header) == .complete(size: header.count, address: [1, 2, 3, 4]))
        let extended = binary(0x21, 0x11, body + [4, 0, 1, 9])
        #expect(read(extended + [9]) == .complete(size: extended.count, address: [1, 2, 3, 4]))
        let six = binary(0x21, 0x21, Array(1...36))
        #expect(read(six) == .complete(size: six.count, address: Array(1...16)))
        let longest = binary(0x21, 0x11, Array(repeating: 7, count: ProxyHeader.bound - 16))
        #expect(read(longest) == .complete(size: ProxyHeader.bound, address: [7, 7, 7, 7]))
        let own = binary(0x20, 0, [])
        #expect(read(own) == .complete(size: own.count, address: nil))
    }

    @Test func binaryHeadersThatAreNone() {
        #expect(read(binary(0x11, 0x11, Array(1...12))) == .invalid)
        #expect(read(binary(0x22, 0x11, Array(1...12))) == .invalid)
        #expect(read(binary(0x21, 0x11, Array(1...11))) == .invalid)
        #expect(read(binary(0x21, 0x31, Array(repeating: 0, count: 216))) == .invalid)
        #expect(read(binary(0x21, 0x11, Array(repeating: 7, count: ProxyHeader.bound - 15))) == .invalid)
        #expect(read(Self.signature + [0x21, 0x11, 0xFF, 0xFF]) == .invalid)
    }
}
