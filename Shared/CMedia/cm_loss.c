#include <string.h>

#include "cm_bytes.h"
#include "cm_loss.h"
#include "cm_rtcp.h"

enum {
	/* RFC 3550, appendix A.1: a greater step is a new beginning, if the next packet follows it. */
	MAX_STEP = 3000,
};

static void remove_missing(struct cm_reception *reception, unsigned index)
{
	reception->missing_count--;
	memmove(
		reception->missing + index, reception->missing + index + 1,
		(reception->missing_count - index) * sizeof *reception->missing);
}

bool cm_reception_recovered(struct cm_reception *reception, uint16_t sequence)
{
	unsigned index;

	for (index = 0; index < reception->missing_count; index++)
		if (reception->missing[index].sequence == sequence) {
			remove_missing(reception, index);
			return true;
		}
	return false;
}

static void begin(struct cm_reception *reception, uint16_t sequence)
{
	*reception = (struct cm_reception){
		.has_begun = true,
		.highest = sequence,
		.base = sequence,
		.received = 1,
		.jitter = reception->jitter,
	};
}

static void measure_jitter(struct cm_reception *reception, const struct cm_rtp *rtp, uint32_t clock_rate, uint64_t now)
{
	uint64_t arrival = now / 1000000 * clock_rate + now % 1000000 * clock_rate / 1000000;
	int64_t transit = (int32_t)((uint32_t)arrival - rtp->timestamp), difference;

	if (reception->has_transit) {
		difference = (int32_t)((uint32_t)transit - (uint32_t)reception->transit);
		if (difference < 0)
			difference = -difference;
		/* A clock that jumped says nothing about the network. */
		if (difference < (int64_t)10 * clock_rate)
			reception->jitter = (uint32_t)(
				(int64_t)reception->jitter + difference - (((int64_t)reception->jitter + 8) >> 4));
	}
	reception->transit = transit;
	reception->has_transit = true;
}

bool cm_reception_put(struct cm_reception *reception, const struct cm_rtp *rtp, uint32_t clock_rate, uint64_t now)
{
	int step;
	uint16_t lost;

	if (!reception->has_begun) {
		begin(reception, rtp->sequence);
		measure_jitter(reception, rtp, clock_rate, now);
		return true;
	}
	step = cm_ahead16(rtp->sequence, reception->highest);
	if (step >= MAX_STEP || step <= -MAX_STEP) {
		/* One stray packet changes nothing; a source that begins anew sends the next one too. */
		if (!reception->has_expected || rtp->sequence != reception->expected) {
			reception->has_expected = true;
			reception->expected = (uint16_t)(rtp->sequence + 1);
			return true;
		}
		begin(reception, rtp->sequence);
		return false;
	}
	reception->has_expected = false;
	if (step <= 0) {
		/* What comes twice counts once. */
		if (cm_reception_recovered(reception, rtp->sequence))
			reception->received++;
		return true;
	}
	if (reception->missing_count + (unsigned)step - 1 > CM_MISSING) {
		reception->missing_count = 0;
		step = 0;
	}
	else
		for (lost = (uint16_t)(reception->highest + 1); lost != rtp->sequence; lost++)
			reception->missing[reception->missing_count++] = (struct cm_missing){.sequence = lost, .since = now};
	if (rtp->sequence < reception->highest)
		reception->cycles += 0x10000;
	reception->highest = rtp->sequence;
	reception->received++;
	measure_jitter(reception, rtp, clock_rate, now);
	return step != 0;
}

unsigned cm_reception_nack(
	struct cm_reception *reception, uint64_t round_trip, uint64_t now, uint16_t sequences[CM_MISSING], bool *has_lost)
{
	uint64_t pace = round_trip > CM_NACK_MIN_PACE ? round_trip : CM_NACK_MIN_PACE;
	unsigned index = 0, count = 0;

	*has_lost = false;
	while (index < reception->missing_count) {
		struct cm_missing *missing = reception->missing + index;

		if (now - missing->since < CM_NACK_AFTER || (missing->tries && now - missing->asked < pace)) {
			index++;
			continue;
		}
		if (missing->tries >= CM_NACK_TRIES) {
			remove_missing(reception, index);
			*has_lost = true;
			continue;
		}
		missing->tries++;
		missing->asked = now;
		sequences[count++] = missing->sequence;
		index++;
	}
	return count;
}

void cm_reception_report(struct cm_reception *reception, struct cm_report_block *block)
{
	uint64_t expected, since, arrived, lost;

	if (!reception->has_begun)
		return;
	block->sequence = reception->cycles + reception->highest;
	expected = (uint64_t)block->sequence - reception->base + 1;
	since = expected - reception->expected_before;
	arrived = reception->received - reception->received_before;
	lost = since > arrived ? since - arrived : 0;
	reception->expected_before = expected;
	reception->received_before = reception->received;
	block->fraction_lost = since ? (uint8_t)((lost << 8) / since > 255 ? 255 : (lost << 8) / since) : 0;
	block->lost = (int32_t)((int64_t)expected - (int64_t)reception->received);
	block->jitter = reception->jitter >> 4;
}

static bool ask(struct cm_key_request *request, uint64_t now)
{
	request->has_asked = true;
	request->is_answered = false;
	request->asked = now;
	request->sent++;
	return true;
}

bool cm_key_wish(struct cm_key_request *request, uint64_t now)
{
	request->wishes++;
	request->is_wanted = true;
	if (request->has_asked && now - request->asked < CM_PLI_INTERVAL) {
		request->suppressed++;
		return false;
	}
	return ask(request, now);
}

bool cm_key_poll(struct cm_key_request *request, uint64_t now)
{
	/* The key frame of the last request is on its way, or lost. If it has come, the wish is a later one that was suppressed. */
	uint64_t wait = request->is_answered ? CM_PLI_INTERVAL : CM_PLI_REPEAT;

	if (!request->is_wanted || now - request->asked < wait)
		return false;
	return ask(request, now);
}

void cm_key_arrived(struct cm_key_request *request)
{
	request->is_wanted = false;
	request->is_answered = true;
}
