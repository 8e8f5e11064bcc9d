internal import NIOCore
internal import NIOHTTP1
internal import ServiceKit
internal import WebSocketWire

/// Upgrades an HTTP connection to a WebSocket: the server's side of the opening handshake.
/// Source: RFC 6455, section 4.2.
///
/// NIO's own upgrader is not used because it adds its frame encoder and decoder to every connection
/// (`Docs/decisions/0008-messages-to-users.md`).
struct WebSocketUpgrader: HTTPServerProtocolUpgrader {
    /// The request is not a valid WebSocket handshake for this server; it is then answered as an ordinary HTTP request.
    struct Refusal: Error {}

    let supportedProtocol = "websocket"
    let requiredUpgradeHeaders: [String] = []
    /// Adds the handler that reads the frames; called after the handshake's answer was written and HTTP was removed.
    let carry: @Sendable (any Channel) throws -> Void

    func buildUpgradeResponse(
        channel: any Channel, upgradeRequest: HTTPRequestHead, initialResponseHeaders: HTTPHeaders
    ) -> EventLoopFuture<HTTPHeaders> {
        channel.eventLoop.makeCompletedFuture {
            let headers = upgradeRequest.headers
            let path = HTTPTarget.path(of: upgradeRequest.uri)
            let keys = headers["Sec-WebSocket-Key"]
            guard upgradeRequest.method == .GET, path == "/" || path.isEmpty,
                headers["Sec-WebSocket-Version"] == [WebSocketHandshake.version],
                keys.count == 1, let accept = WebSocketHandshake.accept(key: keys[0])
            else { throw Refusal() }
            return ["Upgrade": "websocket", "Sec-WebSocket-Accept": accept, "Connection": "upgrade"]
        }
    }

    func upgrade(context: ChannelHandlerContext, upgradeRequest: HTTPRequestHead) -> EventLoopFuture<Void> {
        context.eventLoop.makeCompletedFuture { try carry(context.channel) }
    }
}
