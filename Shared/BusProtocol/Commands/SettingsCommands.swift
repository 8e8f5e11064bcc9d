package import SignalingProtocol

/// Makes what settings say of apps, limits, webhooks, hooks, trunks and numbers: all of it, or nothing. Made twice, it
/// changes nothing the second time. Fails with `settings_changed`.
///
/// It may have secrets in clear, and is in Redis with them until it is handled or its deadline is over.
package struct ApplySettings: ServiceCommand {
    /// Bytes of the settings at most, as the server API takes them.
    package static let settingsBytes = 1 << 20

    package static let service = ServiceName.presence
    package static let operation = "settings.apply"
    package static let level: Int64 = 2
    /// The changes that were made, or would be, as a JSON array.
    package typealias Reply = SettingsAnswer
    /// The settings, as a JSON object. Never logged.
    package var settings: String
    /// Whether the changes are only told, not made.
    package var isDryRun: Bool

    package var subject: Subject { .tagged("apps") }

    package init(_ settings: String, isDryRun: Bool) {
        self.settings = settings
        self.isDryRun = isDryRun
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("settings", \.settings), isDryRun: try fields.field("dryRun", \.isDryRun))
    }
}

/// Asks for what is set up, without secrets. Fails with `unknown_app`.
package struct ExportSettings: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "settings.export"
    package static let level: Int64 = 2
    /// The settings as a JSON object, which ``ApplySettings`` takes.
    package typealias Reply = SettingsAnswer
    /// Only this app; nil for all.
    package var app: AppID?

    package var subject: Subject { .tagged("apps") }
    package static var goesToAnyPartition: Bool { true }

    package init(app: AppID?) { self.app = app }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(app: try fields.optional("app", \.app))
    }
}

/// Removes an app with all that is its own. Fails with `unknown_app`, and with `timeout` when there was too much for
/// the time: then a part is gone, and the command can be given again.
package struct RemoveApp: ServiceCommand {
    package static let service = ServiceName.presence
    package static let operation = "app.remove"
    package static let level: Int64 = 2
    package typealias Reply = Done
    package var app: AppID

    package var subject: Subject { .tagged("apps") }

    package init(_ app: AppID) { self.app = app }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(try fields.field("app", \.app))
    }
}

/// What became of settings.
package struct SettingsAnswer: Equatable, Sendable, FieldRecord {
    /// Bytes of ``json`` at most; below ``SignalingProtocol/Limits/replyBytes``.
    package static let bytes = 3 << 20

    /// What was asked for; empty when it was refused.
    package var json: String
    /// Why it was refused, so that nothing was changed; nil when it was not.
    package var refusal: SettingsRefusal?

    /// What was asked for.
    package init(json: String) { self.json = json }

    /// It was refused.
    package init(_ refusal: SettingsRefusal) {
        json = ""
        self.refusal = refusal
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        json = try fields.field("json", \.json)
        refusal = try fields.optionalFields(of: \.refusal, with: "place")
    }
}

/// A setting that is refused.
package struct SettingsRefusal: Equatable, Sendable, FieldRecord {
    /// Its place, such as `apps.demo.limits.messagesPerSecond`.
    package var place: String
    /// What it has to be, such as `must be 1...1000000`.
    package var rule: String
    /// What was found instead; nil for secrets, and where the rule says it.
    package var found: String?

    package init(_ place: String, _ rule: String, found: String? = nil) {
        self.place = place
        self.rule = rule
        self.found = found
    }

    package init<Coder: FieldCoder<Self>>(fields: inout Coder) throws(Coder.Failure) {
        self.init(
            try fields.field("place", \.place), try fields.field("rule", \.rule),
            found: try fields.optional("found", \.found))
    }
}
