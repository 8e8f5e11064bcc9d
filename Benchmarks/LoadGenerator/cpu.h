// The CPU time and the memory that processes use.
#pragma once
#include <stdint.h>

// Sets the processes, as comma-separated process ids.
void cpu_processes(const char *list);
void cpu_mark(void);
// Prints the CPU time since the mark: `"cpu":{"PID":SECONDS,...},"own_cpu":SECONDS`.
void cpu_print(void);
