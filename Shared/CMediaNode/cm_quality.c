#include "cm_participant.h"

enum {
	/* More is a receiver's mistake, or a lie: one alone would change the mean of all. In microseconds. */
	JITTER_MAX = 1000000,
};

static void count_jitter(struct cm_way_counts *way, uint32_t units)
{
	uint64_t jitter = (uint64_t)units * 1000000 / CM_OPUS_RATE;
	unsigned bucket = 0;

	if (jitter > JITTER_MAX)
		jitter = JITTER_MAX;
	while (bucket < CM_DELAY_BUCKETS - 1 && jitter > cm_node_delay_limit(bucket))
		bucket++;
	way->jitters[bucket]++;
	way->jitter_sum += jitter;
}

void cm_quality_uplink(struct cm_participant *sender)
{
	struct cm_audio *audio = &sender->audio;
	const struct cm_reception *reception = &audio->reception;
	struct cm_way_counts *way = &sender->node->counts.uplink;
	uint64_t expected, lost;

	if (!reception->has_begun)
		return;
	expected = (uint64_t)reception->cycles + reception->highest - reception->base + 1;
	/* The source has begun anew. */
	if (expected < audio->expected_counted)
		audio->expected_counted = audio->lost_counted = 0;
	way->audio_expected += expected - audio->expected_counted;
	audio->expected_counted = expected;
	/* What was only late is lost for a while, and then makes up for the next one that is. */
	lost = expected > reception->received ? expected - reception->received : 0;
	if (lost > audio->lost_counted) {
		way->audio_lost += lost - audio->lost_counted;
		audio->lost_counted = lost;
	}
	count_jitter(way, reception->jitter >> 4);
}

void cm_quality_begin(struct cm_audio_slot *slot)
{
	slot->told = (struct cm_told){.sequence = slot->slot.last_sequence, .packets = slot->slot.packets};
}

void cm_quality_renew(struct cm_audio_slot *slot)
{
	cm_quality_begin(slot);
	slot->told.is_renewed = true;
}

void cm_quality_downlink(struct cm_participant *receiver, struct cm_audio_slot *slot, const struct cm_report_block *block)
{
	struct cm_way_counts *way = &receiver->node->counts.downlink;
	struct cm_told *told = &slot->told;
	uint16_t sequence = (uint16_t)block->sequence, news = (uint16_t)(sequence - told->sequence);
	uint16_t behind = (uint16_t)(slot->slot.last_sequence - sequence);
	uint64_t packets = slot->slot.packets > behind ? slot->slot.packets - behind : 0;
	int64_t sent;

	/* Nothing new; or numbers that it was not sent. */
	if (news == 0 || (uint16_t)(slot->slot.last_sequence - told->sequence) < news)
		return;
	/* Numbers that were left out on the way to the node seem to be among those that are under way. */
	if (packets < told->packets)
		packets = told->packets;
	sent = (int64_t)(packets - told->packets);
	/* The receiver also misses what did not come to the node. */
	if (!told->is_renewed)
		told->missed += (int64_t)block->lost - told->lost - (news - sent);
	told->sequence = sequence;
	told->packets = packets;
	told->lost = block->lost;
	told->is_renewed = false;
	way->audio_expected += (uint64_t)sent;
	if (told->missed > 0) {
		/* Nobody can miss more than it was sent. */
		way->audio_lost += (uint64_t)(told->missed < sent ? told->missed : sent);
		told->missed = 0;
	}
	count_jitter(way, block->jitter);
}
