internal import BusProtocol
internal import GatewayLogic
internal import Logging
internal import SignalingProtocol

/// Handles the removal of apps, and changes of their hooks.
extension GatewayShard {
    /// Takes an app's hook, as its settings have it, and tells the app's sessions of a change; those that are not
    /// logged in yet learn of it when they are.
    func adopt(_ hook: BeforeHook?, of app: AppID) {
        guard hooks.adopt(hook, of: app) else { return }
        let points = hooks.points(of: app)
        for connection in sessions.values where connection.session.user?.app == app {
            connection.handle(.session(.hooks(points)), on: self)
        }
    }

    /// Ends the sessions of apps that the operator has removed, and follows changes of the others' hooks.
    func lookAfterApps() {
        let present = Set(sessions.values.compactMap { $0.session.held?.line.user.app })
        // Those that are logging in or being resumed will have the hook too.
        hooks.forget(except: Set(connections.values.compactMap { $0.session.app }))
        for app in present {
            apps.renew(app) { [self] answer in
                guard case .failure(let error) = answer, error.reason == .unknownApp else { return }
                let ended = sessions.values.filter { $0.session.held?.line.user.app == app }
                logger.notice(
                    "ending the sessions of a removed app", metadata: ["app": "\(app)", "sessions": "\(ended.count)"])
                for connection in ended { connection.handle(.session(.end(.logoutOther)), on: self) }
            }
        }
    }
}
