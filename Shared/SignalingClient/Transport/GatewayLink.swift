package import NIOCore

/// The connection to the gateway in use. When an attempt to connect was given up and succeeds later, its connection is
/// closed at once. Bound to its event loop.
package final class GatewayLink<Message> {
    /// What happens to a connection.
    package enum Event {
        case connected
        case received(Message)
        /// It could not be made, or has ended.
        case disconnected
    }

    private let bootstrap: LinkBootstrap
    private let decode: (ByteBufferView) throws -> Message
    private var link: Link?
    /// The attempt whose connection is wanted; nil for none.
    private var wanted: Int?

    /// - Parameter decode: reads a message of the gateway.
    package init(_ bootstrap: LinkBootstrap, decode: @escaping (ByteBufferView) throws -> Message) {
        self.bootstrap = bootstrap
        self.decode = decode
    }

    /// Makes a connection.
    /// - Parameters:
    ///   - attempt: a number that no other connection of this object has.
    ///   - handle: called for everything that happens to this connection, while it lives.
    package func connect(to endpoint: GatewayEndpoint, attempt: Int, _ handle: @escaping (Event) -> Void) {
        wanted = attempt
        let bound = NIOLoopBound((self, handle), eventLoop: bootstrap.eventLoop)
        bootstrap.connect(to: endpoint) { bound.value.0.makeLink(attempt, bound.value.1) }
            .assumeIsolated().whenComplete { result in
                switch result {
                case .success: handle(.connected)
                case .failure: handle(.disconnected)
                }
            }
    }

    package func send(_ frame: [UInt8]) { link?.send(frame) }

    /// Continues or pauses reading.
    func setReading(_ reading: Bool) { link?.setReading(reading) }

    /// Ends the connection, or the attempt to make one.
    package func disconnect() {
        let old = link
        link = nil
        wanted = nil
        old?.close()
    }

    private func makeLink(_ attempt: Int, _ handle: @escaping (Event) -> Void) -> Link? {
        guard attempt == wanted else { return nil }
        let link = Link(onText: { [self] in read($0, handle) }, onClose: { handle(.disconnected) })
        self.link = link
        return link
    }

    private func read(_ text: ByteBuffer, _ handle: (Event) -> Void) {
        do {
            handle(.received(try decode(text.readableBytesView)))
        } catch {
            // This gateway violates the protocol; another one may not.
            link?.close()
        }
    }
}
