-- expand, readers_from 1
-- What `\d+` and `\df+` of psql show. A migration that adds something comments it; a test fails for whatever has no comment.

COMMENT ON SEQUENCE user_uids IS 'The uids that users get at their first login, of all apps together';

COMMENT ON TABLE schema_migrations IS 'The migrations that heliographctl migrate has applied';
COMMENT ON COLUMN schema_migrations.number IS 'The number that its file begins with';
COMMENT ON COLUMN schema_migrations.name IS 'The name of its file';
COMMENT ON COLUMN schema_migrations.checksum IS 'A hash of the file (FNV-1a): a file must not change after it was applied';
COMMENT ON COLUMN schema_migrations.applied_at IS 'When it was applied';
COMMENT ON COLUMN schema_migrations.readers_from IS 'The lowest level of a build that works with the database since then';

COMMENT ON TABLE apps IS 'The apps: tenants that share the cluster and nothing else';
COMMENT ON COLUMN apps.id IS 'The app id, which clients send at login';
COMMENT ON COLUMN apps.certificate IS 'The secret that signs the tokens of the app''s users. Secret: the role heliograph_reader cannot read it';
COMMENT ON COLUMN apps.token_required IS 'Whether a login needs a token; false for test environments';
COMMENT ON COLUMN apps.sip_trunk IS 'Not used: trunks are in sip_trunks';
COMMENT ON COLUMN apps.limits IS 'The limits that differ from the defaults, by name; heliographctl app limits';
COMMENT ON COLUMN apps.created_at IS 'When the app was made';

COMMENT ON TABLE users IS 'Everybody who ever logged in, with the uid that the first login gave';
COMMENT ON COLUMN users.app IS 'The app';
COMMENT ON COLUMN users.account IS 'The user''s name in the app, compared byte by byte';
COMMENT ON COLUMN users.uid IS 'The number of the user, unique in the cluster; never changes';
COMMENT ON COLUMN users.first_seen IS 'When the user logged in for the first time';
COMMENT ON COLUMN users.last_seen IS 'A login of the last day before the user was last seen: written at most once a day';

COMMENT ON TABLE user_attributes IS 'The attributes of users as they are; attribute_history has what they were';
COMMENT ON COLUMN user_attributes.app IS 'The app';
COMMENT ON COLUMN user_attributes.account IS 'The user';
COMMENT ON COLUMN user_attributes.name IS 'The attribute''s name';
COMMENT ON COLUMN user_attributes.value IS 'Its value';
COMMENT ON COLUMN user_attributes.version IS 'The version of the user''s attributes with this change';
COMMENT ON COLUMN user_attributes.updated_at IS 'When it was set';

COMMENT ON TABLE user_attribute_versions IS 'What is known of the attributes of a user as a whole. A row outlives the attributes, so that the version never falls';
COMMENT ON COLUMN user_attribute_versions.app IS 'The app';
COMMENT ON COLUMN user_attribute_versions.account IS 'The user';
COMMENT ON COLUMN user_attribute_versions.version IS 'Rises with each change of an attribute; starts at the clock in milliseconds';
COMMENT ON COLUMN user_attribute_versions.attributes IS 'How many attributes the user has';
COMMENT ON COLUMN user_attribute_versions.bytes IS 'The bytes of their names and values';
COMMENT ON COLUMN user_attribute_versions.updated_at IS 'When one was changed last';

COMMENT ON TABLE channel_attributes IS 'The attributes of channels as they are; attribute_history has what they were';
COMMENT ON COLUMN channel_attributes.app IS 'The app';
COMMENT ON COLUMN channel_attributes.channel IS 'The channel';
COMMENT ON COLUMN channel_attributes.name IS 'The attribute''s name';
COMMENT ON COLUMN channel_attributes.value IS 'Its value';
COMMENT ON COLUMN channel_attributes.version IS 'The version of the channel''s attributes with this change';
COMMENT ON COLUMN channel_attributes.updated_by IS 'The account that set it';
COMMENT ON COLUMN channel_attributes.updated_at IS 'When it was set';

