internal import SignalingProtocol
internal import SignalingWire

/// Reads the members of a JSON object in a request. What is wrong is reported with the member's place and what is
/// allowed.
struct APIFields {
    private let members: [JSONMember]
    /// The place of the object with a dot at its end; empty for the body itself.
    private let place: String

    /// - Parameters:
    ///   - place: where the object is, such as `items[2]`; empty for the body itself.
    ///   - known: the names that it may have: an unknown one is likely a mistake that would be overlooked otherwise.
    init(_ value: JSONValue, at place: String = "", known: [String]) throws(APIProblem) {
        guard case .object(let members) = value else {
            guard place.isEmpty else { throw APIProblem.invalid(place, "an object") }
            throw APIProblem(.malformed, "the body must be a JSON object", bound: "a JSON object")
        }
        self.members = members
        self.place = place.isEmpty ? "" : place + "."
        for (index, member) in members.enumerated() {
            let name = self.place + member.name
            guard known.contains(member.name) else {
                throw APIProblem(
                    .invalidArgument, "there is no such member here", field: String(name.prefix(200)),
                    bound: known.joined(separator: ", "))
            }
            guard !members[..<index].contains(where: { $0.name == member.name }) else {
                throw APIProblem.invalid(name, "given once")
            }
        }
    }

    /// The place of a member, as reports name it.
    func place(of name: String) -> String { place + name }

    /// Whether there is a member of this name, be it `null`.
    func has(_ name: String) -> Bool { members.contains { $0.name == name } }

    subscript(_ name: String) -> JSONValue? { members.first { $0.name == name }?.value }

    /// A text of so many bytes of UTF-8.
    func text(_ name: String, bytes: ClosedRange<Int>) throws(APIProblem) -> String {
        guard let text = self[name]?.string, bytes.contains(text.utf8.count) else {
            throw APIProblem.invalid(place(of: name), "a string of \(bytes.lowerBound)...\(bytes.upperBound) bytes")
        }
        return text
    }

    /// A whole number; `standard` where it is missing, unless that is nil.
    func integer(_ name: String, in range: ClosedRange<Int>, standard: Int? = nil) throws(APIProblem) -> Int {
        if let standard, !has(name) { return standard }
        guard case .number(let text)? = self[name], let number = Int(text), range.contains(number) else {
            throw APIProblem.invalid(
                place(of: name), "a whole number of \(range.lowerBound)...\(range.upperBound)")
        }
        return number
    }

    /// A list of so many elements.
    func list(_ name: String, count: ClosedRange<Int>) throws(APIProblem) -> [JSONValue] {
        guard case .array(let values)? = self[name], count.contains(values.count) else {
            throw APIProblem.invalid(place(of: name), "a list of \(count.lowerBound)...\(count.upperBound)")
        }
        return values
    }

    /// An account of a user whom something is about that exists.
    func account(_ name: String) throws(APIProblem) -> Account {
        try Self.account(self[name], at: place(of: name))
    }

    /// An account that need not exist yet.
    func newAccount(_ name: String) throws(APIProblem) -> Account {
        try Self.newAccount(self[name], at: place(of: name))
    }

    static func account(_ value: JSONValue?, at place: String) throws(APIProblem) -> Account {
        try APINames.account(try name(value, at: place), at: place)
    }

    static func newAccount(_ value: JSONValue?, at place: String) throws(APIProblem) -> Account {
        try APINames.newAccount(try name(value, at: place), at: place)
    }

    private static func name(_ value: JSONValue?, at place: String) throws(APIProblem) -> String {
        guard let text = value?.string else { throw APIProblem.invalid(place, "a string") }
        return text
    }
}
