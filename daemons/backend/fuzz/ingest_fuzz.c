/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as a ProfileBatch: decodes, checks, plans and answers it. The digest is corrected
 * first, as almost no input would get past it otherwise. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "ingest_plan.h"
#include <contract/check.h>
#include <contract/wire/decode.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void plan(const profile_batch *batch)
{
    ingest_plan made;

    if (ingest_plan_make(&made, batch) == 0 &&
        made.brought_count + made.missing_count > batch->samples.window.count)
        abort();
    ingest_plan_free(&made);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const ingest_limits limits = LIMITS_INIT;
    proto_decoded *decoded = NULL;
    profile_batch batch;
    verdict v = {.code = ""};
    XXH128_canonical_t digest;
    size_t length;

    if (proto_decode_batch(&decoded, &batch, data, size, &v) == 0) {
        XXH128_canonicalFromHash(&digest, XXH3_128bits(batch.body.data, batch.body.length));
        batch.digest = (text){(const char *)digest.digest, 16};
        uint64_t now_ms = (uint64_t)batch.day * DAY_MS + DAY_MS / 2;
        if (check_profile_batch(&batch, &limits, now_ms, &v) == 0)
            plan(&batch);
    }
    free(proto_encode_answer(&length, &v, &limits));
    profile_batch_clear(&batch);
    proto_decoded_free(decoded);
    verdict_clear(&v);
    return 0;
}
