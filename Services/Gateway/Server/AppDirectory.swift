internal import NIOCore
internal import RedisStore
internal import SignalingProtocol
internal import SignalingWire

/// The settings of apps, remembered for a few seconds, and past that while presence cannot be asked. Loop-bound.
final class AppDirectory {
    /// Apps remembered at most (unknown ids count too).
    static let bound = 4096
    private static let freshness = TimeAmount.seconds(5)

    private struct Entry {
        var answer: Result<AppSettings, SignalingError>
        var askedAt: NIODeadline
    }

    private let sender: CommandSender
    private var entries: [AppID: Entry] = [:]
    private var waiting: [AppID: [(Result<AppSettings, SignalingError>) -> Void]] = [:]

    init(sender: CommandSender) { self.sender = sender }

    /// Asks for an app's settings; calls back at once when they are fresh.
    func find(_ app: AppID, _ callback: @escaping (Result<AppSettings, SignalingError>) -> Void) {
        if let entry = entries[app], NIODeadline.now() - entry.askedAt < Self.freshness {
            return callback(entry.answer)
        }
        waiting[app, default: []].append(callback)
        guard waiting[app]?.count == 1 else { return }
        sender.send(GetApp(app: app)) { self.answered(app, $0) }
    }

    private func answered(_ app: AppID, _ answer: Result<AppSettings, SignalingError>) {
        var answer = answer
        switch answer {
        case .failure(let error) where error.reason != "unknown_app":
            if let known = entries[app] { answer = known.answer }
        case .success, .failure:
            if entries.count >= Self.bound { entries.removeAll() }
            entries[app] = Entry(answer: answer, askedAt: .now())
        }
        for callback in waiting.removeValue(forKey: app) ?? [] { callback(answer) }
    }
}
