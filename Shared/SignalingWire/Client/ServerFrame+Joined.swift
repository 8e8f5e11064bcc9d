internal import SignalingProtocol

/// The answer to a join: the longest frame that is sent often. Its up to two hundred members are written straight
/// from the bytes that Redis keeps.
extension ServerFrame {
    static func joined(id: String, joinID: Int64, members: LatestMembers, attributes: [Attribute]) -> [UInt8] {
        var bytes = start(ofCallReturn: id, content: 2 * members.text.count + expectedBytes(attributes))
        JSONText.append(verbatim: #"","{\"result\":\"ok\",\"list\":["#, to: &bytes)
        appendList(members, to: &bytes)
        JSONText.append(verbatim: #"],\"attrs\":{"#, to: &bytes)
        append(attributes, quote: #"\""#, .twice, to: &bytes)
        JSONText.append(verbatim: #"},\"id\":"#, to: &bytes)
        DecimalText.append(joinID, to: &bytes)
        JSONText.append(verbatim: #"}"]]"#, to: &bytes)
        return bytes
    }

    /// Appends the members as `[\"ACCOUNT\",UID]`, separated by commas: the content of a
    /// JSON array inside a JSON string.
    private static func appendList(_ members: LatestMembers, to bytes: inout [UInt8]) {
        if let list = plainList(members) { return bytes.append(contentsOf: list) }
        var separates = false
        members.forEach { uid, account in
            if separates { bytes.append(UInt8(ascii: ",")) }
            separates = true
            JSONText.append(verbatim: #"[\""#, to: &bytes)
            JSONText.appendEscaped(account, .twice, to: &bytes)
            JSONText.append(verbatim: #"\","#, to: &bytes)
            bytes.append(contentsOf: uid)
            bytes.append(UInt8(ascii: "]"))
        }
    }

    /// The list when no account contains what JSON escapes, as in nearly all channels; else nil. It is written without
    /// the checks of an array's appending, which took two fifths of the instructions.
    private static func plainList(_ members: LatestMembers) -> [UInt8]? {
        var isPlain = true
        // A line's space and newline give way to the eight bytes around its account and number.
        let room = members.text.count + 8 * Limits.userListLatest
        let list = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
            func put(_ byte: UInt8) {
                buffer[count] = byte
                count += 1
            }
            func put(_ source: UnsafeBufferPointer<UInt8>) {
                for byte in source { put(byte) }
            }
            members.forEach { uid, account in
                guard isPlain, JSONText.firstSpecial(in: account, from: 0) == account.count else {
                    isPlain = false
                    return
                }
                if count > 0 { put(UInt8(ascii: ",")) }
                put(UInt8(ascii: "["))
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "\""))
                put(account)
                put(UInt8(ascii: "\\"))
                put(UInt8(ascii: "\""))
                put(UInt8(ascii: ","))
                put(uid)
                put(UInt8(ascii: "]"))
            }
        }
        return isPlain ? list : nil
    }
}
