/// Asks for an app's settings, which gateways cache for a few seconds. Fails with `unknown_app`.
package struct GetApp: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "app.get"
    /// The app's settings.
    package typealias Reply = AppSettings
    package var app: AppID

    package init(app: AppID) { self.app = app }
}

/// What a gateway must know of an app.
package struct AppSettings: Equatable, Sendable {
    /// The secret that tokens are made with; empty when the app has none. Never logged.
    package var certificate: String
    /// Whether logins must carry a token; otherwise `_no_need_token` is accepted too.
    package var tokenRequired: Bool
    /// How much its users may send.
    package var limits: AppLimits

    package init(certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits()) {
        self.certificate = certificate
        self.tokenRequired = tokenRequired
        self.limits = limits
    }
}
