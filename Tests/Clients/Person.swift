import SignalingClient
import SignalingProtocol
import Synchronization
import TestKit
import Testing

/// A logged-in client whose events are collected.
final class Person: Sendable {
    let client: SignalingClient
    let account: String
    private let seen: Collected
    private let reading: Task<Void, Never>

    /// The events so far.
    final class Collected: Sendable {
        let events = Mutex<[SignalingEvent]>([])
    }

    private init(_ client: SignalingClient, _ account: String) {
        self.client = client
        self.account = account
        let seen = Collected()
        self.seen = seen
        reading = Task { for await event in client.events { seen.events.withLock { $0.append(event) } } }
    }

    /// Logs in.
    /// - Parameters:
    ///   - gateway: the number of the gateway, from 0; nil for any.
    ///   - exactly: whether the account is `name` itself; otherwise something is appended that makes it unique.
    static func login(
        _ name: String, gateway: Int? = nil, exactly: Bool = false,
        adapting: (inout ClientConfiguration) throws -> Void = { _ in }
    ) async throws -> Person {
        let stack = try #require(RunningStack.current)
        let account = exactly ? name : unique(name)
        let gateways = gateway.map { [stack.gateways[$0]] } ?? stack.gateways
        var configuration = ClientConfiguration(app: stack.openApp, account: account, source: .addresses(gateways))
        configuration.timing.loginTime = .seconds(10)
        try adapting(&configuration)
        return Person(try await SignalingClient.connect(configuration), account)
    }

    var events: [SignalingEvent] { seen.events.withLock { $0 } }

    /// Waits for an event in which `find` finds something.
    @discardableResult
    func waits<Found>(
        for what: String, within deadline: Duration = .seconds(20), _ find: (SignalingEvent) -> Found?
    ) async throws -> Found {
        var found: Found?
        try await waitUntil("\(account): \(what)", within: deadline) {
            found = events.lazy.compactMap(find).first
            return found == nil ? "saw \(events.suffix(5))" : nil
        }
        return try #require(found)
    }

    func waits(for event: SignalingEvent) async throws {
        try await waits(for: "\(event)") { $0 == event ? true : nil }
    }

    /// The texts of instant messages so far.
    var texts: [String] {
        events.compactMap { if case .message(let message) = $0 { message.text } else { nil } }
    }

    /// The texts of channel messages so far.
    var channelTexts: [String] {
        events.compactMap { if case .channelMessage(_, _, _, let text) = $0 { text } else { nil } }
    }

    /// Logs out and waits for the end.
    func leaves() async throws {
        client.close()
        try await waits(for: "the end") { if case .loggedOut = $0 { true } else { nil } }
    }
}

/// A name that no other test uses.
func unique(_ name: String) -> String { "\(name)-\(SecureRandom.hex(bytes: 4))" }

/// The error that a call ends with.
func failure(_ body: () async throws(SignalingError) -> Void) async -> SignalingError? {
    do {
        try await body()
        return nil
    } catch {
        return error
    }
}
