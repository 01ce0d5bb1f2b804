/* SPDX-License-Identifier: Apache-2.0 */
/* What a backend would say of a batch. Apart from the other tests, whose names its headers share.
 */
#ifndef COLLECTOR_TESTS_CONTRACT_VERDICT_H
#define COLLECTOR_TESTS_CONTRACT_VERDICT_H

#include <contract/batch.h>

/* Packs a batch, decodes it and checks it with the clock at now_ms; fails the test where the
 * validator refuses it. */
void assert_contract_holds(const batch *one, uint64_t now_ms);

#endif
