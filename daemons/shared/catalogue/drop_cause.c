/* SPDX-License-Identifier: Apache-2.0 */
#include <catalogue/drop_cause.h>

#include <stddef.h>

static const drop_cause_info causes[DROP_END] = {
    [DROP_QUEUE_FULL] = {"queue_full",
                         "The collector's queue was full, so its oldest batches were dropped.",
                         "Find out why the backend does not take batches, or raise "
                         "limits.queue_bytes of the collector."},
    [DROP_DISK] = {"disk", "The collector could not write batches to its disk.",
                   "Free space in queue.dir of the collector, or lower limits.queue_bytes."},
    [DROP_DAMAGED] = {"damaged", "Files of the collector's queue could not be read back.",
                      "Check the disk that holds queue.dir of the collector."},
    [DROP_REJECTED] = {"rejected", "The backend refused batches for good.",
                       "Look at the rejected batches for the reason; a collector newer than its "
                       "backend is the usual one."},
};

const drop_cause_info *drop_cause_get(unsigned number)
{
    return number > DROP_NONE && number < DROP_END ? &causes[number] : NULL;
}
