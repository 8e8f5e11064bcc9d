internal import CRe
internal import Glibc
internal import Pacing
internal import SIPBridgeLogic
internal import SignalingProtocol

/// libre's SIP transports and transactions: passes on received messages, and creates dialogs.
///
/// The stack itself answers OPTIONS outside of dialogs, unknown methods, unsupported extensions and malformed requests.
@SIPThread
final class SIPStack {
    /// When any port is allowed: how many are tried to find one that is free for both UDP and TCP.
    private static let portAttempts = 20
    private static let maxLocalAddresses = 16

    let configuration: SIPStackConfiguration
    /// The port of UDP and TCP.
    private(set) var port = 0
    /// The port of TLS; nil without TLS.
    private(set) var tlsPort: Int?
    /// The host in our Contact.
    private(set) var contactHost = ""

    /// Receives every request that passed the screening and is not a retransmission, including ACK for 2xx, and OPTIONS
    /// with a To tag (to be answered with ``SIPServerRequest/answerOptions()``). A request that is released unanswered
    /// gets no response.
    var onRequest: ((SIPServerRequest) -> Void)?
    /// Receives a 2xx to INVITE whose transaction has ended: a repetition, or the 2xx of another fork.
    var onFurther2xx: ((SIPMessage) -> Void)?
    /// Receives the messages of calls in ``traced``, or of all calls if ``tracesAll``.
    var onTrace: ((SIPTraceRecord) -> Void)?
    /// Called for each message that is dropped.
    var onDrop: ((SIPDropReason) -> Void)?
    /// Checks each request before anything else; by default ``SIPScreening``.
    var screen: (SIPMessage) -> SIPScreening.Verdict = SIPScreening.verdict
    /// Whether an address belongs to a trunk.
    var isKnown: (String) -> Bool = { _ in false }
    /// The Call-IDs to trace.
    var traced: Set<String> = []
    /// Whether all calls are traced.
    var tracesAll = false

    private var libre: OpaquePointer?
    private var options: AddressBudget
    private var connections = ConnectionBudget<SIPEndpoint>()
    private let names = HostNames.ofSystem()

    /// Binds the transports.
    init(_ configuration: SIPStackConfiguration) throws(SIPError) {
        self.configuration = configuration
        options = AddressBudget(
            perSecond: configuration.optionsPerSecond, burst: configuration.optionsBurst, maxAddresses: 10_000)
        try open()
    }

    isolated deinit { precondition(libre == nil, "a SIP stack was let go of without close()") }

    /// Closes the transports: pending requests fail with ECONNABORTED, and requests can no longer be answered.
    func close() {
        guard let libre else { return }
        self.libre = nil
        (onRequest, onFurther2xx, onTrace) = (nil, nil, nil)
        cre_gate_clear(Unmanaged.passUnretained(self).toOpaque())
        cre_sip_close(libre)
    }

    /// Accepts servers' certificates for these names and no others.
    func trust(only names: Set<String>) throws(SIPError) {
        cre_sip_forget_names(try pointer())
        for name in names { try trust(name) }
    }

    /// Also accepts servers' certificates for this name; needed for each trunk with TLS.
    func trust(_ name: String) throws(SIPError) {
        try SIPError.check(cre_sip_trust_name(try pointer(), name), "trust a name")
    }

    /// Creates a dialog in which we are the caller; nothing is sent yet.
    /// - Parameters:
    ///   - target: the request URI; its `transport` parameter determines the transport.
    ///   - to: the To URI.
    ///   - from: the From URI.
    ///   - displayName: the name in From.
    ///   - routes: URIs of proxies to route through, without `lr`.
    func makeDialog(
        target: String, to: String, from: String, displayName: String? = nil, routes: [String] = []
    ) throws(SIPError) -> SIPDialog {
        _ = try pointer()
        guard ([target, to, from] + routes).allSatisfy(SIPEncoding.isURI) else {
            throw SIPError(code: EINVAL, act: "make a dialog: malformed URI")
        }
        let addresses = SIPDialog.Addresses(
            target: names.replaced(in: target), to: to, from: from, displayName: displayName,
            routes: routes.map(names.replaced))
        return try SIPDialog(stack: self, addresses)
    }

    /// Our Contact for messages over a transport.
    func contact(user: String, transport: SIPTransport) -> SIPHeaderField {
        let place = user.isEmpty ? "" : "\(user)@"
        let (port, parameter) =
            switch transport {
            case .udp: (port, "")
            case .tcp: (port, ";transport=tcp")
            case .tls: (tlsPort ?? SIPTransport.tls.standardPort, ";transport=tls")
            }
        return SIPHeaderField("Contact", "<sip:\(place)\(SIPEncoding.uriHost(contactHost)):\(port)\(parameter)>")
    }

    /// libre's stack. Throws when it is closed.
    func pointer() throws(SIPError) -> OpaquePointer {
        guard let libre else { throw SIPError(code: ECONNABORTED, act: "use a closed SIP stack") }
        return libre
    }
}

