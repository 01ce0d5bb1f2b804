/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the ledger's row of a batch that was not stored. */
#ifndef BACKEND_REFUSAL_H
#define BACKEND_REFUSAL_H

#include "../store.h"
#include <contract/verdict.h>

/*
 * sender: the token's name. batch: NULL where the payload could not be read; of a batch that broke
 * the contract, only the valid parts are used.
 */
refusal refusal_of(const char *sender, const profile_batch *batch, const verdict *v,
                   const ingest_limits *limits, uint64_t now_ms);

#endif
