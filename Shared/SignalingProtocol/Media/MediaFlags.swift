/// What others are told of a participant.
package struct MediaFlags: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    package static let audioMuted = Self(rawValue: 1)
    package static let videoMuted = Self(rawValue: 2)
    package static let videoEnabled = Self(rawValue: 4)
    /// A recorder.
    package static let sendsNothing = Self(rawValue: 8)
    package static let phone = Self(rawValue: 16)
    /// Known from the node before; has not come to this one yet.
    package static let absent = Self(rawValue: 32)
}
