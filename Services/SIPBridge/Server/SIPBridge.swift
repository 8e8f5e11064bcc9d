public import ServiceKit

/// The SIP bridge's parts.
public enum SIPBridge {
    /// Builds them; nothing is bound yet.
    public static func assemble(_ context: ServiceContext, _ configuration: SIPBridgeConfiguration) -> ServiceAssembly {
        let listener = SIPListener(configuration: configuration, logger: context.logger)
        return ServiceAssembly(
            services: [listener],
            checks: [ReadinessCheck(name: "sip") { listener.port == nil ? "not listening" : nil }],
            details: {
                listener.port.map { [HealthDetail("sipHost", configuration.host), HealthDetail("sipPort", $0)] } ?? []
            })
    }
}
