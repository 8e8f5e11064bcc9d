internal import CMedia
internal import Crypto
internal import MediaEngineLogic

/// The connectivity checks of a media client: the controlling side, with one pair of addresses, towards an ICE-lite
/// node. Sources: RFC 8445, RFC 8489.
struct PathChecks {
    /// The most checks that wait for an answer; one more pushes out the oldest.
    static let waitingBound = 20
    /// Of a peer-reflexive candidate of UDP (RFC 8445 section 5.1.2.1).
    private static let priority: UInt32 = 110 << 24 | 65_535 << 8 | 255

    /// What an answer came to.
    enum Outcome: Equatable {
        case answered(roundTrip: MediaInterval)
        /// The node knows the client, and refuses the check; it will do so again.
        case refused(code: Int)
        /// Not an answer to a check of ours, or not of the node.
        case ignored
    }

    private let username: [UInt8]
    private let password: [UInt8]
    private let tieBreaker = UInt64.random(in: 0...UInt64.max)
    private var waiting: [(transaction: [UInt8], sent: MediaInstant)] = []

    init(ufrag: String, password: String) {
        let own = (0..<8).map { _ in UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z")) }
        username = Array(ufrag.utf8) + [UInt8(ascii: ":")] + own
        self.password = Array(password.utf8)
    }

    /// The next check, which nominates the pair; empty when the node's user name is too long for one.
    mutating func request(now: MediaInstant) -> [UInt8] {
        let transaction = (0..<Int(CM_STUN_TRANSACTION_SIZE)).map { _ in UInt8.random(in: 0...255) }
        if waiting.count == Self.waitingBound { waiting.removeFirst() }
        waiting.append((transaction, now))
        var check = cm_stun_check()
        withUnsafeMutableBytes(of: &check.transaction) { $0.copyBytes(from: transaction) }
        check.priority = Self.priority
        check.tie_breaker = tieBreaker
        check.is_nominating = true
        check.username_size = username.count
        var bytes = [UInt8](repeating: 0, count: Int(CM_PACKET_SIZE))
        let size = username.withUnsafeBufferPointer { name in
            name.withMemoryRebound(to: CChar.self) { name in
                check.username = name.baseAddress
                return withSecret { secret in cm_stun_write_request(&check, &secret, &bytes, bytes.count) }
            }
        }
        return Array(bytes[..<size])
    }

    /// Takes a datagram of STUN.
    mutating func receive(_ datagram: [UInt8], now: MediaInstant) -> Outcome {
        var stun = cm_stun()
        guard cm_stun_read(&stun, datagram, datagram.count), stun.kind != CM_STUN_REQUEST else { return .ignored }
        let transaction = withUnsafeBytes(of: &stun.transaction) { Array($0) }
        guard let index = waiting.firstIndex(where: { $0.transaction == transaction }),
            withSecret({ secret in cm_stun_is_authentic(&stun, datagram, &secret) })
        else { return .ignored }
        let sent = waiting.remove(at: index).sent
        return stun.kind == CM_STUN_SUCCESS ? .answered(roundTrip: now - sent) : .refused(code: Int(stun.error))
    }

    private func withSecret<Value>(_ body: (inout cm_stun_secret) -> Value) -> Value {
        password.withUnsafeBufferPointer { password in
            var secret = cm_stun_secret(password: password.baseAddress, size: password.count, hmac: Self.hmac)
            return body(&secret)
        }
    }

    private static let hmac:
        @convention(c) (
            UnsafePointer<UInt8>?, Int, UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?
        ) -> Bool = { key, keySize, data, size, to in
            guard let to else { return false }
            let key = SymmetricKey(data: UnsafeRawBufferPointer(start: key, count: keySize))
            let code = HMAC<Insecure.SHA1>.authenticationCode(
                for: UnsafeRawBufferPointer(start: data, count: size), using: key)
            code.withUnsafeBytes { from in
                UnsafeMutableRawBufferPointer(start: to, count: from.count).copyMemory(from: from)
            }
            return true
        }
}
