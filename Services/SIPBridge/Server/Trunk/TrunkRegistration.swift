internal import SIPBridgeLogic
internal import SignalingProtocol

/// The parameters of a registration.
struct TrunkRegistrationTarget: Equatable, Sendable {
    /// The registrar's URI with its transport, such as `sip:trunk.example:5060;transport=tcp`.
    var registrar: String
    /// The address of record, such as `sip:user@example.com`.
    var account: String
    /// The user part of our Contact.
    var contactUser: String
    /// The transport, for our Contact.
    var transport: SIPTransport
    /// The credentials that answer challenges; nil when there is no password.
    var credentials: DigestCredentials?
}

/// Maintains one registration: performs the actions of ``RegistrationStateMachine``.
@SIPThread
final class TrunkRegistration {
    /// The state of the registration.
    enum Status: Equatable {
        /// Registered for this long.
        case registered(for: Duration)
        /// Not registered; with the status of the registrar's response, if there was one. It is tried again after this
        /// long.
        case lost(status: Int?, again: Duration)
        /// The binding was removed.
        case ended
    }

    private let stack: SIPStack
    private let target: TrunkRegistrationTarget
    private let contact: SIPHeaderField
    private let tell: (Status) -> Void
    private var machine: RegistrationStateMachine
    private var digest: DigestClient?
    /// All REGISTERs of a binding have the same Call-ID and increasing CSeq numbers. Source: RFC 3261 section 10.2.4.
    private var dialog: SIPDialog?
    private var timer: SIPTimer?
    private var asked = Duration.zero

    /// Creates a registration; nothing is sent before ``start()``.
    /// - Parameter tell: called at each change and each refresh.
    init(
        stack: SIPStack, target: TrunkRegistrationTarget, timing: RegistrationTiming = RegistrationTiming(),
        tell: @escaping (Status) -> Void
    ) {
        self.stack = stack
        self.target = target
        self.tell = tell
        contact = stack.contact(user: target.contactUser, transport: target.transport)
        machine = RegistrationStateMachine(timing: timing)
        digest = target.credentials.map { DigestClient(credentials: $0) }
    }

    /// Registers.
    func start() {
        timer = SIPTimer { [weak self] in
            guard let self else { return }
            perform(machine.timeIsUp())
        }
        perform(machine.start())
    }

    /// Removes the binding; ``Status/ended`` follows.
    func stop() {
        timer?.stop()
        perform(machine.stop())
    }

    private func perform(_ actions: [RegistrationAction]) {
        for action in actions {
            switch action {
            case .send(let expiry): send(expiry)
            case .wait(let pause): timer?.start(after: pause)
            case .tellRegistered(let lifetime): tell(.registered(for: lifetime))
            case .tellLost(let status, let pause): tell(.lost(status: status, again: pause))
            case .tellEnded: tell(.ended)
            }
        }
    }

    private func send(_ expiry: Duration) {
        asked = expiry
        do {
            let dialog =
                try self.dialog
                ?? stack.makeDialog(target: target.registrar, to: target.account, from: target.account)
            self.dialog = dialog
            var headers = [contact, SIPHeaderField("Expires", "\(expiry.components.seconds)")]
            headers += digest?.headers(method: "REGISTER", uri: dialog.target, cnonce: SecureRandom.hex(bytes: 8)) ?? []
            try dialog.request("REGISTER", headers: headers) { [weak self] event in self?.received(event) }
        } catch {
            // The host may have no address now but later.
            perform(machine.failed(random: .random(in: 0..<1)))
        }
    }

    private func received(_ event: SIPResponseEvent) {
        switch event {
        case .provisional: break
        case .failed:
            digest?.concluded()
            perform(machine.failed(random: .random(in: 0..<1)))
        case .final(let response): received(response)
        }
    }

    private func received(_ response: SIPMessage) {
        let status = response.status ?? 0
        if status == 401 || status == 407, digest?.challenged(by: response) == true {
            send(asked)
            return
        }
        digest?.concluded()
        if (200..<300).contains(status) {
            let uri = contact.value.trimmingBrackets
            perform(machine.accepted(for: RegistrationBinding.lifetime(in: response, contact: uri, asked: asked)))
        } else {
            perform(
                machine.refused(
                    status: status, minExpiry: response.header("Min-Expires").flatMap { Self.seconds($0[...]) },
                    retryAfter: response.header("Retry-After").flatMap { Self.seconds($0.prefix { $0.isNumber }) },
                    random: .random(in: 0..<1)))
        }
    }

    /// A header's number of seconds; nil for what is none, or more than 32 bits hold.
    private static func seconds(_ text: Substring) -> Duration? { Int32(text).map { .seconds($0) } }
}

extension String {
    /// The URI of a Contact that we have made.
    fileprivate var trimmingBrackets: String { String(dropFirst().prefix { $0 != ">" }) }
}
