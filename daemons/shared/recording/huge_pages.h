/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator whose large blocks lie in huge pages, where the kernel has some: a table of some
 * megabytes costs a few page faults instead of one for every 4 KiB, and grows without being copied.
 * What is left beyond whole huge pages lies in small ones: memory that is not used is not touched.
 * Blocks of less than a huge page are malloc's. Some large ones that were freed are kept, as long
 * as others are in use, for who asks next: their pages are there. Any thread may use it.
 */
#ifndef RECORDING_HUGE_PAGES_H
#define RECORDING_HUGE_PAGES_H

#include <jfr/options.h>
#include <stackagg/stackagg.h>

/* For libjfr and for libstackagg. */
extern const jfr_allocator recording__huge_jfr;
extern const sagg_allocator recording__huge_sagg;

#endif