COMMENT ON TABLE channel_attribute_versions IS 'What is known of the attributes of a channel as a whole';
COMMENT ON COLUMN channel_attribute_versions.app IS 'The app';
COMMENT ON COLUMN channel_attribute_versions.channel IS 'The channel';
COMMENT ON COLUMN channel_attribute_versions.version IS 'Rises with each change of an attribute; starts at the clock in milliseconds';
COMMENT ON COLUMN channel_attribute_versions.attributes IS 'How many attributes the channel has';
COMMENT ON COLUMN channel_attribute_versions.bytes IS 'The bytes of their names and values';
COMMENT ON COLUMN channel_attribute_versions.updated_at IS 'When one was changed last';
COMMENT ON COLUMN channel_attribute_versions.joined IS 'Whether the channel had a member since it got attributes: it ends after the last one has left';

COMMENT ON TABLE applied_commands IS 'Commands that changed attributes in the last ten minutes, so that one that is delivered again has no second effect';
COMMENT ON COLUMN applied_commands.command IS 'The id of the command';
COMMENT ON COLUMN applied_commands.version IS 'The version that it made, or 0 where a bound refused it';
COMMENT ON COLUMN applied_commands.applied_at IS 'When it was applied';

COMMENT ON TABLE calls IS 'The call log, divided by month of started_at (UTC); call_log shows it for people, call_months its parts';
COMMENT ON COLUMN calls.app IS 'The app whose users the call is between, or whose trunk it uses';
COMMENT ON COLUMN calls.id IS 'The id of the call, unique in the app';
COMMENT ON COLUMN calls.channel IS 'The channel that the invitation names';
COMMENT ON COLUMN calls.caller IS 'The account that called, or the number of a telephone';
COMMENT ON COLUMN calls.callee IS 'The account that was called, or the number of a telephone';
COMMENT ON COLUMN calls.kind IS 'The type of callee: user or phone';
COMMENT ON COLUMN calls.direction IS 'internal (between users), outbound (to a telephone), inbound (from one)';
COMMENT ON COLUMN calls.started_at IS 'When the invitation was sent';
COMMENT ON COLUMN calls.acknowledged_at IS 'When the callee''s client confirmed it: it rings';
COMMENT ON COLUMN calls.accepted_at IS 'When it was answered';
COMMENT ON COLUMN calls.ended_at IS 'When it ended: refused, cancelled, timed out or hung up';
COMMENT ON COLUMN calls.end_code IS 'Why it ended: 0 for a normal end, else the code that users got, such as 704';
COMMENT ON COLUMN calls.sip_call_id IS 'The SIP Call-ID; null between users';
COMMENT ON COLUMN calls.sip_status IS 'The status of the final response to its INVITE; null between users';
COMMENT ON COLUMN calls.sip_reason IS 'The words of that response';
COMMENT ON COLUMN calls.caller_session IS 'The session that called, who is told if the call is lost';
COMMENT ON COLUMN calls.callee_session IS 'The session in which the callee answered';

COMMENT ON TABLE sip_numbers IS 'Telephone numbers and the users whom they reach';
COMMENT ON COLUMN sip_numbers.number IS 'The number, as the trunk''s requests write it';
COMMENT ON COLUMN sip_numbers.app IS 'The app';
COMMENT ON COLUMN sip_numbers.account IS 'The user';
COMMENT ON COLUMN sip_numbers.created_at IS 'When the number was given to the user';

