/* Big-endian numbers at any address. */
#ifndef CM_BYTES_H
#define CM_BYTES_H

#include <stdint.h>

static inline uint16_t cm_get16(const uint8_t *from)
{
	return (uint16_t)(from[0] << 8 | from[1]);
}

static inline uint32_t cm_get24(const uint8_t *from)
{
	return (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];
}

static inline uint32_t cm_get32(const uint8_t *from)
{
	return (uint32_t)from[0] << 24 | cm_get24(from + 1);
}

static inline void cm_put16(uint8_t *to, uint16_t number)
{
	to[0] = (uint8_t)(number >> 8);
	to[1] = (uint8_t)number;
}

static inline void cm_put24(uint8_t *to, uint32_t number)
{
	to[0] = (uint8_t)(number >> 16);
	cm_put16(to + 1, (uint16_t)number);
}

static inline void cm_put32(uint8_t *to, uint32_t number)
{
	to[0] = (uint8_t)(number >> 24);
	cm_put24(to + 1, number & 0xFFFFFF);
}

/* How far `newer` is ahead of `older`, whose numbers wrap; negative when it is behind. */
static inline int cm_ahead16(uint16_t newer, uint16_t older)
{
	return (int16_t)(uint16_t)(newer - older);
}

#endif
