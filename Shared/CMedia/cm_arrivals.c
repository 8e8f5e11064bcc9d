#include <string.h>

#include "cm_arrivals.h"
#include "cm_bytes.h"

enum {
	HEADER_SIZE = 20,
	/* Units of time, in microseconds. */
	DELTA = 250,
	REFERENCE = 64000,
	/* What a packet's status may be: two bits. */
	NOT_RECEIVED = 0,
	SMALL_DELTA = 1,
	LARGE_DELTA = 2,
	/* Statuses in a chunk with two bits for each. */
	CHUNK = 7,
	/* The greatest run in a chunk. */
	MAX_RUN = 0x1FFF,
	FORMAT_TRANSPORT = 15,
	TYPE_TRANSPORT = 205,
};

bool cm_arrivals_put(struct cm_arrivals *arrivals, uint16_t sequence, uint64_t now)
{
	int64_t index;

	if (!arrivals->has_begun) {
		arrivals->has_begun = true;
		/* Room for packets that overtook each other. */
		arrivals->first = arrivals->end = 65536 + sequence;
	}
	index = arrivals->end + cm_ahead16(sequence, (uint16_t)arrivals->end);
	if (index < arrivals->first) {
		/* Late by less than the memory, and nothing was told yet: the report begins earlier. */
		if (index < 0 || arrivals->end - index > CM_ARRIVALS || arrivals->has_reported)
			return false;
		for (; arrivals->first > index; arrivals->first--)
			arrivals->times[(arrivals->first - 1) % CM_ARRIVALS] = 0;
	}
	if (index >= arrivals->end) {
		/* Packets that fall out of the memory are not told of. */
		if (index - arrivals->end >= CM_ARRIVALS) {
			memset(arrivals->times, 0, sizeof arrivals->times);
			arrivals->first = index;
		}
		else
			for (; arrivals->end <= index; arrivals->end++)
				arrivals->times[arrivals->end % CM_ARRIVALS] = 0;
		arrivals->end = index + 1;
		if (arrivals->end - arrivals->first > CM_ARRIVALS)
			arrivals->first = arrivals->end - CM_ARRIVALS;
	}
	if (arrivals->times[index % CM_ARRIVALS])
		return false;
	arrivals->times[index % CM_ARRIVALS] = now + 1;
	return true;
}

/* The report that is being composed. */
struct report {
	uint8_t *chunks, *deltas;
	size_t chunks_size, deltas_size;
	/* Statuses that are in no chunk yet: a run of `count` equal ones, or up to CHUNK different ones. */
	uint8_t pending[CHUNK];
	unsigned count;
	bool is_run;
};

static void flush(struct report *report)
{
	uint16_t chunk;
	unsigned index;

	if (report->count == 0)
		return;
	if (report->is_run)
		chunk = (uint16_t)(report->pending[0] << 13 | report->count);
	else {
		chunk = 0xC000;
		for (index = 0; index < report->count; index++)
			chunk = (uint16_t)(chunk | report->pending[index] << (12 - 2 * index));
	}
	cm_put16(report->chunks + report->chunks_size, chunk);
	report->chunks_size += 2;
	report->count = 0;
}

static void put_status(struct report *report, uint8_t status)
{
	unsigned index;

	/* Equal ones go on as a run; a run that is shorter than a chunk becomes one when something else follows. */
	if (report->count && report->is_run && (status != report->pending[0] || report->count == MAX_RUN)) {
		if (report->count >= CHUNK)
			flush(report);
		else {
			for (index = 1; index < report->count; index++)
				report->pending[index] = report->pending[0];
			report->is_run = false;
		}
	}
	if (report->count == 0) {
		report->is_run = true;
		report->pending[0] = status;
	}
	else if (!report->is_run)
		report->pending[report->count] = status;
	report->count++;
	if (!report->is_run && report->count == CHUNK)
		flush(report);
}

unsigned cm_arrivals_write(
	struct cm_arrivals *arrivals, struct cm_rtcp_writer *writer, uint32_t ssrc, uint32_t media_ssrc)
{
	uint8_t chunks[2 * CM_ARRIVALS], deltas[2 * CM_ARRIVALS], *at;
	struct report report = {.chunks = chunks, .deltas = deltas};
	int64_t index, first = arrivals->first, told = first;
	uint64_t reference, last;
	size_t room, size, used;

	while (first < arrivals->end && !arrivals->times[first % CM_ARRIVALS])
		first++;
	if (first == arrivals->end || writer->is_full)
		return 0;
	room = (writer->capacity - writer->size) & ~(size_t)3;
	/* The lost packets before the first that arrived are told of too. */
	reference = (arrivals->times[first % CM_ARRIVALS] - 1) / REFERENCE;
	last = reference * REFERENCE;
	for (index = arrivals->first; index < arrivals->end; index++) {
		uint64_t time = arrivals->times[index % CM_ARRIVALS];
		int64_t delta = 0;
		uint8_t status = NOT_RECEIVED;

		/* At worst this status needs a chunk beside the one that is not written yet, and two bytes of delta. */
		if (HEADER_SIZE + report.chunks_size + 4 + report.deltas_size + 2 > room)
			break;
		if (time) {
			delta = ((int64_t)(time - 1) - (int64_t)last) / DELTA;
			if (delta < INT16_MIN || delta > INT16_MAX)
				break;
			status = delta >= 0 && delta <= 255 ? SMALL_DELTA : LARGE_DELTA;
			last = (uint64_t)((int64_t)last + delta * DELTA);
		}
		put_status(&report, status);
		if (status == SMALL_DELTA)
			deltas[report.deltas_size++] = (uint8_t)delta;
		else if (status == LARGE_DELTA) {
			cm_put16(deltas + report.deltas_size, (uint16_t)(int16_t)delta);
			report.deltas_size += 2;
		}
		told = index + 1;
	}
	flush(&report);
	/* Nothing but losses fits: wait for more room. */
	if (told <= first) {
		writer->is_full = true;
		return 0;
	}
	used = HEADER_SIZE + report.chunks_size + report.deltas_size;
	size = (used + 3) & ~(size_t)3;
	at = writer->to + writer->size;
	writer->size += size;
	memset(at, 0, size);
	at[0] = (uint8_t)(2 << 6 | (size > used ? 0x20 : 0) | FORMAT_TRANSPORT);
	at[1] = TYPE_TRANSPORT;
	cm_put16(at + 2, (uint16_t)(size / 4 - 1));
	cm_put32(at + 4, ssrc);
	cm_put32(at + 8, media_ssrc);
	cm_put16(at + 12, (uint16_t)arrivals->first);
	cm_put16(at + 14, (uint16_t)(told - arrivals->first));
	cm_put24(at + 16, (uint32_t)(reference & 0xFFFFFF));
	at[19] = arrivals->number++;
	arrivals->has_reported = true;
	memcpy(at + HEADER_SIZE, chunks, report.chunks_size);
	memcpy(at + HEADER_SIZE + report.chunks_size, deltas, report.deltas_size);
	if (size > used)
		at[size - 1] = (uint8_t)(size - used);
	told -= arrivals->first;
	arrivals->first += told;
	return (unsigned)told;
}
