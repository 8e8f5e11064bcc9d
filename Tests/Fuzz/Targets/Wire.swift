import SignalingProtocol

@testable import SignalingClient
@testable import SignalingWire
@testable import WebSocketWire

extension FuzzTarget {
    /// Frames from a client to a gateway, and from a gateway to a client.
    static let wire = [
        FuzzTarget("websocket") { input in
            let (how, rest) = input.split
            for reader in [WebSocketFrameReader(), WebSocketFrameReader(bound: 200, takesBinary: true)] {
                let whole = WebSocketReading(rest.pieces(0), by: reader)
                let pieces = WebSocketReading(rest.pieces(how | 1), by: reader)
                holds(whole == pieces, "frames are the same, however they arrive")
                holds(pieces.isBounded, "no more is kept than the bound")
            }
        },
        FuzzTarget("opening") { input in
            let bytes = Array(input.bytes)
            let whole = OpeningHead(bytes.span)
            if case .webSocket(_, let size) = whole {
                holds(OpeningHead(Array(bytes[..<size]).span) == whole, "a head does not depend on what follows it")
            }
            // However it arrives: what is certain early is so later.
            for count in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 16)) {
                let part = OpeningHead(Array(bytes[..<count]).span)
                holds(part == .incomplete || part == whole, "what a part of a head says holds for the whole")
            }
        },
        FuzzTarget("json") { input in
            let value = try? JSONValue.parse(input.bytes)
            if let value {
                let again = try? JSONValue.parse(value.compactText.utf8)
                holds(again == value, "a value's own text is that value")
            }
            input.bytes.withUnsafeBufferPointer { bytes in
                let isText = String(validating: bytes, as: UTF8.self) != nil
                holds(UTF8Text.isValid(bytes) == isText, "UTF-8 is what the standard library takes for it")
                let outlined: JSONValue? = try? JSONScanner.scan(bytes) { scanner throws(SignalingError) in
                    let outline = try JSONOutline(&scanner)
                    _ = outline.member("name", of: outline.root)
                    if let (first, second) = outline.pair(at: outline.root) {
                        holds(
                            .array([outline.value(at: first), outline.value(at: second)])
                                == outline.value(at: outline.root),
                            "a pair is the list of its two")
                    }
                    if let (_, _, third) = outline.triple(at: outline.root) { _ = outline.text(at: third) }
                    return outline.value(at: outline.root)
                }
                holds(outlined == value, "an outline takes what a value takes")
            }
        },
        FuzzTarget("client-frame") { input in
            let frame = try? ClientFrame(decoding: input.bytes, line: "line")
            holds(frame == (try? ClientFrame(decoding: input.bytes, line: "line")), "a frame is read the same twice")
            if frame != nil { holds((try? JSONValue.parse(input.bytes)) != nil, "a frame is JSON") }
        },
        FuzzTarget("server-message") { input in
            if (try? ServerMessage(decoding: input.bytes)) != nil {
                holds((try? JSONValue.parse(input.bytes)) != nil, "a message is JSON")
            }
        },
    ]
}

/// The messages read from a WebSocket connection.
private struct WebSocketReading: Equatable {
    private enum Read: Equatable {
        case message(WebSocketFrameReader.Message, [UInt8])
        case violation(WebSocketCloseCode)
    }

    private var reads: [Read] = []
    private(set) var isBounded = true

    static func == (left: Self, right: Self) -> Bool { left.reads == right.reads }

    init(_ pieces: [[UInt8]], by first: WebSocketFrameReader) {
        var reader = first
        var payload: [UInt8] = []
        for piece in pieces {
            var position = 0
            do {
                while let message = try reader.next(in: piece.span.bytes, from: &position, payload: &payload) {
                    reads.append(.message(message, message == .close ? [] : payload))
                    // Nothing is read after a close frame.
                    if message == .close { return }
                }
            } catch {
                reads.append(.violation(error.code))
                return
            }
            // A frame header has at most 14 bytes.
            if reader.kept.count > Limits.frameBytes + 14 || reader.gathered?.count ?? 0 > Limits.frameBytes {
                isBounded = false
            }
        }
    }
}
