/// Where a stack listens and what it shows.
struct SIPStackConfiguration: Sendable {
    /// The numeric address to bind; `0.0.0.0` or `::` for all of the machine's.
    var host: String
    /// The port for UDP and TCP; 0 takes one that is free for both.
    var port: Int
    /// The port for TLS; nil for no TLS, 0 for any that is free.
    var tlsPort: Int?
    /// A PEM file with our certificate and its key; without it TLS can be spoken to servers only.
    var certificateFile: String?
    /// A PEM file with the authorities that vouch for servers; nil for the system's.
    var authorityFile: String?
    /// The host in our Contact when it is not the address that is bound.
    var publicHost: String?
    /// What User-Agent and Server say.
    var software: String
    /// OPTIONS that one address may send per second.
    var optionsPerSecond: Double
    /// The most of them that it can save up.
    var optionsBurst: Double
    /// Connections of TCP and TLS that others may open, together.
    var connectionBound: Int

    /// Describes a stack.
    init(
        host: String = "127.0.0.1", port: Int = 5060, tlsPort: Int? = nil, certificateFile: String? = nil,
        authorityFile: String? = nil, publicHost: String? = nil, software: String = "Heliograph",
        optionsPerSecond: Double = 50, optionsBurst: Double = 200, connectionBound: Int = 4096
    ) {
        self.host = host
        self.port = port
        self.tlsPort = tlsPort
        self.certificateFile = certificateFile
        self.authorityFile = authorityFile
        self.publicHost = publicHost
        self.software = software
        self.optionsPerSecond = optionsPerSecond
        self.optionsBurst = optionsBurst
        self.connectionBound = connectionBound
    }

    var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
}
