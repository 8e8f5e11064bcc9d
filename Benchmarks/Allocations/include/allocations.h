// Counts the allocations of the whole process: this target's malloc stands before the C library's.
#pragma once
#include <stdint.h>

uint64_t allocations_so_far(void);
