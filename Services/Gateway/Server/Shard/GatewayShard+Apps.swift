internal import BusProtocol
internal import GatewayLogic
internal import Logging
internal import SignalingProtocol

/// Handles the removal of apps, and changes of their hooks and of who is told of their messages.
extension GatewayShard {
    /// Who is told of an app's messages; nil for nobody.
    func messageEvents(of app: AppID) -> MessageEvents? { messageEvents.isEmpty ? nil : messageEvents[app] }

    /// Takes from an app's settings who is told of its messages, and its hook; tells the app's sessions of a change of
    /// the latter. Those that are not logged in yet learn of it when they are.
    func adopt(_ settings: AppSettings, of app: AppID) {
        messageEvents[app] = settings.messageEvents
        guard hooks.adopt(settings.hook, of: app) else { return }
        let points = hooks.points(of: app)
        for connection in sessions.values where connection.session.user?.app == app {
            connection.handle(.session(.hooks(points)), on: self)
        }
    }

    /// Tells presence what apps have used here.
    func reportUsage(within limit: Duration) async {
        await withCheckedContinuation { reported in usage.report(within: limit) { reported.resume() } }
    }

    /// Ends the sessions of apps that the operator has removed, and follows changes of the others' hooks.
    func lookAfterApps() {
        let present = Set(sessions.values.compactMap { $0.session.held?.line.user.app })
        // Those that are logging in or being resumed will have the hook too.
        let connected = Set(connections.values.compactMap { $0.session.app })
        hooks.forget(except: connected)
        // A hook that is held lets sessions send while the app's settings cannot be read.
        messageEvents = messageEvents.filter { app, _ in connected.contains(app) || hooks.heldPoints(of: app) != nil }
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
