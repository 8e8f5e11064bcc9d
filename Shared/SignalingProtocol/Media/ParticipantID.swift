/// The id of one participant in a media channel: of one join, or of a rejoin that a node takes for a new one. Clients
/// know it as `pid`; it is no secret.
package struct ParticipantID: ByteIdentifier {
    /// Visible ASCII without spaces, at most 64 bytes.
    package let rawValue: String

    /// Uses an id that one of our own processes made, or that a client names; it is not validated.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// A new id.
    package static func random() -> ParticipantID { ParticipantID(SecureRandom.hex(bytes: 16)) }
}
