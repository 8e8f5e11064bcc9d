import Testing

@testable import RedisClient

@Suite struct RedisErrorTests {
    @Test func missingFunction() {
        #expect(RedisError(reply: "ERR Function not found").isFunctionMissing)
        #expect(!RedisError(reply: "ERR Library not found").isFunctionMissing)
        #expect(RedisError(reply: "ERR Library 'due_12345678' already exists").isLibraryThere)
        #expect(!RedisError(reply: "ERR Error compiling function").isLibraryThere)
    }
}
