@testable import SIPBridgeServer

/// What arrived, to be waited for in order.
@SIPThread
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
    func next() async -> Item {
        while items.isEmpty {
            await withCheckedContinuation { waiter = $0 }
        }
        return items.removeFirst()
    }
}
