// What processes have used of the processors, and their memory.
#pragma once
#include <stdint.h>

// Sets the processes: numbers with commas between.
void cpu_processes(const char *list);
void cpu_mark(void);
// Prints `"cpu":{"PID":SECONDS,...},"own_cpu":SECONDS` since the mark.
void cpu_print(void);
