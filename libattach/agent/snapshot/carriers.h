/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the platform threads that carry virtual ones (Java 21 and later). */
#ifndef HOTSTACK_THREADS_CARRIERS_H
#define HOTSTACK_THREADS_CARRIERS_H

#include "snapshot/reading.h"

/*
 * Sets THREADS_CARRIER on the rows of carrier threads. These are the threads of the JDK's own
 * thread group for them: ThreadInfo does not mark carriers, and other threads may have the same
 * names. Returns whether the JVM may have virtual threads: false only when it has certainly run
 * none.
 */
bool carriers_mark(jvm *j, reading *r);

#endif
