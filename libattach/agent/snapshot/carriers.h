/* SPDX-License-Identifier: Apache-2.0 */
/* Which platform threads carry virtual ones (Java 21 and later). */
#ifndef HOTSTACK_THREADS_CARRIERS_H
#define HOTSTACK_THREADS_CARRIERS_H

#include "snapshot/reading.h"

/* Sets THREADS_CARRIER on the rows of carrier threads: those of the JDK's own thread group for
 * them. ThreadInfo does not say it, and their names are not theirs alone. Returns whether the JVM
 * may have virtual threads: false only where it has certainly run none. */
bool carriers_mark(jvm *j, reading *r);

#endif
