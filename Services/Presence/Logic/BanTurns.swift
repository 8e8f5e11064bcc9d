package import SignalingProtocol

/// The order in which the bans of all apps are checked: a page of several apps at a time, apps in turn, so that an app
/// with many bans does not delay the check of another one's. What a round has no time for, the next one begins with.
package struct BanTurns: Sendable {
    /// Apps that are checked together.
    package static let appsAtOnce = 50
    /// Bans that are checked together.
    package static let bansAtOnce = 500

    /// Where the check of an app goes on.
    package struct Place: Equatable, Sendable {
        package var app: AppID
        /// The last account that was checked; empty before the first.
        package var last: String

        package init(app: AppID, last: String) {
            self.app = app
            self.last = last
        }
    }

    /// A page: the apps, and how many bans of each.
    package struct Page: Equatable, Sendable {
        package var places: [Place]
        package var limit: Int

        package init(places: [Place], limit: Int) {
            self.places = places
            self.limit = limit
        }
    }

    /// Apps whose check is not finished, in the order of their turns.
    private var waiting: [Place] = []

    package init() {}

    /// Begins a round.
    /// - Parameter apps: all that have bans. Those that the round before did not come to are first.
    package mutating func begin(_ apps: [AppID]) {
        let present = Set(apps)
        waiting.removeAll { !present.contains($0.app) }
        let known = Set(waiting.map(\.app))
        waiting += apps.filter { !known.contains($0) }.map { Place(app: $0, last: "") }
    }

    /// What is to be checked next; nil when the round is over.
    package var next: Page? {
        guard !waiting.isEmpty else { return nil }
        let places = Array(waiting.prefix(Self.appsAtOnce))
        return Page(places: places, limit: Self.bansAtOnce / places.count)
    }

    /// Reports that a page has been checked.
    /// - Parameter accounts: of each app, the accounts of its bans, sorted.
    package mutating func checked(_ page: Page, _ accounts: [AppID: [Account]]) {
        waiting.removeFirst(page.places.count)
        for place in page.places {
            guard let found = accounts[place.app], found.count == page.limit, let last = found.last else { continue }
            waiting.append(Place(app: place.app, last: last.rawValue))
        }
    }
}
