package import SignalingProtocol
internal import SignalingWire

/// Checks of what parties send each other in a call.
package enum CallMessage {
    /// The characters of DTMF.
    static let digits = Set("0123456789*#ABCD".utf8)
    /// Half a second without a digit.
    static let pause = UInt8(ascii: ",")

    /// Checks the bound of any act's `extra`.
    /// - Throws: `SignalingError` with ``SignalingCode/largeParameter`` above ``Limits/messageBytes``.
    package static func checkSize(_ extra: String) throws(SignalingError) {
        guard extra.utf8.count <= Limits.messageBytes else {
            throw SignalingError(
                .largeParameter, .extraTooLarge, "extra may have up to \(Limits.messageBytes) bytes")
        }
    }

    /// Checks a message within a call: `{"msgtype":"dtmf","msgdata":DIGITS}` must hold digits and pauses
    /// only; other messages are passed on as they are.
    /// - Throws: `SignalingError` with ``SignalingCode/wrongParameter`` for digits that are none.
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
