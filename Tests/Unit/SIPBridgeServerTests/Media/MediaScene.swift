import Glibc
import SIPBridgeLogic
import TestKit
import Testing

@testable import SIPBridgeServer

/// Media sessions and the events that they reported.
@SIPThread
final class MediaScene {
    private let clock = MediaClock()
    private var sessions: [MediaSession] = []
    private var digits: [String] = []
    private var completions: [Bool] = []

    /// Adds a session and returns its index.
    func add(_ security: MediaSecurity = .off, events: Bool = true, ports: MediaPorts = .standard) throws -> Int {
        let session = try MediaSession(
            configuration: MediaConfiguration(address: "127.0.0.1", ports: ports), clock: clock, security: security,
            offersEvents: events)
        let index = sessions.count
        session.onDigit = { [unowned self] in digits[index].append($0) }
        sessions.append(session)
        digits.append("")
        return index
    }

    /// Adds a session that has answered a peer's offer, and starts it.
    /// - Parameter more: further lines of the peer's SDP.
    func add(inCallWith peer: PeerSocket, more: String = "") throws -> Int {
        let index = try add()
        try receiveOffer(of: peer, by: index, more: more)
        sessions[index].start()
        return index
    }

    /// Has a session answer a peer's offer.
    /// - Parameter more: further lines of the peer's SDP.
    func receiveOffer(of peer: PeerSocket, by index: Int, more: String = "") throws {
        _ = try sessions[index].receiveOffer(Array((peer.sdp + more).utf8))
    }

    /// Runs an act with a session.
    func with<Value: Sendable>(_ index: Int, _ act: @SIPThread (MediaSession) throws -> Value) throws -> Value {
        try act(sessions[index])
    }

    /// Has one session answer another's offer, and starts both.
    func connect(_ caller: Int, _ callee: Int) throws {
        let offer = try sessions[caller].makeOffer()
        let answer = try sessions[callee].receiveOffer(offer)
        try sessions[caller].receiveAnswer(answer)
        sessions[caller].start()
        sessions[callee].start()
    }

    func send(_ text: String, from index: Int) throws {
        try sessions[index].send(try DTMFDigits(text)) { [unowned self] in completions.append($0) }
    }

    func heard(_ index: Int) -> String { digits[index] }
    func completed() -> [Bool] { completions }

    /// Ends all sessions.
    func close() {
        for session in sessions { session.stop() }
        sessions = []
    }
}

/// Waits until a condition holds.
func eventually(_ what: String, _ condition: () async throws -> Bool) async throws {
    try await waitUntil(what, within: .seconds(10)) { try await condition() ? nil : "not so yet" }
}

/// The UDP socket of a simulated peer, for which the test writes every byte.
final class PeerSocket: Sendable {
    let descriptor: Int32
    let port: UInt16

    init(_ address: String = "127.0.0.1", port wanted: UInt16 = 0) throws {
        descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        var local = Self.address(address, wanted)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let status = withUnsafeMutablePointer(to: &local) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, size) == 0 ? getsockname(descriptor, $0, &size) : -1
            }
        }
        try #require(status == 0)
        port = UInt16(bigEndian: local.sin_port)
    }

    deinit { Glibc.close(descriptor) }

    /// The peer's offer: audio and telephone events at this socket.
    var sdp: String {
        "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio \(port) RTP/AVP 0 96\r\n"
            + "a=rtpmap:96 telephone-event/8000\r\n"
    }

    private static func address(_ host: String, _ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        inet_pton(AF_INET, host, &address.sin_addr)
        return address
    }

    func send(_ bytes: [UInt8], to port: UInt16) {
        var peer = Self.address("127.0.0.1", port)
        _ = withUnsafePointer(to: &peer) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// The datagrams received since the last call.
    func received() -> [[UInt8]] {
        var packets: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 2048)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { return packets }
            packets.append(Array(buffer[..<count]))
        }
    }
}

/// An RTP packet, parsed independently of the code under test.
struct ParsedRTP: Equatable {
    var marker: Bool
    var type: UInt8
    var sequence: UInt16
    var timestamp: UInt32
    var source: UInt32
    var payload: [UInt8]

    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 12, bytes[0] == 0x80 else { return nil }
        func number(_ range: Range<Int>) -> UInt32 { bytes[range].reduce(0) { $0 << 8 | UInt32($1) } }
        marker = bytes[1] & 0x80 != 0
        type = bytes[1] & 0x7F
        sequence = UInt16(number(2..<4))
        timestamp = number(4..<8)
        source = number(8..<12)
        payload = Array(bytes[12...])
    }

    /// The bytes of the first packet of a telephone event: 20 ms long, without the end bit.
    static func event(_ event: UInt8, type: UInt8, sequence: UInt16, timestamp: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [0x80, type, UInt8(sequence >> 8), UInt8(sequence & 255)]
        for shift in [24, 16, 8, 0] { bytes.append(UInt8(timestamp >> UInt32(shift) & 255)) }
        return bytes + [0, 0, 0, 9, event, 0x0A, 0, 160]
    }
}
