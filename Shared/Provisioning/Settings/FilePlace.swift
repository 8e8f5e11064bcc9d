internal import BusProtocol
internal import SignalingWire

/// A value of a file, and where it is.
struct FilePlace {
    let value: JSONValue
    let path: String

    init(_ value: JSONValue, path: String = "") {
        self.value = value
        self.path = path
    }

    /// The path of a member, such as `apps.demo.limits`; names with other characters are quoted.
    func path(of name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || "-_+".utf8.contains(byte)
            }
        guard !isPlain else { return path.isEmpty ? name : "\(path).\(name)" }
        return "\(path)[\(JSONValue.string(Rule.shortened(name)).compactText)]"
    }

    func problem(_ rule: String) -> SettingProblem {
        SettingProblem(path.isEmpty ? DesiredState.place : path, rule, found: shown)
    }

    /// The value for an error. Of what has parts only its kind: among them may be a secret that is at the wrong place.
    private var shown: String {
        switch value {
        case .object(let members) where !members.isEmpty: "an object"
        case .array(let values) where !values.isEmpty: "a list of \(values.count)"
        case .null, .bool, .number, .string, .array, .object: Rule.shortened(value.compactText)
        }
    }

    /// The members of an object, none of them twice.
    /// - Parameter known: the names that it may have; nil for any.
    func members(_ known: [String]? = nil) throws(SettingProblem) -> [(name: String, place: FilePlace)] {
        guard case .object(let members) = value else { throw problem("must be an object") }
        var seen: Set<String> = []
        var places: [(String, FilePlace)] = []
        for member in members {
            let place = FilePlace(member.value, path: path(of: member.name))
            if let known, !known.contains(member.name) {
                throw SettingProblem(place.path, "is unknown: there are \(known.joined(separator: ", "))")
            }
            guard seen.insert(member.name).inserted else { throw SettingProblem(place.path, "is there twice") }
            places.append((member.name, place))
        }
        return places
    }

    /// Whether the value is `{"remove": true}`.
    func isRemoval() throws(SettingProblem) -> Bool {
        guard case .object(let members) = value, let mark = members.first(where: { $0.name == "remove" }) else {
            return false
        }
        guard members.count == 1, mark.value == .bool(true) else {
            throw problem("must be {\"remove\":true} alone where it is to be removed")
        }
        return true
    }

    func text() throws(SettingProblem) -> String {
        guard case .string(let text) = value else { throw problem("must be a string") }
        return text
    }

    func flag() throws(SettingProblem) -> Bool {
        guard case .bool(let flag) = value else { throw problem("must be true or false") }
        return flag
    }

    func integer() throws(SettingProblem) -> Int {
        guard case .number(let text) = value, let number = Int(text) else { throw problem("must be a whole number") }
        return number
    }

    func word<Word: RawRepresentable<String> & CaseIterable>() throws(SettingProblem) -> Word {
        guard let word = Word(rawValue: try text()) else {
            throw problem("must be \(Word.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return word
    }

    /// The elements of a list.
    func list() throws(SettingProblem) -> [FilePlace] {
        guard case .array(let values) = value else { throw problem("must be a list") }
        return values.enumerated().map { FilePlace($1, path: "\(path)[\($0)]") }
    }

    /// A list of words, none of them twice, at least one.
    func words<Word: RawRepresentable<String> & CaseIterable & Hashable>() throws(SettingProblem) -> [Word] {
        var words: [Word] = []
        for place in try list() {
            let word: Word = try place.word()
            guard !words.contains(word) else { throw place.problem("is there twice") }
            words.append(word)
        }
        guard !words.isEmpty else { throw problem("must have one word at least") }
        return words
    }

    func url() throws(SettingProblem) -> WebhookURL {
        guard let url = WebhookURL(try text()) else {
            throw problem(
                "must be an http or https URL of up to \(WebhookURL.maxBytes) bytes, without user and fragment")
        }
        return url
    }
}
