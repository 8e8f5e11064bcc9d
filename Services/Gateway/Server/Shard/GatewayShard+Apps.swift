internal import GatewayLogic
internal import Logging
internal import SignalingProtocol

/// Handles the removal of apps.
extension GatewayShard {
    /// Ends the sessions of apps that the operator has removed.
    func endSessionsOfRemovedApps() {
        for app in Set(sessions.values.compactMap { $0.session.held?.line.user.app }) {
            apps.find(app) { [self] answer in
                guard case .failure(let error) = answer, error.reason == .unknownApp else { return }
                let ended = sessions.values.filter { $0.session.held?.line.user.app == app }
                logger.notice(
                    "ending the sessions of a removed app", metadata: ["app": "\(app)", "sessions": "\(ended.count)"])
                for connection in ended { connection.handle(.end(.logoutOther), on: self) }
            }
        }
    }
}
