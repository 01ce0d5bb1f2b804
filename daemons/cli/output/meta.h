/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOTSTACK_CLI_META_H
#define HOTSTACK_CLI_META_H

#include <recording/recording.h>

/*
 * The "meta" object of a flame graph document about recordings (docs/formats/flamegraph-json.md).
 * Of a comparison it is about the newer side, and tells what is missing of both; `before` is NULL
 * elsewhere. `absent` says which events the recorder refused, and why; or "". Returns JSON text,
 * freed with free(); NULL when there is no memory.
 */
char *meta_json(const recording *rec, const recording *before, const char *title,
                const char *absent);

#endif
