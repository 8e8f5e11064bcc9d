internal import Foundation

/// The callbacks of one instance. Each comes alone, in order, on a queue of the instance's own; none on a caller's stack,
/// and no lock is held meanwhile.
///
/// `@unchecked Sendable`: `table` is guarded by `lock`. The closures are the app's own, which the API lets it set from
/// any thread and has always called on a thread of the SDK's.
final class AgoraCallbacks: @unchecked Sendable {
    private let lock = NSLock()
    private var table = AgoraCallbackTable()
    private let queue = DispatchQueue(label: "heliograph.AgoraAPI")

    subscript<Callback>(path: WritableKeyPath<AgoraCallbackTable, Callback>) -> Callback {
        get { lock.withLock { table[keyPath: path] } }
        set { lock.withLock { table[keyPath: path] = newValue } }
    }

    /// Calls back, with the callbacks as they are set by then.
    func tell(_ body: @escaping @Sendable (AgoraCallbackTable) -> Void) {
        queue.async { [self] in body(lock.withLock { table }) }
    }

    /// Does something after the callbacks so far.
    func afterwards(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Forgets all callbacks.
    func clear() { lock.withLock { table = AgoraCallbackTable() } }

    /// A line of the log. Ids only: never tokens or texts.
    func log(_ text: String) {
        // Apps cut the time off by its ten digits.
        let time = String(Int(Date().timeIntervalSince1970))
        tell { $0.onLog?("\(time) \(text)") }
    }
}
