/// What the bridge can do, as it tells peers.
public enum SIPAbilities {
    /// Methods that are carried out.
    public static let methods = ["INVITE", "ACK", "CANCEL", "BYE", "OPTIONS", "INFO", "UPDATE"]
    /// Methods that are understood, but refused with 405; others are unknown and get 501.
    public static let refusedMethods: Set<String> = [
        "REGISTER", "PRACK", "SUBSCRIBE", "NOTIFY", "REFER", "MESSAGE", "PUBLISH",
    ]
    /// Extensions: session timers.
    public static let extensions = ["timer"]
    /// Bodies that are understood.
    public static let bodies = [
        "application/sdp", "application/dtmf-relay", "application/dtmf", "audio/telephone-event",
    ]

    /// Allow.
    public static let allow = SIPHeaderField("Allow", methods.joined(separator: ", "))
    /// Supported.
    public static let supported = SIPHeaderField("Supported", extensions.joined(separator: ", "))
    /// Accept.
    public static let accept = SIPHeaderField("Accept", bodies.joined(separator: ", "))
    /// Everything that an answer to OPTIONS tells. Source: RFC 3261 section 11.2.
    public static let all = [
        allow, supported, accept, SIPHeaderField("Accept-Encoding", "identity"),
        SIPHeaderField("Accept-Language", "en"),
    ]
}
