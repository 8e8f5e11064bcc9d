/// Where a stack listens, and what it tells peers.
struct SIPStackConfiguration: Sendable {
    /// The numeric address to bind; `0.0.0.0` or `::` for all of the machine's.
    var host = "127.0.0.1"
    /// The port for UDP and TCP; 0 takes one that is free for both.
    var port = 5060
    /// The port for TLS; nil for no TLS, 0 for any that is free.
    var tlsPort: Int?
    /// A PEM file with our certificate and its key; without it TLS can be spoken to servers only.
    var certificateFile: String?
    /// A PEM file with the authorities that vouch for servers; nil for the system's.
    var authorityFile: String?
    /// The host in our Contact when it is not the address that is bound.
    var publicHost: String?
    /// The value of User-Agent and Server.
    var software = "Heliograph"
    /// OPTIONS per second from one address.
    var optionsPerSecond = 50.0
    /// How many OPTIONS an address may send at once after a pause.
    var optionsBurst = 200.0
    /// TCP and TLS connections that peers may open, all together.
    var connectionBound = 4096

    var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
}
