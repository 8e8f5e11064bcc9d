package import BusProtocol
package import PostgresStore
package import SignalingProtocol

/// An app as it is.
package struct ActualApp: Sendable {
    /// The app itself.
    package var record: AppRecord
    /// By name.
    package var webhooks: [WebhookName: Webhook] = [:]
    /// Nil when it has none.
    package var hook: BeforeHook?
    /// Nil when it has none.
    package var trunk: SIPTrunk?

    package init(record: AppRecord) { self.record = record }
}

/// What is set up in a cluster.
package struct ActualState: Sendable {
    /// The apps by id.
    package var apps: [AppID: ActualApp]
    /// Whose number each is.
    package var numbers: [String: UserKey]

    package init(apps: [AppID: ActualApp], numbers: [String: UserKey]) {
        self.apps = apps
        self.numbers = numbers
    }
}
