/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tells whether the files of settings have changed. It also sees a file that is replaced by
 * changing a symbolic link above it, as Kubernetes does for a ConfigMap or a Secret. Thread rule:
 * one thread.
 */
#ifndef CONFIG_WATCH_H
#define CONFIG_WATCH_H

#include <config/config.h>

typedef struct config_watch config_watch;

/*
 * Watches the file of `settings` and, with `secrets`, the files of all secrets, including those of
 * rules. Returns NULL if there is no such file or the kernel cannot watch it. `settings` need not
 * outlive the watch. The caller closes it with config_watch_close, which takes NULL.
 */
config_watch *config_watch_open(const config *settings, bool secrets);
void config_watch_close(config_watch *watch);

/* Returns a descriptor that is readable after an event in the directory of a file; -1 for NULL. */
int config_watch_fd(const config_watch *watch);

/* Consumes the events and returns whether a file has changed since the last call. A missing file is
 * being replaced: it counts as changed when it is back. Returns false for NULL. */
bool config_watch_changed(config_watch *watch);

#endif
