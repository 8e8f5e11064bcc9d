package import SignalingProtocol

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A network of client addresses in CIDR notation, such as `203.0.113.0/24`; a single address has the longest prefix.
package struct ClientNetwork: Hashable, Sendable, FieldValue {
    /// The lengths of prefixes of IPv4 and IPv6 networks that may be banned: no mistake keeps out half of the world.
    package static let prefixes = (v4: 8...32, v6: 16...128)
    /// What a network must look like, for people.
    package static let bound =
        "an IPv4 network of /8 to /32, or an IPv6 network of /16 to /128, without bits behind its prefix"

    /// The address, 4 or 16 bytes in network order.
    package let bytes: [UInt8]
    /// The length of the prefix in bits.
    package let prefix: Int

    /// Reads `203.0.113.0/24`, `2001:db8::/32` or a single address; nil for other texts, for prefixes outside of
    /// ``prefixes``, and where bits behind the prefix are set. IPv4-mapped IPv6 networks are not taken.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let bytes = Self.address(String(parts[0])) else { return nil }
        var length = bytes.count * 8
        if parts.count == 2 {
            let digits = parts[1]
            guard !digits.isEmpty, digits.count <= 3, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let given = Int(digits)
            else { return nil }
            length = given
        }
        let isMapped =
            bytes.count == 16 && bytes.prefix(10).allSatisfy { $0 == 0 } && bytes[10] == 255 && bytes[11] == 255
        guard !isMapped, (bytes.count == 4 ? Self.prefixes.v4 : Self.prefixes.v6).contains(length),
            Self.masked(bytes, to: length) == bytes
        else { return nil }
        self.bytes = bytes
        prefix = length
    }

    package init(_ name: String, from reader: FieldReader) throws(SignalingError) {
        guard let network = Self(try reader.string(name)) else { throw FieldReader.malformed(name, "network") }
        self = network
    }

    package func put(as name: String, in writer: inout FieldWriter) { writer.put(name, text) }

    /// As PostgreSQL writes a `cidr`.
    package var text: String {
        var buffer = [CChar](repeating: 0, count: 64)
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard bytes.withUnsafeBytes({ inet_ntop(family, $0.baseAddress, &buffer, socklen_t(buffer.count)) }) != nil
        else {
            return ""
        }
        let end = buffer.firstIndex(of: 0) ?? buffer.endIndex
        return String(decoding: buffer[..<end].map { UInt8(bitPattern: $0) }, as: UTF8.self) + "/\(prefix)"
    }

    /// The first bits of an address; the others are 0.
    package static func masked(_ address: [UInt8], to prefix: Int) -> [UInt8] {
        address.indices.map { index in
            let bits = min(8, max(0, prefix - index * 8))
            return address[index] & UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
    }

    private static func address(_ text: String) -> [UInt8]? {
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}

/// A ban of the clients of a network, from all apps.
package struct AddressBan: Equatable, Sendable, FieldRecord {
    /// Bans that hold at most.
    package static let bound = 10_000

    /// The network.
    package var network: ClientNetwork
    /// When the ban ends, in Unix seconds.
    package var until: Int64
    /// What was noted about it; clients are not told.
    package var reason: String
    /// When it was made, in Unix seconds.
    package var createdAt: Int64

    package init(_ network: ClientNetwork, until: Int64, reason: String, createdAt: Int64) {
        self.network = network
        self.until = until
        self.reason = reason
        self.createdAt = createdAt
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("network", \.network), until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason), createdAt: try fields.field("createdAt", \.createdAt))
    }
}

/// Keeps clients of a network from connecting until a time, and ends their connections. Replaces an earlier ban of the
/// same network. Fails with `too_many_bans`.
package struct BanAddress: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "address.ban"
    package static let level: Int64 = 2
    package typealias Reply = AddressBan
    package var network: ClientNetwork
    /// When the ban ends, in Unix seconds.
    package var until: Int64
    /// What is noted about it.
    package var reason: String

    package var subject: Subject { .tagged("address-bans") }

    package init(network: ClientNetwork, until: Int64, reason: String) {
        self.network = network
        self.until = until
        self.reason = reason
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            network: try fields.field("network", \.network), until: try fields.field("until", \.until),
            reason: try fields.field("reason", \.reason))
    }
}

/// Ends the ban of a network. Fails with `not_banned`.
package struct LiftAddressBan: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "address.unban"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var network: ClientNetwork

    package var subject: Subject { .tagged("address-bans") }

    package init(network: ClientNetwork) { self.network = network }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(network: try fields.field("network", \.network))
    }
}

/// Asks for a page of the bans that hold, by network.
package struct ListAddressBans: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "address.ban.list"
    package static let level: Int64 = 2
    package typealias Reply = AddressBanPage
    /// The network after which the page begins; nil for the first page.
    package var after: ClientNetwork?
    /// Bans of the page at most.
    package var limit: Int

    package var subject: Subject { .tagged("address-bans") }
    package static var goesToAnyPartition: Bool { true }

    package init(after: ClientNetwork?, limit: Int) {
        self.after = after
        self.limit = limit
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(after: try fields.optional("after", \.after), limit: try fields.field("limit", \.limit))
    }
}

/// A page of bans.
package struct AddressBanPage: Equatable, Sendable, FieldRecord {
    package var bans: [AddressBan]
    /// The ``ListAddressBans/after`` of the following page; nil on the last one.
    package var next: ClientNetwork?

    package init(bans: [AddressBan], next: ClientNetwork?) {
        self.bans = bans
        self.next = next
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(bans: try fields.list("bans", \.bans), next: try fields.optional("next", \.next))
    }
}

/// Asks for all networks that are banned, as gateways enforce them.
package struct GetBannedNetworks: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "address.bans"
    package static let level: Int64 = 2
    package typealias Reply = BannedNetworks
    /// The ``BannedNetworks/digest`` of what the gateway has; empty at first.
    package var known: String

    package var subject: Subject { .tagged("address-bans") }
    package static var goesToAnyPartition: Bool { true }

    package init(known: String) { self.known = known }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(known: try fields.field("known", \.known))
    }
}

/// The networks that are banned.
package struct BannedNetworks: Equatable, Sendable, FieldRecord {
    /// Says which networks they are: two lists with the same digest are the same.
    package var digest: String
    /// The networks; nil when the gateway has them already.
    package var networks: [ClientNetwork]?

    /// - Parameter known: the digest of what the asker has.
    package init(_ networks: [ClientNetwork], unless known: String) {
        digest = Hex.text(FNV1a.hash(networks.map(\.text).joined(separator: " ").utf8))
        self.networks = digest == known ? nil : networks
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        digest = try fields.field("digest", \.digest)
        let isKnown = try fields.field("known", \.isKnown)
        let listed = try fields.repeated("network", \.listed)
        networks = isKnown ? nil : listed
    }

    private var isKnown: Bool { networks == nil }
    private var listed: [ClientNetwork] { networks ?? [] }
}
