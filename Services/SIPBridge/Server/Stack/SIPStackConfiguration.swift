/// The settings of a SIP stack.
struct SIPStackConfiguration: Sendable {
    /// The numeric address to bind; `0.0.0.0` or `::` for all of the machine's.
    var host = "127.0.0.1"
    /// The port for UDP and TCP; 0 for one that is free for both.
    var port = 5060
    /// The port for TLS; nil for no TLS, 0 for any free port.
    var tlsPort: Int?
    /// A PEM file with our certificate and its key; without it, TLS is used only for connections to servers.
    var certificateFile: String?
    /// A PEM file with the authorities that may sign servers' certificates; nil for the system's.
    var authorityFile: String?
    /// The host in our Contact, if it is not the bound address.
    var publicHost: String?
    /// The value of User-Agent and Server.
    var software = "Heliograph"
    /// The number of OPTIONS per second that are answered to one address.
    var optionsPerSecond = 50
    /// The number of OPTIONS that are answered to an address at once after a pause.
    var optionsBurst = 200
    /// The largest number of TCP and TLS connections opened by peers.
    var connectionBound = 4096

    var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
}
