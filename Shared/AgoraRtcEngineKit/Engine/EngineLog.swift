internal import CAgoraRtcCodes
internal import Foundation

/// The log that an app may ask for by `setLogFile`: a line per event with the time, the level and a text. Lines contain
/// ids, never keys.
///
/// `@unchecked Sendable`: everything that changes is guarded by `lock`; the file is written on `queue` only.
final class EngineLog: @unchecked Sendable {
    enum Level: String {
        case debug, info, warning, error, fatal

        var filter: UInt {
            let filter: AgoraRtcLogFilter =
                switch self {
                case .debug: .logFilter_Debug
                case .info: .logFilter_Info
                case .warning: .logFilter_Warn
                case .error: .logFilter_Error
                case .fatal: .logFilter_Critical
                }
            return filter.rawValue
        }
    }

    /// All bits that a filter may have.
    static let allBits: UInt = 0x80F
    /// The largest number of lines that wait for the disk; further ones are left out, and counted in the next one.
    static let bound = 1000

    private let lock = NSLock()
    private let queue = DispatchQueue(label: "heliograph.AgoraRtcEngineKit.log")
    private var file: FileHandle?
    private var filter: UInt = 0x0F
    private var waiting = 0
    private var leftOut = 0
    private var toldOnce: Set<String> = []

    /// Appends to that file from now on.
    /// - Returns: false when it cannot be opened.
    func open(_ path: String) -> Bool {
        if !FileManager.default.fileExists(atPath: path), !FileManager.default.createFile(atPath: path, contents: nil) {
            return false
        }
        guard let opened = FileHandle(forUpdatingAtPath: path) else { return false }
        lock.withLock { file = opened }
        return true
    }

    /// Sets which lines are written.
    /// - Returns: false for bits that no level has.
    func setFilter(_ bits: UInt) -> Bool {
        guard bits & ~Self.allBits == 0 else { return false }
        lock.withLock { filter = bits }
        return true
    }

    /// Writes a line, on a queue of the log.
    func callAsFunction(_ level: Level, _ text: @autoclosure () -> String) {
        guard let file = admits(level) else { return }
        let line = "\(Self.time()) \(level.rawValue) \(text())\n"
        queue.async { [self] in
            let missing = lock.withLock {
                waiting -= 1
                defer { leftOut = 0 }
                return leftOut
            }
            let gap = missing == 0 ? "" : "\(Self.time()) warning \(missing) lines were left out\n"
            // A full disk takes the log away, not the call.
            _ = try? file.seekToEnd()
            try? file.write(contentsOf: Data((gap + line).utf8))
        }
    }

    /// Writes a line unless the log has had it.
    func once(_ level: Level, _ text: String) {
        let isNew = lock.withLock { file != nil && toldOnce.insert(text).inserted }
        if isNew { self(level, text) }
    }

    /// Waits until all lines are written.
    func flush() { queue.sync {} }

    /// The file, when the line is to be written.
    private func admits(_ level: Level) -> FileHandle? {
        lock.withLock {
            guard let file, filter & level.filter != 0 else { return nil }
            guard waiting < Self.bound else {
                leftOut += 1
                return nil
            }
            waiting += 1
            return file
        }
    }

    private static func time() -> String {
        ISO8601DateFormatter.string(
            from: Date(), timeZone: .init(secondsFromGMT: 0)!,
            formatOptions: [.withInternetDateTime, .withFractionalSeconds])
    }
}
