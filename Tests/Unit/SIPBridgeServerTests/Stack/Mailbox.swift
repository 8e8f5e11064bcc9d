/// What arrived, to be waited for in order. Used within one actor.
final class Mailbox<Item> {
    private var items: [Item] = []
    private var waiter: CheckedContinuation<Void, Never>?

    var isEmpty: Bool { items.isEmpty }

    func put(_ item: Item) {
        items.append(item)
        waiter?.resume()
        waiter = nil
    }

    /// The next item, as soon as it is there.
    func next(isolation: isolated (any Actor)? = #isolation) async -> Item {
        while items.isEmpty {
            await withCheckedContinuation(isolation: isolation) { waiter = $0 }
        }
        return items.removeFirst()
    }
}
