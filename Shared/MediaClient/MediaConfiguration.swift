public import SignalingClient

/// The channel to join, where to find the cluster, and the devices to talk and listen with.
public struct MediaConfiguration: Sendable {
    /// The id of the app (the vendor key of the media SDK), as `heliographctl app create` printed it: 1 to 64 visible
    /// ASCII characters. Users of two apps never meet.
    public var app: String
    /// The media channel: 1 to 64 characters of the 90 that `Docs/protocol.md` lists under `media.join`.
    public var channel: String
    /// The user's number in the channel, 0...4294967295; 0 (the default) for any that is free.
    public var uid: UInt32
    /// The dynamic key, made by the app's own server; empty (the default) for apps that require none.
    public var key: String
    /// A text for the record of the call, up to 4096 bytes; told to nobody in the channel. Default: empty.
    public var info: String
    /// The call's id in the cluster's records: 32 hexadecimal digits, small letters; random by default. Others are
    /// refused with `invalid_args`.
    public var callID: String
    /// Whether nothing is sent of what the capture device delivers; default false. See
    /// ``MediaChannel/muteLocalAudio(_:)``.
    public var isMuted: Bool
    /// Where the client looks for gateways.
    public var source: GatewaySource
    /// How gateways are authenticated on TLS connections. Without TLS the keys of the audio are no safer than the
    /// network.
    public var tls: ClientTLS
    /// What the user talks and listens with.
    public var devices: MediaDevices
    /// The most bits per second that the encoder spends, 6000...510,000; default 32,000. Other values are moved into
    /// that range.
    public var bitRate: Int
    /// The largest number of events that wait for the app; default 10,000. Beyond it reports of volumes and statistics
    /// are left out; what users do is never left out.
    public var eventBound: Int

    /// Makes a configuration with the defaults for everything else.
    /// - Parameters:
    ///   - app: the id of the app.
    ///   - channel: the media channel.
    ///   - uid: the user's number in the channel; default 0, any that is free.
    ///   - key: the dynamic key; default empty, none.
    ///   - source: where the client looks for gateways.
    ///   - devices: what the user talks and listens with.
    public init(
        app: String, channel: String, uid: UInt32 = 0, key: String = "", source: GatewaySource, devices: MediaDevices
    ) {
        self.app = app
        self.channel = channel
        self.uid = uid
        self.key = key
        self.source = source
        self.devices = devices
        self.info = ""
        self.callID = Self.randomID()
        self.isMuted = false
        self.tls = ClientTLS()
        self.bitRate = 32_000
        self.eventBound = 10_000
    }

    private static func randomID() -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: (0..<32).map { _ in digits[Int.random(in: 0..<16)] }, as: UTF8.self)
    }
}
