/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CHS_TOKENS_H
#define CHS_TOKENS_H

#include "chsink_impl.h"

/*
 * Makes the deduplication logs of an embedded store true again after its process was killed. A
 * non-replicated table notes a block's token before it gives the block's part its name
 * (ClickHouse, src/Storages/MergeTree/MergeTreeSink.cpp, commitPart): a process killed in between
 * leaves a token without a part, and the retry of that insert would be answered as a duplicate
 * though nothing of it is stored. Such tokens, the last ones of a log, are withdrawn; a torn last
 * record is cut off.
 *
 * path: the canonical data directory. Does nothing where the engine ended in order, where another
 * process has the directory, or where there is no store yet. 0; CHS_ERR_UNAVAILABLE names the file
 * that could not be read or written. Not beside an engine of this process on the same path.
 */
CHS_MUST_USE int chs__tokens_settle(const char *path, chs_error *err);

#endif