extension SIPStack {
    private func open() throws(SIPError) {
        var handlers = cre_sip_handlers()
        handlers.context = Unmanaged.passUnretained(self).toOpaque()
        handlers.request = { context, request in
            guard let request else { return }
            Unmanaged<SIPStack>.fromOpaque(context!).takeUnretainedValue().arrived(request)
        }
        handlers.stray = { context, message in
            guard let message else { return }
            Unmanaged<SIPStack>.fromOpaque(context!).takeUnretainedValue().receivedFurther2xx(message)
        }
        handlers.garbage = { Unmanaged<SIPStack>.fromOpaque($0!).takeUnretainedValue().onDrop?(.garbage) }
        handlers.trace = { context, isSent, transport, source, destination, packet in
            guard let source, let destination else { return }
            Unmanaged<SIPStack>.fromOpaque(context!).takeUnretainedValue()
                .passed(isSent, transport, source.pointee, destination.pointee, packet)
        }
        var made: OpaquePointer?
        try SIPError.check(cre_sip_open(&made, &handlers, configuration.software), "open a SIP stack")
        libre = made
        connections.total = configuration.connectionBound
        cre_gate_set(
            { context, descriptor, peer in
                guard let peer else { return false }
                return Unmanaged<SIPStack>.fromOpaque(context!).takeUnretainedValue()
                    .connected(descriptor, SIPEndpoint(peer.pointee, CRE_TCP))
            }, Unmanaged.passUnretained(self).toOpaque())
        do {
            try listen()
        } catch {
            close()
            throw error
        }
    }

    private func listen() throws(SIPError) {
        let hosts = configuration.isWildcard ? localHosts() : [configuration.host]
        guard let first = hosts.first else { throw SIPError(code: EADDRNOTAVAIL, act: "find a local address") }
        contactHost = configuration.publicHost ?? first
        try bindUDPAndTCP(hosts)
        guard let wanted = configuration.tlsPort else { return }
        try SIPError.check(
            cre_sip_set_tls(try pointer(), configuration.certificateFile, configuration.authorityFile),
            "read the TLS certificate")
        var bound = wanted
        for host in hosts { bound = try bind(.tls, host, bound) }
        tlsPort = bound
    }

    /// Binds UDP and TCP to one port, the same on all addresses. If any port is allowed, searches for one that is free
    /// on all.
    private func bindUDPAndTCP(_ hosts: [String]) throws(SIPError) {
        var attempt = 1
        while true {
            do {
                port = configuration.port
                for host in hosts {
                    port = try bind(.udp, host, port)
                    _ = try bind(.tcp, host, port)
                }
                return
            } catch {
                guard configuration.port == 0, error.code == EADDRINUSE, attempt < Self.portAttempts else {
                    throw error
                }
                attempt += 1
                cre_sip_flush_transports(libre)
            }
        }
    }

    private func bind(_ transport: SIPTransport, _ host: String, _ port: Int) throws(SIPError) -> Int {
        var bound: UInt16 = 0
        try SIPError.check(
            cre_sip_listen(try pointer(), transport.libre, host, UInt16(port), &bound),
            "listen on \(host) port \(port) by \(transport.rawValue)")
        return Int(bound)
    }

    private func localHosts() -> [String] {
        var addresses = [cre_address](repeating: cre_address(), count: Self.maxLocalAddresses)
        let count = cre_local_addresses(configuration.host == "::", &addresses, addresses.count)
        return addresses.prefix(count).map(\.text)
    }
}

extension SIPStack {
    private func arrived(_ pointer: OpaquePointer) {
        let request = SIPServerRequest(pointer, stack: self)
        let message = request.message
        switch screen(message) {
        case .drop: onDrop?(.malformed)
        case .reply(let status, let reason, let headers):
            answer(request) { () throws(SIPError) in try request.reply(status, reason, headers: headers) }
        case .pass:
            guard message.method == "OPTIONS", message.to.tag == nil else {
                onRequest?(request)
                return
            }
            guard options.take(message.source.host, now: SIPLoop.now) else {
                onDrop?(.tooManyOptions)
                return
            }
            answer(request) { () throws(SIPError) in try request.answerOptions() }
        }
    }

    private func answer(_ request: SIPServerRequest, _ act: () throws(SIPError) -> Void) {
        do { try act() } catch { onDrop?(.unsent) }
    }

    /// Decides whether a connection that a peer has opened is accepted.
    private func connected(_ descriptor: Int32, _ peer: SIPEndpoint) -> Bool {
        let connection = ConnectionBudget.Connection(peer: peer, address: peer.host, isKnown: isKnown(peer.host))
        let isTaken = connections.take(descriptor, connection, now: SIPLoop.now) { descriptor, peer in
            var address = cre_address()
            withUnsafeMutableBytes(of: &address.host) { room in
                // Numeric addresses are shorter than this array.
                room.copyBytes(from: peer.host.utf8.prefix(room.count - 1))
            }
            address.port = UInt16(peer.port)
            return cre_is_connected(descriptor, &address)
        }
        if !isTaken { onDrop?(.tooManyConnections) }
        return isTaken
    }

    private func receivedFurther2xx(_ pointer: OpaquePointer) {
        let message = SIPMessage(pointer)
        if message.sequenceMethod == "INVITE", let status = message.status, (200..<300).contains(status) {
            onFurther2xx?(message)
        } else {
            onDrop?(.strayResponse)
        }
    }

    private func passed(
        _ isSent: Bool, _ transport: cre_transport, _ source: cre_address, _ destination: cre_address,
        _ packet: cre_span
    ) {
        guard let onTrace, tracesAll || !traced.isEmpty else { return }
        let callID = SIPCallIDScan.callID(in: packet.buffer) ?? ""
        guard tracesAll || traced.contains(callID) else { return }
        onTrace(
            SIPTraceRecord(
                isSent: isSent, source: SIPEndpoint(source, transport),
                destination: SIPEndpoint(destination, transport), callID: callID, text: packet.text))
    }
}
