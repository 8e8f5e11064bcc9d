#include <stddef.h>

#include "cm_bytes.h"
#include "cm_participant.h"

enum {
	SECOND = 1000000,
	/* Of CM_AUDIO_SLOTS_MAX slots a compound has a sender report and a name, which takes up to 1,300 bytes with the longest name. */
	REPORT_SIZE = CM_PACKET_SIZE - CM_SRTP_OVERHEAD,
	/* A packet of sender reports leaves room for the rest of a compound. */
	SENDER_REPORTS = 8,
	/* What RFC 3550 counts times in: 1/65536 s. */
	SHORT_UNIT = 65536,
	/* Round trips above are answers to something else. */
	ROUND_TRIP_MAX = 10 * SECOND,
	OPUS_CODEC = 0,
};

/* Rates */

/* Begins a new second, when the present one is over. */
static void turn_second(struct cm_participant *participant)
{
	struct cm_rate *rate = &participant->rate;
	uint64_t now = participant->node->now, passed = now - rate->since;
	unsigned seconds_over;

	if (passed < SECOND)
		return;
	/* A second in which nothing came is a break. */
	seconds_over = rate->is_over && passed < 2 * SECOND ? rate->seconds_over + 1 : 0;
	*rate = (struct cm_rate){.since = now, .seconds_over = seconds_over};
	if (seconds_over >= CM_LIMIT_SECONDS && !participant->is_limited) {
		participant->is_limited = true;
		cm_node_raise(participant, CM_EVENT_LIMIT);
	}
}

/* Only authentic packets count: nobody else can use up a participant's rate. */
static bool is_within_rate(struct cm_participant *participant, size_t size)
{
	struct cm_rate *rate = &participant->rate;
	const struct cm_node_limits *limits = &participant->node->settings.limits;

	turn_second(participant);
	if (rate->packets >= limits->all_packets || rate->bytes + size > limits->bytes) {
		rate->is_over = true;
		return false;
	}
	rate->packets++;
	rate->bytes += (unsigned)size;
	return true;
}

static bool is_within_audio_rate(struct cm_participant *participant)
{
	struct cm_rate *rate = &participant->rate;

	if (rate->audio_packets >= participant->node->settings.limits.audio_packets) {
		rate->is_over = true;
		return false;
	}
	rate->audio_packets++;
	return true;
}

/* Sending */

/* Leaves a packet of audio to cm_node_flush. */
static void write_audio(
	struct cm_participant *receiver, unsigned index, const struct cm_rtp *rtp, const uint8_t *data)
{
	struct cm_audio_slot *slot = receiver->slots + index;
	struct cm_node *node = receiver->node;
	uint8_t *packet = cm_node_packet(receiver);
	size_t size;

	if (cm_slot_write(&slot->slot, rtp, data, &slot->format, node->now, packet, CM_PACKET_SIZE, &size) != CM_SENT) {
		cm_node_drop(node, CM_DROP_SLOT);
		return;
	}
	if (!cm_srtp_protect(receiver->out, packet, &size, CM_OUT_SIZE)) {
		cm_node_drop(node, CM_DROP_PROTECT);
		return;
	}
	cm_node_put(receiver, size);
}

static bool send_report(struct cm_participant *receiver, uint8_t *packet, size_t size, size_t capacity)
{
	struct cm_node *node = receiver->node;

	if (!cm_srtp_protect_rtcp(receiver->out, packet, &size, capacity)) {
		cm_node_drop(node, CM_DROP_PROTECT);
		return false;
	}
	if (!cm_node_send(node, &receiver->paths[receiver->current].to, packet, size))
		return false;
	receiver->counts.packets_sent++;
	receiver->counts.bytes_sent += size;
	return true;
}

