/// All bounds of the API. Sources: Signaling API 1.4.4 (English and Chinese); where they disagree, the larger one.
/// Unless stated otherwise, a bound is the largest allowed number.
package enum Limits {
    /// Bytes of an app id.
    package static let appIDBytes = 64
    /// Bytes of an account.
    package static let accountBytes = 128
    /// Bytes of a channel name.
    package static let channelNameBytes = 128
    /// Bytes of an attribute name.
    package static let attributeNameBytes = 128
    /// Bytes of a user's or a channel's attribute value.
    package static let attributeValueBytes = 8096
    /// Attributes of one user or channel. `0009_attribute_bounds.sql` contains the same number: change both.
    package static let attributesPerOwner = 1000
    /// Bytes of the attributes of one user or channel, names and values. Also in
    /// `0009_attribute_bounds.sql`: change both.
    package static let attributeBytesPerOwner = 1 << 20
    /// Changes to one channel's attributes per second, in the whole cluster. `_setattr_limit` additionally limits each
    /// attribute.
    package static let channelAttributeChangesPerSecond = 200
    /// Bytes of a message to a user or a channel, and of an invitation's `extra`.
    package static let messageBytes = 8192
    /// Bytes of one client frame.
    package static let frameBytes = 65_536
    /// Bytes of a client's frames before its login: enough for the longest tokens in use.
    package static let loginFrameBytes = 16_384
    /// Bytes of a frame on a socket that was opened for media alone: a page's offer may have 64 KiB before it is JSON.
    package static let mediaFrameBytes = 131_072
    /// Bytes of calls that wait for a resume; at this size nothing more is read from the client.
    package static let heldCallBytes = 65_536
    /// Bytes of calls that wait for their turn; at this size nothing more is read from the client.
    package static let waitingCallBytes = 524_288
    /// Bytes of entries in one mailbox answer, unless a single entry is larger; the client is told that there are more.
    package static let mailboxAnswerBytes = 262_144
    /// Requests per second for settings of apps that an event loop of a gateway does not know, after a burst of
    /// ``appQuestionsBurst``. Most such app ids are invented.
    package static let appQuestionsPerSecond = 100
    /// Such requests at once after a quiet time.
    package static let appQuestionsBurst = 1000
    /// Entries that a client may request in one mailbox answer.
    package static let mailboxPage = 1...1000
    /// Members listed in the answer to a join: the latest.
    package static let userListLatest = 200
    /// The largest `num` of `channel_query_userlist_all`, and its default. The answer lists fewer members:
    /// channel-state bounds their number and bytes (`MemberQueries`).
    package static let userListAll = 1_000_000
    /// Bans and mutes of one channel, those too that have ended but were not deleted yet.
    package static let restrictionsPerChannel = 1000
    /// Channel messages of one session per second. Messages to users are counted separately, with the same bound.
    package static let messagesPerSecond = 60
    /// Messages in one channel per second, in the whole cluster, unless `_sendmsg_limit` overrides it.
    package static let channelMessagesPerSecond = 200
    /// Other acts of one session per second (all but messages, attribute changes and polls), after a burst of
    /// ``actsBurst``.
    package static let actsPerSecond = 50
    /// Other acts of a session at once after a quiet time.
    package static let actsBurst = 200
    /// Bytes of an answer that count as one more act or poll, because writing them delays the event loop's other users.
    package static let answerBytesPerAct = 16_384
    /// Attribute changes of one session per second, users' and channels' together, after a burst of
    /// ``attributeChangesBurst``.
    package static let attributeChangesPerSecond = 20
    /// Attribute changes of a session at once after a quiet time.
    package static let attributeChangesBurst = 100
    /// Polls of the mailbox (`user_getmsg`) of one session per second, after a burst of ``pollsBurst``. A correct
    /// client polls once per `notify` or page, which is never as often.
    package static let pollsPerSecond = 200
    /// Polls of a session at once after a quiet time.
    package static let pollsBurst = 1000
    /// Range of `_conn_timeout`: the seconds without a connection after which a user counts as offline.
    package static let connectionTimeout = 20...120
    /// Default of `_conn_timeout`, in seconds.
    package static let connectionTimeoutDefault = 120
    /// Range of an invitation's `_timeout`: the seconds for which it waits for the callee's acknowledgement.
    package static let invitationTimeout = 0...30
    /// Default of an invitation's `_timeout`, in seconds.
    package static let invitationTimeoutDefault = 20
    /// Concurrent calls of one user to telephones, unless the app's trunk overrides it.
    package static let phoneCallsPerUser = 10
    /// New calls of one user to telephones per minute, unless the app's trunk overrides it.
    package static let newPhoneCallsPerUser = 30
    /// Concurrent calls of an app to telephones, unless its trunk overrides it.
    package static let phoneCallsPerApp = 100
    /// New calls of an app to telephones per minute, unless its trunk overrides it.
    package static let newPhoneCallsPerApp = 1000
    /// Seconds from the answer to the end of a call with a telephone, unless the app's trunk overrides it.
    package static let longestPhoneCall = 14_400
    /// Calls of one user, of any kind, that have not ended.
    package static let callsPerUser = 1000
    /// Seconds for which a channel and its attributes outlive its last member, unless `_channel_ttl` overrides it.
    package static let channelTimeToLive = 7200
    /// Seconds for which a message may wait for its receiver.
    package static let messageTimeToLive = 2_592_000
    /// Bytes of a service's reply to a gateway. It travels on the one subscription that
    /// serves all users of the gateway.
    package static let replyBytes = 4 << 20
    /// Messages that wait for one user. Once half of them, or half of ``mailboxBytes``, are used, each sender may have
    /// at most a quarter.
    package static let mailboxEntries = 10_000
    /// Bytes of messages that wait for one user; each message counts 64 more than its line.
    package static let mailboxBytes = 16 << 20
    /// Call events that wait for one user, counted separately from messages.
    package static let mailboxCallEvents = 256
}
