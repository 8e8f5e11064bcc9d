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
	/* Below the floor all is silence: a rise begins there, so that a first syllable counts with its first packets. */
	if (target > current && current < (float)CM_ATTACK_FLOOR)
		current = target < (float)CM_ATTACK_FLOOR ? target : (float)CM_ATTACK_FLOOR;
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

static bool has_left(const struct cm_holder *holder, uint64_t now)
{
	return may_go(holder, now) && now - holder->speaker->heard >= CM_LEAVE;
}

/* Sets `slot` to the holder with the lowest level of those who may go, and returns the level; without one `slot` is -1. */
static float weakest_of(const struct cm_selection *selection, uint64_t now, int *slot)
{
	float weakest = 1, held;
	unsigned at;

	*slot = -1;
	for (at = 0; at < selection->count; at++) {
		if (!may_go(&selection->holders[at], now))
			continue;
		held = cm_speaker_level(selection->holders[at].speaker, now);
		if (held < weakest) {
			weakest = held;
			*slot = (int)at;
		}
	}
	return weakest;
}

/* Whether the speaker is the challenger, after it took that place if it could. */
static bool challenges(
	struct cm_selection *selection, const struct cm_speaker *speaker, float level, float least, uint64_t now)
{
	float other;

	if (selection->challenger == speaker)
		return true;
	other = selection->challenger ? cm_speaker_level(selection->challenger, now) : SILENCE;
	/* One challenger at a time: a louder one takes its place, and one that fell silent makes room. */
	if (selection->challenger && other >= level && now - selection->challenger->time < CM_HOLD)
		return false;
	/* The holder is challenged all the while when two cross each other. */
	if (!selection->challenger || other < least)
		selection->challenging = now;
	selection->challenger = speaker;
	return true;
}

/* The slot that a speaker takes from its holder, when none is free; -1 for none. */
static int challenge(
	struct cm_selection *selection, const struct cm_speaker *speaker, float level, uint64_t now, bool *is_new)
{
	int weakest;
	float least = weakest_of(selection, now, &weakest) + (float)CM_MARGIN;

	if (least < (float)CM_ENTER_LEVEL)
		least = (float)CM_ENTER_LEVEL;
	if (weakest < 0 || level < least) {
		if (selection->challenger == speaker)
			selection->challenger = NULL;
		return -1;
	}
	if (!challenges(selection, speaker, level, least, now) || now - selection->challenging < CM_CHALLENGE)
		return -1;
	return take(selection, (unsigned)weakest, speaker, now, is_new);
}

int cm_selection_offer(
	struct cm_selection *selection, const struct cm_speaker *speaker, bool is_enough, uint64_t now, bool *is_new)
{
	float level;
	int empty = -1;
	unsigned slot;

	*is_new = false;
	for (slot = 0; slot < selection->count; slot++)
		if (selection->holders[slot].speaker == speaker) {
			if (is_enough || !has_left(&selection->holders[slot], now))
				return (int)slot;
			selection->holders[slot].speaker = NULL;
			return -1;
		}
	level = cm_speaker_level(speaker, now);
	/* Nearly all packets of a large channel end here, for each receiver: nothing of the holders is read for them. */
	if (!is_enough && level < (float)CM_ENTER_LEVEL) {
		if (selection->challenger == speaker)
			selection->challenger = NULL;
		return -1;
	}
	for (slot = 0; slot < selection->count; slot++) {
		struct cm_holder *holder = &selection->holders[slot];

		if (holder->speaker && !is_enough && has_left(holder, now))
			holder->speaker = NULL;
		if (!holder->speaker && empty < 0)
			empty = (int)slot;
	}
	if (empty >= 0)
		return take(selection, (unsigned)empty, speaker, now, is_new);
	return challenge(selection, speaker, level, now, is_new);
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
