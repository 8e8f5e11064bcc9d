import Testing
import WebhookClient

@Suite struct WebhookAnswerTests {
    @Test(
        arguments: [
            (199, .status), (200, nil), (204, nil), (299, nil), (300, .redirect), (307, .redirect), (399, .redirect),
            (400, .status), (503, .status),
        ] as [(Int, WebhookFailure.Cause?)])
    func onlySuccessCounts(_ status: Int, _ cause: WebhookFailure.Cause?) {
        #expect(WebhookAnswer(status: status).failure?.cause == cause)
    }

    @Test(arguments: [(200, true), (404, true), (500, true), (501, true), (502, false), (504, false), (505, true)])
    func aProxysAnswerIsNotTheServers(_ status: Int, _ isFromServer: Bool) {
        #expect(WebhookAnswer(status: status).isFromServer == isFromServer)
    }
}
