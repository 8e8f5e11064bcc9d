#include <stdlib.h>
#include <string.h>

#include "cm_table.h"

/* What keeps keys of different kinds apart, though no table has two kinds. */
enum {
	KIND_NUMBER = 1,
	KIND_ADDRESS = 2,
	KIND_NAME = 3,
};

static uint64_t kind_word(unsigned kind, unsigned low)
{
	return (uint64_t)kind << 56 | low;
}

struct cm_table_key cm_table_number(uint64_t number)
{
	return (struct cm_table_key){{number, 0, kind_word(KIND_NUMBER, 0)}};
}

struct cm_table_key cm_table_address(const struct cm_address *address)
{
	struct cm_table_key key = {{0, 0, kind_word(KIND_ADDRESS, address->port | (address->is_ipv6 ? 0x10000U : 0))}};

	memcpy(key.words, address->bytes, address->is_ipv6 ? 16 : 4);
	return key;
}

struct cm_table_key cm_table_name(const uint8_t *name, size_t size)
{
	struct cm_table_key key = {{0, 0, kind_word(KIND_NAME, (unsigned)size)}};

	memcpy(key.words, name, size < CM_TABLE_NAME_MAX ? size : CM_TABLE_NAME_MAX);
	return key;
}

static uint64_t rotated(uint64_t word, unsigned bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotated(v[1], 13) ^ v[0];
	v[0] = rotated(v[0], 32);
	v[2] += v[3];
	v[3] = rotated(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotated(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotated(v[1], 17) ^ v[2];
	v[2] = rotated(v[2], 32);
}

static size_t hash(const struct cm_table *table, const struct cm_table_key *key)
{
	uint64_t v[4] = {
		table->secret[0] ^ 0x736F6D6570736575U, table->secret[1] ^ 0x646F72616E646F6DU,
		table->secret[0] ^ 0x6C7967656E657261U, table->secret[1] ^ 0x7465646279746573U,
	};
	unsigned index;

	for (index = 0; index < 3; index++) {
		v[3] ^= key->words[index];
		mix(v);
		v[0] ^= key->words[index];
	}
	v[2] ^= 0xFF;
	for (index = 0; index < 3; index++)
		mix(v);
	return (size_t)(v[0] ^ v[1] ^ v[2] ^ v[3]);
}

static bool is_equal(const struct cm_table_key *one, const struct cm_table_key *other)
{
	return one->words[0] == other->words[0] && one->words[1] == other->words[1] && one->words[2] == other->words[2];
}

bool cm_table_make(struct cm_table *table, size_t limit, const uint64_t secret[2])
{
	size_t size = 4;

	memset(table, 0, sizeof *table);
	/* Half of it is free at least, so that searches are short, and end. */
	while (size < 2 * limit)
		size *= 2;
	table->entries = calloc(size, sizeof *table->entries);
	if (!table->entries)
		return false;
	table->mask = size - 1;
	table->limit = limit;
	table->secret[0] = secret[0];
	table->secret[1] = secret[1];
	return true;
}

void cm_table_free(struct cm_table *table)
{
	free(table->entries);
	memset(table, 0, sizeof *table);
}

/* Where the key is, or would be. */
static struct cm_table_entry *entry_of(const struct cm_table *table, const struct cm_table_key *key)
{
	size_t at = hash(table, key) & table->mask;

	while (table->entries[at].value && !is_equal(&table->entries[at].key, key))
		at = (at + 1) & table->mask;
	return table->entries + at;
}

void *cm_table_find(const struct cm_table *table, const struct cm_table_key *key)
{
	return entry_of(table, key)->value;
}

bool cm_table_put(struct cm_table *table, const struct cm_table_key *key, void *value)
{
	struct cm_table_entry *entry = entry_of(table, key);

	if (!entry->value) {
		if (table->count >= table->limit)
			return false;
		table->count++;
		entry->key = *key;
	}
	entry->value = value;
	return true;
}

void *cm_table_remove(struct cm_table *table, const struct cm_table_key *key)
{
	struct cm_table_entry *entry = entry_of(table, key);
	void *removed = entry->value;
	size_t hole = (size_t)(entry - table->entries), at = hole;

	if (!removed)
		return NULL;
	table->count--;
	/* Entries that a search would no longer reach over the hole move into it. */
	for (;;) {
		size_t home;

		table->entries[hole].value = NULL;
		do {
			at = (at + 1) & table->mask;
			if (!table->entries[at].value)
				return removed;
			home = hash(table, &table->entries[at].key) & table->mask;
		} while (((at - home) & table->mask) < ((at - hole) & table->mask));
		table->entries[hole] = table->entries[at];
		hole = at;
	}
}
