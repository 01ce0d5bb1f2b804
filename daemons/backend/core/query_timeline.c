/* SPDX-License-Identifier: Apache-2.0 */
/* Sums a type in buckets of time, and tells a bucket without load from one without a recording. */
#include <stdlib.h>

#include "query.h"

typedef struct timeline_reader {
    timeline *to;
    query_meta *meta;
} timeline_reader;

static int on_bucket(void *context, const bucket_row *row)
{
    const timeline_reader *r = context;

    if (row->bucket >= r->to->count)
        return -1;
    r->to->values[row->bucket] = row->value;
    r->to->recorded[row->bucket] = true;
    r->meta->seen += row->value;
    r->meta->rows_scanned += row->rows;
    return 0;
}

query_code query_timeline(const query *q, const store_filter *filter, timeline *out,
                          query_meta *meta, store_error *err)
{
    timeline_reader r = {out, meta};
    size_t count = (size_t)store_buckets(filter);

    *out = (timeline){calloc(count, sizeof(*out->values)), calloc(count, sizeof(*out->recorded)),
                      count};
    if (out->values == NULL || out->recorded == NULL)
        return QUERY_UNAVAILABLE;
    query_code code = query_fresh(q, filter, meta, err);
    if (code == QUERY_OK)
        code = query_code_of(
            q->store.profiles->read_timeline(q->store.self, filter, on_bucket, &r, err));
    return code;
}

void timeline_free(timeline *t)
{
    free(t->values);
    free(t->recorded);
    *t = (timeline){NULL, NULL, 0};
}
