/// The methods, extensions and content types that the bridge supports, and the header fields that list them.
package enum SIPCapabilities {
    /// Supported methods.
    package static let methods = ["INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "INFO", "UPDATE"]
    /// Known methods that are refused with 405; unknown ones get 501.
    package static let refusedMethods: Set<String> = [
        "REGISTER", "PRACK", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE", "PUBLISH",
    ]
    /// Supported extensions: session timers.
    package static let extensions = ["timer"]
    /// Supported content types.
    package static let bodies = [
        "application/sdp", "application/dtmf-relay", "application/dtmf", "audio/telephone-event",
    ]

    /// The `Allow` field.
    package static let allow = SIPHeaderField("Allow", methods.joined(separator: ", "))
    /// The `Supported` field.
    package static let supported = SIPHeaderField("Supported", extensions.joined(separator: ", "))
    /// The `Accept` field.
    package static let accept = SIPHeaderField("Accept", bodies.joined(separator: ", "))
    /// The header fields of a response to OPTIONS. Source: RFC 3261 section 11.2.
    package static let all = [
        allow, supported, accept, SIPHeaderField("Accept-Encoding", "identity"),
        SIPHeaderField("Accept-Language", "en"),
    ]
}