COMMENT ON TABLE sip_trunks IS 'The SIP trunks, at most one for each app; heliographctl trunk';
COMMENT ON COLUMN sip_trunks.app IS 'The app';
COMMENT ON COLUMN sip_trunks.host IS 'The name or address of the SIP peer';
COMMENT ON COLUMN sip_trunks.port IS 'Its port';
COMMENT ON COLUMN sip_trunks.transport IS 'udp, tcp or tls';
COMMENT ON COLUMN sip_trunks.auth_user IS 'The user name for digest authentication; the role heliograph_reader cannot read it';
COMMENT ON COLUMN sip_trunks.secret IS 'Its secret; the role heliograph_reader cannot read it';
COMMENT ON COLUMN sip_trunks.from_domain IS 'The domain in From; null: the host';
COMMENT ON COLUMN sip_trunks.register IS 'Whether bridges register at the peer';
COMMENT ON COLUMN sip_trunks.dtmf IS 'How digits are sent: auto, rfc4733 or info';
COMMENT ON COLUMN sip_trunks.srtp IS 'Encrypted media: off, optional or required';
COMMENT ON COLUMN sip_trunks.ring_seconds IS 'How long a telephone may ring';
COMMENT ON COLUMN sip_trunks.accept_digest IS 'Whether calls from other addresses are taken that authenticate';
COMMENT ON COLUMN sip_trunks.trace IS 'Whether the SIP messages of its calls are logged';
COMMENT ON COLUMN sip_trunks.updated_at IS 'When the trunk was set';
COMMENT ON COLUMN sip_trunks.callees IS 'Which telephones may be called: any, or starts of numbers with spaces between them; null: not said';
COMMENT ON COLUMN sip_trunks.callers IS 'Which numbers users may call as: any, or starts of numbers with spaces between them; null: not said';
COMMENT ON COLUMN sip_trunks.calls_per_user IS 'The most calls of a user at one time; 0: no bound';
COMMENT ON COLUMN sip_trunks.new_calls_per_user IS 'The most new calls of a user in a minute; 0: no bound';
COMMENT ON COLUMN sip_trunks.calls_per_app IS 'The most calls of the app at one time; 0: no bound';
COMMENT ON COLUMN sip_trunks.new_calls_per_app IS 'The most new calls of the app in a minute; 0: no bound';
COMMENT ON COLUMN sip_trunks.longest_call IS 'After how many seconds a call is ended';
COMMENT ON COLUMN sip_trunks.asserted_identity IS 'The URI of P-Asserted-Identity; null: none';
COMMENT ON COLUMN sip_trunks.privacy IS 'The value of the header Privacy (RFC 3323); null: none';

COMMENT ON TABLE presence_sessions IS 'A copy of the sessions in Redis; online_users shows it. Rows of ended sessions stay for an hour';
COMMENT ON COLUMN presence_sessions.app IS 'The app';
COMMENT ON COLUMN presence_sessions.account IS 'The user';
COMMENT ON COLUMN presence_sessions.present IS 'Whether the session lasts';
COMMENT ON COLUMN presence_sessions.version IS 'Rises with each change in Redis: rows that come late or twice are skipped';
COMMENT ON COLUMN presence_sessions.uid IS 'The user''s number';
COMMENT ON COLUMN presence_sessions.session IS 'The id of the session';
COMMENT ON COLUMN presence_sessions.gateway IS 'The gateway that the client is connected to, or was last';
COMMENT ON COLUMN presence_sessions.device IS 'What the client calls its device';
COMMENT ON COLUMN presence_sessions.detached IS 'Whether the connection is lost, and may be resumed';
COMMENT ON COLUMN presence_sessions.since IS 'When the session began';
COMMENT ON COLUMN presence_sessions.updated_at IS 'When this row was written';

COMMENT ON TABLE channel_members IS 'A copy of the channels'' members in Redis; channel_member_list shows it. Rows of those who left stay for an hour';
COMMENT ON COLUMN channel_members.app IS 'The app';
COMMENT ON COLUMN channel_members.channel IS 'The channel';
COMMENT ON COLUMN channel_members.account IS 'The member';
COMMENT ON COLUMN channel_members.present IS 'Whether the user is in the channel';
COMMENT ON COLUMN channel_members.version IS 'Rises with each change in Redis: rows that come late or twice are skipped';
COMMENT ON COLUMN channel_members.uid IS 'The member''s number';
COMMENT ON COLUMN channel_members.joined_at IS 'When the member joined';
COMMENT ON COLUMN channel_members.updated_at IS 'When this row was written';

