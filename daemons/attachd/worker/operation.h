/* SPDX-License-Identifier: Apache-2.0 */
/* One operation on one JVM, privileges given up in between. */
#ifndef HOTSTACK_WORKER_OPERATION_H
#define HOTSTACK_WORKER_OPERATION_H

#include "frames.h"

/* Does what the request says, sends data frames to output, fills *result in every case. */
void operation_run(attach_result *result, const attach_request *request, frames_output *output);

#endif
