import Testing

@testable import ClusterBus
@testable import RedisClient

@Suite struct EntriesInWorkTests {
    @Test func sameEntryOnce() {
        let entries = EntriesInWork(bound: 2)
        let name = EntriesInWork.Name(stream: 0, id: "1-1")
        #expect(entries.add(name))
        #expect(!entries.add(name))
        entries.remove(name)
        #expect(entries.add(name))
        // Entries of different streams may have equal ids.
        #expect(entries.add(EntriesInWork.Name(stream: 1, id: "1-1")))
        #expect(entries.older(than: .seconds(60), in: 0).isEmpty)
        #expect(entries.older(than: .seconds(-1), in: 0) == ["1-1"])
    }

    @Test(.timeLimit(.minutes(1))) func roomComesWhenOneEnds() async {
        let entries = EntriesInWork(bound: 2)
        #expect(await entries.room() == 2)
        _ = entries.add(EntriesInWork.Name(stream: 0, id: "1-1"))
        _ = entries.add(EntriesInWork.Name(stream: 0, id: "2-1"))
        async let room = entries.room()
        entries.remove(EntriesInWork.Name(stream: 0, id: "1-1"))
        #expect(await room == 1)
    }
}
