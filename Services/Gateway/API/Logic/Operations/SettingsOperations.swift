internal import BusProtocol
package import SignalingProtocol
package import SignalingWire

/// What is set up: apps, limits, webhooks, hooks, trunks and numbers.
extension APIOperation {
    static let settings: [APIOperation] = [
        APIOperation(
            "exportSettings", "GET /v1/settings", .clusterKey(.admin), .query(["app"]),
            act: APIArguments.exportSettings),
        APIOperation(
            "applySettings", "POST /v1/settings", .clusterKey(.admin),
            .body(upTo: ApplySettings.settingsBytes, query: ["dryRun"]), act: APIArguments.applySettings),
        APIOperation("removeApp", "DELETE /v1/apps/{app}", .clusterKey(.admin), act: APIArguments.removeApp),
    ]
}

extension APIAct {
    package enum Settings: Equatable, Sendable {
        /// What is set up; of one app, or of all.
        case export(AppID?)
        /// The settings may have secrets.
        case apply(JSONValue, isDryRun: Bool)
        case removeApp(AppID)
    }
}

extension APIArguments {
    fileprivate func exportSettings() throws(APIProblem) -> APIAct {
        .settings(.export(try queriedApp()))
    }

    fileprivate func removeApp() throws(APIProblem) -> APIAct { .settings(.removeApp(try app())) }

    /// What the settings say is checked where they are applied.
    fileprivate func applySettings() throws(APIProblem) -> APIAct {
        _ = try fields("version", "apps")
        let isDryRun = try query.word("dryRun", of: ["false", "true"]) == "true"
        return .settings(.apply(body, isDryRun: isDryRun))
    }
}
