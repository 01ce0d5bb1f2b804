/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP to the backend by libcurl: one kept connection, zstd, a token that may change. */
#ifndef COLLECTOR_ADAPTERS_TRANSPORT_H
#define COLLECTOR_ADAPTERS_TRANSPORT_H

#include "../core/uploader.h"

typedef struct transport_options {
    const char *url; /* "http://host:port", without a path */
    const char *token;
    const char *token_file; /* NULL = the token does not change; read again when the file did */
    const char *ca_file;    /* "" = the system's */
    const char *user_agent;
    long timeout_ms;
} transport_options;

typedef struct transport transport;

/* Texts are copied. NULL with a sentence in message. */
transport *transport_new(const transport_options *options, char *message, size_t size);
void transport_free(transport *self);

/* uploader_ports' functions of the same names; context = a transport; the uploader's thread. */
void transport_post(void *context, enum upload_call call, const uint8_t *bytes, size_t length,
                    upload_answer *out);
uint64_t transport_token_generation(void *context);

/* Ends the call under way within a second, and each later one, for the end of the program. Any
 * thread. */
void transport_abort(transport *self);

/* Bytes sent in bodies, compressed. Any thread. */
uint64_t transport_sent_bytes(const transport *self);

#endif
