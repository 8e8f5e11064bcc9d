internal import NIOHTTP1
internal import ServiceKit
internal import WebSocketWire

/// Answers HTTP requests to the public port that are not WebSocket upgrades: discovery, and errors for all others.
struct PublicResponder: HTTPResponder {
    let discovery: Discovery

    func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
        switch (request.method, HTTPTarget.path(of: request.uri)) {
        case (.GET, "/getaddr"), (.HEAD, "/getaddr"): await discovery.answer(to: request.uri)
        case (_, "/getaddr"): .json(status: .methodNotAllowed, #"{"error":"only GET"}"#)
        case (_, "/"):
            .json(
                status: .upgradeRequired, #"{"error":"WebSocket only"}"#,
                headers: ["Sec-WebSocket-Version": WebSocketHandshake.version])
        default: .json(status: .notFound, #"{"error":"no such path"}"#)
        }
    }
}
