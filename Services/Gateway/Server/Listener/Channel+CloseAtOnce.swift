internal import NIOCore

extension Channel {
    /// Closes a client's connection and drops waiting output, without TLS's closing handshake, which would wait for the
    /// client too. Called on the channel's event loop.
    func closeAtOnce() {
        if let tls = try? pipeline.syncOperations.context(name: PublicListener.tlsHandler) {
            tls.close(mode: .all, promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
