package import BusProtocol

extension AllowedNetworks {
    /// These networks, but for what is named.
    package func changed(private allowsPrivate: Bool?, loopback allowsLoopback: Bool?) -> AllowedNetworks {
        var networks: AllowedNetworks = []
        if allowsPrivate ?? contains(.privateOnes) { networks.insert(.privateOnes) }
        if allowsLoopback ?? contains(.loopback) { networks.insert(.loopback) }
        return networks
    }
}
