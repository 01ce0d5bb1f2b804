/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for protobuf-c that gives out a limited number of bytes, and so bounds the cost of
 * unpacking a hostile message.
 */
#ifndef CONTRACT_WIRE_BUDGET_H
#define CONTRACT_WIRE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

typedef struct budget {
    ProtobufCAllocator allocator; /* protobuf-c takes its address; valid as long as the budget */
    size_t left;
    bool exceeded;  /* the budget refused an allocation */
    bool no_memory; /* an allocation within the budget failed */
} budget;

void budget_init(budget *b, size_t bytes);

#endif
