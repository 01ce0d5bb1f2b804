/* SPDX-License-Identifier: Apache-2.0 */
/* The one embedded engine of this process, and sessions on it. */
#ifndef CHSINK_SRC_ENGINE_H
#define CHSINK_SRC_ENGINE_H

#include <chsink/embedded.h>

#include "embedded/chdb_library_impl.h"

/*
 * Starts the engine on options->path, or joins it when it runs there. Every join is paired with a
 * chs__engine_leave; the last one stops the engine, which writes its data out. *out: the engine's
 * functions, valid while the caller stays joined. Any thread. Returns 0, CHS_ERR_UNAVAILABLE,
 * CHS_ERR_USAGE or CHS_ERR_NO_MEMORY.
 */
int chs__engine_join(const chs__chdb **out, const chs_embedded_options *options, chs_error *err);
void chs__engine_leave(void);

/*
 * Opens a session with these settings, which are passed as arguments and never as SQL. Returns 0,
 * CHS_ERR_SERVER_FINAL (the engine refuses a setting's value) or CHS_ERR_NO_MEMORY. The caller must
 * have joined the engine, and closes the session with chs__chdb.close.
 */
int chs__session_open(chdb_session **out, const chs_setting *settings, size_t count,
                      chs_error *err);

#endif
