/* SPDX-License-Identifier: Apache-2.0 */
/* Reads how many events the profiler has dropped. */
#include "profiler/ap_session_impl.h"

#include <stdlib.h>

uint64_t attach__skipped_samples(attach__span metrics)
{
    attach__span line, name;
    uint64_t count = 0;
    while (attach__next_line(&metrics, &line))
        if (attach__next_field(&line, ' ', &name) &&
            attach__span_is(name, "samples_skipped_total") && attach__parse_u64(line, 10, &count))
            return count;
    return 0;
}

void attach__session_count_dropped(attach__session *s)
{
    attach__blob text;
    if (attach__session_question(&text, s, "metrics", NULL) != ATTACH_OK)
        return;
    uint64_t skipped = attach__skipped_samples(attach__blob_span(&text));
    free(text.p);
    s->dropped = skipped > s->marker.skipped ? skipped - s->marker.skipped : 0;
    s->marker.skipped = skipped;
}
