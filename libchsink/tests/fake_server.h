/* SPDX-License-Identifier: Apache-2.0 */
/* An HTTP server that sends the answer that a test gives it, valid or not. */
#ifndef CHSINK_TESTS_FAKE_SERVER_H
#define CHSINK_TESTS_FAKE_SERVER_H

#include <stddef.h>

/* One raw answer: status line, headers, body. length 0 with NULL: never answers. */
typedef struct fake_answer {
    const char *data;
    size_t length;
    int hang_up; /* close the connection after it */
} fake_answer;

typedef struct fake_server fake_server;

/* Starts on a free port of 127.0.0.1; every request gets this answer. A thread per connection. */
fake_server *fake_server_start(const fake_answer *answer);

/* Returns "http://127.0.0.1:PORT", valid for the server's life. */
const char *fake_server_url(const fake_server *server);

/* Copies the head (NUL-terminated) and body of the last request under the server's lock. */
size_t fake_server_last(fake_server *server, char *head, size_t head_size, char *body,
                        size_t body_size);

/* Return how many connections and requests there have been. */
unsigned fake_server_connections(fake_server *server);
unsigned fake_server_requests(fake_server *server);

void fake_server_stop(fake_server *server);

#endif
