/// Which networks besides the Internet an app's server may be in. Link-local networks and the services of
/// clouds there are never allowed.
package struct AllowedNetworks: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Private networks: RFC 1918, RFC 6598, and unique local addresses of IPv6.
    package static let privateOnes = AllowedNetworks(rawValue: 1)
    /// The loopback addresses of the machine that makes the requests.
    package static let loopback = AllowedNetworks(rawValue: 2)
}