COMMENT ON TABLE channel_sizes IS 'How many members each channel has; kept by triggers. A row is here for each channel with members or attributes';
COMMENT ON COLUMN channel_sizes.app IS 'The app';
COMMENT ON COLUMN channel_sizes.channel IS 'The channel';
COMMENT ON COLUMN channel_sizes.members IS 'Its members; 0 when it has attributes only';

COMMENT ON TABLE app_channels IS 'How many channels and members each app has; kept by triggers';
COMMENT ON COLUMN app_channels.app IS 'The app';
COMMENT ON COLUMN app_channels.channels IS 'Channels with members';
COMMENT ON COLUMN app_channels.members IS 'Members of all its channels; a user in two of them counts twice';

COMMENT ON TABLE gateway_sessions IS 'How many sessions each gateway has; kept by triggers, shown by gateway_usage';
COMMENT ON COLUMN gateway_sessions.app IS 'The app';
COMMENT ON COLUMN gateway_sessions.gateway IS 'The gateway';
COMMENT ON COLUMN gateway_sessions.sessions IS 'Sessions of the app''s users there, detached ones too';

COMMENT ON TABLE app_logins IS 'How many sessions began on each day; kept by triggers, shown by logins_by_day';
COMMENT ON COLUMN app_logins.app IS 'The app';
COMMENT ON COLUMN app_logins.day IS 'The day (UTC)';
COMMENT ON COLUMN app_logins.logins IS 'Sessions that began on it. Of several of one user within a second, the last one may be counted alone';

COMMENT ON TABLE app_users IS 'How many users each app has, of those that are counted (counted_users); app_usage shows them all';
COMMENT ON COLUMN app_users.app IS 'The app';
COMMENT ON COLUMN app_users.users IS 'Users with a uid up to that of counted_users';

COMMENT ON TABLE counted_users IS 'One row: up to which uid app_users has counted the users';
COMMENT ON COLUMN counted_users.only_row IS 'Always true: there is one row';
COMMENT ON COLUMN counted_users.uid IS 'Users with higher uids are counted when they are asked for';

COMMENT ON TABLE mirror_writes IS 'The last hour of writes of the mirrors presence_sessions and channel_members, by minute; mirror_lag shows them';
COMMENT ON COLUMN mirror_writes.mirror IS 'sessions or members';
COMMENT ON COLUMN mirror_writes.minute IS 'The minute that this row is about';
COMMENT ON COLUMN mirror_writes.written_at IS 'When the mirror was written last in it';
COMMENT ON COLUMN mirror_writes.rows IS 'How many rows were written in it';
COMMENT ON COLUMN mirror_writes.lag IS 'How much later than the login or join the last of them was written, by the clocks of Redis and PostgreSQL';
COMMENT ON COLUMN mirror_writes.worst_lag IS 'The longest such time of the minute';

COMMENT ON TABLE attribute_history IS 'What attributes were set to and when, divided by day of changed_at (UTC); kept as retention says';
COMMENT ON COLUMN attribute_history.app IS 'The app';
COMMENT ON COLUMN attribute_history.owner_kind IS 'Whose attribute it is: user or channel';
COMMENT ON COLUMN attribute_history.owner IS 'The account or the channel';
COMMENT ON COLUMN attribute_history.name IS 'The attribute''s name';
COMMENT ON COLUMN attribute_history.changed_at IS 'When it was changed';
COMMENT ON COLUMN attribute_history.change IS 'set or deleted';
COMMENT ON COLUMN attribute_history.value IS 'The new value; null when it was deleted';
COMMENT ON COLUMN attribute_history.version IS 'The version of the owner''s attributes with this change; of one that was deleted, with its last value';
COMMENT ON COLUMN attribute_history.changed_by IS 'The account that set it; null when it was deleted';

