import NIOCore
import Testing

@testable import GatewayServer

@Suite struct ReadBuffersTests {
    /// Reads as NIO does.
    private struct Reading {
        var pool = NIOPooledRecvBufferAllocator(capacity: Int(ReadBuffers.readsAtOnce), recvAllocator: ReadBuffers())

        /// - Parameter count: how many bytes have come; nil: as many as there is room for.
        /// - Returns: how much room there was.
        mutating func read(_ count: Int? = nil) -> Int {
            let (_, room) = pool.buffer(allocator: ByteBufferAllocator()) { buffer in
                let room = buffer.writableBytes
                buffer.writeRepeatingByte(0, count: min(count ?? room, room))
                return room
            }
            pool.record(actualReadBytes: min(count ?? room, room))
            return room
        }
    }

    @Test func theBufferThatNIOKeepsIsTinyAndNeverUsedAgain() {
        var reading = Reading()
        #expect(reading.read() == 16)
        for count in [200, 200, 1, 512] { #expect(reading.read(count) == 512) }
        #expect(reading.pool.count == 1, "NIO keeps the first one, and no other")
    }

    @Test func buffersGrowWithWhatComesAndShrinkAfterwards() {
        var reading = Reading()
        #expect(
            (0..<10).map { _ in reading.read() } == [16, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 65_536])
        #expect(reading.read(40_000) == 65_536, "more than half of it was used")
        #expect((0..<9).map { _ in reading.read(1) } == [65_536, 32_768, 16_384, 8192, 4096, 2048, 1024, 512, 512])
    }

    /// Otherwise each connection would have a block of memory for it.
    @Test func itFitsIntoAnExistential() {
        #expect(MemoryLayout<ReadBuffers>.size <= 3 * MemoryLayout<Int>.size)
    }
}
