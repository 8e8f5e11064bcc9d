import Testing

@testable import SIPBridgeLogic

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The messages of RFC 4475, from `Tests/Fixtures/rfc4475`.
@Suite("SIP torture messages")
struct TortureTests {
    enum Expected: Equatable {
        case status(Int)
        case dropped(SIPDropReason)
    }

    static let expected: [(String, Expected)] = [
        // Section 3.1.1: valid, however odd.
        ("wsinv", .status(405)), ("intmeth", .status(501)), ("esc01", .status(405)), ("escnull", .status(405)),
        ("esc02", .status(501)), ("lwsdisp", .status(200)), ("longreq", .status(405)), ("dblreq", .status(405)),
        ("semiuri", .status(200)), ("transports", .status(200)), ("mpart01", .status(405)),
        ("unreason", .dropped(.response)), ("noreason", .dropped(.response)),
        // Section 3.1.2: invalid.
        ("badinv01", .status(405)), ("clerr", .status(400)), ("ncl", .status(400)), ("scalar02", .status(400)),
        ("scalarlg", .dropped(.response)), ("quotbal", .status(400)), ("ltgtruri", .status(400)),
        ("lwsruri", .status(400)), ("lwsstart", .status(400)), ("trws", .status(400)), ("escruri", .status(405)),
        ("baddate", .status(405)), ("regbadct", .status(405)), ("badaspec", .status(400)), ("baddn", .status(400)),
        ("badvers", .status(505)), ("mismatch01", .status(400)), ("mismatch02", .status(400)),
        ("bigcode", .dropped(.response)),
        // Sections 3.2 to 3.4: transactions, applications, compatibility.
        ("badbranch", .status(200)), ("insuf", .status(400)), ("unkscm", .status(416)), ("novelsc", .status(416)),
        ("unksm2", .status(405)), ("bext01", .status(420)), ("invut", .status(405)), ("regaut01", .status(405)),
        ("multi01", .status(400)), ("mcl01", .status(400)), ("bcast", .dropped(.response)), ("zeromf", .status(200)),
        ("cparam01", .status(405)), ("cparam02", .status(405)), ("regescrt", .status(405)), ("sdp01", .status(405)),
        ("inv2543", .status(405)),
    ]

    @Test("All 49 are here")
    func complete() { #expect(Set(Self.expected.map(\.0)).count == 49) }

    @Test("Each gets its answer or its silence", arguments: expected)
    func message(name: String, expected: Expected) throws {
        let bytes = try Self.load(name)
        let responder = SIPResponder { _ in "t" }
        let outcome = responder.outcome(of: bytes, sourceAddress: "192.0.2.1", sourcePort: 5060)
        switch outcome {
        case .drop(let reason): #expect(expected == .dropped(reason))
        case .reply(let reply):
            let first = String(decoding: reply.bytes.prefix(60), as: UTF8.self)
            #expect(expected == .status(reply.status), "\(first)")
        }
    }

    @Test("Cut off at any byte, or with any byte changed, none crashes", arguments: expected.map(\.0))
    func mutations(name: String) throws {
        let bytes = try Self.load(name)
        let responder = SIPResponder { _ in "t" }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 0x20
            _ = responder.outcome(of: changed, sourceAddress: "::1", sourcePort: 1)
            if index % 7 == 0 {
                _ = responder.outcome(of: Array(bytes[..<index]), sourceAddress: "::1", sourcePort: 1)
            }
        }
    }

    private struct Unreadable: Error { let path: String }

    private static func load(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let path = "\(root)/Fixtures/rfc4475/\(name).dat"
        guard let file = fopen(path, "rb") else { throw Unreadable(path: path) }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return Array(bytes[..<count])
    }
}
