/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP status of an ingest verdict (docs/formats/ingest.md, "Answers"). Pure. */
#ifndef BACKEND_VERDICT_STATUS_H
#define BACKEND_VERDICT_STATUS_H

#include <contract/verdict.h>

int verdict_status(const verdict *v);

#endif
