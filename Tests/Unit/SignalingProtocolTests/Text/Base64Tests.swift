import Testing

@testable import SignalingProtocol

@Suite("Base64")
struct Base64Tests {
    @Test(
        "The examples of RFC 4648, section 10",
        arguments: [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ])
    func examples(plain: String, encoded: String) {
        #expect(Base64.text(Array(plain.utf8)) == encoded)
        #expect(Base64.bytes(encoded[...]) == Array(plain.utf8))
    }

    @Test("Missing padding is accepted, characters outside the alphabet are not")
    func leniency() {
        #expect(Base64.bytes("Zg") == Array("f".utf8))
        for text in ["Z-==", "Zm 9", "Zm9v\n", "Z_8="] { #expect(Base64.bytes(text[...]) == nil, "\(text)") }
    }
}
