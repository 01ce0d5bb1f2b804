/* SPDX-License-Identifier: Apache-2.0 */
/* Performs one operation on one JVM, and gives up privileges on the way. */
#ifndef HOTSTACK_WORKER_OPERATION_H
#define HOTSTACK_WORKER_OPERATION_H

#include "frames.h"

/* Performs the request, sends data frames to output, and fills *result in every case. */
void operation_run(attach_result *result, const attach_request *request, frames_output *output);

#endif
