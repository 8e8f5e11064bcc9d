/* What the Opus of a participant costs without anything around it: one frame is encoded and some are decoded every 20 ms, as
 * `MediaClient` does it, with the same settings. `codec SPEAKERS SECONDS` prints the CPU it took, in percent of a core. */
#include <math.h>
#include <opus/opus.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum {
	RATE = 48000,
	FRAME = 960,
	INTERVAL = 20000000,
	BITS = 48000,
	COMPLEXITY = 5,
	SPEAKERS_MAX = 16,
	PACKET_MAX = 1275,
};

static double cpu(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static OpusEncoder *encoder(void)
{
	OpusEncoder *made = opus_encoder_create(RATE, 1, OPUS_APPLICATION_AUDIO, NULL);

	if (made) {
		opus_encoder_ctl(made, OPUS_SET_BITRATE(BITS));
		opus_encoder_ctl(made, OPUS_SET_COMPLEXITY(COMPLEXITY));
		opus_encoder_ctl(made, OPUS_SET_INBAND_FEC(1));
	}
	return made;
}

/* Two tones and a little noise, as what the clients say. */
static void speak(short *frame, int number, unsigned speaker)
{
	for (int at = 0; at < FRAME; at++) {
		double second = (double)(number * FRAME + at) / RATE, tone = 300 + 150 * speaker;

		frame[at] = (short)(6000 * sin(2 * M_PI * tone * second) + 3000 * sin(2 * M_PI * (tone + 410) * second) + rand() % 600 - 300);
	}
}

int main(int count, char **arguments)
{
	unsigned speakers = count > 1 ? (unsigned)atoi(arguments[1]) : 6;
	int frames = (count > 2 ? atoi(arguments[2]) : 5) * RATE / FRAME;
	OpusDecoder *decoders[SPEAKERS_MAX];
	unsigned char(*packets)[SPEAKERS_MAX + 1][PACKET_MAX];
	int(*sizes)[SPEAKERS_MAX + 1];
	OpusEncoder *own = encoder();
	short frame[FRAME], *said;
	struct timespec due;
	double before;

	if (speakers > SPEAKERS_MAX || frames < 1) {
		fprintf(stderr, "usage: codec SPEAKERS SECONDS, of %d speakers at most\n", SPEAKERS_MAX);
		return 2;
	}
	packets = calloc((size_t)frames, sizeof(*packets));
	sizes = calloc((size_t)frames, sizeof(*sizes));
	said = calloc((size_t)frames, sizeof(frame));
	for (unsigned speaker = 0; speaker < speakers; speaker++) {
		OpusEncoder *theirs = encoder();

		decoders[speaker] = opus_decoder_create(RATE, 1, NULL);
		if (!packets || !sizes || !said || !own || !theirs || !decoders[speaker])
			return 1;
		for (int at = 0; at < frames; at++) {
			speak(frame, at, speaker + 1);
			sizes[at][speaker] = opus_encode(theirs, frame, FRAME, packets[at][speaker], PACKET_MAX);
		}
		opus_encoder_destroy(theirs);
	}
	for (int at = 0; at < frames; at++)
		speak(said + (size_t)at * FRAME, at, 0);

	clock_gettime(CLOCK_MONOTONIC, &due);
	before = cpu();
	for (int at = 0; at < frames; at++) {
		if (opus_encode(own, said + (size_t)at * FRAME, FRAME, packets[at][speakers], PACKET_MAX) < 0)
			return 1;
		for (unsigned speaker = 0; speaker < speakers; speaker++) {
			if (opus_decode(decoders[speaker], packets[at][speaker], sizes[at][speaker], frame, FRAME, 0) != FRAME)
				return 1;
		}
		due.tv_nsec += INTERVAL;
		if (due.tv_nsec >= 1000000000) {
			due.tv_nsec -= 1000000000;
			due.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	}
	printf("%.3f\n", 100 * (cpu() - before) / ((double)frames * FRAME / RATE));
	return 0;
}
