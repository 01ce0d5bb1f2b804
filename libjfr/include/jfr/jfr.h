/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_JFR_H
#define JFR_JFR_H

/*
 * libjfr: reads recordings of JDK Flight Recorder and async-profiler (docs/formats/jfr.md).
 *
 *     jfr_file *file;
 *     if (jfr_open_file(&file, "app.jfr", NULL, &err) < 0) ...
 *     while ((rc = jfr_next_chunk(file, &chunk, &err)) == 1)
 *         while ((rc = jfr_samples_next(chunk, &sample, &err)) == 1)
 *             for (int i = 0; i < sample.value_count; i++)
 *                 total[sample.values[i].type] += sample.values[i].value;
 *     jfr_close(file);
 *
 * The library never prints, exits, forks or installs signal handlers, and keeps no global state.
 * Files are independent of one another; one thread at a time may use each.
 */

#include <jfr/chunk.h>
#include <jfr/columns.h>
#include <jfr/error.h>
#include <jfr/event.h>
#include <jfr/export.h>
#include <jfr/file.h>
#include <jfr/options.h>
#include <jfr/sample.h>
#include <jfr/settings.h>
#include <jfr/stack.h>
#include <jfr/string.h>
#include <jfr/sum.h>
#include <jfr/thread.h>
#include <jfr/type.h>
#include <jfr/variant.h>
#include <jfr/version.h>

JFR_BEGIN_DECLS

/* Returns the library's version, "MAJOR.MINOR.PATCH": a static string. */
JFR_EXPORT const char *jfr_version(void);

JFR_END_DECLS

#endif
