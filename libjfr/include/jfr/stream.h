/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_STREAM_H
#define JFR_STREAM_H

#include <jfr/chunk.h>
#include <jfr/error.h>
#include <jfr/export.h>
#include <jfr/file.h>
#include <jfr/options.h>
#include <stddef.h>
#include <stdint.h>

JFR_BEGIN_DECLS

/*
 * A recording that is not all there yet: its bytes come piece by piece, or its file still grows.
 * Each chunk is delivered once, when its writer has finished it, with its offset in the recording;
 * a chunk that is still open is waited for. With async-profiler's `dump` or `chunktime` chunks
 * follow one another without a gap in time: so do the ones delivered here.
 *
 *     jfr_stream_follow(&stream, fd, 0, NULL, &err);
 *     for (;;) {
 *         while ((rc = jfr_stream_next(stream, &chunk, &err)) == 1) {
 *             ... samples, stacks, threads of the chunk ...
 *             fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0,
 * jfr_stream_done(stream));
 *         }
 *         ... wait for the writer ...
 *     }
 *
 * One thread at a time may use a stream and what it hands out.
 */
typedef struct jfr_stream jfr_stream;

/*
 * Makes a stream whose bytes the caller feeds (jfr_stream_feed).
 *   out      receives the stream; free with jfr_stream_free
 *   offset   where in the recording the first fed byte lies: a chunk's beginning. Offsets that the
 *            stream tells, in chunks, losses and its own errors, count from the recording's start;
 *            in errors of functions on a chunk they count from that chunk's beginning
 *   opts     NULL = defaults. JFR_WALK_UNFINISHED concerns what is left at jfr_stream_end
 * Errors: JFR_ERR_USAGE (options), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stream_new(jfr_stream **out, uint64_t offset,
                                           const jfr_options *opts, jfr_error *err);

/*
 * Makes a stream that reads the file `fd` from `offset`, a chunk's beginning, by pread: the file
 * may grow, its writer may patch headers, what was delivered may be punched out. Memory is held for
 * one finished chunk, none for an open one. Unlike a mapping it is safe against others who cut the
 * file. fd       a regular file opened for reading, borrowed until jfr_stream_free Errors: as
 * jfr_stream_new, and JFR_ERR_IO (no regular file).
 */
JFR_EXPORT JFR_MUST_USE int jfr_stream_follow(jfr_stream **out, int fd, uint64_t offset,
                                              const jfr_options *opts, jfr_error *err);

/*
 * Appends the recording's next `len` bytes; they are copied. Bytes that begin with gzip's magic are
 * unpacked, offsets then count unpacked bytes. The chunk delivered last ends. Take the finished
 * chunks after each piece: a stream holds max_stream_bytes and one piece more, not beyond.
 * Errors: JFR_ERR_LIMIT (nothing was taken: jfr_stream_next was not called until it had no more; or
 * max_unpacked_bytes), JFR_ERR_FORMAT (damaged gzip: what came before it stays), JFR_ERR_USAGE (a
 * stream of jfr_stream_follow, or after jfr_stream_end), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stream_feed(jfr_stream *stream, const void *data, size_t len,
                                            jfr_error *err);

/*
 * Overwrites `len` fed bytes at `offset` of the recording: a writer states a chunk's size in the
 * header, which it fed before, when it finishes the chunk.
 * Errors: JFR_ERR_USAGE (bytes that were delivered already, or not fed yet; a gzip stream).
 */
JFR_EXPORT JFR_MUST_USE int jfr_stream_amend(jfr_stream *stream, uint64_t offset, const void *data,
                                             size_t len, jfr_error *err);

/*
 * Goes to the next finished chunk. One that says to be larger than max_stream_bytes is given up:
 * that may be so, or its size is damaged. Up to where it says to end where a followed file bears
 * that out (another chunk begins there, or the file ends), else up to the next header of a chunk.
 *   chunk   receives the chunk, borrowed until the next jfr_stream_next, _feed or _free
 * Returns 1 with a chunk; 0 when none is finished yet, or, after jfr_stream_end, when all is read;
 * negative on an error. A chunk that cannot be read is skipped and reported by jfr_stream_loss.
 * Errors: JFR_ERR_FORMAT (what lies at the stream's beginning is no recording: lasting),
 * JFR_ERR_LIMIT (a limit was passed: that chunk is reported as lost, the next call goes on behind
 * it; after max_chunks the stream ends), JFR_ERR_IO (also: the file has become shorter than what
 * was read of it), JFR_ERR_NOMEM.
 */
JFR_EXPORT JFR_MUST_USE int jfr_stream_next(jfr_stream *stream, jfr_chunk **chunk, jfr_error *err);

/*
 * Nothing more will come: jfr_stream_next then also looks at a chunk that is unfinished or cut, by
 * the rules of jfr_next_chunk: delivered with JFR_WALK_UNFINISHED, else reported as lost.
 */
JFR_EXPORT void jfr_stream_end(jfr_stream *stream);

/*
 * The offset before which the stream will read no byte again: everything there was delivered or
 * given up. Whoever is done with the chunk delivered last may discard, or punch out, what lies
 * before it; a later stream that starts there (with jfr_options.inherit) misses and repeats
 * nothing.
 */
JFR_EXPORT uint64_t jfr_stream_done(const jfr_stream *stream);

/* What was lost so far, as jfr_file_loss; final once jfr_stream_next returned 0 after the end. */
JFR_EXPORT void jfr_stream_loss(const jfr_stream *stream, jfr_loss *out);

/* Frees the stream, its chunk and every string and view it handed out. NULL is allowed. */
JFR_EXPORT void jfr_stream_free(jfr_stream *stream);

JFR_END_DECLS

#endif
