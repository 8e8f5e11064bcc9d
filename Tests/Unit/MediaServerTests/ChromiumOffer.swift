/// What Chromium offers for a page that sends audio and hears two others.
enum ChromiumOffer {
    /// The SSRC of what it sends.
    static let source: UInt32 = 3348674391

    static let text = lines.split(separator: "\n").map { $0 + "\r\n" }.joined()

    private static let lines = """
        v=0
        o=- 7272016942614423616 2 IN IP4 127.0.0.1
        s=-
        t=0 0
        a=group:BUNDLE 0 1 2
        a=extmap-allow-mixed
        a=msid-semantic: WMS e3153567-3017-42e0-830c-dc20c39ee51f
        m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:l55i
        a=ice-pwd:4Z+jBReptejTgy6V1bus9/RV
        a=ice-options:trickle
        a=fingerprint:sha-256 85:BC:88:4F:F7:6B:CC:1C:1E:09:B9:B7:49:BF:75:6A:EF:51:DA:AB:08:F5:09:70:1F:75:67:4C:CE:45:B1:29
        a=setup:actpass
        a=mid:0
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=sendonly
        a=msid:e3153567-3017-42e0-830c-dc20c39ee51f 75dd305d-85f6-4f83-a82d-59a932d84423
        a=rtcp-mux
        a=rtcp-rsize
        a=rtcp-xr:rcvr-rtt=all
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:9 G722/8000
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:13 CN/8000
        a=rtpmap:110 telephone-event/48000
        a=rtpmap:126 telephone-event/8000
        a=ssrc:3348674391 cname:t0+760DWvC4wl5CZ
        a=ssrc:3348674391 msid:e3153567-3017-42e0-830c-dc20c39ee51f 75dd305d-85f6-4f83-a82d-59a932d84423
        m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:l55i
        a=ice-pwd:4Z+jBReptejTgy6V1bus9/RV
        a=ice-options:trickle
        a=fingerprint:sha-256 85:BC:88:4F:F7:6B:CC:1C:1E:09:B9:B7:49:BF:75:6A:EF:51:DA:AB:08:F5:09:70:1F:75:67:4C:CE:45:B1:29
        a=setup:actpass
        a=mid:1
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=recvonly
        a=rtcp-mux
        a=rtcp-rsize
        a=rtcp-xr:rcvr-rtt=all
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:9 G722/8000
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:13 CN/8000
        a=rtpmap:110 telephone-event/48000
        a=rtpmap:126 telephone-event/8000
        m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 8 13 110 126
        c=IN IP4 0.0.0.0
        a=rtcp:9 IN IP4 0.0.0.0
        a=ice-ufrag:l55i
        a=ice-pwd:4Z+jBReptejTgy6V1bus9/RV
        a=ice-options:trickle
        a=fingerprint:sha-256 85:BC:88:4F:F7:6B:CC:1C:1E:09:B9:B7:49:BF:75:6A:EF:51:DA:AB:08:F5:09:70:1F:75:67:4C:CE:45:B1:29
        a=setup:actpass
        a=mid:2
        a=extmap:1 urn:ietf:params:rtp-hdrext:ssrc-audio-level
        a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time
        a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01
        a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid
        a=recvonly
        a=rtcp-mux
        a=rtcp-rsize
        a=rtcp-xr:rcvr-rtt=all
        a=rtpmap:111 opus/48000/2
        a=rtcp-fb:111 transport-cc
        a=fmtp:111 minptime=10;useinbandfec=1
        a=rtpmap:63 red/48000/2
        a=fmtp:63 111/111
        a=rtpmap:9 G722/8000
        a=rtpmap:0 PCMU/8000
        a=rtpmap:8 PCMA/8000
        a=rtpmap:13 CN/8000
        a=rtpmap:110 telephone-event/48000
        a=rtpmap:126 telephone-event/8000
        """
}
