/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as they come from a socket. */
#ifndef HOTSTACK_THREADS_REQUEST_H
#define HOTSTACK_THREADS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

/* The field that makes a request unusable, or NULL. */
const char *request_fault(const threads_ask *ask);

#endif
