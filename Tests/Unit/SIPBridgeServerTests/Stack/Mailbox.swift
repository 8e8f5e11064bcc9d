@testable import SIPBridgeServer

/// Collects items that arrive, so that a test can wait for them in order.
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

    /// Waits for the next item.
    func next() async -> Item {
        while items.isEmpty {
            await withCheckedContinuation { waiter = $0 }
        }
        return items.removeFirst()
    }
}
