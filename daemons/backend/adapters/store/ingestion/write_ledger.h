/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the ledger about batches that are not stored. */
#ifndef BACKEND_WRITE_LEDGER_H
#define BACKEND_WRITE_LEDGER_H

#include "table.h"

/* 0 or a STORE_ERR_ code with err filled; nothing where count is 0. */
int clickhouse__write_refused(chs_transport *to, const refusal *refused, size_t count,
                              store_error *err);

#endif
