/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a batch like a backend. It has a file of its own because its headers share names with the
 * other tests. */
#ifndef COLLECTOR_TESTS_CONTRACT_VERDICT_H
#define COLLECTOR_TESTS_CONTRACT_VERDICT_H

#include <contract/batch.h>

/* Packs a batch, decodes it and checks it with the clock at now_ms; fails the test if the validator
 * rejects it. */
void assert_contract_holds(const batch *one, uint64_t now_ms);

#endif