/* A slot that was just given to the sender begins with what it said last, the present packet included. */
static void begin_slot(struct cm_participant *sender, struct cm_participant *receiver, unsigned index)
{
	const struct cm_kept *list[CM_RECENT_PACKETS];
	size_t count = cm_recent_list(&sender->audio.recent, sender->node->now, list), at;
	struct cm_rtp rtp;

	cm_slot_switch(&receiver->slots[index].slot, sender->settings.uid, sender->audio.ssrc, OPUS_CODEC);
	sender->node->counts.slot_switches++;
	for (at = 0; at < count; at++)
		if (cm_rtp_read(&rtp, list[at]->data, list[at]->size))
			write_audio(receiver, index, &rtp, list[at]->data);
}

/* Offers the packet to all others of the channel. Returns whether anybody was sent something. */
static bool offer(struct cm_participant *sender, const struct cm_rtp *rtp, const uint8_t *data)
{
	const struct cm_channel *channel = sender->channel;
	uint64_t now = sender->node->now;
	bool is_heard = false, has_switched = false, is_new;
	unsigned member;

	for (member = 0; member < channel->count; member++) {
		struct cm_participant *receiver = channel->members[member];
		bool is_enough;
		int slot;

		if (receiver == sender || !receiver->can_hear)
			continue;
		is_enough = channel->publishers - receiver->is_publisher <= receiver->settings.slot_count;
		slot = cm_selection_offer(&receiver->selection, &sender->audio.speaker, is_enough, now, &is_new);
		if (slot < 0)
			continue;
		is_heard = true;
		has_switched |= is_new;
		if (is_new)
			begin_slot(sender, receiver, (unsigned)slot);
		else
			write_audio(receiver, (unsigned)slot, rtp, data);
	}
	cm_node_flush(sender->node);
	if (has_switched)
		cm_recent_clear(&sender->audio.recent);
	return is_heard;
}

static void count_delay(struct cm_node *node, uint64_t arrived)
{
	unsigned bucket = 0;
	uint64_t delay;

	node->now = cm_node_clock(node);
	delay = node->now - arrived;
	while (bucket < CM_DELAY_BUCKETS - 1 && delay > cm_node_delay_limit(bucket))
		bucket++;
	node->counts.delays[bucket]++;
	node->counts.delay_sum += delay;
}

/* Receiving */

/* Decrypts what came; false when it is not to be read. */
static bool open_packet(struct cm_participant *sender, const struct cm_datagram *datagram, size_t *size, bool is_report)
{
	static const enum cm_drop reasons[] = {
		[CM_FORGED] = CM_DROP_FORGED,
		[CM_REPLAYED] = CM_DROP_REPLAYED,
		[CM_BEHIND_WINDOW] = CM_DROP_TOO_OLD,
		[CM_TOO_MANY_SOURCES] = CM_DROP_TOO_MANY_SOURCES,
	};
	struct cm_node *node = sender->node;
	enum cm_srtp_verdict verdict;

	if (!sender->in) {
		cm_node_drop(node, CM_DROP_NO_KEYS);
		return false;
	}
	*size = datagram->size;
	verdict = is_report ? cm_srtp_unprotect_rtcp(sender->in, datagram->data, size)
						: cm_srtp_unprotect(sender->in, datagram->data, size);
	if (verdict != CM_AUTHENTIC) {
		cm_node_drop(node, reasons[verdict]);
		return false;
	}
	sender->heard = node->now;
	if (!sender->has_received) {
		sender->has_received = true;
		sender->first_received = node->now;
	}
	sender->counts.packets_received++;
	sender->counts.bytes_received += datagram->size;
	return true;
}

/* Before it is decrypted: whether the source was announced, if any was. */
static bool is_announced(const struct cm_participant *sender, const struct cm_datagram *datagram)
{
	return datagram->size >= CM_RTP_HEADER_SIZE && cm_participant_is_source(sender, cm_get32(datagram->data + 8));
}

static bool is_video(const struct cm_participant *sender, uint32_t ssrc)
{
	const struct cm_participant_settings *settings = &sender->settings;
	unsigned index;

	for (index = 0; index < settings->source_count; index++)
		if (settings->sources[index].ssrc == ssrc)
			return settings->sources[index].kind != CM_SOURCE_AUDIO;
	return false;
}

