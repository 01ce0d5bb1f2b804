/* SPDX-License-Identifier: Apache-2.0 */
/* libattach: the JVMs of this host: find, identify, attach, command; async-profiler sessions. */
#ifndef ATTACH_ATTACH_H
#define ATTACH_ATTACH_H

#include <attach/command.h>
#include <attach/error.h>
#include <attach/examine.h>
#include <attach/export.h>
#include <attach/jvm.h>
#include <attach/profiler.h>
#include <attach/target.h>
#include <attach/threads.h>
#include <attach/version.h>
#include <attach/worker.h>

#endif
