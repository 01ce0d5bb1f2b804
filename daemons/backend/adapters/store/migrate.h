/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adapters/store/migrate.h: migrates a store to this program's schema (docs/formats/storage.md).
 * Migrations have numbers and go forward only; each is recorded with the checksum of its file.
 */
#ifndef BACKEND_MIGRATE_H
#define BACKEND_MIGRATE_H

#include <stddef.h>

#include <chsink/chsink.h>

#include "store.h"

typedef struct migration {
    unsigned version;
    const char *name;
    const char *sql; /* statements, each followed by a line ";" */
} migration;

/* embed_schema.py makes them from schema/, in order from version 1. */
extern const migration migrations[];
extern const size_t migration_count;

/*
 * Applies the missing migrations, and sets the retention where it differs from retention_days (1 to
 * 7). Refuses (STORE_ERR_FAILED) a store with a newer version than ours or another checksum; the
 * message about the latter names `emptying`, the command that empties the store.
 */
int migrate(chs_transport *transport, unsigned retention_days, const char *emptying,
            store_error *err);

#endif
