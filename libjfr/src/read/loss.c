/* SPDX-License-Identifier: Apache-2.0 */
#include "read/reader_impl.h"

void jfr__loss_add(jfr_file *file, jfr_loss_reason reason, uint64_t offset, uint64_t bytes,
                   uint64_t chunk)
{
    file->loss.bytes_lost += bytes;
    file->chunk_damaged = true;
    if (file->loss.record_count == JFR__MAX_LOSSES)
        return;
    file->losses[file->loss.record_count++] = (jfr_loss_record){reason, offset, bytes, chunk};
}

void jfr__loss_take(jfr_file *to, const jfr_file *from)
{
    const jfr_loss *loss = &from->loss;
    to->loss.chunks_whole += loss->chunks_whole;
    to->loss.chunks_partial += loss->chunks_partial;
    to->loss.chunks_lost += loss->chunks_lost;
    to->loss.bytes_lost += loss->bytes_lost;
    to->loss.recorder_samples += loss->recorder_samples;
    to->loss.recorder_bytes += loss->recorder_bytes;
    for (size_t i = 0; i < loss->record_count && to->loss.record_count < JFR__MAX_LOSSES; i++)
        to->losses[to->loss.record_count++] = from->losses[i];
}

void jfr_file_loss(const jfr_file *file, jfr_loss *out)
{
    *out = file->loss;
    out->records = file->losses;
}

const char *jfr_loss_reason_name(jfr_loss_reason reason)
{
    switch (reason) {
    case JFR_LOSS_TRUNCATED:
        return "truncated";
    case JFR_LOSS_UNFINISHED:
        return "unfinished";
    case JFR_LOSS_BAD_HEADER:
        return "bad header";
    case JFR_LOSS_BAD_METADATA:
        return "bad metadata";
    case JFR_LOSS_BAD_POOLS:
        return "bad constant pool";
    case JFR_LOSS_BAD_EVENTS:
        return "bad events";
    case JFR_LOSS_LIMIT:
        return "limit";
    case JFR_LOSS_BAD_GZIP:
        return "damaged gzip";
    }
    return "unknown";
}
