/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config/watch.h: tells when the files behind settings have changed, also files that are replaced
 * through a symbolic link above them, as those of a ConfigMap or a Secret are.
 * Thread rule: one thread.
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

/* Takes what has happened: whether a file is another than when this was asked last. A file that is
 * absent is between two names: it counts when it is there again. False for NULL. */
bool config_watch_changed(config_watch *watch);

#endif
