/* SPDX-License-Identifier: Apache-2.0 */
/* chsink/chsink.h: includes all other headers of libchsink. */
#ifndef CHSINK_CHSINK_H
#define CHSINK_CHSINK_H

#include <chsink/block.h>
#include <chsink/bytes.h>
#include <chsink/embedded.h>
#include <chsink/error.h>
#include <chsink/export.h>
#include <chsink/http.h>
#include <chsink/reader.h>
#include <chsink/transport.h>
#include <chsink/version.h>

#endif
