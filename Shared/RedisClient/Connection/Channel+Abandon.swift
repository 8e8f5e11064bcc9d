internal import NIOCore
internal import NIOSSL

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

extension Channel {
    /// Closes a socket together with what the server has not received yet; call it on the channel's event loop.
    ///
    /// After an ordinary close the system goes on sending that for minutes. A server that was unreachable meanwhile
    /// would then execute it after newer commands, which came over the next socket.
    func abandon() {
        // Takes effect at once, because this is the channel's event loop.
        _ = (self as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        if let tls = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self) {
            // Skips the end of the TLS session, for which the socket would stay open until the server answers.
            tls.close(promise: nil)
        } else {
            close(promise: nil)
        }
    }
}
