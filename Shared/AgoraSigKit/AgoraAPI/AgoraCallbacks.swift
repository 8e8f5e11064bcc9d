internal import Foundation

/// The callbacks of one instance: called one at a time, in order, on a queue of the
/// instance's own, while no lock is held.
///
/// `@unchecked Sendable`: `table` is guarded by `lock`. Its closures are the app's and not `@Sendable`, because the old
/// interface declares them so: it lets apps set them on any thread, and calls them on a thread of its own.
final class AgoraCallbacks: @unchecked Sendable {
    private let lock = NSLock()
    private var table = AgoraCallbackTable()
    private let queue = DispatchQueue(label: "heliograph.AgoraAPI")

    subscript<Callback>(path: WritableKeyPath<AgoraCallbackTable, Callback>) -> Callback {
        get { lock.withLock { table[keyPath: path] } }
        set { lock.withLock { table[keyPath: path] = newValue } }
    }

    /// Queues a callback. When its turn comes, it uses the closures that are set then.
    func tell(_ body: @escaping @Sendable (AgoraCallbackTable) -> Void) {
        queue.async { [self] in body(lock.withLock { table }) }
    }

    /// Queues `body` behind the callbacks that are waiting now.
    func afterwards(_ body: @escaping @Sendable () -> Void) { queue.async(execute: body) }

    /// Forgets all callbacks.
    func clear() { lock.withLock { table = AgoraCallbackTable() } }

    /// Passes a line to the app's log callback. Lines contain ids, never tokens or message texts.
    func log(_ text: String) {
        // Apps parse the first ten characters as the time.
        let time = String(Int(Date().timeIntervalSince1970))
        tell { $0.onLog?("\(time) \(text)") }
    }
}
