/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the few pieces of SQL text of the library itself, and checks that make them safe. */
#ifndef CHSINK_SRC_SQL_H
#define CHSINK_SRC_SQL_H

#include <chsink/transport.h>

#include "blocks/buffer_impl.h"

/* Checks settings: names are [A-Za-z_][A-Za-z0-9_]*, values free of control bytes. Returns 0 or
 * CHS_ERR_USAGE. */
int chs__check_settings(const chs_setting *settings, size_t count, chs_error *err);

/* Checks parameters: names as above, items present, numbers decimal. Returns 0 or CHS_ERR_USAGE. */
int chs__check_params(const chs_param *params, size_t count, chs_error *err);

/* Checks that a table, columns and a block are given. Returns 0 or CHS_ERR_USAGE. */
int chs__check_insert(const chs_insert_request *request, chs_error *err);

/* The number of settings that an insert with a token adds, and those settings. */
enum { CHS__TOKEN_SETTINGS = 2 };
void chs__token_settings(chs_setting out[CHS__TOKEN_SETTINGS], const char *token);

/* Appends "INSERT INTO `db`.`table` (`a`, `b`)" with every name quoted; the transport adds FORMAT.
 * database: used when the request names none. Returns 0, CHS_ERR_NO_MEMORY or CHS_ERR_LIMIT. */
int chs__insert_sql(chs__buffer *out, const chs_insert_request *request, const char *database,
                    chs_error *err);

/* Appends "USE `database`" and a final NUL. Returns 0, CHS_ERR_NO_MEMORY or CHS_ERR_LIMIT. */
int chs__use_sql(chs__buffer *out, const char *database, chs_error *err);

/*
 * Appends the text of a parameter as ClickHouse reads it (TSV escapes for a scalar, a literal array
 * of quoted strings or of numbers). NUL-free, not NUL-terminated.
 */
int chs__param_text(chs__buffer *out, const chs_param *param, chs_error *err);

#endif
