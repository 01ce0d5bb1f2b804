/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of requests from the socket. */
#ifndef HOTSTACK_THREADS_REQUEST_H
#define HOTSTACK_THREADS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol.h"

/* Returns the name of the field that is out of range, or NULL. */
const char *request_fault(const threads_ask *ask);

#endif