/* Its numbers begin anew, its counts do not. */
static void begin_reception(struct cm_participant *sender)
{
	struct cm_reception *reception = &sender->audio.reception;

	if (reception->has_begun) {
		sender->counts.audio_expected += (uint64_t)reception->cycles + reception->highest - reception->base + 1;
		sender->counts.audio_received += reception->received;
	}
	*reception = (struct cm_reception){0};
	sender->audio.expected_counted = sender->audio.lost_counted = 0;
}

void cm_forward_forget(struct cm_participant *sender)
{
	struct cm_audio *audio = &sender->audio;

	cm_forward_silence(sender);
	begin_reception(sender);
	cm_forget(audio, sizeof *audio);
	cm_participant_judge(sender);
}

/* The first packet with new keys. Its number may be far from the last one, which is no stray packet here but a new beginning, for
 * reports and for slots. */
static void renew(struct cm_participant *sender, const struct cm_rtp *rtp)
{
	const struct cm_channel *channel = sender->channel;
	struct cm_audio *audio = &sender->audio;
	int step = cm_ahead16(rtp->sequence, audio->reception.highest);
	unsigned member, slot;

	audio->is_renewed = false;
	if (audio->ssrc != rtp->ssrc) {
		cm_forward_forget(sender);
		return;
	}
	if (step < CM_SLOT_MAX_STEP && step > -CM_SLOT_MAX_STEP)
		return;
	begin_reception(sender);
	for (member = 0; member < channel->count; member++) {
		struct cm_participant *receiver = channel->members[member];

		for (slot = 0; slot < receiver->settings.slot_count; slot++)
			if (receiver->selection.holders[slot].speaker == &audio->speaker) {
				receiver->slots[slot].slot.has_expected = true;
				receiver->slots[slot].slot.expected = rtp->sequence;
			}
	}
}

/* Whether the packet is of the participant's audio; else the reason is counted. */
static bool is_audio(struct cm_participant *sender, const struct cm_rtp *rtp)
{
	struct cm_node *node = sender->node;

	if (is_video(sender, rtp->ssrc)) {
		cm_node_drop(node, CM_DROP_VIDEO);
		return false;
	}
	if (rtp->payload_type != sender->settings.opus) {
		cm_node_drop(node, CM_DROP_PAYLOAD_TYPE);
		return false;
	}
	if (sender->audio.is_renewed)
		renew(sender, rtp);
	if (sender->audio.has_ssrc && sender->audio.ssrc != rtp->ssrc) {
		cm_node_drop(node, CM_DROP_SOURCE);
		return false;
	}
	if (!is_within_audio_rate(sender)) {
		cm_node_drop(node, CM_DROP_RATE);
		return false;
	}
	if (!sender->audio.has_ssrc) {
		sender->audio.has_ssrc = true;
		sender->audio.ssrc = rtp->ssrc;
		cm_participant_judge(sender);
	}
	return true;
}

static void forward_audio(
	struct cm_participant *sender, const struct cm_rtp *rtp, const struct cm_datagram *datagram, size_t size)
{
	struct cm_node *node = sender->node;
	struct cm_audio *audio = &sender->audio;

	cm_reception_put(&audio->reception, rtp, CM_OPUS_RATE, datagram->arrived);
	audio->has_news = true;
	if (!sender->is_publisher) {
		cm_node_drop(node, CM_DROP_MUTED);
		return;
	}
	cm_speaker_put(&audio->speaker, cm_opus_level(rtp, datagram->data, sender->settings.level_id), node->now);
	cm_recent_put(&audio->recent, rtp->sequence, datagram->data, size, node->now);
	if (offer(sender, rtp, datagram->data))
		count_delay(node, datagram->arrived);
}

