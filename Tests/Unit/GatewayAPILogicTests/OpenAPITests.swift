import BusProtocol
import FoundationEssentials
import SignalingProtocol
import SignalingWire
import Testing

@testable import GatewayAPILogic

/// `Docs/openapi.json` lists the operations that there are, and no others.
@Suite struct OpenAPITests {
    private let file: JSONValue

    init() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let bytes = try #require(FileManager.default.contents(atPath: "/\(root)/Docs/openapi.json"))
        file = try JSONValue.parse(bytes)
    }

    private static func members(_ value: JSONValue?) -> [JSONMember] {
        if case .object(let members)? = value { members } else { [] }
    }

    @Test func everyOperationIsInTheFileAndBack() {
        var listed: [String: String] = [:]
        for path in Self.members(file["paths"]) {
            for method in Self.members(path.value) {
                listed[method.value["operationId"]?.string ?? "none"] = "\(method.name.uppercased()) \(path.name)"
            }
        }
        let operations = APIOperation.all.map { ($0.id, "\($0.method) \($0.template)") }
        #expect(listed == Dictionary(uniqueKeysWithValues: operations))
    }

    @Test func scopesBodiesAndRepetitions() throws {
        for path in Self.members(file["paths"]) {
            for method in Self.members(path.value) {
                let id = method.value["operationId"]?.string
                let operation = try #require(APIOperation.all.first { $0.id == id })
                let text = method.value["description"]?.string ?? ""
                if let scope = operation.scope {
                    #expect(text.hasSuffix("Scope: `\(scope.rawValue)`."), "\(operation.id)")
                }
                #expect((method.value["requestBody"] != nil) == operation.hasBody, "\(operation.id)")
                let isRepeatable = method.value["parameters"]?.compactText.contains("IdempotencyKey") == true
                #expect(isRepeatable == operation.isWrite, "\(operation.id)")
                #expect((method.value["security"] != nil) == operation.isPublic, "\(operation.id)")
            }
        }
    }

    @Test func queries() throws {
        for path in Self.members(file["paths"]) {
            for method in Self.members(path.value) {
                let id = method.value["operationId"]?.string
                let operation = try #require(APIOperation.all.first { $0.id == id })
                var names: [String] = []
                if case .array(let parameters)? = method.value["parameters"] {
                    names = parameters.filter { $0["in"]?.string == "query" }.compactMap { $0["name"]?.string }
                }
                #expect(names == operation.parameters, "\(operation.id)")
            }
        }
    }

    @Test func boundsAreThoseOfTheServer() {
        let schemas = file["components"]?["schemas"]
        func bound(_ schema: String, _ name: String) -> Int64? { schemas?[schema]?[name]?.integer }
        #expect(bound("Account", "maxLength") == Int64(Limits.accountBytes))
        #expect(bound("Channel", "maxLength") == Int64(Limits.channelNameBytes))
        #expect(bound("AttributeName", "maxLength") == Int64(Limits.attributeNameBytes))
        #expect(bound("AttributeValue", "maxLength") == Int64(Limits.attributeValueBytes))
        #expect(bound("Message", "maxLength") == Int64(Limits.messageBytes))
        #expect(bound("Seconds", "maximum") == Int64(Limits.messageTimeToLive))
        #expect(bound("CallID", "maxLength") == Int64(APIAct.callBytes.upperBound))
        let digits = schemas?["Digits"]?["properties"]?["digits"]?["maxLength"]?.integer
        #expect(digits == Int64(APIAct.digits.upperBound))
        let extra = schemas?["CallRequest"]?["properties"]?["extra"]?["maxLength"]?.integer
        #expect(extra == Int64(Limits.messageBytes))
        let items = schemas?["Batch"]?["properties"]?["items"]?["maxItems"]?.integer
        let users = schemas?["Broadcast"]?["properties"]?["users"]?["maxItems"]?.integer
        #expect(items == Int64(APIAct.messagesBound) && users == items)
        let presence = schemas?["PresenceQuestion"]?["properties"]?["users"]?["maxItems"]?.integer
        #expect(presence == Int64(APIAct.presenceBound))
    }

    @Test func docsListEveryCode() throws {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let bytes = try #require(FileManager.default.contents(atPath: "/\(root)/Docs/api.md"))
        let page = String(decoding: bytes, as: UTF8.self)
        for code in APIErrorCode.allCases {
            #expect(page.contains("| \(code.status) | `\(code.rawValue)` | \(code.meaning) |"), "\(code)")
        }
    }
}
