internal import BusProtocol
internal import PostgresStore
internal import SignalingProtocol

extension ActualState {
    /// Reads what is set up.
    init(on session: any PostgresSession) async throws(PostgresError) {
        var apps: [AppID: ActualApp] = [:]
        for record in try await AppStore(pool: session).list() { apps[record.id] = ActualApp(record: record) }
        for record in try await WebhookStore(pool: session).list() {
            apps[record.webhook.key.app]?.webhooks[record.webhook.key.name] = record.webhook
        }
        for record in try await BeforeHookStore(pool: session).list() { apps[record.app]?.hook = record.hook }
        for trunk in try await TrunkStore(pool: session).list() { apps[trunk.app]?.trunk = trunk }
        var numbers: [String: UserKey] = [:]
        for number in try await NumberStore(pool: session).list() { numbers[number.number] = number.user }
        self.init(apps: apps, numbers: numbers)
    }
}
