internal import CAgoraRtcCodes
internal import Dispatch
internal import Foundation

/// The blocks that an app has set; each replaces its method of the delegate.
struct EngineBlocks {
    var error: ((AgoraRtcErrorCode) -> Void)?
    var audioVolumeIndication: (([Any]?, Int) -> Void)?
    var userJoined: ((UInt, Int) -> Void)?
    var userOffline: ((UInt) -> Void)?
    var userMuteAudio: ((UInt, Bool) -> Void)?
    var userMuteVideo: ((UInt, Bool) -> Void)?
    var connectionLost: (() -> Void)?
    var rejoinChannelSuccess: ((String?, UInt, Int) -> Void)?
    var rtcStats: ((AgoraRtcStats?) -> Void)?
    var leaveChannel: ((AgoraRtcStats?) -> Void)?
    var audioQuality: ((UInt, AgoraRtcQuality, UInt, UInt) -> Void)?
    // Blocks of what is not built: kept, never called.
    var firstLocalVideoFrame: ((Int, Int, Int) -> Void)?
    var firstRemoteVideoDecoded: ((UInt, Int, Int, Int) -> Void)?
    var firstRemoteVideoFrame: ((UInt, Int, Int, Int) -> Void)?
    var localVideoStat: ((Int, Int) -> Void)?
    var remoteVideoStat: ((UInt, Int, Int, Int) -> Void)?
    var cameraReady: (() -> Void)?
    var networkQuality: ((AgoraRtcQuality) -> Void)?
    var lastmileQuality: ((AgoraRtcQuality) -> Void)?
    var mediaEngineEvent: ((Int) -> Void)?
}

/// A block that the app gave for one call.
///
/// `@unchecked Sendable`: the old interface lets apps give it on any thread, and it is called where all callbacks are.
struct CallBlock<Body>: @unchecked Sendable {
    let body: Body
}

/// Calls the app: one callback at a time, in order, on the main queue or the engine's own, while no lock is held.
///
/// `@unchecked Sendable`: everything that changes is guarded by `lock`. The blocks are the app's and not `@Sendable`,
/// because the old interface declares them so; they are called on the callbacks' queue only.
final class EngineCallbacks: @unchecked Sendable {
    /// Who is called, as it is when a callback's turn comes.
    struct Receiver {
        /// Optional, so that the first spelling of each method is the one that is called.
        let engine: AgoraRtcEngineKit?
        let delegate: (any AgoraRtcEngineDelegate)?
        let blocks: EngineBlocks
    }

    typealias Callback = @Sendable (Receiver) -> Void

    /// How far the app is behind.
    enum Backlog {
        case fine, reportsLeftOut, full
    }

    /// The number of waiting callbacks from which on reports are left out; at twice that number a call is left: an app
    /// that takes no callbacks any more is not there.
    static let bound = 10_000

    private let lock = NSLock()
    private weak var engine: AgoraRtcEngineKit?
    private weak var delegate: (any AgoraRtcEngineDelegate)?
    private var blocks = EngineBlocks()
    private var waiting: [Callback] = []
    private var isRunning = false
    private var isClosed = false
    /// Counts the queues that were chosen: a turn on an earlier one is void.
    private var choice = 0
    private var queue: DispatchQueue

    init(onMainQueue: Bool) { queue = Self.queue(onMainQueue) }

    private static func queue(_ isMain: Bool) -> DispatchQueue {
        isMain ? .main : DispatchQueue(label: "heliograph.AgoraRtcEngineKit")
    }

    subscript<Block>(path: WritableKeyPath<EngineBlocks, Block>) -> Block {
        get { lock.withLock { blocks[keyPath: path] } }
        set { lock.withLock { blocks[keyPath: path] = newValue } }
    }

    var backlog: Backlog {
        let count = lock.withLock { waiting.count }
        return count < Self.bound ? .fine : count < 2 * Self.bound ? .reportsLeftOut : .full
    }

    /// Sets who is called from now on; callbacks that wait go to them too.
    func setReceiver(engine: AgoraRtcEngineKit, delegate: (any AgoraRtcEngineDelegate)?) {
        lock.withLock {
            self.engine = engine
            self.delegate = delegate
        }
    }

    /// Queues callbacks.
    func tell(_ bodies: [Callback]) {
        lock.withLock {
            guard !isClosed, !bodies.isEmpty else { return }
            let isIdle = waiting.isEmpty && !isRunning
            waiting += bodies
            if isIdle { takeTurn() }
        }
    }

    /// Moves the callbacks to the main queue, or to the engine's; those that wait go there too.
    func setQueue(isMain: Bool) {
        lock.withLock {
            choice += 1
            queue = Self.queue(isMain)
            if !waiting.isEmpty, !isRunning { takeTurn() }
        }
    }

    /// Drops what waits, and forgets the app.
    func close() {
        lock.withLock {
            isClosed = true
            waiting = []
            blocks = EngineBlocks()
            delegate = nil
        }
    }

    /// Asks for a turn on the queue; the lock is held.
    private func takeTurn() {
        let choice = choice
        queue.async { [self] in runNext(choice) }
    }

    private func runNext(_ turn: Int) {
        let next: (Callback, Receiver)? = lock.withLock {
            guard turn == choice, !isRunning, !waiting.isEmpty else { return nil }
            isRunning = true
            return (waiting.removeFirst(), Receiver(engine: engine, delegate: delegate, blocks: blocks))
        }
        guard let (body, receiver) = next else { return }
        body(receiver)
        lock.withLock {
            isRunning = false
            if !waiting.isEmpty { takeTurn() }
        }
    }
}
