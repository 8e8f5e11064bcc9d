// Shows the screens of this app in a terminal, where a label's text is a line of the output, and a
// line of the input taps a button:
//
//     old-media-app call APP CHANNEL [MICROPHONE LOUDSPEAKER]
//                                             CallController: mute, unmute, mute UID, unmute UID, speaker, camera,
//                                             hang up
//     old-media-app room APP CHANNEL UID KEY  RoomModel: key NEW_KEY, exit
//
// The screens know nothing of the cluster: HELIOGRAPH_URL says where a gateway is, such as http://127.0.0.1:8080;
// HELIOGRAPH_AUDIO_IN and HELIOGRAPH_AUDIO_OUT name the WAV files that stand for the microphone and the loudspeaker.
// MICROPHONE and LOUDSPEAKER are pipes instead, whose other ends set the pace (`PipeDevices.swift`). The program ends
// with its input.
import AgoraRtcEngineKit
import MediaClient

/// What taps the buttons of a screen.
typealias Taps = (_ line: String) -> Void

func callScreen(app: String, channel: String) -> Taps {
    let screen = CallController()
    screen.appID = app
    screen.channel = channel
    screen.closed = { print("closed") }
    screen.viewDidLoad()
    return { line in
        let words = line.components(separatedBy: " ")
        switch line {
        case "mute", "unmute": screen.muteTapped(line == "mute")
        case "speaker": screen.speakerTapped()
        case "camera": screen.cameraTapped()
        case "hang up": screen.hangUp()
        default:
            guard words.count == 2, let uid = UInt(words[1]) else { return print("no such button: \(line)") }
            screen.muteTapped(uid, words[0] == "mute")
        }
    }
}

func roomScreen(app: String, channel: String, uid: UInt, key: String) -> Taps {
    let model = RoomModel()
    var takeKey: ((String) -> Void)?
    model.fetchKey = { done in
        takeKey = done
        print("a key is needed")
    }
    if !model.enter(channel, appId: app, key: key, uid: uid) { print("not entered") }
    return { line in
        let words = line.components(separatedBy: " ")
        switch words[0] {
        case "key" where words.count == 2: takeKey?(words[1])
        case "exit": model.exit()
        default: print("no such button: \(line)")
        }
    }
}

/// Talks and listens by pipes from now on.
func usePipes(microphone: String, loudspeaker: String) {
    AgoraRtcEngineKit.configure(
        discovery: [ProcessInfo.processInfo.environment["HELIOGRAPH_URL"] ?? ""],
        devices: MediaDevices(capture: PipeCapture(path: microphone), playback: PipePlayback(path: loudspeaker)))
}

/// The screen that the command line names.
func screen(_ words: [String]) -> Taps? {
    switch (words.first, words.count) {
    case ("call", 3): return callScreen(app: words[1], channel: words[2])
    case ("call", 5):
        usePipes(microphone: words[3], loudspeaker: words[4])
        return callScreen(app: words[1], channel: words[2])
    case ("room", 5): return UInt(words[3]).map { roomScreen(app: words[1], channel: words[2], uid: $0, key: words[4]) }
    default: return nil
    }
}

// Lines at once, also into a pipe.
setvbuf(stdout, nil, _IOLBF, 0)
guard let tap = screen(Array(CommandLine.arguments.dropFirst())) else {
    print("usage: old-media-app call APP CHANNEL [MICROPHONE LOUDSPEAKER] | room APP CHANNEL UID KEY")
    exit(2)
}
DispatchQueue.global().async {
    while let line = readLine() { DispatchQueue.main.async { tap(line) } }
    DispatchQueue.main.async { exit(0) }
}
dispatchMain()
