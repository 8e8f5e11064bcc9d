internal import Glibc
package import SignalingProtocol

/// A channel's latest members as the answer to a join lists them: `[\"ACCOUNT\",UID]` for each, newest first, separated
/// by commas, which is the content of a JSON array inside a JSON string.
///
/// While a channel fills, each of those who join gets the list of the one before, and a member or a few more. So a list
/// can be written from the one before.
package struct MemberListText: Equatable, Sendable {
    /// What the list is written from.
    package let latest: LatestMembers
    /// The list.
    package let bytes: [UInt8]
    /// Where each member ends in the list.
    private let ends: [Int]

    /// The bytes of memory that it takes, roughly.
    package var size: Int { latest.text.count + bytes.count + ends.count * MemoryLayout<Int>.stride }

    /// Writes a list.
    /// - Parameters:
    ///   - members: the members.
    ///   - former: the channel's list as it was written before, if known: what both have is copied from it if
    ///     nobody has left in between.
    package init(_ members: LatestMembers, after former: MemberListText? = nil) {
        let former = former.flatMap { members.begin(with: $0.latest) ? $0 : nil }
        var list = Writing(members, from: former?.latest.text.count ?? 0)
        if let former { list.append(former) }
        latest = members
        bytes = list.bytes
        ends = list.ends
    }

    /// A list that is being written.
    private struct Writing {
        var bytes: [UInt8] = []
        var ends: [Int] = []

        /// Writes those whose lines begin at `start` or behind it.
        init(_ members: LatestMembers, from start: Int) {
            guard !writePlain(members, from: start) else { return }
            writeEscaped(members, from: start)
        }

        /// Appends those of a list for whom there is room.
        mutating func append(_ older: MemberListText) {
            let room = Limits.userListLatest - ends.count
            guard let end = older.ends.prefix(room).last else { return }
            if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
            let before = bytes.count
            bytes.append(contentsOf: older.bytes.prefix(end))
            ends.append(contentsOf: older.ends.prefix(room).lazy.map { before + $0 })
        }

        /// Writes the list when no account contains what JSON escapes, as in nearly all channels; else returns false.
        ///
        /// It is written without the checks of an array's appending, which took two fifths of the instructions.
        private mutating func writePlain(_ members: LatestMembers, from start: Int) -> Bool {
            let length = members.text.count - start
            // No line that counts has less than four bytes, if it is not the last.
            let most = min(Limits.userListLatest, length / 4 + 1)
            // A line's space and newline give way to the eight bytes around its account and number.
            let room = length + 8 * most
            var isPlain = true
            ends = [Int](unsafeUninitializedCapacity: most) { ends, listed in
                bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                    members.forEach(from: start) { uid, account in
                        guard isPlain, JSONText.firstSpecial(in: account, from: 0) == account.count else {
                            isPlain = false
                            return
                        }
                        Self.putPlain(uid, account, at: &count, of: buffer)
                        ends[listed] = count
                        listed += 1
                    }
                }
            }
            return isPlain
        }

        /// Writes one of them into a buffer that has room for it.
        @inline(__always)
        private static func putPlain(
            _ uid: UnsafeBufferPointer<UInt8>, _ account: UnsafeBufferPointer<UInt8>, at count: inout Int,
            of buffer: UnsafeMutableBufferPointer<UInt8>
        ) {
            func put(_ byte: UInt8) {
                buffer[count] = byte
                count += 1
            }
            func put(_ source: UnsafeBufferPointer<UInt8>) {
                for byte in source { put(byte) }
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

        private mutating func writeEscaped(_ members: LatestMembers, from start: Int) {
            bytes = []
            ends = []
            members.forEach(from: start) { uid, account in
                if !bytes.isEmpty { bytes.append(UInt8(ascii: ",")) }
                JSONText.append(verbatim: #"[\""#, to: &bytes)
                JSONText.appendEscaped(account, .twice, to: &bytes)
                JSONText.append(verbatim: #"\","#, to: &bytes)
                bytes.append(contentsOf: uid)
                bytes.append(UInt8(ascii: "]"))
                ends.append(bytes.count)
            }
        }
    }
}

extension LatestMembers {
    /// Whether they are the same members as before, and perhaps others who have joined since.
    fileprivate func begin(with former: LatestMembers) -> Bool {
        guard former.text.count <= text.count, former.text.last == UInt8(ascii: "\n") else { return false }
        return former.text.withUnsafeBytes { old in
            text.withUnsafeBytes { new in memcmp(old.baseAddress!, new.baseAddress!, old.count) == 0 }
        }
    }
}
