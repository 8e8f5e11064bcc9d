internal import ClusterState
internal import DequeModule
package import RedisClient
package import SignalingProtocol

/// A route that a ``RouteScan`` has found.
package struct FoundRoute: Hashable, Sendable {
    /// The bucket in whose set it is.
    package let bucket: Int
    /// The member of the set; `SessionRoute` parses it.
    package let text: String
}

/// A search through buckets for the routes of one gateway, in pages of commands that are sent together.
///
/// It finds every route that is there from the first page to the last, and may find one twice. Whether it finds a route
/// that is added or removed meanwhile is open. The buckets of masters that are away, and those without an answer, are
/// left out, so that the others do not wait for them (``missed``).
package struct RouteScan: Sendable {
    /// The number of commands in a page.
    package static let page = 128
    /// The approximate number of routes in a reply. A gateway with 100,000 sessions has 25 in a bucket.
    private static let count = 100

    /// A bucket, and the cursor from which its scan continues.
    private struct Place {
        var bucket: Int
        var cursor: String
    }

    private let gateway: GatewayID
    /// The buckets that are searched.
    private let buckets: [Int]
    /// How many of them have been asked for, or left out.
    private var begun = 0
    /// What the last page asks for, one place per command.
    private var asked: [Place] = []
    /// The buckets to ask again, because a reply had only a part of their routes or because they were left out.
    private var unfinished: Deque<Place> = []
    /// What was left out.
    private var leftOut: [Place] = []

    /// - Parameter slots: where to search; default everywhere.
    package init(_ gateway: GatewayID, in slots: SlotScope = .all) {
        self.gateway = gateway
        buckets = (0..<Buckets.count).filter { slots.contains(Buckets.slot(ofBucket: $0)) }
    }

    /// Goes on to the next page. The results of the page before must have been read.
    /// - Parameter isReachable: whether a slot's master can be asked; the buckets of others are left out.
    package mutating func turn(isReachable: (UInt16) -> Bool = { _ in true }) {
        asked = []
        while asked.count < Self.page, let place = takeNext() {
            if isReachable(Buckets.slot(ofBucket: place.bucket)) { asked.append(place) } else { leftOut.append(place) }
        }
    }

    private mutating func takeNext() -> Place? {
        if let place = unfinished.popFirst() { return place }
        guard begun < buckets.count else { return nil }
        begun += 1
        return Place(bucket: buckets[begun - 1], cursor: "0")
    }

    /// The commands of the page; none when all has been asked that could be.
    package var commands: [RedisCommand] {
        asked.map { place in
            RedisCommand(
                "SSCAN", key: KeySpace.routes(gateway, bucket: place.bucket), .string(place.cursor), "COUNT",
                .int(Self.count))
        }
    }

    /// Reads the results of the page's ``commands``, one for each. Without a readable reply a bucket is left out.
    package mutating func routes(in results: [Result<RedisValue, RedisError>]) -> [FoundRoute] {
        var found: [FoundRoute] = []
        for (index, place) in asked.enumerated() {
            guard index < results.count, case .success(let reply) = results[index],
                let (cursor, texts) = Self.contents(of: reply)
            else {
                leftOut.append(place)
                continue
            }
            found += texts.map { FoundRoute(bucket: place.bucket, text: $0) }
            if cursor != "0" { unfinished.append(Place(bucket: place.bucket, cursor: cursor)) }
        }
        asked = []
        return found
    }

    /// A reply to SSCAN: the next cursor, and members. Nil for any other value.
    private static func contents(of reply: RedisValue) -> (cursor: String, texts: [String])? {
        guard let parts = reply.array, parts.count == 2, let cursor = parts[0].string, let members = parts[1].array
        else { return nil }
        let texts = members.compactMap(\.string)
        return texts.count == members.count ? (cursor, texts) : nil
    }

    /// The slots of the buckets that were left out.
    package var missed: SlotScope { .slots(Set(leftOut.map { Buckets.slot(ofBucket: $0.bucket) })) }

    /// Leaves out the buckets of routes that were found and could not be dealt with, so that these are found again.
    package mutating func putBack(_ routes: [FoundRoute]) {
        let known = Set(leftOut.filter { $0.cursor == "0" }.map(\.bucket))
        for bucket in Set(routes.map(\.bucket)).subtracting(known).sorted() {
            leftOut.append(Place(bucket: bucket, cursor: "0"))
        }
    }

    /// Has what was left out asked for by the pages that follow.
    package mutating func askAgain() {
        unfinished += leftOut
        leftOut = []
    }
}

extension RedisClient {
    /// Asks for the next page of a search; may be called from any thread.
    /// - Returns: the routes that it contains; nil when all has been asked that could be.
    package func nextRoutes(of scan: inout RouteScan) async -> [FoundRoute]? {
        let before = scan
        scan = await read {
            var scan = before
            scan.turn { self.isReachable(slot: $0) }
            return scan
        }
        let commands = scan.commands
        return commands.isEmpty ? nil : scan.routes(in: await execute(commands))
    }

    /// Puts routes back into the search when their masters are away now; may be called from any thread.
    /// - Returns: the routes whose masters answer.
    package func reachable(_ routes: [FoundRoute], of scan: inout RouteScan) async -> [FoundRoute] {
        let slots = Set(routes.map { Buckets.slot(ofBucket: $0.bucket) })
        let there: Set<UInt16> = await read { slots.filter { self.isReachable(slot: $0) } }
        scan.putBack(routes.filter { !there.contains(Buckets.slot(ofBucket: $0.bucket)) })
        return routes.filter { there.contains(Buckets.slot(ofBucket: $0.bucket)) }
    }
}
