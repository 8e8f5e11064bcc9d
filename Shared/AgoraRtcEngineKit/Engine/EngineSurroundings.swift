internal import Dispatch
internal import Foundation
package import MediaClient
internal import NIOConcurrencyHelpers
package import SignalingClient

/// What an engine needs of its process.
package struct EngineSurroundings: Sendable {
    /// Makes a call that is not started yet.
    package typealias CallFactory =
        @Sendable (MediaConfiguration, @escaping @Sendable (MediaEvent) -> Void) -> any MediaCall

    /// Where the cluster is; nil when nobody has said it.
    package var source: GatewaySource?
    /// What the user talks and listens with.
    package var devices: MediaDevices
    /// Whether the app is called on the main queue, else on a queue of the engine.
    package var callsOnMainQueue: Bool
    /// Milliseconds of a clock that never goes back.
    package var milliseconds: @Sendable () -> Int
    /// Makes a call.
    package var makeCall: CallFactory

    package init(
        source: GatewaySource?, devices: MediaDevices, callsOnMainQueue: Bool,
        milliseconds: @escaping @Sendable () -> Int = { Int(DispatchTime.now().uptimeNanoseconds / 1_000_000) },
        makeCall: @escaping CallFactory = { MediaHandle(configuration: $0, sink: $1) }
    ) {
        self.source = source
        self.devices = devices
        self.callsOnMainQueue = callsOnMainQueue
        self.milliseconds = milliseconds
        self.makeCall = makeCall
    }
}

extension EngineSurroundings {
    /// One pair per process: a further engine goes on with the files of the one before.
    private static let environmentDevices = MediaDevices.fromEnvironment(ProcessInfo.processInfo.environment)
    private static let configuredDevices = NIOLockedValueBox<MediaDevices?>(nil)

    static func configure(_ discovery: [String], _ devices: MediaDevices) {
        ClusterLocation.configure(.discovery(discovery))
        configuredDevices.withLockedValue { $0 = devices }
    }

    /// What the app has configured, else what the environment and Info.plist say.
    static var current: EngineSurroundings {
        let environment = ProcessInfo.processInfo.environment
        let source = ClusterLocation.current(
            environment["HELIOGRAPH_URL"], Bundle.main.object(forInfoDictionaryKey: "HeliographURL") as? String)
        return EngineSurroundings(
            source: source,
            devices: configuredDevices.withLockedValue { $0 } ?? environmentDevices,
            callsOnMainQueue: environment["HELIOGRAPH_CALLBACK_QUEUE"] != "engine")
    }
}
