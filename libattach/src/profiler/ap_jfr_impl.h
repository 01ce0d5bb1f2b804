/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions with the JDK's own recorder, for JVMs that accept no profiler library. They use
 * HotSpot's commands JFR.start, JFR.dump, JFR.stop and JFR.check over jcmd. The recording has the
 * name of the private directory. A dump ends the current chunk, and the next chunk follows without
 * a gap (tested with 11, 17, 21 and 25), so windows lose nothing.
 */
#ifndef ATTACH_AP_JFR_H
#define ATTACH_AP_JFR_H

#include "profiler/ap_session_impl.h"

/* Starts a recording with the settings of s->marker, in a directory that is created where there is
 * none. `why` is kept as the engine's reason. On failure all files are removed. */
int attach__jfr_begin(attach__session *s, const char *why, attach_error *err);

/* Asks whether the session's recording runs and sets s->running. The session must be held. */
int attach__jfr_ask(attach__session *s, attach_error *err);

/* Reads a window, as attach_ap_window. The session is held, and its marker says JFR. */
int attach__jfr_window(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                       attach_error *err);

/* Stops the recording and writes its data to the recording file of the directory. */
int attach__jfr_stop(attach__session *s, attach_error *err);

/* Passes the data of a stopped recording after `offset` to `piece`; UINT64_MAX = all data not
 * passed before. Moves s->marker.handed. */
int attach__jfr_rest(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                     attach_error *err);

/* Returns whether an answer to JFR.check says that the recording of that name runs. */
bool attach__jfr_runs(attach__span text, const char *name);

#endif
