/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for protobuf-c that gives out a fixed number of bytes and then no more: what a
 * hostile message can cost to unpack.
 */
#ifndef CONTRACT_WIRE_BUDGET_H
#define CONTRACT_WIRE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

typedef struct budget {
    ProtobufCAllocator allocator; /* give its address to protobuf-c; valid while budget is */
    size_t left;
    bool exceeded;  /* an allocation was refused for want of budget */
    bool no_memory; /* an allocation failed within it */
} budget;

void budget_init(budget *b, size_t bytes);

#endif
