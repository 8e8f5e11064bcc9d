/// The bounds of the API, in one place. Sources: Signaling API 1.4.4 (English and Chinese); where they disagree, the
/// larger.
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
    /// Attributes of one user or channel. The functions of `0009_attribute_bounds.sql` say the same: change both.
    package static let attributesPerOwner = 1000
    /// Bytes of the attributes of one user or channel, names and values. As above: change both.
    package static let attributeBytesPerOwner = 1 << 20
    /// Changes of one channel's attributes in a second, over the whole cluster; `_setattr_limit` bounds each attribute besides.
    package static let channelAttributeChangesPerSecond = 200
    /// Bytes of a message to a user or a channel, and of an invitation's `extra`.
    package static let messageBytes = 8192
    /// Bytes of one client frame.
    package static let frameBytes = 65_536
    /// Bytes of a client's frames before it has asked to log in: enough for a token of any length that is used.
    package static let loginFrameBytes = 16_384
    /// Bytes of calls that wait for a resume before nothing more is read from the client.
    package static let heldCallBytes = 65_536
    /// Bytes of calls that wait for their turn before nothing more is read from the client.
    package static let waitingCallBytes = 524_288
    /// Bytes of entries in one mailbox answer, or one entry; the client is told that there are more.
    package static let mailboxAnswerBytes = 262_144
    /// Apps that an event loop of a gateway does not know and asks for in a second, after a burst of
    /// ``appQuestionsBurst``: mostly ids that somebody made up.
    package static let appQuestionsPerSecond = 100
    /// Apps that it asks for at once when it was quiet.
    package static let appQuestionsBurst = 1000
    /// Entries of one mailbox answer that a client may ask for.
    package static let mailboxPage = 1...1000
    /// Entries of a user list in a join answer: the latest.
    package static let userListLatest = 200
    /// Entries that `channel_query_userlist_all` gives when not told.
    package static let userListAll = 1_000_000
    /// Channel messages of one session in a second; instant messages are counted apart, with the same bound.
    package static let messagesPerSecond = 60
    /// Messages of one channel in a second, over the whole cluster, unless `_sendmsg_limit` says otherwise.
    package static let channelMessagesPerSecond = 200
    /// Other acts of one session in a second (neither messages nor attribute changes nor polls), after a burst of
    /// ``actsBurst``.
    package static let actsPerSecond = 50
    /// Other acts that a session may do at once when it was quiet.
    package static let actsBurst = 200
    /// Bytes of an answer that count as one more act, or poll: the loop that writes them has other users too.
    package static let answerBytesPerAct = 16_384
    /// Attribute changes of one session in a second, of users and channels together, after a burst of
    /// ``attributeChangesBurst``.
    package static let attributeChangesPerSecond = 20
    /// Attribute changes that a session may do at once when it was quiet.
    package static let attributeChangesBurst = 100
    /// Polls of the mailbox (`user_getmsg`) of one session in a second, after a burst of ``pollsBurst``. A client polls
    /// once for each `notify` or page, and none that is well polls as often.
    package static let pollsPerSecond = 200
    /// Polls that a session may send at once when it was quiet.
    package static let pollsBurst = 1000
    /// Seconds without a connection after which a user counts as offline, whatever `_conn_timeout` says.
    package static let connectionTimeout = 20...120
    /// Seconds of `_conn_timeout` when not set.
    package static let connectionTimeoutDefault = 120
    /// Seconds that an invitation may wait for the callee's acknowledgement.
    package static let invitationTimeout = 0...30
    /// Seconds of that wait when not told.
    package static let invitationTimeoutDefault = 20
    /// Calls of one user to telephones at once, unless the app's trunk says otherwise.
    package static let phoneCallsPerUser = 10
    /// New calls of one user to telephones in a minute, unless the app's trunk says otherwise.
    package static let newPhoneCallsPerUser = 30
    /// Calls of an app to telephones at once, unless its trunk says otherwise.
    package static let phoneCallsPerApp = 100
    /// New calls of an app to telephones in a minute, unless its trunk says otherwise.
    package static let newPhoneCallsPerApp = 1000
    /// Seconds from the answer to the end of a call with a telephone, unless the app's trunk says otherwise.
    package static let longestPhoneCall = 14_400
    /// Calls of one user, of any kind, that are not over.
    package static let callsPerUser = 1000
    /// Seconds a channel and its attributes outlive its last member, unless `_channel_ttl` says otherwise.
    package static let channelTimeToLive = 7200
    /// Seconds a message may wait for its receiver, at most.
    package static let messageTimeToLive = 2_592_000
    /// Bytes of a service's answer to a gateway, which goes through the one subscription of all the gateway's users.
    package static let replyBytes = 4 << 20
    /// Messages that wait for one user at most. Once half of that is there, or half of ``mailboxBytes``, each sender may have
    /// a quarter.
    package static let mailboxEntries = 10_000
    /// Bytes of messages that wait for one user at most; each counts 64 more than its line.
    package static let mailboxBytes = 16 << 20
    /// Call events that wait for one user at most, whatever else waits.
    package static let mailboxCallEvents = 256
}
