import Testing

@testable import GatewayAPILogic

@Suite struct ConnectionPlacesTests {
    @Test func theOneThatWaitsLongestGivesItsPlaceUp() {
        var places = ConnectionPlaces(bound: 2, addressBound: 9)
        #expect(places.opened(from: "a") == .admitted(1))
        #expect(places.opened(from: "a") == .admitted(2))
        #expect(places.opened(from: "b") == .admittedInsteadOf(other: 1, 3))
        places.began(2)
        places.waits(2, isProven: false)
        #expect(places.opened(from: "b") == .admittedInsteadOf(other: 3, 4))
        #expect(places.count == 2)
    }

    @Test func strangersGiveTheirPlacesUpBeforeServersDo() {
        var places = ConnectionPlaces(bound: 2, addressBound: 9)
        _ = places.opened(from: "server")
        places.began(1)
        places.waits(1, isProven: true)
        _ = places.opened(from: "stranger")
        #expect(places.opened(from: "other") == .admittedInsteadOf(other: 2, 3))
        places.began(3)
        #expect(places.opened(from: "other") == .admittedInsteadOf(other: 1, 4))
    }

    @Test func requestsInProgressKeepTheirPlaces() {
        var places = ConnectionPlaces(bound: 1, addressBound: 9)
        _ = places.opened(from: "a")
        places.began(1)
        #expect(places.opened(from: "b") == .full)
        places.closed(1)
        #expect(places.opened(from: "b") == .admitted(2))
    }

    @Test func anAddressHasABoundAndExemptOnesHaveNone() {
        var places = ConnectionPlaces(bound: 9, addressBound: 2)
        _ = places.opened(from: "a")
        _ = places.opened(from: "a")
        #expect(places.opened(from: "a") == .addressIsFull)
        #expect(places.opened(from: "b") == .admitted(3))
        for id in 4...6 { #expect(places.opened(from: nil) == .admitted(UInt64(id))) }
        places.closed(1)
        // A second time, as when an evicted connection has ended: nothing is counted twice.
        places.closed(1)
        #expect(places.opened(from: "a") == .admitted(7))
        #expect(places.opened(from: "a") == .addressIsFull)
    }
}
