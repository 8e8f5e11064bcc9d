import SignalingProtocol
import SignalingWire

/// The section about media.
extension ProtocolPage {
    static func media() throws -> [String] {
        var sections = ["## Media", introduction]
        try sections.append(section(MediaTable.hello))
        sections += try MediaTable.functions.map(section)
        sections.append("### Refusals of media calls")
        sections.append(
            wrapped(
                "The codes are those of the media SDK, whose numbers mean other things elsewhere on this page. The "
                    + "reason is the second element of the answer, as for other calls. Calls about a participant (all "
                    + "but joins and leaves): up to \(MediaSocketBounds.changes) a second on a socket, after "
                    + "\(MediaSocketBounds.changesAtOnce) at once."))
        sections.append(
            table(
                "| code | reason | meaning |",
                MediaRefusal.allCases.map { "| \($0.code) | `\($0.rawValue)` | \($0.message) |" }))
        try sections.append(examples(["server/reply-media-failed"]))
        sections.append("### Events of media channels")
        sections.append(
            wrapped(
                "`[\"notify\",[\"media\",EVENT]]`, to every socket with a participant whom it concerns. All have `t`, "
                    + "the kind, `channel`, and `pid`, the receiver's own participant. A user's own changes are not "
                    + "told to itself."
            ))
        sections += try MediaTable.events.map { event in
            joined(["`\(event.name)`: \(event.meaning).", fields(event.fields), try examples(["server/\(event.file)"])])
        }
        return sections
    }

    private static let introduction = wrapped(
        "Users of a media channel hear each other through a media node; how media travels is in [media.md](media.md). "
            + "Media calls are `call2` too. They are made with a session's line, or on a socket that `media_hello` has "
            + "opened. They are answered when they are ready, not in the order of the other calls, and up to "
            + "\(MediaSocketBounds.calls) may be unanswered on a socket. Their arguments must be of the right type.")

    private static func section(_ function: MediaFunctionDeclaration) throws -> String {
        let rows = function.arguments.map {
            "| `\($0.name)`\($0.isRequired ? "" : ", optional") | \($0.bounds) | \($0.meaning) |"
        }
        let files = function.calls.map { "client/\($0)" } + function.answers.map { "server/\($0.file)" }
        return try joined([
            "### `\(function.function.rawValue)`", wrapped(function.summary),
            table("| argument | bounds | meaning |", rows),
            fields(function.reply + function.answers.flatMap(\.fields)), examples(files),
        ])
    }
}
