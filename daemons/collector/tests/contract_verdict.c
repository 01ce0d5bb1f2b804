/* SPDX-License-Identifier: Apache-2.0 */
#include "contract_verdict.h"

#include <check.h>
#include <stdlib.h>

#include <contract/check.h>
#include <contract/wire/decode.h>
#include <contract/wire/message.h>

void assert_contract_holds(const batch *one, uint64_t now_ms)
{
    Hotstack__V1__Collector sender = HOTSTACK__V1__COLLECTOR__INIT;
    const ingest_limits limits = LIMITS_INIT;
    proto_decoded *decoded = NULL;
    profile_batch columns = {0};
    verdict v = {.code = ""};
    uint8_t *bytes = NULL;
    size_t length = 0;
    char name[] = "test";

    sender.cluster = sender.node = sender.instance = name;
    ck_assert_int_eq(batch_pack(one, &sender, &bytes, &length), 0);
    ck_assert_msg(proto_decode_batch(&decoded, &columns, bytes, length, &v) == 0 &&
                      check_profile_batch(&columns, &limits, now_ms, &v) == 0,
                  "%s: %s", v.code, v.message);
    profile_batch_clear(&columns);
    proto_decoded_free(decoded);
    free(bytes);
}
