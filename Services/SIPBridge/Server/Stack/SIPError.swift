internal import Glibc

/// An operation of libre that failed.
struct SIPError: Error, Equatable, CustomStringConvertible {
    /// An errno value.
    var code: Int32
    /// The operation, as in `send INVITE`.
    var act: String

    var description: String { "\(act): \(String(cString: strerror(code)))" }

    /// Throws unless the status is 0.
    static func check(_ status: Int32, _ act: String) throws(SIPError) {
        if status != 0 { throw SIPError(code: status, act: act) }
    }
}
