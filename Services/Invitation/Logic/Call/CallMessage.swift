package import SignalingProtocol
internal import SignalingWire

/// Checks the text that parties send each other in a call.
package enum CallMessage {
    /// The characters of DTMF digits.
    static let digits = Set("0123456789*#ABCD".utf8)
    /// A pause of half a second.
    static let pause = UInt8(ascii: ",")

    /// Checks the size of an act's `extra`.
    /// - Throws: `SignalingError` with ``SignalingCode/largeParameter`` above ``Limits/messageBytes``.
    package static func checkSize(_ extra: String) throws(SignalingError) {
        guard extra.utf8.count <= Limits.messageBytes else {
            throw SignalingError(
                .largeParameter, .extraTooLarge, "extra may have up to \(Limits.messageBytes) bytes")
        }
    }

    /// Checks a message within a call. One of the form `{"msgtype":"dtmf","msgdata":DIGITS}` may contain only digits
    /// and pauses; others are passed on unchecked.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` for invalid digits.
    package static func check(_ extra: String) throws(SignalingError) {
        guard let json = try? JSONValue.parse(Array(extra.utf8)), case .object = json,
            json["msgtype"] == .string("dtmf")
        else { return }
        let text: String? =
            switch json["msgdata"] {
            case .string(let text), .number(let text): text
            case .null, .bool, .array, .object, nil: nil
            }
        guard let text, text.utf8.contains(where: digits.contains),
            text.utf8.allSatisfy({ digits.contains($0) || $0 == pause })
        else {
            throw SignalingError(
                .wrongParameter, .invalidDTMF, "DTMF digits are 0-9 * # A-D, at least one; a comma is a pause")
        }
    }
}
