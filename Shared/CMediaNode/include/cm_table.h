/* Hash tables with open addressing, a bound that is fixed when they are made, and a keyed hash (SipHash-1-3): who chooses keys cannot
 * choose where they lie. After cm_table_make nothing allocates memory. */
#ifndef CM_TABLE_H
#define CM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cm_stun.h"

enum {
	/* The bytes of the longest name. */
	CM_TABLE_NAME_MAX = 16,
};

struct cm_table_key {
	uint64_t words[3];
};

struct cm_table_key cm_table_number(uint64_t number);
struct cm_table_key cm_table_address(const struct cm_address *address);
/* `size` is at most CM_TABLE_NAME_MAX. */
struct cm_table_key cm_table_name(const uint8_t *name, size_t size);

struct cm_table_entry {
	struct cm_table_key key;
	/* NULL: free. */
	void *value;
};

struct cm_table {
	struct cm_table_entry *entries;
	size_t mask, count, limit;
	uint64_t secret[2];
};

/* A table for `limit` values, which takes 64 to 128 bytes for each. False without memory. */
bool cm_table_make(struct cm_table *table, size_t limit, const uint64_t secret[2]);
/* A table that is all zero is allowed. */
void cm_table_free(struct cm_table *table);

/* NULL: there is none. */
void *cm_table_find(const struct cm_table *table, const struct cm_table_key *key);
/* Puts a value, which is not NULL, in place of the key's former one. False when the table is full. */
bool cm_table_put(struct cm_table *table, const struct cm_table_key *key, void *value);
/* Returns what was removed, or NULL. */
void *cm_table_remove(struct cm_table *table, const struct cm_table_key *key);

#endif
