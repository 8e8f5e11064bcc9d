/// The address at which clients reach a gateway.
struct GatewayAddress: Hashable, Sendable {
    /// An IPv4 address in dotted form.
    var host: String
    /// The port of plain WebSocket; TLS is on the next one.
    var port: Int
}
