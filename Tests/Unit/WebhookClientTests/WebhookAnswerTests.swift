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
}
