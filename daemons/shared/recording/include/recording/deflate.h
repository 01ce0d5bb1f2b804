/* SPDX-License-Identifier: Apache-2.0 */
/** The compressor of pages, which passes zlib to libstackagg. */
#ifndef RECORDING_DEFLATE_H
#define RECORDING_DEFLATE_H

#include <stackagg/output.h>

typedef struct recording_deflate recording_deflate;

/** Makes a compressor of one page; free it with recording_deflate_free. NULL = no memory. */
recording_deflate *recording_deflate_new(void);
/** NULL is allowed. */
void recording_deflate_free(recording_deflate *deflate);
/** Returns the callback for sagg_write_html, for one page, borrowed from `deflate`. */
sagg_compress recording_deflate_page(recording_deflate *deflate);

#endif
