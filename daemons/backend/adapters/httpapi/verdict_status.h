/* SPDX-License-Identifier: Apache-2.0 */
/* Maps an ingest verdict to an HTTP status (docs/formats/ingest.md, "Answers"). Pure functions. */
#ifndef BACKEND_VERDICT_STATUS_H
#define BACKEND_VERDICT_STATUS_H

#include <contract/verdict.h>

int verdict_status(const verdict *v);

#endif
