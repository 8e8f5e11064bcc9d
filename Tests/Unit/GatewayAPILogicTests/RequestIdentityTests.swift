import BusProtocol
import Testing

@testable import GatewayAPILogic

@Suite struct RequestIdentityTests {
    private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let span = "00f067aa0ba902b7"

    private static func identity(_ given: String? = nil, _ traceparents: String...) -> RequestIdentity {
        RequestIdentity(given: given, traceparents: traceparents) { String(repeating: "ab", count: $0) }
    }

    @Test(arguments: ["x", "!~", "order-17/a", String(repeating: "x", count: 128)])
    func aClientsIDIsKept(_ given: String) { #expect(Self.identity(given).id == given) }

    @Test(
        arguments: [nil, "", " ", "a b", "a\n", "\u{7F}", "ü", "a, b", String(repeating: "x", count: 129)] as [String?])
    func anotherIDIsReplaced(_ given: String?) {
        #expect(Self.identity(given).id == String(repeating: "ab", count: 16))
    }

    @Test(
        arguments: [
            ("00-\(trace)-\(span)-01", 1), ("00-\(trace)-\(span)-00", 0), ("00-\(trace)-\(span)-03", 1),
            // Later versions: what 00 has is read.
            ("01-\(trace)-\(span)-01", 1), ("cc-\(trace)-\(span)-01-what.comes-later", 1),
        ] as [(String, UInt8)])
    func aTraceGoesOn(_ header: String, _ flags: UInt8) {
        let trace = Self.identity(nil, header).trace
        #expect(trace == TraceContext(trace: Self.trace, span: "abababababababab", flags: flags))
        #expect(trace.header == "00-\(Self.trace)-abababababababab-0\(flags)")
        #expect(TraceContext(trace.header) == trace)
    }

    @Test(arguments: [
        "", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-1", "00-\(trace)-\(span)-011", "00-\(trace)-\(span)-01-",
        "00-\(trace)-\(span)-01-x", "01-\(trace)-\(span)-01x", "ff-\(trace)-\(span)-01", "0-\(trace)-\(span)-001",
        "FE-\(trace)-\(span)-01", "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span)-0g",
        "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01", "00_\(trace)-\(span)-01",
        "00-\(trace)_\(span)-01", "00-\(trace)-\(span)_01", " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01 ",
        "00-4bf92f3577b34da6a3ce929d0e0e473ü-\(span)-01", "+0-\(trace)-\(span)-01",
    ])
    func anInvalidTraceIsReplaced(_ header: String) {
        #expect(TraceContext(header) == nil)
        #expect(Self.identity(nil, header).trace.trace == String(repeating: "ab", count: 16))
    }

    @Test func severalTracesAreNone() {
        let header = "00-\(Self.trace)-\(Self.span)-01"
        #expect(Self.identity(nil, header, header).trace.trace == String(repeating: "ab", count: 16))
    }

    @Test func newIDsAreNotZero() {
        let identity = RequestIdentity(given: nil, traceparents: []) { String(repeating: "00", count: $0) }
        #expect(TraceContext(identity.trace.header) == identity.trace)
    }

    @Test func commandsSayWhichRequest() {
        #expect(
            Self.identity("r", "00-\(Self.trace)-\(Self.span)-01").cause(key: "k")
                == CommandCause(key: "k", request: "r", trace: Self.trace))
    }
}
