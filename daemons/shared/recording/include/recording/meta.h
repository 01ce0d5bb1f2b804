/* SPDX-License-Identifier: Apache-2.0 */
/** The description of its recordings in a flame graph document. */
#ifndef RECORDING_META_H
#define RECORDING_META_H

#include <recording/recording.h>

/**
 * Makes the "meta" object of a document about recordings (docs/formats/flamegraph-json.md) as JSON.
 * @param before  in a comparison the older side, whose losses are listed, too; else NULL
 * @param title   the document's heading; "" = none
 * @param absent  which events the recorder refused, and why; "" = none
 * @return the text, which the caller frees with free(); NULL when there is no memory
 */
char *recording_meta(const recording *rec, const recording *before, const char *title,
                     const char *absent);

#endif
