/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHS_TOKENS_H
#define CHS_TOKENS_H

#include "chsink_impl.h"

/*
 * Repairs the deduplication logs of an embedded store whose process was killed. A non-replicated
 * table records a block's token before it gives the block's part its name (ClickHouse,
 * src/Storages/MergeTree/MergeTreeSink.cpp, commitPart). A process that is killed in between leaves
 * a token without a part, and the retry of that insert would be answered as a duplicate although
 * nothing of it is stored. Such tokens, the last ones of a log, are withdrawn; a torn last record
 * is cut off.
 *
 * path: the canonical data directory. Does nothing when the engine ended in order, when another
 * process has the directory, or when there is no store yet. Returns 0, or CHS_ERR_UNAVAILABLE,
 * which names the file that could not be read or written. Must not run while this process has an
 * engine on the same path.
 */
CHS_MUST_USE int chs__tokens_settle(const char *path, chs_error *err);

#endif
