/* SPDX-License-Identifier: Apache-2.0 */
/* The settings of hotstack-collector. */
#ifndef COLLECTOR_SETTINGS_H
#define COLLECTOR_SETTINGS_H

#include "core/collector.h"
#include "core/pods/pods.h"
#include "core/uploader.h"

#include <config/config.h>

extern const config_program collector_program;

/* Reads the rules of the file. NULL with a sentence, which names the line, in message. */
rule_set *settings_rules(const config *loaded, char *message, size_t size);

/* Reads the settings about pods. 0, or -1 with a sentence in message. */
int settings_pods(const config *loaded, pods_options *out, char *message, size_t size);

collector_options settings_collector(const config_section *settings);
uploader_options settings_uploader(const config_section *settings);

#endif
