/* The codec of the media client's audio (RFC 6716). What Swift cannot call: functions with variable arguments. */
#ifndef COPUS_SHIM_H
#define COPUS_SHIM_H

#include <opus/opus.h>

/* Sets a number of an encoder, such as OPUS_SET_BITRATE_REQUEST. Returns OPUS_OK or an error. */
static inline int copus_set(OpusEncoder *encoder, int request, opus_int32 value)
{
	return opus_encoder_ctl(encoder, request, value);
}

/* Forgets everything that the decoder has heard. */
static inline int copus_reset(OpusDecoder *decoder)
{
	return opus_decoder_ctl(decoder, OPUS_RESET_STATE);
}

#endif
