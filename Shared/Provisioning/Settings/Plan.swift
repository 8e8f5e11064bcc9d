package import BusProtocol
package import PostgresStore
package import SignalingProtocol
internal import SignalingWire

/// One call of a store.
package enum PlannedAct: Equatable, Sendable {
    /// A new app.
    case create(AppID, certificate: String, tokenRequired: Bool, limits: AppLimits)
    /// Whether logins need a token.
    case requireToken(AppID, Bool)
    /// Another certificate.
    case rotate(AppID, certificate: String)
    /// Other limits.
    case limit(AppID, AppPatch)
    /// A new webhook, or another.
    case setWebhook(Webhook)
    /// One webhook less.
    case removeWebhook(WebhookKey)
    /// A new before-hook, or another.
    case setHook(BeforeHook, AppID)
    /// No before-hook.
    case removeHook(AppID)
    /// A new trunk, or another.
    case setTrunk(SIPTrunk)
    /// No trunk.
    case removeTrunk(AppID)
    /// A number's user.
    case setNumber(String, UserKey)
    /// A number that is nobody's.
    case removeNumber(String)
}

/// What makes of a cluster as it is what a file says.
package struct Plan: Sendable {
    /// What changes, for people; empty when all is so already.
    package private(set) var changes: [SettingChange] = []
    /// How: numbers are removed before others are set, so that they can move from one app to another.
    package var acts: [PlannedAct] { removals + others }

    private var removals: [PlannedAct] = []
    private var others: [PlannedAct] = []
    private let newSecret: @Sendable (Int) -> String

    /// Compares.
    /// - Parameter newSecret: makes a secret of so many random bytes.
    /// - Throws: ``SettingProblem`` with the place in the file, when what it says does not go with what there is.
    package init(
        _ desired: DesiredState, over actual: ActualState, newSecret: @escaping @Sendable (Int) -> String
    ) throws(SettingProblem) {
        self.newSecret = newSecret
        var numbers = actual.numbers
        for app in desired.apps {
            for case (let number, .removed) in app.numbers where numbers[number]?.app == app.id {
                numbers[number] = nil
                removals.append(.removeNumber(number))
            }
        }
        for app in desired.apps {
            do throws(SettingProblem) {
                let former = actual.apps[app.id]
                let isOpen = planApp(app, former?.record)
                try planWebhooks(app, former?.webhooks ?? [:])
                try planHook(app, former?.hook)
                try planTrunk(app, former?.trunk, isOpen: isOpen)
                try planNumbers(app, after: numbers, before: actual.numbers)
            } catch {
                throw SettingProblem("\(app.path).\(error.place)", error.rule, found: error.found)
            }
        }
    }

    private mutating func add(_ app: AppID, _ kind: SettingChange.Kind, _ name: String? = nil) {
        changes.append(SettingChange(app: app, kind: kind, name: name, action: .add))
    }

    /// - Returns: whether the app takes logins without a token afterwards.
    private mutating func planApp(_ app: DesiredApp, _ former: AppRecord?) -> Bool {
        let before = former?.limits ?? AppLimits()
        var limits = before
        app.app.apply(to: &limits)
        let limitChanges = SettingChange.between(before.members, and: limits.members, of: app.id, .limit)
        let required = app.app.tokenRequired ?? former?.tokenRequired ?? true
        guard let former else {
            add(app.id, .app)
            changes += SettingChange.between(
                nil, and: [JSONMember("tokenRequired", required)], of: app.id, .app)
            changes += limitChanges
            others.append(
                .create(
                    app.id, certificate: app.app.certificate ?? newSecret(16), tokenRequired: required,
                    limits: limits))
            return !required
        }
        if required != former.tokenRequired {
            others.append(.requireToken(app.id, required))
            changes += SettingChange.between(
                [JSONMember("tokenRequired", former.tokenRequired)],
                and: [JSONMember("tokenRequired", required)], of: app.id, .app)
        }
        if let certificate = app.app.certificate, certificate != former.certificate {
            others.append(.rotate(app.id, certificate: certificate))
            changes.append(SettingChange(app: app.id, kind: .app, name: "certificate"))
        }
        if !limitChanges.isEmpty { others.append(.limit(app.id, app.app)) }
        changes += limitChanges
        return !required
    }

    /// A thing of an app.
    private struct Thing {
        var kind: SettingChange.Kind
        var app: AppID
        /// Its name, where the app may have several; nil for the standard one.
        var name: String?
    }

    /// Notes how a thing of an app changes.
    /// - Parameters:
    ///   - former: its values; nil when it is new.
    ///   - replacesSecret: whether the secret of one that was there is another.
    /// - Returns: whether anything changes.
    private mutating func note(
        _ thing: Thing, from former: [JSONMember]?, to members: [JSONMember], replacesSecret: Bool
    ) -> Bool {
        var found = SettingChange.between(former, and: members, of: thing.app, thing.kind)
        if replacesSecret { found.append(SettingChange(app: thing.app, kind: thing.kind, name: "secret")) }
        if let name = thing.name {
            for index in found.indices { found[index].name = found[index].name.map { "\(name).\($0)" } }
        }
        if former == nil { add(thing.app, thing.kind, thing.name) }
        changes += found
        return !found.isEmpty
    }

    /// Notes that a thing of an app is removed, if there is one.
    private mutating func remove(_ thing: Thing, _ act: PlannedAct, isThere: Bool) {
        guard isThere else { return }
        changes.append(SettingChange(app: thing.app, kind: thing.kind, name: thing.name, action: .remove))
        others.append(act)
    }

    private mutating func planWebhooks(
        _ app: DesiredApp, _ former: [WebhookName: Webhook]
    ) throws(SettingProblem) {
        var names = Set(former.keys)
        for desired in app.webhooks {
            try planWebhook(desired, of: app.id, former[desired.name])
            if case .removed = desired.webhook { names.remove(desired.name) } else { names.insert(desired.name) }
        }
        guard app.webhooks.isEmpty || names.count <= WebhookKey.mostOfApp else {
            throw SettingProblem(
                "webhooks", "must leave the app at most \(WebhookKey.mostOfApp) webhooks", found: "\(names.count)")
        }
    }

    private mutating func planWebhook(
        _ desired: DesiredWebhook, of app: AppID, _ former: Webhook?
    ) throws(SettingProblem) {
        let key = WebhookKey(app: app, name: desired.name)
        let thing = Thing(kind: .webhook, app: app, name: key.name == .standard ? nil : key.name.rawValue)
        switch desired.webhook {
        case .removed: remove(thing, .removeWebhook(key), isThere: former != nil)
        case .set(let patch):
            let webhook: Webhook
            do throws(SettingProblem) {
                webhook = try patch.applied(to: former, of: key) { newSecret(32) }
            } catch {
                throw SettingProblem("\(desired.place).\(error.place)", error.rule)
            }
            let replaces = former.map { $0.secret != webhook.secret } ?? false
            if note(thing, from: former?.members, to: webhook.members, replacesSecret: replaces) {
                others.append(.setWebhook(webhook))
            }
        }
    }

    private mutating func planHook(_ app: DesiredApp, _ former: BeforeHook?) throws(SettingProblem) {
        let thing = Thing(kind: .hook, app: app.id)
        switch app.hook {
        case nil: return
        case .removed: remove(thing, .removeHook(app.id), isThere: former != nil)
        case .set(let patch):
            let hook: BeforeHook
            do throws(SettingProblem) {
                hook = try patch.applied(to: former) { newSecret(32) }
            } catch {
                throw SettingProblem("hook.\(error.place)", error.rule)
            }
            let replaces = former.map { $0.secret != hook.secret } ?? false
            if note(thing, from: former?.members, to: hook.members, replacesSecret: replaces) {
                others.append(.setHook(hook, app.id))
            }
        }
    }

    private mutating func planTrunk(
        _ app: DesiredApp, _ former: SIPTrunk?, isOpen: Bool
    ) throws(SettingProblem) {
        let thing = Thing(kind: .trunk, app: app.id)
        switch app.trunk {
        case nil: return
        case .removed: remove(thing, .removeTrunk(app.id), isThere: former != nil)
        case .set(let patch):
            let trunk: SIPTrunk
            do throws(SettingProblem) {
                trunk = try patch.applied(to: former, of: app.id, isOpen: isOpen)
            } catch {
                throw SettingProblem("trunk.\(error.place)", error.rule)
            }
            let replaces = former?.secret != nil && trunk.secret != nil && former?.secret != trunk.secret
            if note(thing, from: former?.members, to: trunk.members, replacesSecret: replaces) {
                others.append(.setTrunk(trunk))
            }
        }
    }

    private mutating func planNumbers(
        _ app: DesiredApp, after numbers: [String: UserKey], before: [String: UserKey]
    ) throws(SettingProblem) {
        for (number, user) in app.numbers {
            let former = before[number]
            switch user {
            case .removed:
                guard former?.app == app.id else { continue }
                changes.append(SettingChange(app: app.id, kind: .number, name: number, action: .remove))
            case .set(let account):
                if let other = numbers[number], other.app != app.id {
                    throw SettingProblem("numbers", "has \(number), which belongs to the app \(other.app)")
                }
                let user = UserKey(app: app.id, account: account)
                guard numbers[number] != user else { continue }
                let before = former?.app == app.id ? former?.account.rawValue : nil
                changes.append(
                    SettingChange(
                        app: app.id, kind: .number, name: number, before: before.map { .string($0) },
                        after: .string(account.rawValue), action: before == nil ? .add : .change))
                others.append(.setNumber(number, user))
            }
        }
    }
}
