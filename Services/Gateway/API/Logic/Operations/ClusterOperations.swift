internal import BusProtocol
internal import SignalingProtocol

/// Operations about the API itself and the whole cluster.
extension APIOperation {
    static let cluster: [APIOperation] = [
        APIOperation("getError", "GET /v1/errors/{code}", .anybody, act: APIArguments.getError),
        APIOperation("getKey", "GET /v1/key", .anyKey, act: APIArguments.getKey),
        APIOperation("getMetrics", "GET /v1/metrics", .clusterKey(.read), act: APIArguments.getMetrics),
        APIOperation("listProcesses", "GET /v1/processes", .clusterKey(.read), act: APIArguments.listProcesses),
        APIOperation("listStores", "GET /v1/stores", .clusterKey(.read), act: APIArguments.listStores),
        APIOperation(
            "drainProcess", "POST /v1/processes/{process}/drain", .clusterKey(.admin), act: APIArguments.drainProcess),
    ]
}

extension APIAct {
    package enum Cluster: Equatable, Sendable {
        case describeError(APIErrorCode)
        case describeKey
        /// The metrics of the gateway that answers.
        case getMetrics
        case listProcesses
        /// How Redis and PostgreSQL are doing.
        case listStores
        /// The process with this id.
        case drainProcess(String)
    }
}

extension APIArguments {
    fileprivate func getError() throws(APIProblem) -> APIAct {
        guard let code = APIErrorCode(rawValue: text("code")) else {
            throw APIProblem(.notFound, "there is no such code")
        }
        return .cluster(.describeError(code))
    }

    fileprivate func getKey() -> APIAct { .cluster(.describeKey) }
    fileprivate func getMetrics() -> APIAct { .cluster(.getMetrics) }
    fileprivate func listProcesses() -> APIAct { .cluster(.listProcesses) }
    fileprivate func listStores() -> APIAct { .cluster(.listStores) }

    fileprivate func drainProcess() throws(APIProblem) -> APIAct {
        let (process, bytes) = (text("process"), DrainProcess.idBytes)
        guard bytes.contains(process.utf8.count), process.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APIProblem.invalid("process", "1...\(bytes.upperBound) visible ASCII characters")
        }
        return .cluster(.drainProcess(process))
    }
}
