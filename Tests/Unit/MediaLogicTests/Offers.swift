import MediaLogic

/// Offers like those of browsers, with parts to change.
struct Offer {
    static let fingerprint = (0..<32).map {
        "\(String($0 / 16, radix: 16).uppercased())\(String($0 % 16, radix: 16).uppercased())"
    }
    .joined(separator: ":")

    var head = ["v=0", "o=- 42 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=extmap-allow-mixed", "a=msid-semantic: WMS"]
    var bundle = "0 1 2 3 4"
    var transport = [
        "c=IN IP4 0.0.0.0", "a=rtcp:9 IN IP4 0.0.0.0", "a=ice-ufrag:abcd", "a=ice-pwd:aaaaaaaaaaaaaaaaaaaaaaaa",
        "a=ice-options:trickle", "a=fingerprint:sha-256 \(fingerprint)", "a=setup:actpass", "a=rtcp-mux",
        "a=rtcp-rsize",
    ]
    var audio = [
        "a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level",
        "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
        "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
        "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid", "a=rtpmap:111 opus/48000/2", "a=rtcp-fb:111 transport-cc",
        "a=fmtp:111 minptime=10;useinbandfec=1", "a=rtpmap:0 PCMU/8000",
    ]
    var video = [
        "a=extmap:2/sendrecv http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
        "a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid", "a=rtpmap:96 VP8/90000", "a=rtcp-fb:96 goog-remb",
        "a=rtcp-fb:96 transport-cc", "a=rtcp-fb:96 ccm fir", "a=rtcp-fb:96 nack", "a=rtcp-fb:96 nack pli",
        "a=rtpmap:97 rtx/90000", "a=fmtp:97 apt=96", "a=rtpmap:102 H264/90000", "a=rtcp-fb:* nack pli",
        "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
        "a=rtpmap:103 rtx/90000", "a=fmtp:103 apt=102", "a=rtpmap:104 H264/90000",
        "a=fmtp:104 packetization-mode=1;profile-level-id=640032",
    ]
    /// `audio` or `video`, direction, and lines of its own.
    var sections: [(kind: String, direction: String, lines: [String])] = [
        ("audio", "sendonly", []), ("video", "sendonly", []), ("audio", "recvonly", []), ("audio", "recvonly", []),
        ("video", "recvonly", []),
    ]

    func text(end: String = "\r\n") -> String {
        var lines = head + ["a=group:BUNDLE \(bundle)"]
        for (index, section) in sections.enumerated() {
            let isAudio = section.kind == "audio"
            lines.append("m=\(section.kind) 9 UDP/TLS/RTP/SAVPF \(isAudio ? "111 0" : "96 97 102 103 104")")
            lines +=
                transport + ["a=mid:\(index)", "a=\(section.direction)"] + (isAudio ? audio : video) + section.lines
        }
        return lines.joined(separator: end) + end
    }
}
