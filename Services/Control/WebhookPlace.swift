internal import ArgumentParser
internal import BusProtocol
internal import SignalingProtocol

/// Which of an app's webhooks a command is about.
struct WebhookPlace: SettingPlace {
    @Argument(help: "The app.")
    var app: AppID

    @Option(help: "Which of the app's webhooks: \(WebhookName.rule).")
    var name = WebhookName.standard.rawValue

    func validate() throws {
        guard WebhookName(name) != nil else { throw ValidationError("--name must be \(WebhookName.rule)") }
    }

    var key: WebhookKey { WebhookKey(app: app, name: WebhookName(name) ?? .standard) }
}

extension WebhookKey: SettingKey {
    var suffix: String { name == .standard ? "" : " \(name)" }

    /// How a command line names it.
    var arguments: String { name == .standard ? app.rawValue : "\(app) --name \(name)" }
}
