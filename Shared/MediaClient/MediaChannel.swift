internal import NIOConcurrencyHelpers
public import SignalingClient

/// A user in a media channel, who talks to and hears the others there.
///
/// Exists from ``join(_:)`` until ``leave()``, the end that an event tells, or the release of the last reference. When
/// the connection or the media node is lost, the client comes back by itself, under the same uid.
///
/// ```swift
/// import MediaClient
///
/// let configuration = MediaConfiguration(
///     app: "970CA35de60c44645bbae8a215061b33", channel: "room 1", source: .discovery(["https://signal.example.org"]),
///     devices: MediaDevices(capture: try WAVCapture(path: "hello.wav"), playback: try WAVPlayback(path: "heard.wav")))
/// let channel = try await MediaChannel.join(configuration)
/// for await event in channel.events {
///     print(event)
/// }
/// ```
public final class MediaChannel: Sendable {
    /// The user's number in the channel: the one that was asked for, or the one that was assigned.
    public let uid: UInt32
    /// The channel's events, in order, each delivered once, beginning with those who were there already.
    public let events: MediaEvents
    private let handle: MediaHandle
    private let end: OneTimeResult<MediaStatistics, Never>
    private let others: NIOLockedValueBox<[UInt32]>

    private init(
        uid: UInt32, events: MediaEvents, handle: MediaHandle, end: OneTimeResult<MediaStatistics, Never>,
        others: NIOLockedValueBox<[UInt32]>
    ) {
        self.uid = uid
        self.events = events
        self.handle = handle
        self.end = end
        self.others = others
    }

    // Nobody could hear the user's events any more, nor end the call.
    deinit { handle.leave() }

    /// Joins a media channel: returns when the first packet of its media node has come.
    ///
    /// If the task is cancelled, the join is given up at once.
    /// - Throws: ``MediaError`` with the code of what was refused, 1002 when no media node could be reached within 20
    ///   s, 1001 without a codec, 11 when the task was cancelled.
    public static func join(_ configuration: MediaConfiguration) async throws(MediaError) -> MediaChannel {
        let queue = EventQueue<MediaEvent>(bound: configuration.eventBound)
        let bound = configuration.eventBound
        let start = OneTimeResult<UInt32, MediaError>()
        let end = OneTimeResult<MediaStatistics, Never>()
        let others = NIOLockedValueBox<[UInt32]>([])
        let handle = MediaHandle(configuration: configuration) { event in
            var isLast = false
            switch event {
            case .joined(let uid): return start.finish(.success(uid))
            case .ended(let error, let statistics):
                isLast = true
                others.withLockedValue { $0 = [] }
                start.finish(.failure(error ?? .cancelled))
                end.finish(.success(statistics))
            case .volumes, .statistics:
                if queue.count >= bound { return }
            case .userJoined(let user): others.withLockedValue { $0.append(user.uid) }
            case .userLeft(let uid, _): others.withLockedValue { $0.removeAll { $0 == uid } }
            case .audioMuted, .videoMuted, .videoEnabled, .interrupted, .lost, .rejoined, .warning, .keyExpired,
                .keyRenewed, .keyRefused, .deviceFailed:
                break
            }
            queue.append(event, isLast: isLast)
        }
        handle.start()
        let uid = try await start.value { handle.leave() }
        return MediaChannel(uid: uid, events: MediaEvents(queue: queue), handle: handle, end: end, others: others)
    }

    /// Leaves the channel, and returns what was sent and received when that is done: after 3 s at most.
    @discardableResult
    public func leave() async -> MediaStatistics {
        handle.leave()
        return await end.value {}
    }

    /// Gives another key, before the one of the join ends or within 15 s after that; an event tells whether it is
    /// accepted.
    public func renew(key: String) { handle.renew(key: key) }

    /// Sends nothing of what the capture device delivers, or sends it again. The others are told.
    public func muteLocalAudio(_ isMuted: Bool) { handle.muteLocalAudio(isMuted) }

    /// Does not play a user, or plays it again. What is asked for a user who is not there is kept until it comes.
    public func muteRemoteAudio(_ isMuted: Bool, uid: UInt32) { handle.muteRemoteAudio(isMuted, uid: uid) }

    /// Plays nobody, or everybody, those too who come later; what was asked for single users is forgotten.
    public func muteAllRemoteAudio(_ isMuted: Bool) { handle.muteAllRemoteAudio(isMuted) }

    /// The others who are in the channel now, the oldest first, each with what it says by itself.
    public var tracks: [RemoteTrack] { others.withLockedValue { $0 }.map { track(uid: $0) } }

    /// What one user says, by itself; the user need not be there yet.
    public func track(uid: UInt32) -> RemoteTrack { RemoteTrack(uid: uid, handle: handle) }

    /// Reports by events how loud the users are.
    /// - Parameters:
    ///   - interval: between two reports, at least 100 ms; nil for no reports.
    ///   - smooth: the newest interval counts by 1/smooth; default 1, it alone counts.
    public func reportVolumes(every interval: ClientDuration?, smooth: Int = 1) {
        handle.reportVolumes(everyMilliseconds: Int(interval?.milliseconds ?? 0), smooth: smooth)
    }

    /// Factors of what is sent and played, 0...4, 1 for unchanged; nil leaves one as it is.
    public func setGain(capture: Double? = nil, playback: Double? = nil) {
        handle.setGain(capture: capture, playback: playback)
    }
}

/// The events of a media channel, in order, each delivered once, to one consumer. Ends after the last event.
///
/// When ``MediaConfiguration/eventBound`` events are waiting, reports of volumes and statistics are left out; all other
/// events wait. If a second iteration waits for an event, the first one ends.
public struct MediaEvents: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = MediaEvent

    let queue: EventQueue<MediaEvent>

    /// Starts taking events.
    public func makeAsyncIterator() -> Iterator { Iterator(queue: queue) }

    /// Takes one event after another.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        let queue: EventQueue<MediaEvent>

        /// The next event; nil after the last one, and when the task is cancelled.
        public mutating func next() async -> MediaEvent? { await queue.next() }
    }
}
