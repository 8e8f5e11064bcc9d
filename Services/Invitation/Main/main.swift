internal import InvitationServer
internal import ServiceKit

await ServiceMain.run(
    "invitation", settings: { InvitationConfiguration(reading: &$0) },
    assemble: { try await InvitationService.assemble($0, $1) })
