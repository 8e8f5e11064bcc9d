internal import BusProtocol
internal import ClusterBus
internal import GatewayAPILogic
internal import SignalingProtocol
internal import SignalingWire

/// What is set up.
extension APIPerformer {
    /// Its commands have ids of their own, also for repetitions of a request: settings that are applied twice change
    /// nothing the second time, and an id that is made of a request's digest is in log lines and the audit trail,
    /// where nothing may be that is computed from secrets.
    func perform(_ act: APIAct.Settings) async throws -> Outcome {
        switch act {
        case .export(let app):
            return Outcome(try Self.json(try await shards.next().ask(ExportSettings(app: app)), "nothing was read"))
        case .apply(let settings, let isDryRun):
            let text = settings.compactText
            let answer = try await shards.next().ask(ApplySettings(text, isDryRun: isDryRun))
            return Outcome(
                JSONMember("changes", try Self.json(answer, "nothing was changed")), JSONMember("dryRun", isDryRun),
                work: APIWork(bytes: text.utf8.count))
        case .removeApp(let app):
            _ = try await shards.next().ask(RemoveApp(app))
            return Outcome(JSONMember("app", app.rawValue))
        }
    }

    private static func json(_ answer: SettingsAnswer, _ consequence: String) throws -> JSONValue {
        if let refusal = answer.refusal {
            let found = refusal.found.map { "; it is \($0)" } ?? ""
            throw APIProblem(
                .invalidArgument, "\(refusal.place) \(refusal.rule)\(found); \(consequence)", field: refusal.place,
                bound: refusal.rule)
        }
        do {
            return try JSONValue.parse(answer.json.utf8)
        } catch {
            throw SignalingError.unreadableAnswer
        }
    }
}
