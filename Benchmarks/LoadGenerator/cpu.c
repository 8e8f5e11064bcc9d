#include "cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 256

static struct {
    int pid;
    double mark;
} processes[PROCESSES];
static int count;
static double own_mark;

void cpu_processes(const char *list) {
    count = 0;
    while (*list && count < PROCESSES) {
        char *end;
        long pid = strtol(list, &end, 10);
        if (end == list) break;
        processes[count++].pid = (int)pid;
        list = *end ? end + 1 : end;
    }
}

// utime + stime in seconds; 0 for a process that is gone.
static double used(int pid) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = 0;
    // The process name, in parentheses, may contain any character.
    char *after = strrchr(text, ')');
    unsigned long user, system;
    if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) return 0;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double own(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

void cpu_mark(void) {
    for (int i = 0; i < count; i++) processes[i].mark = used(processes[i].pid);
    own_mark = own();
}

void cpu_print(void) {
    printf("\"cpu\":{");
    for (int i = 0; i < count; i++) {
        double now = used(processes[i].pid);
        // A process that was killed meanwhile counts as 0.
        printf("%s\"%d\":%.2f", i ? "," : "", processes[i].pid, now > processes[i].mark ? now - processes[i].mark : 0);
    }
    printf("},\"own_cpu\":%.3f", own() - own_mark);
}
