internal import CoreMetrics
internal import Logging
internal import NIOSSL
internal import Synchronization

/// The certificate that clients are shown: read at the start, and again when the operator asks (SIGHUP). A connection keeps
/// the one that its handshake was made with.
final class TLSIdentity: Sendable {
    private let files: GatewayConfiguration.TLSFiles
    private let logger: Logger
    private let current: Mutex<NIOSSLContext>

    /// - Throws: what is wrong with the files.
    init(files: GatewayConfiguration.TLSFiles, logger: Logger) throws {
        self.files = files
        self.logger = logger
        current = Mutex(try Self.read(files))
    }

    /// What new handshakes are made with.
    var context: NIOSSLContext { current.withLock { $0 } }

    /// Reads the files again; where they cannot be used, the certificate stays.
    func reload() {
        do {
            let context = try Self.read(files)
            current.withLock { $0 = context }
            GatewayMetrics.certificateReloads.increment()
            logger.notice("certificate read again")
        } catch {
            GatewayMetrics.certificateReloadFailures.increment()
            logger.error("certificate not read, the old one stays", metadata: ["error": "\(error)"])
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
