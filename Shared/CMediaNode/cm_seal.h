/* What a node sends as SRTP and SRTCP, by libcrypto: libsrtp2 takes longer for a packet, and KiB for each SSRC (decision 36).
 * Sources: RFC 3711, 7714. */
#ifndef CM_SEAL_H
#define CM_SEAL_H

#include "cm_srtp.h"

struct cm_sealer;

/* From cm_suite_size bytes of master key and salt. NULL without memory. */
struct cm_sealer *cm_sealer_make(enum cm_suite suite, const uint8_t *key_and_salt);
/* NULL is allowed. */
void cm_sealer_free(struct cm_sealer *sealer);

/* Encrypts a packet in its place, where CM_SRTP_OVERHEAD more bytes are free. False as for cm_srtp_protect. */
bool cm_seal_packet(struct cm_sealer *sealer, uint8_t *packet, size_t *size);
bool cm_seal_report(struct cm_sealer *sealer, uint8_t *packet, size_t *size);

#endif