void cm_forward_packet(struct cm_participant *sender, const struct cm_datagram *datagram)
{
	struct cm_node *node = sender->node;
	struct cm_rtp rtp;
	uint16_t sequence;
	size_t size;

	if (!is_announced(sender, datagram)) {
		cm_node_drop(node, CM_DROP_SOURCE);
		return;
	}
	if (!open_packet(sender, datagram, &size, false))
		return;
	if (!is_within_rate(sender, datagram->size)) {
		cm_node_drop(node, CM_DROP_RATE);
		return;
	}
	if (!cm_rtp_read(&rtp, datagram->data, size)) {
		cm_node_drop(node, CM_DROP_INVALID);
		return;
	}
	if (cm_rtp_transport_sequence(&rtp, datagram->data, sender->settings.transport_id, &sequence))
		cm_arrivals_put(&sender->arrivals, sequence, datagram->arrived);
	if (is_audio(sender, &rtp))
		forward_audio(sender, &rtp, datagram, size);
}

void cm_forward_silence(struct cm_participant *sender)
{
	const struct cm_channel *channel = sender->channel;
	unsigned member;
	int slot;

	cm_recent_clear(&sender->audio.recent);
	for (member = 0; channel && member < channel->count; member++) {
		struct cm_participant *receiver = channel->members[member];

		slot = cm_selection_drop(&receiver->selection, &sender->audio.speaker);
		if (slot >= 0)
			cm_slot_clear(&receiver->slots[slot].slot);
	}
}

void cm_forward_deafen(struct cm_participant *receiver)
{
	unsigned slot;

	cm_selection_init(&receiver->selection, receiver->settings.slot_count);
	for (slot = 0; slot < receiver->settings.slot_count; slot++)
		cm_slot_clear(&receiver->slots[slot].slot);
}

/* Reports that come */

/* The middle of an NTP time that stands for the node's clock. */
static uint32_t short_time(uint64_t time)
{
	return (uint32_t)(time / SECOND * SHORT_UNIT + time % SECOND * SHORT_UNIT / SECOND);
}

/* How a receiver gets one of its slots. */
static void read_block(struct cm_participant *receiver, const struct cm_report_block *block)
{
	uint64_t now = receiver->node->now, since;
	unsigned index;

	for (index = 0; index < receiver->settings.slot_count; index++) {
		struct cm_audio_slot *slot = receiver->slots + index;

		if (slot->slot.ssrc != block->ssrc)
			continue;
		receiver->counts.fraction_lost = block->fraction_lost;
		cm_quality_downlink(receiver, slot, block);
		if (!slot->has_report || block->last_report != slot->reported_middle)
			return;
		since = now - slot->reported;
		if (since < ROUND_TRIP_MAX && short_time(since) >= block->delay)
			receiver->counts.round_trip = (uint64_t)(short_time(since) - block->delay) * SECOND / SHORT_UNIT;
		return;
	}
}

static void read_report(struct cm_participant *sender, const struct cm_rtcp *rtcp, const uint8_t *data)
{
	unsigned index;

	if (rtcp->kind == CM_RTCP_SENDER_REPORT && sender->audio.has_ssrc && rtcp->ssrc == sender->audio.ssrc) {
		sender->audio.has_report = true;
		sender->audio.report = rtcp->report;
		sender->audio.reported = sender->node->now;
	}
	if (rtcp->kind != CM_RTCP_SENDER_REPORT && rtcp->kind != CM_RTCP_RECEIVER_REPORT)
		return;
	for (index = 0; index < rtcp->items; index++) {
		struct cm_report_block block = cm_rtcp_block(rtcp, data, index);

		read_block(sender, &block);
	}
}

void cm_forward_report(struct cm_participant *sender, const struct cm_datagram *datagram)
{
	struct cm_node *node = sender->node;
	struct cm_rtcp rtcp;
	size_t size, position = 0;

	if (!open_packet(sender, datagram, &size, true))
		return;
	turn_second(sender);
	if (sender->rate.reports >= node->settings.limits.reports) {
		sender->rate.is_over = true;
		cm_node_drop(node, CM_DROP_REPORT_RATE);
		return;
	}
	sender->rate.reports++;
	if (!cm_rtcp_is_valid(datagram->data, size)) {
		cm_node_drop(node, CM_DROP_INVALID);
		return;
	}
	while (cm_rtcp_next(&rtcp, datagram->data, size, &position))
		read_report(sender, &rtcp, datagram->data);
}

