internal import SignalingProtocol

/// Operations about the API itself and the whole cluster.
extension APIOperation {
    static let cluster: [APIOperation] = [
        APIOperation("getError", "GET /v1/errors/{code}", .anybody) { arguments throws(APIProblem) in
            .cluster(.describeError(try arguments.errorCode()))
        },
        APIOperation("getKey", "GET /v1/key", .anyKey) { _ in .cluster(.describeKey) },
        APIOperation("getMetrics", "GET /v1/metrics", .clusterKey(.read)) { _ in .cluster(.getMetrics) },
        APIOperation("listProcesses", "GET /v1/processes", .clusterKey(.read)) { _ in .cluster(.listProcesses) },
    ]
}

extension APIAct {
    package enum Cluster: Equatable, Sendable {
        case describeError(APIErrorCode)
        case describeKey
        /// The metrics of the gateway that answers.
        case getMetrics
        case listProcesses
    }
}

extension APIArguments {
    fileprivate func errorCode() throws(APIProblem) -> APIErrorCode {
        guard let code = APIErrorCode(rawValue: text("code")) else {
            throw APIProblem(.notFound, "there is no such code")
        }
        return code
    }
}
