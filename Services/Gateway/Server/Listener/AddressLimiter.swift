internal import BusProtocol
internal import GatewayLogic
internal import Logging
internal import NIOCore
internal import ServiceMetrics
internal import Synchronization

/// Enforces the per-address limits on connections and failed logins, and the bans of addresses, for all shards of the
/// process.
///
/// The lock is taken when a connection opens or closes and at logins, never per frame.
final class AddressLimiter: Sendable {
    private struct State {
        var table: AddressTable
        var warnings = LogThrottle()
    }

    /// The networks from which no client may connect: as presence last told them, also while it does not answer.
    private struct Bans {
        var digest = ""
        var addresses = BannedAddresses()
    }

    private let exempt: [AddressNetwork]
    private let state: Mutex<State>
    private let bans = Mutex(Bans())
    private let logger: Logger

    init(_ configuration: GatewayConfiguration, logger: Logger) {
        exempt = configuration.exemptNetworks
        state = Mutex(State(table: AddressTable(bounds: configuration.addressBounds)))
        self.logger = logger
    }

    /// The address that a connection is counted under; nil when it is exempt or has no IP address.
    func key(of address: SocketAddress?) -> ClientAddress? {
        guard let bytes = address?.bytes, !exempt.contains(where: { $0.contains(bytes) }) else { return nil }
        return ClientAddress(bytes: bytes)
    }

    /// The ``BusProtocol/BannedNetworks/digest`` of the bans; empty when none were told yet.
    var knownBans: String { bans.withLock(\.digest) }

    /// Takes the bans that presence has told.
    func adopt(_ networks: [ClientNetwork], digest: String) {
        bans.withLock { $0 = Bans(digest: digest, addresses: BannedAddresses(networks)) }
        GatewayMetrics.shared.addressBans.set(networks.count)
    }

    /// Whether a client of this address may not connect. Exempt addresses cannot be banned.
    func isBanned(_ address: SocketAddress?) -> Bool {
        guard let bytes = address?.bytes, bans.withLock({ $0.addresses.contains(bytes) }) else { return false }
        return !exempt.contains { $0.contains(bytes) }
    }

    /// Counts a new connection and returns whether it may stay; an admitted one is counted until its channel closes.
    func admit(_ channel: any Channel, from address: SocketAddress?) -> Bool {
        guard !isBanned(address) else {
            GatewayMetrics.shared.bannedRefused.increment()
            return false
        }
        guard let key = key(of: address) else { return true }
        let (refusal, skipped) = state.withLock { state in
            let refusal = state.table.opened(key, now: .now)
            return (refusal, refusal == nil ? nil : state.warnings.admit(now: .now))
        }
        guard let refusal else {
            channel.closeFuture.whenComplete { _ in self.state.withLock { $0.table.closed(key, now: .now) } }
            return true
        }
        GatewayMetrics.shared.addressRefused.increment()
        if let skipped {
            logger.warning(
                "refusing connections: too many from one address",
                metadata: [
                    "client": "\(address?.ipAddress ?? "unknown")", "bound": "\(refusal.rawValue)",
                    "more": "\(skipped)",
                ])
        }
        return false
    }

    /// Whether a client of this address may try to log in or to resume; always true for addresses that are not counted.
    func mayLogIn(_ key: ClientAddress?) -> Bool {
        guard let key else { return true }
        return state.withLock { $0.table.mayLogIn(key, now: .now) }
    }

    /// Counts a login or resume that failed because of what the client sent (not because of a failing service).
    func loginFailed(_ key: ClientAddress?) {
        if let key { state.withLock { $0.table.loginFailed(key, now: .now) } }
    }
}

extension SocketAddress {
    /// The IP address in network byte order, 4 or 16 bytes; nil for Unix domain sockets.
    var bytes: [UInt8]? {
        switch self {
        // In the C structs the address follows the family and the port; in IPv6 also the flow information.
        case .v4(let address): withUnsafeBytes(of: address.address) { Array($0[4..<8]) }
        case .v6(let address): withUnsafeBytes(of: address.address) { Array($0[8..<24]) }
        case .unixDomainSocket: nil
        }
    }

    /// The IP address as text, an IPv4-mapped IPv6 one as the IPv4 address that it can be banned as; nil for Unix
    /// domain sockets.
    var clientAddress: String? {
        guard let bytes, bytes.count == 16, bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255] else {
            return ipAddress
        }
        return bytes[12...].map { "\($0)" }.joined(separator: ".")
    }
}

extension AddressNetwork {
    /// Parses `10.0.0.0/8`, `fd00::/8` or a single address; nil when the text is none of these.
    init?(text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = try? SocketAddress(ipAddress: String(parts[0]), port: 0), let bytes = address.bytes else {
            return nil
        }
        guard parts.count == 2 else {
            self.init(bytes: bytes, prefix: nil)
            return
        }
        guard let prefix = Int(parts[1]) else { return nil }
        self.init(bytes: bytes, prefix: prefix)
    }

    /// Parses a comma-separated list of networks; nil when an element is not a network.
    static func list(_ text: String) -> [AddressNetwork]? {
        let texts = text.split(separator: ",").map { $0.filter { $0 != " " } }.filter { !$0.isEmpty }
        let networks = texts.compactMap { AddressNetwork(text: $0) }
        return networks.count == texts.count ? networks : nil
    }
}
