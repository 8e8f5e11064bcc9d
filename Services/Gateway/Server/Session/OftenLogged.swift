internal import Logging

/// What clients can cause as often as they like, and is therefore not logged each time.
enum OftenLogged: Hashable {
    /// A connection was refused because there are too many.
    case refusal
    /// A client was disconnected because it violates the protocol.
    case violation
    /// A client was disconnected because it does not keep up, or sends too much.
    case cutOff

    var level: Logger.Level {
        switch self {
        case .refusal: .warning
        case .violation, .cutOff: .info
        }
    }
}
