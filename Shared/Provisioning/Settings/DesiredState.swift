package import BusProtocol
package import SignalingProtocol
internal import SignalingWire

/// What a file says of one thing that an app has or not.
package enum Desired<Patch: Equatable & Sendable>: Equatable, Sendable {
    /// It is to be there, changed like this.
    case set(Patch)
    /// It is not to be there.
    case removed
}

/// What a file says of one of an app's webhooks.
package struct DesiredWebhook: Equatable, Sendable {
    /// Its name.
    package var name: WebhookName
    /// Where it is in what the file says of the app.
    package var place: String
    /// How it is to be.
    package var webhook: Desired<WebhookPatch>
}

/// What a file says of an app.
package struct DesiredApp: Equatable, Sendable {
    /// The app's id.
    package var id: AppID
    /// Where in the file it is.
    package var path: String
    /// The app itself.
    package var app = AppPatch()
    /// By name, in the order of the file; others stay.
    package var webhooks: [DesiredWebhook] = []
    /// Nil: as it is.
    package var hook: Desired<HookPatch>?
    /// Nil: as it is.
    package var trunk: Desired<TrunkPatch>?
    /// By number, in the order of the file; others stay.
    package var numbers: [(number: String, user: Desired<Account>)] = []

    package static func == (one: DesiredApp, other: DesiredApp) -> Bool {
        one.id == other.id && one.app == other.app && one.webhooks == other.webhooks && one.hook == other.hook
            && one.trunk == other.trunk && one.numbers.elementsEqual(other.numbers, by: ==)
    }
}

/// What a file says of a cluster.
package struct DesiredState: Equatable, Sendable {
    /// What problems call the file as a whole.
    package static let place = "the file"
    /// The form of the file, which it may name as `version`.
    package static let version = 1
    /// The largest file, in bytes.
    package static let longestFile = 4 << 20
    /// The apps of a file.
    package static let mostApps = 1000
    /// The numbers of a file, of all apps.
    package static let mostNumbers = 10_000

    /// The apps, in the order of the file.
    package var apps: [DesiredApp]

    /// Reads a file, and checks all that can be checked without a cluster.
    /// - Parameter secrets: how the file gives secrets.
    /// - Throws: ``SettingProblem`` with the place in the file.
    package init(_ bytes: [UInt8], secrets: SecretSource) throws(SettingProblem) {
        guard bytes.count <= Self.longestFile else {
            throw SettingProblem(Self.place, "must have at most \(Self.longestFile) bytes")
        }
        let value: JSONValue
        do throws(SignalingError) {
            value = try JSONValue.parse(bytes)
        } catch {
            throw SettingProblem(Self.place, "must be JSON: \(error.message)")
        }
        apps = []
        for (name, place) in try FilePlace(value).members(["version", "apps"]) {
            switch name {
            case "version":
                guard place.value == .number(String(Self.version)) else {
                    throw place.problem("must be \(Self.version)")
                }
            default: try read(apps: place, secrets)
            }
        }
    }

    private mutating func read(apps place: FilePlace, _ secrets: SecretSource) throws(SettingProblem) {
        let members = try place.members()
        guard members.count <= Self.mostApps else {
            throw SettingProblem(
                place.path, "must have at most \(Self.mostApps) apps", found: "an object of \(members.count)")
        }
        var owners: [String: String] = [:]
        for (name, place) in members {
            let app = try DesiredApp(name, place, secrets: secrets)
            for case (let number, .set) in app.numbers {
                if let other = owners.updateValue(app.path, forKey: number) {
                    throw SettingProblem(place.path(of: "numbers"), "has \(number), which \(other) has too")
                }
            }
            guard owners.count <= Self.mostNumbers else {
                throw SettingProblem(Self.place, "must have at most \(Self.mostNumbers) numbers")
            }
            apps.append(app)
        }
    }
}

extension DesiredWebhook {
    /// Reads and checks a webhook.
    fileprivate init(
        _ name: WebhookName, _ path: String, _ file: FilePlace, secrets: SecretSource
    ) throws(SettingProblem) {
        self.init(
            name: name, place: path,
            webhook: try file.isRemoval() ? .removed : .set(try WebhookPatch(file, secrets: secrets)))
    }
}

extension DesiredApp {
    private static let names = [
        "tokenRequired", "certificate", "limits", "webhook", "webhooks", "hook", "trunk", "numbers",
    ]

    /// Reads and checks what a file says of an app.
    init(_ name: String, _ file: FilePlace, secrets: SecretSource) throws(SettingProblem) {
        do throws(SignalingError) {
            id = try AppID(name)
        } catch {
            throw SettingProblem(file.path, "must be the name of an app: \(error.message)")
        }
        path = file.path
        guard file.value["remove"] == nil else {
            throw SettingProblem(
                file.path, "cannot be removed by a file, with all its users and calls: use `heliographctl app remove`")
        }
        for (name, place) in try file.members(Self.names) {
            switch name {
            case "tokenRequired": app.tokenRequired = try place.flag()
            case "certificate": app.certificate = try place.secret(from: secrets)
            case "limits": try app.readLimits(place)
            case "webhook":
                webhooks.append(try DesiredWebhook(.standard, "webhook", place, secrets: secrets))
            case "webhooks": webhooks += try Self.webhooks(place, secrets: secrets)
            case "hook": hook = try place.isRemoval() ? .removed : .set(try HookPatch(place, secrets: secrets))
            case "trunk": trunk = try place.isRemoval() ? .removed : .set(try TrunkPatch(place, secrets: secrets))
            default: numbers = try Self.numbers(place)
            }
        }
        do throws(SettingProblem) { try app.check() } catch { throw error.within(file) }
    }

    private static func webhooks(
        _ file: FilePlace, secrets: SecretSource
    ) throws(SettingProblem) -> [DesiredWebhook] {
        var webhooks: [DesiredWebhook] = []
        for (text, place) in try file.members() {
            guard let name = WebhookName(text) else { throw SettingProblem(place.path, "must be \(WebhookName.rule)") }
            guard name != .standard else { throw SettingProblem(place.path, "is written as webhook") }
            webhooks.append(try DesiredWebhook(name, "webhooks.\(name)", place, secrets: secrets))
        }
        return webhooks
    }

    private static func numbers(_ file: FilePlace) throws(SettingProblem) -> [(String, Desired<Account>)] {
        var numbers: [(String, Desired<Account>)] = []
        for (number, place) in try file.members() {
            guard TrunkPatch.isNumber(number) else {
                throw SettingProblem(place.path, "must be a number of 1 to 64 letters, digits or +*#-._")
            }
            guard try !place.isRemoval() else {
                numbers.append((number, .removed))
                continue
            }
            guard let account = try? Account(new: try place.text()) else {
                throw place.problem("must be an account that can log in")
            }
            numbers.append((number, .set(account)))
        }
        return numbers
    }
}
