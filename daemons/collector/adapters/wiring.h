/* SPDX-License-Identifier: Apache-2.0 */
/* All adapters put together: what main starts, runs and ends. */
#ifndef COLLECTOR_ADAPTERS_WIRING_H
#define COLLECTOR_ADAPTERS_WIRING_H

#include <config/config.h>

typedef struct wiring wiring;

/* Makes everything; nothing runs yet. `loaded` is borrowed. NULL with a sentence in message. */
wiring *wiring_new(const config *loaded, char *message, size_t size);

/*
 * Runs until `signals` (a signalfd) is readable, then ends in order: last windows, sessions, last
 * uploads within upload.grace. 0, or -1 with a sentence in message.
 */
int wiring_run(wiring *self, int signals, char *message, size_t size);

void wiring_free(wiring *self);

#endif
