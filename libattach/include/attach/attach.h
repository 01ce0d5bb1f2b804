/* SPDX-License-Identifier: Apache-2.0 */
/* libattach finds, identifies and commands the JVMs of this host, runs async-profiler sessions in
 * them and takes snapshots of their threads. This header includes all others of the library. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include <attach/command.h>
#include <attach/error.h>
#include <attach/examine.h>
#include <attach/export.h>
#include <attach/jvm.h>
#include <attach/lock_class.h>
#include <attach/profiler.h>
#include <attach/target.h>
#include <attach/threads.h>
#include <attach/version.h>
#include <attach/worker.h>

#endif
