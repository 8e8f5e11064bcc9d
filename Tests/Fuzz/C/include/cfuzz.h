/* What the fuzzer needs from C. */
#ifndef CFUZZ_H
#define CFUZZ_H

#include <stddef.h>
#include <stdint.h>

/* libFuzzer's entry point, of clang's runtime. */
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one_input)(const uint8_t *data, size_t size));

typedef void cfuzz_payload_h(const uint8_t *payload, size_t count, uint8_t payload_type, uint32_t timestamp, void *context);
/* Gives a stream a datagram as if it had come from its peer: bit 0 of `kind` makes it RTCP, bit 1 gives it SRTP keys. */
void cfuzz_rtp(unsigned kind, const uint8_t *data, size_t size, cfuzz_payload_h *handler, void *context);

struct cre_message;
/* Makes the dialog that a request or a response makes, and shows it the message once more. */
void cfuzz_dialog(const struct cre_message *message);

#endif
