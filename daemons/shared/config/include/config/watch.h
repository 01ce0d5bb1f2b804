/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config/watch.h: tells when the files of settings have changed, including files that are replaced
 * by switching a symbolic link above them, as in a ConfigMap or a Secret. Thread rule: one thread.
 */
#ifndef CONFIG_WATCH_H
#define CONFIG_WATCH_H

#include <config/config.h>

typedef struct config_watch config_watch;

/*
 * Watches the file that `settings` came from and, with `secrets`, the files of its secrets, those
 * of rules too. NULL where there is no such file or it cannot be watched. The settings need not
 * outlive it. Close with config_watch_close, which takes NULL.
 */
config_watch *config_watch_open(const config *settings, bool secrets);
void config_watch_close(config_watch *watch);

/* Readable when something happened beside one of the files; -1 for NULL. */
int config_watch_fd(const config_watch *watch);

/* Consumes the events, and returns whether a file has changed since the last call. A missing file
 * is being replaced: it counts as changed once it is back. False for NULL. */
bool config_watch_changed(config_watch *watch);

#endif
