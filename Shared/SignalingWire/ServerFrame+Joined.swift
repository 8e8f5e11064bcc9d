internal import SignalingProtocol

/// The answer to a join, the longest that is sent often: two hundred members are written without a value in between.
extension ServerFrame {
    static func joined(id: String, joinID: Int64, members: LatestMembers, attributes: [Attribute]) -> [UInt8] {
        let changes = ReplyBody.object(attributes).compactText
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * members.text.count + changes.utf8.count * 5 / 4 + 160)
        bytes.append(contentsOf: "[\"call2-ret\",[".utf8)
        bytes.append(contentsOf: id.utf8)
        bytes.append(contentsOf: #","","{\"result\":\"ok\",\"list\":["#.utf8)
        appendList(members, to: &bytes)
        bytes.append(contentsOf: #"],\"attrs\":"#.utf8)
        JSONText.appendEscaped(changes, to: &bytes)
        bytes.append(contentsOf: #",\"id\":"#.utf8)
        DecimalText.append(joinID, to: &bytes)
        bytes.append(contentsOf: "}\"]]".utf8)
        return bytes
    }

    /// The members as `[\"ACCOUNT\",UID]`, separated: the content of a JSON array inside of a JSON string.
    private static func appendList(_ members: LatestMembers, to bytes: inout [UInt8]) {
        let (backslash, quote) = (UInt8(ascii: "\\"), UInt8(ascii: "\""))
        var separates = false
        members.forEach { uid, account in
            if separates { bytes.append(UInt8(ascii: ",")) }
            separates = true
            bytes.append(UInt8(ascii: "["))
            bytes.append(backslash)
            bytes.append(quote)
            if account.allSatisfy({ $0 >= 0x20 && $0 != quote && $0 != backslash }) {
                bytes.append(contentsOf: account)
            } else {
                // Once as a text in the list, once more as a part of the text that the list stands in.
                var escaped: [UInt8] = []
                JSONText.appendEscaped(account, to: &escaped)
                escaped.withUnsafeBufferPointer { JSONText.appendEscaped($0, to: &bytes) }
            }
            bytes.append(backslash)
            bytes.append(quote)
            bytes.append(UInt8(ascii: ","))
            bytes.append(contentsOf: uid)
            bytes.append(UInt8(ascii: "]"))
        }
    }
}
