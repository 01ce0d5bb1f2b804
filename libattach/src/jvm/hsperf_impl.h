/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hsperfdata: the counters that HotSpot maps into /tmp/hsperfdata_<user>/<pid>. The target controls
 * the bytes, so they may be anything. Format: HotSpot's perfMemory.hpp (PerfDataPrologue,
 * PerfDataEntry), version 2, either byte order.
 */
#ifndef ATTACH_HSPERF_H
#define ATTACH_HSPERF_H

#include "files/text_impl.h"
#include <attach/error.h>

#define ATTACH__HSPERF_MAX ((size_t)1 << 20)

typedef struct attach__hsperf attach__hsperf;
struct attach__hsperf {
    const uint8_t *bytes;
    size_t n;
    bool big_endian;
    size_t at;     /* offset of the next entry */
    uint32_t left; /* entries that follow */
};

/* Checks the prologue. bytes stay borrowed while *out is used. */
int attach__hsperf_open(attach__hsperf *out, const uint8_t *bytes, size_t n, attach_error *err);

/* Takes the next string entry (cut at its NUL); false at the end or at the first entry that breaks
 * the format. */
bool attach__hsperf_next(attach__hsperf *file, attach__span *name, attach__span *value);

#endif
