/* Who is heard: the loudest speakers of a channel, for each receiver. Times are in microseconds, levels in dBov (0 is the loudest,
 * -127 silence). */
#ifndef CM_SPEECH_H
#define CM_SPEECH_H

#include "cm_rtp.h"

enum {
	CM_AUDIO_SLOTS_MAX = 16,
	CM_ATTACK = 40000,
	CM_RELEASE = 500000,
	/* A rise begins no lower than here. */
	CM_ATTACK_FLOOR = -60,
	/* A challenger must be louder than the weakest holder by CM_MARGIN decibels for CM_CHALLENGE. */
	CM_MARGIN = 6,
	CM_CHALLENGE = 40000,
	/* How long a holder keeps its slot at least, and how long below CM_LEAVE_LEVEL at most. */
	CM_HOLD = 1000000,
	CM_LEAVE = 2000000,
	CM_ENTER_LEVEL = -50,
	CM_LEAVE_LEVEL = -60,
};

/* A publisher of audio. All zero: silent since the beginning. Stays in its place until every selection has dropped it. */
struct cm_speaker {
	bool has_begun;
	float level;
	uint64_t time;
	/* When the level was last above CM_LEAVE_LEVEL. */
	uint64_t heard;
};

/* Smooths the level of a packet (0...127 in -dBov, from cm_opus_level) by the time that it stands for. A rise begins at CM_ATTACK_FLOOR or
 * above, however long the silence was: from -127 dBov the attack would cost the first 100 ms of speech. */
void cm_speaker_put(struct cm_speaker *speaker, uint8_t level, uint64_t now);
/* The smoothed level now: it falls while no packets come. */
float cm_speaker_level(const struct cm_speaker *speaker, uint64_t now);

struct cm_holder {
	/* NULL: free. */
	const struct cm_speaker *speaker;
	uint64_t since;
};

/* The audio slots of one receiver. */
struct cm_selection {
	unsigned count;
	struct cm_holder holders[CM_AUDIO_SLOTS_MAX];
	/* The loudest who could take a slot, and since when there has been one without a break. */
	const struct cm_speaker *challenger;
	uint64_t challenging;
	uint64_t switches;
};

/* `count` is brought into 1...CM_AUDIO_SLOTS_MAX. */
void cm_selection_init(struct cm_selection *selection, unsigned count);

/* The slot of a speaker of whom a packet came, -1 if it gets none; `is_new` tells that it has just taken this slot. With `is_enough`,
 * which says that there are slots for all other publishers, any speaker may take a free one; else a holder that was below
 * CM_LEAVE_LEVEL for CM_LEAVE loses its slot with its own next packet, or to the next one who may take a slot. To be called after
 * cm_speaker_put. */
int cm_selection_offer(
	struct cm_selection *selection, const struct cm_speaker *speaker, bool is_enough, uint64_t now, bool *is_new);
/* A speaker was muted, or is gone. Returns the slot that is free now, or -1. */
int cm_selection_drop(struct cm_selection *selection, const struct cm_speaker *speaker);

#endif
