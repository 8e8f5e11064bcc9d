internal import Glibc
package import ServiceKit

/// The settings of a sip-bridge.
package struct SIPBridgeConfiguration: Sendable {
    /// The numeric address that SIP and RTP bind to; `0.0.0.0` or `::` for all of the machine's.
    package var host = "127.0.0.1"
    /// The port for SIP over UDP and TCP; 0 for any free port.
    package var port = 5060
    /// The port for SIP over TLS; by default the next one.
    package var tlsPort: Int
    /// The numeric address announced to peers, if it is not the bound one.
    package var publicHost: String?
    /// A PEM file with the TLS certificate and its key; without it, TLS is used only for connections to trunks.
    package var certificateFile: String?
    /// A PEM file with the authorities that may sign trunks' certificates; by default the system's.
    package var authorityFile: String?
    /// The realm of digest authentication for inbound calls; default `heliograph`.
    package var realm = "heliograph"
    /// The largest number of concurrent calls; default 2000.
    package var callBound = 2000
    /// How long a stopping bridge waits for its calls to end; default 30 s.
    package var drainTime = Duration.seconds(30)
    /// Whether the SIP messages of all calls are logged.
    package var tracesAll = false
    /// The UDP ports for RTP and RTCP.
    var rtpPorts = MediaPorts.standard

    /// The default settings.
    package init() { tlsPort = port + 1 }

    /// Reads `HELIOGRAPH_SIP_...`.
    package init(reading reader: inout EnvironmentReader) {
        self.init()
        host = reader.string("SIP_HOST", default: host, "numeric address that SIP and RTP bind to")
        port = reader.int("SIP_PORT", default: port, in: 0...65_534, "port of SIP by UDP and TCP, 0 for any")
        let nextPort = port == 0 ? 0 : port + 1
        tlsPort = reader.int(
            "SIP_TLS_PORT", default: nextPort, in: 0...65_535, "port of SIP by TLS, 0 for any; default: the next one")
        publicHost = reader.optional("SIP_PUBLIC_HOST", "numeric address that peers are told; none: the one bound")
        certificateFile = reader.optional("SIP_TLS_CERTIFICATE", "PEM file of the certificate and its key")
        authorityFile = reader.optional("SIP_TLS_AUTHORITY", "PEM file of who vouches for trunks; none: the system's")
        realm = reader.string("SIP_REALM", default: realm, "realm of digest authentication of inbound calls")
        rtpPorts = MediaPorts.read(&reader)
        callBound = reader.int("SIP_CALLS", default: callBound, in: 1...8000, "calls at once at most")
        drainTime = reader.duration(
            "SIP_DRAIN", default: drainTime, in: .zero ... .seconds(3600),
            "how long a stopping bridge waits for its calls to end")
        tracesAll = reader.bool("SIP_TRACE", default: false, "log the SIP messages of all calls")
        if !Self.isNumeric(host) { reader.reject("SIP_HOST", "must be a numeric address") }
        if let publicHost, !Self.isNumeric(publicHost) {
            reader.reject("SIP_PUBLIC_HOST", "must be a numeric address")
        }
        if !realm.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) {
            reader.reject("SIP_REALM", "must be visible ASCII characters")
        }
    }

    var stack: SIPStackConfiguration {
        SIPStackConfiguration(
            host: host, port: port, tlsPort: tlsPort, certificateFile: certificateFile, authorityFile: authorityFile,
            publicHost: publicHost, connectionBound: connectionBound)
    }

    /// The number of connections: the loop's descriptors without those for the media of all calls and for the rest of
    /// the process.
    private var connectionBound: Int { max(256, min(4096, Int(SIPLoop.maxDescriptors) - 2 * callBound - 256)) }

    /// The settings of media.
    /// - Parameter contactHost: the host in our Contact.
    func media(contactHost: String) -> MediaConfiguration {
        MediaConfiguration(address: host, publicAddress: contactHost, ports: rtpPorts)
    }

    private static func isNumeric(_ host: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, host, &bytes) == 1 || inet_pton(AF_INET6, host, &bytes) == 1
    }
}