COMMENT ON TABLE retention IS 'How long histories are kept; heliographctl retention';
COMMENT ON COLUMN retention.history IS 'attributes (attribute_history) or calls (calls)';
COMMENT ON COLUMN retention.days IS 'For how many days; 0: nothing is written. Of calls null: as HELIOGRAPH_CALLS_KEPT_DAYS of the invitation service says';

COMMENT ON TABLE waiting_mail IS 'Messages that wait for users, as heliographctl waiting --record has counted them in Redis; PostgreSQL has no messages';
COMMENT ON COLUMN waiting_mail.app IS 'The app';
COMMENT ON COLUMN waiting_mail.account IS 'The user';
COMMENT ON COLUMN waiting_mail.messages IS 'How many messages and call events wait; those that have expired count until somebody reads or removes them';
COMMENT ON COLUMN waiting_mail.counted_at IS 'When they were counted';

COMMENT ON VIEW online_users IS 'Who is online, where and since when; at most a second behind (mirror_lag). For numbers, gateway_usage';
COMMENT ON COLUMN online_users.app IS 'The app';
COMMENT ON COLUMN online_users.account IS 'The user';
COMMENT ON COLUMN online_users.uid IS 'The user''s number';
COMMENT ON COLUMN online_users.gateway IS 'The gateway that the client is connected to, or was last';
COMMENT ON COLUMN online_users.session IS 'The id of the session';
COMMENT ON COLUMN online_users.device IS 'What the client calls its device';
COMMENT ON COLUMN online_users.state IS 'online, or detached: the connection is lost and may be resumed';
COMMENT ON COLUMN online_users.since IS 'When the session began';
COMMENT ON COLUMN online_users.updated_at IS 'When this was last written';

COMMENT ON VIEW channel_member_list IS 'Who is in which channel; at most a second behind (mirror_lag). For numbers, channels';
COMMENT ON COLUMN channel_member_list.app IS 'The app';
COMMENT ON COLUMN channel_member_list.channel IS 'The channel';
COMMENT ON COLUMN channel_member_list.account IS 'The member';
COMMENT ON COLUMN channel_member_list.uid IS 'The member''s number';
COMMENT ON COLUMN channel_member_list.joined_at IS 'When the member joined';
COMMENT ON COLUMN channel_member_list.gateway IS 'The gateway of the member''s session';

COMMENT ON VIEW channels IS 'Channels with members or attributes';
COMMENT ON COLUMN channels.app IS 'The app';
COMMENT ON COLUMN channels.channel IS 'The channel';
COMMENT ON COLUMN channels.members IS 'How many members it has';
COMMENT ON COLUMN channels.oldest_join IS 'When the member joined who has been in it for longest';
COMMENT ON COLUMN channels.attributes IS 'How many attributes it has';
COMMENT ON COLUMN channels.attribute_version IS 'The version of its attributes; null when it never had any';

