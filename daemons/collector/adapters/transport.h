/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP to the backend with libcurl: one persistent connection, zstd, a token that may change. */
#ifndef COLLECTOR_ADAPTERS_TRANSPORT_H
#define COLLECTOR_ADAPTERS_TRANSPORT_H

#include "../core/uploader.h"

typedef struct transport_options {
    const char *url; /* "http://host:port", without a path */
    const char *token;
    const char *token_file; /* NULL = the token is fixed; read again after the file changed */
    const char *ca_file;    /* "" = the system's certificates */
    const char *user_agent;
    long timeout_ms;
} transport_options;

typedef struct transport transport;

/* Copies the texts. Returns NULL with a sentence in message. */
transport *transport_new(const transport_options *options, char *message, size_t size);
void transport_free(transport *self);

/* The functions of uploader_ports with the same names; context = a transport; only the uploader's
 * thread may call them. */
void transport_post(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                    upload_answer *out);
uint64_t transport_token_generation(void *context);

/* Makes the current call end within a second, and each later one fail, for the end of the program.
 * Any thread. */
void transport_abort(transport *self);

/* Returns the compressed bytes sent in bodies. Any thread. */
uint64_t transport_sent_bytes(const transport *self);

#endif
