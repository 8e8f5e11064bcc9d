import SignalingProtocol
import Testing

@testable import SIPBridgeLogic
@testable import SIPBridgeServer

@Suite("Calls by TLS", .timeLimit(.minutes(1)))
struct SIPSecureTests {
    private static let fixtures =
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
        + "/Fixtures/tls"

    /// Calls a server that presents the test certificate; the client trusts its authority, or does not.
    @SIPThread
    private func call(authority: String?, name: String?) async throws -> Result<Int, SIPError> {
        let callee = try StackUnderTest(
            SIPStackConfiguration(port: 0, tlsPort: 0, certificateFile: "\(Self.fixtures)/bridge.pem"))
        defer { callee.stack.close() }
        let caller = try StackUnderTest(
            SIPStackConfiguration(port: 0, tlsPort: 0, authorityFile: authority))
        defer { caller.stack.close() }
        if let name { try caller.stack.trust(name) }
        let port = try #require(callee.stack.tlsPort)
        let dialog = try caller.stack.makeDialog(
            target: "sip:100@127.0.0.1:\(port);transport=tls", to: "sip:100@a.test", from: "sip:1@a.test")
        callee.stack.onRequest = { request in
            do { try request.reply(200) } catch { Issue.record(error) }
        }
        let (_, events) = try caller.invite(dialog)
        do {
            let final = try await events.final()
            #expect(final.source.transport == .tls)
            return .success(final.status ?? 0)
        } catch let error as SIPError {
            return .failure(error)
        }
    }

    @Test(
        "A certificate of the trusted authority for the right name is accepted",
        arguments: ["bridge.test", "127.0.0.1"])
    func trusted(name: String) async throws {
        #expect(try await call(authority: "\(Self.fixtures)/authority.pem", name: name) == .success(200))
    }

    @Test("An unknown authority, another name and no expected name are refused")
    func untrusted() async throws {
        for (authority, name) in [
            (nil, "bridge.test"), ("\(Self.fixtures)/authority.pem", "other.test"),
            ("\(Self.fixtures)/authority.pem", nil),
        ] {
            let result = try await call(authority: authority, name: name)
            guard case .failure = result else {
                Issue.record("\(result)")
                continue
            }
        }
    }
}
