import SignalingProtocol
import Testing

@Suite struct ChannelLinesTests {
    @Test func `channels come back, one per line`() throws {
        let channels = [try ChannelName("a b"), try ChannelName("é")]
        #expect(ChannelLines.text(channels) == "a b\né")
        #expect(ChannelLines.channels("a b\né") == channels)
    }

    @Test func `an empty field holds none, and what is no name is left out`() throws {
        #expect(ChannelLines.text([]) == "")
        #expect(ChannelLines.channels("") == [])
        let long = String(repeating: "x", count: 1000)
        #expect(ChannelLines.channels("\na\n\n\(long)\n") == [try ChannelName("a")])
    }
}
