// Counts the allocations of the whole process: this target's malloc replaces the C library's and calls it.
#pragma once
#include <stdint.h>

uint64_t allocations_so_far(void);
