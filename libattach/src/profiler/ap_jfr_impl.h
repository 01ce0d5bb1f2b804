/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions with the JDK's own recorder, for JVMs that take no profiler library: the commands
 * JFR.start, JFR.dump, JFR.stop and JFR.check of HotSpot, over jcmd. The recording is named as our
 * directory is. A dump ends the running chunk; chunks follow each other without a gap (seen with
 * 11, 17, 21 and 25), so windows lose nothing.
 */
#ifndef ATTACH_AP_JFR_H
#define ATTACH_AP_JFR_H

#include "profiler/ap_session_impl.h"

/* Starts a recording as s->marker says, in a directory that is made where there is none. `why` is
 * kept as the engine's reason. On failure everything of ours is removed. */
int attach__jfr_begin(attach__session *s, const char *why, attach_error *err);

/* Asks whether our recording runs: s->running. The session must be held. */
int attach__jfr_ask(attach__session *s, attach_error *err);

/* A window, as attach_ap_window. The session is held, its marker says JFR. */
int attach__jfr_window(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                       attach_error *err);

/* Stops the recording: what it holds lies in the directory's recording file then. */
int attach__jfr_stop(attach__session *s, attach_error *err);

/* Hands over what a stopped recording has after `offset`, or UINT64_MAX = what was not yet given
 * out; moves s->marker.handed. */
int attach__jfr_rest(attach__session *s, uint64_t offset, attach_piece_fn piece, void *ctx,
                     attach_error *err);

/* Whether an answer to JFR.check says that the recording of that name runs. */
bool attach__jfr_runs(attach__span text, const char *name);

#endif
