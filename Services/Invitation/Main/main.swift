internal import ClusterService
internal import InvitationServer
internal import ServiceKit

await ServiceMain.run(
    "invitation", settings: { InvitationConfiguration(reading: &$0) },
    assemble: { try await ServiceRuntime.assemble(InvitationService($1), $0) })
