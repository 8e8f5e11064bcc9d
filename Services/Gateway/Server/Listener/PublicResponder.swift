internal import NIOHTTP1
internal import ServiceKit
internal import WebSocketWire

/// What a request to the public port is answered with that asks for no WebSocket: discovery, and an error for the rest.
struct PublicResponder: HTTPResponder {
    let discovery: Discovery

    func answer(_ request: HTTPRequestHead) async -> HTTPAnswer {
        switch (request.method, HTTPTarget.path(of: request.uri)) {
        case (.GET, "/getaddr"), (.HEAD, "/getaddr"): await discovery.answer()
        case (_, "/getaddr"): .json(status: .methodNotAllowed, #"{"error":"only GET"}"#)
        case (_, "/"):
            .json(
                status: .upgradeRequired, #"{"error":"WebSocket only"}"#,
                headers: ["Sec-WebSocket-Version": WebSocketHandshake.version])
        default: .json(status: .notFound, #"{"error":"no such path"}"#)
        }
    }
}
