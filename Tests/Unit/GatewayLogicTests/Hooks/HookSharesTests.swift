import BusProtocol
import SignalingProtocol
import Testing

@testable import GatewayLogic

@Suite struct HookSharesTests {
    private let one = ClientAddress(bytes: [192, 0, 2, 1])
    private let other = ClientAddress(bytes: [192, 0, 2, 2])

    @Test(arguments: [(1, 4), (32, 4), (64, 8), (1000, 125)])
    func anAddressHasAnEighth(_ questions: Int, _ bound: Int) {
        #expect(HookShares(of: questions).bound == bound)
    }

    @Test func anAddressThatHasItsShareLeavesRoomForOthers() {
        var shares = HookShares(of: 64)
        for _ in 1...shares.bound {
            #expect(shares.hasRoom(for: one))
            shares.asked(one)
        }
        #expect(!shares.hasRoom(for: one))
        #expect(shares.hasRoom(for: other))
        shares.answered(one)
        #expect(shares.hasRoom(for: one))
    }

    @Test func addressesThatAreExemptAreNotCounted() {
        var shares = HookShares(of: 64)
        for _ in 1...100 { shares.asked(nil) }
        #expect(shares.hasRoom(for: nil))
        shares.answered(nil)
        #expect(shares.hasRoom(for: one))
    }

    /// Load alone must not let anything past a server that would deny it.
    @Test func whatGoesOnUnasked() throws {
        let url = try #require(WebhookURL("https://a/"))
        var hook = BeforeHook(url: url, secret: "s", points: HookPoints([.send]))
        func thatFailOpen() -> [HookFailure] { HookFailure.allCases.filter { $0.failsOpen(with: hook) } }
        #expect(thatFailOpen() == [])
        hook.refusesBusy = true
        #expect(thatFailOpen() == [])
        hook.failsOpen = true
        #expect(thatFailOpen() == HookFailure.allCases.filter { $0 != .share && $0 != .busy })
        hook.refusesBusy = false
        #expect(thatFailOpen() == HookFailure.allCases.filter { $0 != .share })
    }
}
