package import SignalingProtocol

/// Asks for an app's settings, which gateways cache for a few seconds. Fails with `unknown_app`.
package struct GetApp: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "app.get"
    package typealias Reply = AppSettings
    package var app: AppID

    package var subject: Subject { .app(app) }
    package static var goesToAnyPartition: Bool { true }

    package init(app: AppID) { self.app = app }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.field("app", \.app))
    }
}

/// The settings of an app that gateways need.
package struct AppSettings: Equatable, Sendable, FieldRecord {
    /// The secret that signs the app's tokens; empty when the app has none. Never logged.
    package var certificate: String
    /// Whether logins must present a token; otherwise `_no_need_token` is accepted too.
    package var tokenRequired: Bool
    /// The limits for the app's users.
    package var limits: AppLimits
    /// The app's server that is asked before some things happen; nil for none.
    package var hook: BeforeHook?
    /// How the app's webhooks tell of messages; nil when none does.
    package var webhookMessages: MessageDetail?

    /// Who is told of the app's messages; nil for nobody.
    package var messageEvents: MessageEvents? {
        MessageEvents(webhook: webhookMessages, stream: limits.streamedMessages)
    }

    package init(
        certificate: String, tokenRequired: Bool, limits: AppLimits = AppLimits(), hook: BeforeHook? = nil,
        webhookMessages: MessageDetail? = nil
    ) {
        self.certificate = certificate
        self.tokenRequired = tokenRequired
        self.limits = limits
        self.hook = hook
        self.webhookMessages = webhookMessages
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            certificate: try fields.field("certificate", \.certificate),
            tokenRequired: try fields.field("required", \.tokenRequired),
            limits: try fields.fields(of: \.limits), hook: try fields.optionalFields(of: \.hook, with: "hook"),
            webhookMessages: try fields.optional("webhookMessages", \.webhookMessages))
    }
}
