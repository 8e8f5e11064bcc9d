internal import Logging
internal import NIOSSL
internal import ServiceMetrics
internal import Synchronization

/// The certificate of the TLS port, loaded at the start and reloaded when the operator asks (SIGHUP).
///
/// Connections keep the certificate of their handshake.
final class TLSIdentity: Sendable {
    private let files: GatewayConfiguration.TLSFiles
    private let logger: Logger
    private let current: Mutex<NIOSSLContext>

    /// - Throws: when a file cannot be read or used.
    init(files: GatewayConfiguration.TLSFiles, logger: Logger) throws {
        self.files = files
        self.logger = logger
        current = Mutex(try Self.read(files))
    }

    /// The context for new handshakes.
    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reloads the files; when they cannot be used, the previous certificate stays in use.
    func reload() {
        do {
            let context = try Self.read(files)
            current.withLock { $0 = context }
            GatewayMetrics.shared.certificateReloads.increment()
            logger.notice("reloaded the certificate")
        } catch {
            GatewayMetrics.shared.certificateReloadFailures.increment()
            logger.error("could not reload the certificate; keeping the old one", metadata: ["error": "\(error)"])
        }
    }

    private static func read(_ files: GatewayConfiguration.TLSFiles) throws -> NIOSSLContext {
        let chain = try NIOSSLCertificate.fromPEMFile(files.certificateChain).map(NIOSSLCertificateSource.certificate)
        let key = try NIOSSLPrivateKey(file: files.privateKey, format: .pem)
        var settings = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain, privateKey: .privateKey(key))
        settings.minimumTLSVersion = .tlsv12
        return try NIOSSLContext(configuration: settings)
    }
}