COMMENT ON VIEW call_log IS 'The calls of all months, from their beginning';
COMMENT ON COLUMN call_log.app IS 'The app whose users the call is between, or whose trunk it uses';
COMMENT ON COLUMN call_log.id IS 'The id of the call, unique in the app';
COMMENT ON COLUMN call_log.channel IS 'The channel that the invitation names';
COMMENT ON COLUMN call_log.caller IS 'The account that called, or the number of a telephone';
COMMENT ON COLUMN call_log.callee IS 'The account that was called, or the number of a telephone';
COMMENT ON COLUMN call_log.kind IS 'The type of callee: user or phone';
COMMENT ON COLUMN call_log.direction IS 'internal (between users), outbound (to a telephone), inbound (from one)';
COMMENT ON COLUMN call_log.state IS 'inviting, ringing, talking, ended, not answered';
COMMENT ON COLUMN call_log.started_at IS 'When the invitation was sent';
COMMENT ON COLUMN call_log.acknowledged_at IS 'When it rang';
COMMENT ON COLUMN call_log.accepted_at IS 'When it was answered';
COMMENT ON COLUMN call_log.ended_at IS 'When it ended';
COMMENT ON COLUMN call_log.end_code IS 'Why it ended: 0 for a normal end, else the code that users got, such as 704';
COMMENT ON COLUMN call_log.talk_time IS 'From answer to end; null when it was not answered or lasts';
COMMENT ON COLUMN call_log.number IS 'The telephone''s number; null between users';
COMMENT ON COLUMN call_log.sip_call_id IS 'The SIP Call-ID; null between users';
COMMENT ON COLUMN call_log.sip_status IS 'The status of the final response to its INVITE; null between users';
COMMENT ON COLUMN call_log.sip_reason IS 'The words of that response';

COMMENT ON VIEW call_months IS 'The tables that hold the call log';
COMMENT ON COLUMN call_months.name IS 'The table''s name';
COMMENT ON COLUMN call_months.since IS 'Its calls began at this time or later; null for calls_before and calls_rest';
COMMENT ON COLUMN call_months.until IS 'Its calls began before this time; null for calls_rest, which has the calls without a month';
COMMENT ON COLUMN call_months.bytes IS 'Its size on the disk, with indexes';

COMMENT ON VIEW app_usage IS 'Each app in numbers';
COMMENT ON COLUMN app_usage.app IS 'The app';
COMMENT ON COLUMN app_usage.token_required IS 'Whether a login needs a token';
COMMENT ON COLUMN app_usage.created_at IS 'When the app was made';
COMMENT ON COLUMN app_usage.users IS 'Users who ever logged in';
COMMENT ON COLUMN app_usage.users_online IS 'Users with a session, detached ones too';
COMMENT ON COLUMN app_usage.channels IS 'Channels with members';
COMMENT ON COLUMN app_usage.members IS 'Members of all its channels; a user in two of them counts twice';
COMMENT ON COLUMN app_usage.calls_last_day IS 'Calls that began within 24 hours';
COMMENT ON COLUMN app_usage.phone_numbers IS 'Telephone numbers that reach its users';

COMMENT ON VIEW gateway_usage IS 'How many sessions each gateway has, by app';
COMMENT ON COLUMN gateway_usage.gateway IS 'The gateway';
COMMENT ON COLUMN gateway_usage.app IS 'The app';
COMMENT ON COLUMN gateway_usage.sessions IS 'Sessions of the app''s users there, detached ones too';

COMMENT ON VIEW logins_by_day IS 'How many sessions began on each day, by app';
COMMENT ON COLUMN logins_by_day.app IS 'The app';
COMMENT ON COLUMN logins_by_day.day IS 'The day (UTC)';
COMMENT ON COLUMN logins_by_day.logins IS 'Sessions that began on it';

COMMENT ON VIEW mirror_lag IS 'How far PostgreSQL''s copies of Redis (online_users, channel_member_list and what is counted from them) are behind';
COMMENT ON COLUMN mirror_lag.mirror IS 'sessions or members';
COMMENT ON COLUMN mirror_lag.written_at IS 'When it was written last; null when that is more than an hour ago';
COMMENT ON COLUMN mirror_lag.lag IS 'How much later than the login or join its last row was written, by the clocks of Redis and PostgreSQL';
COMMENT ON COLUMN mirror_lag.worst_lag_of_hour IS 'The longest such time within the last hour';
COMMENT ON COLUMN mirror_lag.rows_of_hour IS 'How many rows were written within the last hour';

