internal import MediaClient

/// The event as a line of the log.
extension MediaEvent {
    var logLevel: EngineLog.Level {
        switch self {
        case .joined, .rejoined, .userJoined, .userLeft, .audioMuted, .videoMuted, .videoEnabled, .keyRenewed: .info
        case .volumes, .statistics: .debug
        case .interrupted, .lost, .warning: .warning
        case .keyExpired, .keyRefused, .deviceFailed: .error
        case .ended(let error, _): error == nil ? .info : .error
        }
    }

    var logText: String {
        switch self {
        case .joined(let uid): "joined as uid \(uid)"
        case .userJoined(let user): "uid \(user.uid) is in the channel"
        case .userLeft(let uid, let reason): "uid \(uid) is gone: \(reason)"
        case .audioMuted(let uid, let isMuted): "uid \(uid) has \(isMuted ? "muted" : "unmuted") its audio"
        case .videoMuted(let uid, let isMuted): "uid \(uid) has \(isMuted ? "muted" : "unmuted") its video"
        case .videoEnabled(let uid, let isEnabled): "uid \(uid) has \(isEnabled ? "enabled" : "disabled") its video"
        case .volumes(let volumes): "volumes: \(volumes.speakers.count) speakers, total \(volumes.total)"
        case .statistics(let now):
            "sent \(now.sentBytes) bytes, received \(now.receivedBytes), \(now.users) users, \(now.duration) s"
        case .interrupted: "the connection is interrupted"
        case .lost: "the connection is lost; trying on"
        case .rejoined(let uid): "the connection is back as uid \(uid)"
        case .warning(let error): "warning: \(error)"
        case .keyExpired: "the key has expired"
        case .keyRenewed: "a new key was accepted"
        case .keyRefused(let error): "a new key was refused: \(error)"
        case .deviceFailed(let device, let failure): "the \(device) device failed: \(failure)"
        case .ended(let error, _): error.map { "the call has ended: \($0)" } ?? "the call has ended"
        }
    }
}
