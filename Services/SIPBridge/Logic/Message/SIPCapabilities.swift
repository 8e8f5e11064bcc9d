/// What the bridge can do, as it tells peers.
package enum SIPCapabilities {
    /// Methods that are carried out.
    package static let methods = ["INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "INFO", "UPDATE"]
    /// Methods that are understood, but refused with 405; others are unknown and get 501.
    package static let refusedMethods: Set<String> = [
        "REGISTER", "PRACK", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE", "PUBLISH",
    ]
    /// Extensions: session timers.
    package static let extensions = ["timer"]
    /// Bodies that are understood.
    package static let bodies = [
        "application/sdp", "application/dtmf-relay", "application/dtmf", "audio/telephone-event",
    ]

    /// Allow.
    package static let allow = SIPHeaderField("Allow", methods.joined(separator: ", "))
    /// Supported.
    package static let supported = SIPHeaderField("Supported", extensions.joined(separator: ", "))
    /// Accept.
    package static let accept = SIPHeaderField("Accept", bodies.joined(separator: ", "))
    /// Everything that an answer to OPTIONS tells. Source: RFC 3261 section 11.2.
    package static let all = [
        allow, supported, accept, SIPHeaderField("Accept-Encoding", "identity"),
        SIPHeaderField("Accept-Language", "en"),
    ]
}