COMMENT ON VIEW histories IS 'The tables that are divided by time, and for how long their rows are kept; heliographctl retention';
COMMENT ON COLUMN histories.history IS 'attributes (attribute_history) or calls (calls)';
COMMENT ON COLUMN histories.divided_by IS 'day or month (UTC)';
COMMENT ON COLUMN histories.kept_days IS 'For how many days; 0: nothing is written. Of calls null: as HELIOGRAPH_CALLS_KEPT_DAYS of the invitation service says';
COMMENT ON COLUMN histories.parts IS 'How many tables hold it';
COMMENT ON COLUMN histories.since IS 'When its first day or month began';
COMMENT ON COLUMN histories.until IS 'When its last day or month ends';
COMMENT ON COLUMN histories.bytes IS 'Its size on the disk, with indexes';

COMMENT ON VIEW history_parts IS 'The tables that hold the histories';
COMMENT ON COLUMN history_parts.history IS 'attributes or calls';
COMMENT ON COLUMN history_parts.name IS 'The table''s name';
COMMENT ON COLUMN history_parts.since IS 'Its rows are from this time or later; null for the first one and for those of rows without a day or month';
COMMENT ON COLUMN history_parts.until IS 'Its rows are from before this time; null for the table of rows without a day or month of their own';
COMMENT ON COLUMN history_parts.bytes IS 'Its size on the disk, with indexes';

COMMENT ON FUNCTION user_uids_for(text[], text[]) IS 'The uids of users who log in, new ones where there are none';
COMMENT ON FUNCTION user_attributes_of(text[], text[]) IS 'The attributes of many users';
COMMENT ON FUNCTION user_logins(text[], text[]) IS 'What logins need: uids and attributes of many users';
COMMENT ON FUNCTION change_user_attributes(text[], text[], text[], text[], text[], text[]) IS
    'Applies a batch of changes to attributes of users, each command once; version 0: refused by a bound';
COMMENT ON FUNCTION change_channel_attributes(text[], text[], text[], text[], text[], text[], text[]) IS
    'Applies a batch of changes to attributes of channels, each command once; version 0: refused by a bound';
COMMENT ON FUNCTION attributes_bound() IS 'The most attributes of a user or channel';
COMMENT ON FUNCTION attribute_bytes_bound() IS 'The most bytes of names and values of a user''s or channel''s attributes';
COMMENT ON FUNCTION attribute_bytes(text, text) IS 'The bytes that an attribute counts for';
COMMENT ON FUNCTION make_call_months(interval) IS 'Makes the months of the call log that are missing up to now() + the argument; their number';
COMMENT ON FUNCTION drop_call_month(text) IS 'Removes a month of the call log with its calls; false when there is none of this name';
COMMENT ON FUNCTION count_new_users(bigint) IS 'Adds users that app_users lacks, when the uids have risen by at least the argument; how many uids it passed';
COMMENT ON FUNCTION uncounted_users() IS 'The users that app_users lacks, by app';
COMMENT ON FUNCTION note_mirror_write(text, bigint, interval) IS 'Notes in mirror_writes that rows of a mirror were written, and how late';
COMMENT ON FUNCTION tally_sessions() IS 'Trigger: keeps gateway_sessions, app_logins and mirror_writes';
COMMENT ON FUNCTION tally_members() IS 'Trigger: keeps channel_sizes, app_channels and mirror_writes';
COMMENT ON FUNCTION tally_attributed_channel() IS 'Trigger: keeps the rows of channel_sizes for channels that have attributes';
COMMENT ON FUNCTION tally_removed_users() IS 'Trigger: takes removed users out of app_users';
COMMENT ON FUNCTION recount() IS 'Counts users, sessions and members anew; the mirrors wait meanwhile, a second for a million rows';
COMMENT ON FUNCTION note_attribute_changes() IS 'Trigger: writes attribute_history, if it is kept';
COMMENT ON FUNCTION make_history_days(interval) IS 'Makes the days of attribute_history that are missing up to now() + the argument; their number';
COMMENT ON FUNCTION drop_history_day(text) IS 'Removes a day of attribute_history with its rows; false when there is none of this name';
