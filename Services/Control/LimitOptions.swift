internal import ArgumentParser
internal import BusProtocol
package import Provisioning

/// The options for an app's limits. Limits that are not given keep their values; a new app gets the defaults.
struct LimitOptions: ParsableArguments {
    @Option(help: "Channel messages of one session a second, and as many instant messages; 1000000: no limit.")
    var messagesPerSecond: Int?

    @Option(help: "Messages of one channel a second; 1000000: no limit.")
    var channelMessagesPerSecond: Int?

    @Option(help: "Other calls of one session a second (queries, joins, invitations); 1000000: no limit.")
    var actsPerSecond: Int?

    @Option(help: "Attribute changes of one session a second; 1000000: no limit.")
    var attributeChangesPerSecond: Int?

    @Option(help: "Attribute changes of one channel a second; 1000000: no limit.")
    var channelAttributeChangesPerSecond: Int?

    @Option(help: "Most messages that wait for one user; once half full, each sender may have a quarter.")
    var mailboxEntries: Int?

    @Option(help: "Most bytes of messages that wait for one user, likewise.")
    var mailboxBytes: Int?

    @Option(help: "Whether clients may join the special channels, which announce logins and joins.")
    var specialChannels: AppPatch.SpecialChannels?

    @Option(help: "Whether the server API's streams of events tell of messages, and with their texts.")
    var messageEvents: AppPatch.MessageEvents?

    /// What the options say.
    var patch: AppPatch {
        let options = [
            "messagesPerSecond": messagesPerSecond, "channelMessagesPerSecond": channelMessagesPerSecond,
            "actsPerSecond": actsPerSecond, "attributeChangesPerSecond": attributeChangesPerSecond,
            "channelAttributeChangesPerSecond": channelAttributeChangesPerSecond,
            "mailboxEntries": mailboxEntries, "mailboxBytes": mailboxBytes,
        ]
        for limit in AppLimits.all where options[limit.name] == nil {
            preconditionFailure("\(limit.name) has no option")
        }
        var patch = AppPatch()
        patch.limits = options.compactMapValues(\.self)
        patch.specialChannels = specialChannels
        patch.messageEvents = messageEvents
        return patch
    }

    func validate() throws {
        do throws(SettingProblem) { try patch.check() } catch { throw ValidationError(error) }
    }
}

extension AppPatch.SpecialChannels: ExpressibleByArgument {}
extension AppPatch.MessageEvents: ExpressibleByArgument {}