/* Reports that are sent */

static uint64_t ntp_after(uint64_t ntp, uint64_t elapsed)
{
	return ntp + (elapsed / SECOND << 32) + ((elapsed % SECOND << 32) / SECOND);
}

static const struct cm_audio *audio_of(const struct cm_speaker *speaker)
{
	return (const struct cm_audio *)((const char *)speaker - offsetof(struct cm_audio, speaker));
}

/* The source's last report, continued to the present and in the slot's numbers: all slots of a publisher show one clock. False when
 * there is none to send. */
static bool sender_report(struct cm_participant *receiver, unsigned index, struct cm_sender_report *report)
{
	struct cm_audio_slot *slot = receiver->slots + index;
	const struct cm_speaker *speaker = receiver->selection.holders[index].speaker;
	const struct cm_audio *audio = speaker ? audio_of(speaker) : NULL;
	uint64_t now = receiver->node->now, elapsed;
	uint32_t timestamp;

	if (!audio || !audio->has_report || slot->slot.source_ssrc != audio->ssrc)
		return false;
	if (slot->has_report && slot->reported_ssrc == audio->ssrc && now - slot->reported < CM_SENDER_REPORT_INTERVAL)
		return false;
	elapsed = now - audio->reported;
	timestamp = audio->report.timestamp + (uint32_t)(elapsed * CM_OPUS_RATE / SECOND);
	if (!cm_slot_report_timestamp(&slot->slot, timestamp, &report->timestamp))
		return false;
	report->ntp = ntp_after(audio->report.ntp, elapsed);
	report->packets = (uint32_t)slot->slot.packets;
	report->bytes = (uint32_t)slot->slot.bytes;
	slot->has_report = true;
	slot->reported = now;
	slot->reported_ssrc = audio->ssrc;
	slot->reported_middle = (uint32_t)(report->ntp >> 16);
	return true;
}

static void put_sender_reports(struct cm_participant *receiver, struct cm_rtcp_writer *writer)
{
	const struct cm_participant_settings *settings = &receiver->settings;
	uint32_t ssrcs[SENDER_REPORTS];
	struct cm_sender_report report;
	unsigned count = 0, index;

	for (index = 0; index < settings->slot_count && count < SENDER_REPORTS; index++)
		if (sender_report(receiver, index, &report)) {
			ssrcs[count++] = settings->slots[index].ssrc;
			cm_rtcp_put_sender_report(writer, settings->slots[index].ssrc, &report, NULL, 0);
		}
	cm_rtcp_put_name(writer, ssrcs, count, settings->name, settings->name_size);
}

static void put_receiver_report(struct cm_participant *sender, struct cm_rtcp_writer *writer)
{
	struct cm_audio *audio = &sender->audio;
	struct cm_report_block block = {.ssrc = audio->ssrc};

	if (!audio->has_news)
		return;
	audio->has_news = false;
	cm_reception_report(&audio->reception, &block);
	cm_quality_uplink(sender);
	if (audio->has_report) {
		block.last_report = (uint32_t)(audio->report.ntp >> 16);
		block.delay = short_time(sender->node->now - audio->reported);
	}
	cm_rtcp_put_receiver_report(writer, sender->settings.report_ssrc, &block, 1);
}

void cm_forward_poll(struct cm_participant *participant)
{
	_Alignas(8) uint8_t packet[CM_PACKET_SIZE];
	struct cm_rtcp_writer writer = {.to = packet, .capacity = REPORT_SIZE};

	/* What is told to a participant does not depend on whether it may hear. */
	if (participant->is_dropped || !participant->has_consent || participant->current == CM_NO_PATH || !participant->out)
		return;
	put_sender_reports(participant, &writer);
	put_receiver_report(participant, &writer);
	if (participant->settings.transport_id)
		cm_arrivals_write(
			&participant->arrivals, &writer, participant->settings.report_ssrc, participant->audio.ssrc);
	if (writer.size && send_report(participant, packet, writer.size, sizeof packet))
		participant->node->counts.reports_sent++;
}
