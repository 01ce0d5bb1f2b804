/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of hotstack-attachd. */
#ifndef ATTACHD_SETTINGS_H
#define ATTACHD_SETTINGS_H

#include <config/config.h>

extern const config_program attachd_program;

enum { INSTALLATION_ID_SIZE = 33, UIDS_MAX = 64 };

/* Gets the users of `allow_uids`, and root and our own; returns how many, 0 after an error. */
size_t settings_uids(const config_section *settings, unsigned uids[UIDS_MAX], char *message,
                     size_t size);

/*
 * Gets the installation id: the setting, or the one stored in state_dir, which the first start
 * creates, so that a restarted attachd recognises its own sessions. Returns 0, or -1 with a
 * sentence in message.
 */
int settings_installation_id(char out[INSTALLATION_ID_SIZE], const config_section *settings,
                             char *message, size_t size);

/* Makes the directory for windows in state_dir; "" in out = windows stay in memory. Returns 0, or
 * -1 with a sentence in message. */
int settings_spool_dir(char *out, size_t out_size, const config_section *settings, char *message,
                       size_t size);

#endif
