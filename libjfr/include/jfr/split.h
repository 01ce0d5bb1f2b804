/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SPLIT_H
#define JFR_SPLIT_H

#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/file.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * Several chunks at a time. The library starts no threads: those of the caller read a chunk each,
 * with a reader of their own, and meet where one chunk hands something on to the next.
 *
 *     count = jfr_split_places(file, places, room);
 *     ... in each thread ...
 *     jfr_split_reader(&reader, file, &err);
 *     while ((i = ... the next chunk that no thread has taken ...) < count) {
 *         jfr_split_go(reader, &places[i], &err);
 *         rc = jfr_next_chunk(reader, &chunk, &err);
 *         ... wait until all chunks before number i are settled ...
 *         if (rc == 1)
 *             jfr_split_settle(file, chunk, &err);
 *         ... samples, sums, stacks, threads of the chunk ...
 *         rc = jfr_next_chunk(reader, &chunk, &err);
 *         ... 0: the chunk is done, jfr_file_loss(reader) tells what it lost ...
 *     }
 *     jfr_close(reader);
 *
 * So read, each chunk, its settings, its losses and jfr_chunk_recording are what jfr_next_chunk
 * makes of them when one thread reads the file from its begin to its end.
 */

/* Where a chunk lies in the recording. */
typedef struct jfr_place {
    uint64_t offset;
    uint64_t size;
} jfr_place;

/*
 * Lists where the chunks of `file` lie, from the first on, by their headers alone; at most `room`
 * are written to `places`. Returns how many there are, or 0 when they can only be read in a row:
 * one is unfinished, cut or damaged, bytes lie between them, or max_chunks is passed.
 */
JFR_EXPORT size_t jfr_split_places(const jfr_file *file, jfr_place *places, size_t room);

/*
 * Makes another reader of the recording that `file` has open: a file in its own right, for one
 * thread at a time, with chunk and memory of its own and the same options. It has nothing to read
 * until jfr_split_go.
 *   out   close it with jfr_close, before `file`
 * Errors: JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_split_reader(jfr_file **out, const jfr_file *file, jfr_error *err);

/*
 * Makes the chunk at `place` all that there is to read for jfr_next_chunk(reader); losses count
 * from there. Ends the reader's chunk. Errors: JFR_ERR_USAGE (no reader of jfr_split_reader, no
 * such bytes).
 */
JFR_EXPORT JFR_MUST_USE int jfr_split_go(jfr_file *reader, const jfr_place *place, jfr_error *err);

/*
 * Gives a reader's chunk the settings that it takes over from earlier ones, and `file` those that
 * it states, with what it tells of the recording. For each chunk before its samples are read, in
 * the order of the chunks, by one thread at a time; meanwhile nobody else uses `file`.
 * Errors: JFR_ERR_LIMIT (max_decoded_bytes), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_split_settle(jfr_file *file, jfr_chunk *chunk, jfr_error *err);

/*
 * One chunk by several threads: opens the chunk that is next in the recording of `reader` as far as
 * its events need it, so that some threads read them while another one opens it as a whole, which
 * takes long where the pools are large.
 *
 *     rc = jfr_split_peek(reader, &peeked, &err);
 *     ... one thread ...                       ... the others, meanwhile ...
 *     jfr_next_chunk(file, &chunk, &err);      jfr_sums_parts(sums, peeked, ...);
 *     jfr_sums_parts(sums, chunk, ...);        ... wait until the chunk is open ...
 *                                              jfr_sums_settle(sums, chunk, &err);
 *     ... one thread: jfr_sums_join with the sums of all ...
 *
 *   reader  of jfr_split_reader(&reader, file); ends its chunk. Nobody else uses `file` meanwhile
 *   chunk   receives the chunk, for jfr_sums_parts and jfr_chunk_get_info alone; borrowed until
 *           the next call with the reader. Keep it until jfr_sums_settle
 * Returns 1, or 0 when nothing is gained: the pools are small, or not where they can be put off. It
 * changes nothing of `file`: what is lost is told by jfr_next_chunk(file), which can refuse the
 * chunk even so.
 * Errors: those of jfr_next_chunk, and JFR_ERR_FORMAT, JFR_ERR_USAGE (no reader of
 * jfr_split_reader). There is no chunk then, and jfr_next_chunk(file) goes on as ever.
 */
JFR_EXPORT JFR_MUST_USE int jfr_split_peek(jfr_file *reader, jfr_chunk **chunk, jfr_error *err);

JFR_END_DECLS

#endif
