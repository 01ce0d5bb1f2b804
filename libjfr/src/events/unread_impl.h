/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_UNREAD_H
#define JFR_SRC_UNREAD_H

#include "read/reader_impl.h"

/*
 * Finds the chunk's unread event types (jfr_chunk_unread), with counts of 0. Returns
 * 0 or a negative code.
 */
int jfr__unread_define(jfr_chunk *chunk, jfr_error *err);
/* Counts an event of that type, if the type is unread. */
void jfr__unread_count(jfr_chunk *chunk, uint64_t type_id);

#endif
