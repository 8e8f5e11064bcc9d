#define _GNU_SOURCE
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cm_caller.h"

/* The number behind `key` that comes last: the sum of all arenas is at the end. */
static size_t last_number(const char *text, const char *key)
{
	const char *found = NULL, *at = text;

	while ((at = strstr(at, key)))
		found = at += strlen(key);
	found = found ? strstr(found, "size=\"") : NULL;
	return found ? strtoull(found + 6, NULL, 10) : 0;
}

size_t cm_memory_used(void)
{
	char *text = NULL;
	size_t size = 0, used;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return 0;
	if (malloc_info(0, stream) != 0)
		size = 0;
	fclose(stream);
	used = size == 0 ? 0
					 : last_number(text, "<system type=\"current\"") + last_number(text, "<total type=\"mmap\"")
			- last_number(text, "<total type=\"fast\"") - last_number(text, "<total type=\"rest\"");
	free(text);
	return used;
}
