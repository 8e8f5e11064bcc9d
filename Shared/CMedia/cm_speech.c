#include <string.h>

#include "cm_speech.h"

enum {
	/* Of Opus; until it is over, a level counts as it was. */
	LONGEST_FRAME = 60000,
};

static const float SILENCE = -127.0F;

/* The level after `elapsed` towards `target`, approaching it by 63 % in `constant`; a rational approximation of the exponential. */
static float approached(float level, float target, uint64_t elapsed, uint64_t constant)
{
	return level + (target - level) * (float)elapsed / (float)(elapsed + constant);
}

float cm_speaker_level(const struct cm_speaker *speaker, uint64_t now)
{
	uint64_t silent;

	if (!speaker->has_begun)
		return SILENCE;
	silent = now > speaker->time ? now - speaker->time : 0;
	if (silent <= LONGEST_FRAME)
		return speaker->level;
	return approached(speaker->level, SILENCE, silent - LONGEST_FRAME, CM_RELEASE);
}

void cm_speaker_put(struct cm_speaker *speaker, uint8_t level, uint64_t now)
{
	float target = -(float)(level > CM_LEVEL_SILENCE ? CM_LEVEL_SILENCE : level), current;
	uint64_t elapsed = now > speaker->time ? now - speaker->time : 0;

	current = cm_speaker_level(speaker, now);
	/* After a pause, whose end the level above knows, the packet stands for no more than a frame. */
	if (elapsed > LONGEST_FRAME)
		elapsed = LONGEST_FRAME;
	/* The first packet of all counts at once. */
	speaker->level = speaker->has_begun
		? approached(current, target, elapsed, target > current ? CM_ATTACK : CM_RELEASE) : target;
	speaker->has_begun = true;
	speaker->time = now;
	if (speaker->level >= (float)CM_LEAVE_LEVEL)
		speaker->heard = now;
}

void cm_selection_init(struct cm_selection *selection, unsigned count)
{
	memset(selection, 0, sizeof *selection);
	selection->count = count < 1 ? 1 : count > CM_AUDIO_SLOTS_MAX ? CM_AUDIO_SLOTS_MAX : count;
}

static bool may_go(const struct cm_holder *holder, uint64_t now)
{
	return now - holder->since >= CM_HOLD;
}

static int take(struct cm_selection *selection, unsigned slot, const struct cm_speaker *speaker, uint64_t now, bool *is_new)
{
	selection->holders[slot] = (struct cm_holder){.speaker = speaker, .since = now};
	selection->challenger = NULL;
	selection->switches++;
	*is_new = true;
	return (int)slot;
}

int cm_selection_offer(
	struct cm_selection *selection, const struct cm_speaker *speaker, bool is_enough, uint64_t now, bool *is_new)
{
	float level = cm_speaker_level(speaker, now), weakest_level = 1;
	int weakest = -1, empty = -1;
	unsigned slot;

	*is_new = false;
	for (slot = 0; slot < selection->count; slot++) {
		struct cm_holder *holder = &selection->holders[slot];
		float held;

		if (holder->speaker == speaker)
			return (int)slot;
		if (holder->speaker && !is_enough && may_go(holder, now) && now - holder->speaker->heard >= CM_LEAVE)
			holder->speaker = NULL;
		if (!holder->speaker) {
			if (empty < 0)
				empty = (int)slot;
			continue;
		}
		held = cm_speaker_level(holder->speaker, now);
		if (may_go(holder, now) && held < weakest_level) {
			weakest_level = held;
			weakest = (int)slot;
		}
	}
	if (empty >= 0)
		return is_enough || level >= (float)CM_ENTER_LEVEL ? take(selection, (unsigned)empty, speaker, now, is_new) : -1;
	if (weakest < 0 || level < (float)CM_ENTER_LEVEL || level < weakest_level + (float)CM_MARGIN) {
		if (selection->challenger == speaker)
			selection->challenger = NULL;
		return -1;
	}
	if (selection->challenger != speaker) {
		/* One challenger at a time: a louder one takes its place, and one that fell silent makes room. */
		if (selection->challenger && cm_speaker_level(selection->challenger, now) >= level
		    && now - selection->challenger->time < CM_HOLD)
			return -1;
		selection->challenger = speaker;
		selection->challenging = now;
		return -1;
	}
	if (now - selection->challenging < CM_CHALLENGE)
		return -1;
	return take(selection, (unsigned)weakest, speaker, now, is_new);
}

int cm_selection_drop(struct cm_selection *selection, const struct cm_speaker *speaker)
{
	unsigned slot;

	if (selection->challenger == speaker)
		selection->challenger = NULL;
	for (slot = 0; slot < selection->count; slot++)
		if (selection->holders[slot].speaker == speaker) {
			selection->holders[slot].speaker = NULL;
			return (int)slot;
		}
	return -1;
}
