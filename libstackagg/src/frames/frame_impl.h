/* SPDX-License-Identifier: Apache-2.0 */
#ifndef STACKAGG_FRAME_INTERNAL_H
#define STACKAGG_FRAME_INTERNAL_H

#include <stdbool.h>

#include <stackagg/frame.h>

/* Returns the bytes that sagg__frame_prepare needs for a frame's class and method. */
size_t sagg__frame_room(const sagg_frame *frame);

/* Cleans and normalises the class and method of `in` into `room`. `out` refers to them; its other
 * fields, the file included, are copied unchanged. */
void sagg__frame_prepare(sagg_frame *out, char *room, const sagg_frame *in, int version);

bool sagg__kind_known(uint8_t kind);
bool sagg__version_known(int version);

#endif
