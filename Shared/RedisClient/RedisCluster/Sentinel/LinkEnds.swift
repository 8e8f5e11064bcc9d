/// At which server each link of a shard ends: all must end at the same one. With the commands at one server and the
/// subscriptions at another, no event would ever arrive. No I/O.
struct LinkEnds: Sendable, Equatable {
    typealias Link = Int

    /// By link: the id that the server has chosen at its start.
    private var runIDs: [Link: String] = [:]

    /// A link has been opened.
    /// - Returns: the links that must be dropped, because they end elsewhere. The latest link counts: a server that has
    ///   gone may leave half-open links behind, whose end is noticed much later.
    mutating func opened(_ link: Link, runID: String) -> [Link] {
        let others = runIDs.filter { $0.key != link && $0.value != runID }.keys.sorted()
        for other in others { runIDs[other] = nil }
        runIDs[link] = runID
        return others
    }

    /// A link has been closed, or is about to be opened anew.
    mutating func closed(_ link: Link) { runIDs[link] = nil }
}
