internal import ClusterState
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
/// It finds every route that is there from the first page to the last, and may find one twice. Whether it finds a route that
/// is added or removed meanwhile is open.
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
    /// How many of them have been asked for.
    private var begun = 0
    /// What the last page asks for, one place per command.
    private var asked: [Place] = []
    /// Where the last page's replies were not the whole set.
    private var unfinished: [Place] = []

    /// - Parameter slots: where to search; default everywhere.
    package init(_ gateway: GatewayID, in slots: SlotScope = .all) {
        self.gateway = gateway
        buckets = (0..<Buckets.count).filter { slots.contains(Buckets.slot(ofBucket: $0)) }
    }

    /// The commands of the next page; none when all these buckets have been searched. The replies to the page before must have been
    /// read.
    package mutating func next() -> [RedisCommand] {
        (asked, unfinished) = (unfinished, [])
        while asked.count < Self.page, begun < buckets.count {
            asked.append(Place(bucket: buckets[begun], cursor: "0"))
            begun += 1
        }
        return asked.map { place in
            RedisCommand(
                "SSCAN", key: KeySpace.routes(gateway, bucket: place.bucket), .string(place.cursor), "COUNT",
                .int(Self.count))
        }
    }

    /// Reads the replies to the last page.
    /// - Returns: the routes; nil when the replies are not those to the page, after which the search cannot go on.
    package mutating func routes(in replies: [RedisValue]) -> [FoundRoute]? {
        guard replies.count == asked.count else { return nil }
        var found: [FoundRoute] = []
        for (place, reply) in zip(asked, replies) {
            guard let parts = reply.array, parts.count == 2, let cursor = parts[0].string, let members = parts[1].array
            else { return nil }
            for member in members {
                guard let text = member.string else { return nil }
                found.append(FoundRoute(bucket: place.bucket, text: text))
            }
            if cursor != "0" { unfinished.append(Place(bucket: place.bucket, cursor: cursor)) }
        }
        return found
    }
}
