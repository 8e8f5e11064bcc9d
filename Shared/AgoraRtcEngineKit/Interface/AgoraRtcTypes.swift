// Names and types are those that the Clang importer gives the Objective-C header.
// swift-format-ignore-file: NeverUseImplicitlyUnwrappedOptionals

public import CAgoraRtcCodes
public import Foundation
internal import MediaClient

#if canImport(UIKit)
    public import UIKit

    /// What shows a picture.
    public typealias AgoraRtcView = UIView
#elseif canImport(AppKit)
    public import AppKit

    /// What shows a picture.
    public typealias AgoraRtcView = NSView
#else
    /// What shows a picture: an object of the app, as there is no class for views here.
    public typealias AgoraRtcView = AnyObject
#endif

/// Where a user's picture is to be shown. No video is built: every method that takes one returns -4.
open class AgoraRtcVideoCanvas: NSObject {
    /// Where to show it; nil for nowhere.
    open var view: AgoraRtcView!
    /// How the picture is fitted into the view; starts with `.render_Hidden`.
    open var renderMode = AgoraRtcRenderMode.render_Hidden
    /// Whose picture; 0 for the local user's.
    open var uid: UInt = 0

    /// Makes a canvas without a view.
    public override init() { super.init() }
}

/// What a call has sent and received. Each report is an object of its own, which does not change later.
open class AgoraRtcStats: NSObject {
    /// Since joining, in whole seconds; of two reports never equal.
    open var duration: UInt = 0
    /// Bytes sent since joining.
    open var txBytes: UInt = 0
    /// Bytes received since joining.
    open var rxBytes: UInt = 0
    /// The users in the channel, with the local one.
    open var users: UInt = 0
    /// Audio sent since the report before, in kbit/s.
    open var txAudioKBitrate: UInt = 0
    /// Audio received since the report before, in kbit/s.
    open var rxAudioKBitrate: UInt = 0
    /// Always 0: no video is built.
    open var txVideoKBitrate: UInt = 0
    /// Always 0: no video is built.
    open var rxVideoKBitrate: UInt = 0
    /// Always 0: not measured.
    open var cpuAppUsage: Double = 0
    /// Always 0: not measured.
    open var cpuTotalUsage: Double = 0

    /// Makes a report of nothing.
    public override init() { super.init() }

    convenience init(_ statistics: MediaStatistics) {
        self.init()
        duration = UInt(clamping: statistics.duration)
        txBytes = UInt(clamping: statistics.sentBytes)
        rxBytes = UInt(clamping: statistics.receivedBytes)
        users = UInt(clamping: statistics.users)
        txAudioKBitrate = UInt(clamping: statistics.sentKilobits)
        rxAudioKBitrate = UInt(clamping: statistics.receivedKilobits)
    }
}

/// How loud a user is.
open class AgoraRtcAudioVolumeInfo: NSObject {
    /// The user; 0 for the local one.
    open var uid: UInt = 0
    /// 1...255.
    open var volume: UInt = 0

    /// Makes a user without a volume.
    public override init() { super.init() }

    convenience init(_ speaker: MediaVolumes.Speaker) {
        self.init()
        uid = UInt(speaker.uid)
        volume = UInt(clamping: speaker.volume)
    }
}

/// The video that was sent. No video is built: never made by the engine.
open class AgoraRtcLocalVideoStats: NSObject {
    /// Bytes since the report before.
    open var sentBytes: UInt = 0
    /// Frames since the report before.
    open var sentFrames: UInt = 0
    /// In kbit/s.
    open var sentBitrate: UInt = 0
    /// Frames a second.
    open var sentFrameRate: UInt = 0

    /// Makes a report of nothing.
    public override init() { super.init() }
}

/// The video that came of a user. No video is built: never made by the engine.
open class AgoraRtcRemoteVideoStats: NSObject {
    /// The user.
    open var uid: UInt = 0
    /// In milliseconds.
    open var delay: UInt = 0
    /// In pixels.
    open var width: UInt = 0
    /// In pixels.
    open var height: UInt = 0
    /// In kbit/s.
    open var receivedBitrate: UInt = 0
    /// Frames a second.
    open var receivedFrameRate: UInt = 0

    /// Makes a report of nothing.
    public override init() { super.init() }
}
