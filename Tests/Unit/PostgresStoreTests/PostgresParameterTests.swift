import SignalingProtocol
import Testing

@testable import PostgresStore

@Suite struct PostgresParameterTests {
    private func text(_ parameter: PostgresParameter) throws -> String? {
        try parameter.terminated().map { String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self) }
    }

    @Test func scalarsAsText() throws {
        #expect(try text(.null) == nil)
        #expect(try text("héllo \u{1F600}") == "héllo \u{1F600}")
        #expect(try text(.int(.min)) == "-9223372036854775808")
        #expect(try text(true) == "t")
        #expect(try text(.optional(nil as String?)) == nil)
        #expect(try text(.optional(7)) == "7")
        #expect(try PostgresParameter.text("").terminated() == [0])
    }

    @Test func arraysAreQuoted() throws {
        #expect(try text(.texts(["a", nil, "", "NULL"])) == #"{"a",NULL,"","NULL"}"#)
        #expect(try text(.texts([#"a"b\c"#, "{,}"])) == #"{"a\"b\\c","{,}"}"#)
        #expect(try text(.ints([1, nil, -2])) == "{1,NULL,-2}")
        #expect(try text(.bools([true, false])) == "{t,f}")
        #expect(try text(.texts([])) == "{}")
    }

    @Test func nulIsRefused() {
        let error = #expect(throws: PostgresError.self) { try PostgresParameter.text("a\0b").terminated() }
        #expect(error?.kind == .nul)
        #expect(error?.signaling.code == .wrongParameter)
        #expect(throws: PostgresError.self) { try PostgresParameter.texts(["a", "\0"]).terminated() }
    }
}
