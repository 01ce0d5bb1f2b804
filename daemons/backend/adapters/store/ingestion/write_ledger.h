/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the ledger's rows about batches that are not stored. */
#ifndef BACKEND_WRITE_LEDGER_H
#define BACKEND_WRITE_LEDGER_H

#include "table.h"

/* Returns 0 or a STORE_ERR_ code with err filled. Writes nothing if count is 0. */
int clickhouse__write_refused(chs_transport *to, const refusal *refused, size_t count,
                              store_error *err);

#endif
