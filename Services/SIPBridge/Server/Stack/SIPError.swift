internal import Glibc

/// A failed operation of libre.
struct SIPError: Error, Equatable, CustomStringConvertible {
    /// An errno value.
    var code: Int32
    /// The operation, such as `send INVITE`.
    var act: String

    var description: String { "\(act): \(String(cString: strerror(code)))" }

    /// Throws if the status is not 0.
    static func check(_ status: Int32, _ act: String) throws(SIPError) {
        if status != 0 { throw SIPError(code: status, act: act) }
    }
}
