internal import InvitationServer
internal import ServiceKit

await ServiceMain.run(
    "invitation", settings: { InvitationConfiguration(reading: &$0) },
    assemble: { context, configuration in
        let invitation = try InvitationService(
            context.configuration, configuration: configuration, logger: context.logger)
        return ServiceAssembly(services: [invitation], checks: invitation.readiness)
    })
