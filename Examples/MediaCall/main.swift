// Joins a media channel, talks from a WAV file, and records what it hears:
//
//     media-call URL APP CHANNEL [uid=N] [key=KEY] [in=FILE.wav] [out=FILE.wav]
//         [seconds=N] [bits=N] [volumes=MS] [muted=1]
//
// URL is a gateway's, such as http://127.0.0.1:8080. Without `in` it is silent, without `out` it plays nothing. Each
// line of its output is an event; each line of its input an act: `mute`, `unmute`, `mute UID`, `unmute UID`, `mute
// all`, `unmute all`, `tracks`, `gain UID PERCENT`, `record UID FILE` (what one user says by itself, as raw samples),
// `renew KEY`, `leave`. It leaves after `seconds`, by default when its input ends or says so.
import MediaClient
import SignalingClient

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes a line at once, also into a pipe.
func say(_ text: String) {
    print(text)
    fflush(nil)
}

/// Says what is wrong, and ends the program.
func fail(_ text: String) -> Never {
    say("error \(text)")
    exit(1)
}

/// What the command line says.
struct Options {
    var url = ""
    var app = ""
    var channel = ""
    var named: [String: String] = [:]

    init(_ arguments: [String]) {
        guard arguments.count >= 4 else { fail("usage: media-call URL APP CHANNEL [NAME=VALUE...]") }
        (url, app, channel) = (arguments[1], arguments[2], arguments[3])
        for argument in arguments.dropFirst(4) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { fail("\(argument) is not of the form NAME=VALUE") }
            named[String(parts[0])] = String(parts[1])
        }
    }

    func number(_ name: String) -> Int? {
        guard let text = named[name] else { return nil }
        guard let number = Int(text), number >= 0 else { fail("\(name) is no number: \(text)") }
        return number
    }

    func devices() throws -> MediaDevices {
        var devices = MediaDevices()
        if let path = named["in"] { devices.capture = try WAVCapture(path: path, loops: true) }
        if let path = named["out"] { devices.playback = try WAVPlayback(path: path) }
        return devices
    }

    func configuration() throws -> MediaConfiguration {
        var configuration = MediaConfiguration(
            app: app, channel: channel, uid: UInt32(clamping: number("uid") ?? 0), key: named["key"] ?? "",
            source: .discovery([url]), devices: try devices())
        configuration.isMuted = number("muted") == 1
        if let bits = number("bits") { configuration.bitRate = bits }
        return configuration
    }
}

/// The lines of the standard input. Not by `readLine`, which would hold a lock that the program's end needs.
struct Input: Sequence, IteratorProtocol {
    private var buffer: [UInt8] = []

    mutating func next() -> String? {
        var chunk = [UInt8](repeating: 0, count: 4096)
        while !buffer.contains(UInt8(ascii: "\n")) {
            let count = read(0, &chunk, chunk.count)
            guard count > 0 else { return nil }
            buffer += chunk[..<count]
        }
        let line = buffer.prefix { $0 != UInt8(ascii: "\n") }
        buffer.removeFirst(line.count + 1)
        return String(decoding: line, as: UTF8.self)
    }
}

/// Carries out one line of the input.
func perform(_ line: String, in channel: MediaChannel) async {
    let words = line.split(separator: " ").map(String.init)
    switch (words.first, words.dropFirst().first) {
    case ("mute", nil), ("unmute", nil): channel.muteLocalAudio(words[0] == "mute")
    case ("mute", "all"), ("unmute", "all"): channel.muteAllRemoteAudio(words[0] == "mute")
    case ("mute", let uid?), ("unmute", let uid?):
        guard let uid = UInt32(uid) else { return say("error \(uid) is no uid") }
        channel.muteRemoteAudio(words[0] == "mute", uid: uid)
    case ("tracks", nil): say("tracks \(channel.tracks.map(\.uid))")
    case ("gain", let uid?):
        guard let uid = UInt32(uid), words.count == 3, let percent = Double(words[2]) else {
            return say("error \(line)")
        }
        channel.track(uid: uid).setGain(percent / 100)
    case ("record", let uid?):
        guard let uid = UInt32(uid), words.count == 3 else { return say("error \(line)") }
        let track = channel.track(uid: uid)
        Task { await record(track, to: words[2]) }
    case ("renew", let key?): channel.renew(key: key)
    case ("leave", _): await channel.leave()
    default: say("error unknown: \(line)")
    }
}

/// Writes what one user says, by itself, as raw samples.
func record(_ track: RemoteTrack, to path: String) async {
    guard let file = fopen(path, "w") else { return say("error \(path) cannot be written") }
    for await frame in track.frames() {
        fwrite(frame.samples, MemoryLayout<Int16>.size, frame.samples.count, file)
        fflush(file)
    }
    fclose(file)
}

/// One event as a line; nil for those that are of no interest here.
func line(_ event: MediaEvent) -> String {
    switch event {
    case .joined(let uid): "joined \(uid)"
    case .userJoined(let user): "user \(user.uid) joined\(user.isAudioMuted ? " muted" : "")"
    case .userLeft(let uid, let reason): "user \(uid) left \(reason)"
    case .audioMuted(let uid, let isMuted): "user \(uid) \(isMuted ? "muted" : "unmuted")"
    case .videoMuted(let uid, let isMuted): "user \(uid) video \(isMuted ? "muted" : "unmuted")"
    case .videoEnabled(let uid, let isEnabled): "user \(uid) video \(isEnabled ? "on" : "off")"
    case .volumes(let volumes):
        "volumes \(volumes.total) " + volumes.speakers.map { "\($0.uid):\($0.volume)" }.joined(separator: " ")
    case .statistics(let statistics): "statistics \(summary(statistics))"
    case .interrupted: "interrupted"
    case .lost: "lost"
    case .rejoined(let uid): "rejoined \(uid)"
    case .warning(let error): "warning \(error)"
    case .keyExpired: "key expired"
    case .keyRenewed: "key renewed"
    case .keyRefused(let error): "key refused \(error)"
    case .deviceFailed(let device, let failure): "\(device) failed: \(failure)"
    case .ended(let error, let statistics): "ended \(error.map(\.description) ?? "by leaving") \(summary(statistics))"
    }
}

func summary(_ statistics: MediaStatistics) -> String {
    let heard = statistics.audio.map { "uid=\($0.uid),quality=\($0.quality),delay=\($0.delay),lost=\($0.lost)" }
    let playout = statistics.playout
    return
        "seconds=\(statistics.duration) sent=\(statistics.sentBytes) received=\(statistics.receivedBytes) "
        + "users=\(statistics.users) roundTrip=\(statistics.roundTrip) upstream=\(statistics.lostUpstream) "
        + "played=\(playout.played) recovered=\(playout.recovered) concealed=\(playout.concealed) late=\(playout.late) "
        + heard.joined(separator: " ")
}

let options = Options(CommandLine.arguments)
do {
    let channel = try await MediaChannel.join(try options.configuration())
    say("joined \(channel.uid)")
    if let interval = options.number("volumes") { channel.reportVolumes(every: .milliseconds(interval)) }
    let seconds = options.number("seconds")
    let input = Task.detached {
        for line in Input() { await perform(line, in: channel) }
        if seconds == nil { await channel.leave() }
    }
    if let seconds {
        Task {
            try await Task.sleep(nanoseconds: UInt64(seconds) * 1_000_000_000)
            await channel.leave()
        }
    }
    for await event in channel.events { say(line(event)) }
    input.cancel()
} catch {
    fail("\(error)")
}
