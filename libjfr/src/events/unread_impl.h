/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_UNREAD_H
#define JFR_SRC_UNREAD_H

#include "read/reader_impl.h"

/*
 * Finds the chunk's event types that jfr_chunk_unread tells of, with no event counted yet. Returns
 * 0 or a negative code.
 */
int jfr__unread_define(jfr_chunk *chunk, jfr_error *err);
/* Counts an event of that type, if it is one of them. */
void jfr__unread_count(jfr_chunk *chunk, uint64_t type_id);

#endif
