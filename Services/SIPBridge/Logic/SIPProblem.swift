/// What is wrong with a message; the text is the reason phrase of the answer.
enum SIPProblem: String, Equatable {
    case startLine = "Malformed Request Line"
    case unfinished = "Header Section Without End"
    case header = "Malformed Header Field"
    case tooManyHeaders = "Too Many Header Fields"
    case missing = "Missing Mandatory Header Field"
    case repeated = "Repeated Header Field"
    case address = "Malformed From Or To"
    case sequence = "Malformed CSeq"
    case callID = "Malformed Call-ID"
    case contentLength = "Malformed Content-Length"
    case contentLengthExceeds = "Content-Length Exceeds Message"
    case maxForwards = "Malformed Max-Forwards"
}
