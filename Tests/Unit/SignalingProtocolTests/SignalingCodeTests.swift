import SignalingProtocol
import Testing

@Suite struct SignalingCodeTests {
    @Test func retiredCodesAreNotThere() {
        for retired in [104, 106, 107, 205, 502, 705] { #expect(SignalingCode(rawValue: retired) == nil) }
    }

    @Test func theTableIsThatOfTheDocuments() {
        let documented = [
            0, 100, 101, 102, 103, 105, 108, 200, 201, 202, 203, 204, 206, 207, 208, 209, 300, 400, 401, 500, 501, 600,
            601,
            602, 603, 604, 700, 701, 702, 703, 704, 1000, 1001, 1002, 1003, 1004, 1005,
        ]
        #expect(SignalingCode.allCases.map(\.rawValue) == documented)
    }

    @Test func errorsSayTheirCodeReasonAndMessage() {
        #expect("\(SignalingError(.messageOther, .rateLimited, "too many"))" == "400 rate_limited: too many")
        #expect(SignalingError.timeout(.messageTimeout).reason == .timeout)
    }
}
