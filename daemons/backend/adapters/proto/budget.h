/*
 * adapters/proto/budget.h: an allocator for protobuf-c that gives out a fixed number of bytes and
 * then no more: a payload of N bytes unpacks within 8 N + 64 KiB (docs/formats/ingest.md).
 */
#ifndef BACKEND_BUDGET_H
#define BACKEND_BUDGET_H

#include <stdbool.h>
#include <stddef.h>

#include <protobuf-c/protobuf-c.h>

typedef struct budget {
    ProtobufCAllocator allocator; /* give its address to protobuf-c; valid while budget is */
    size_t left;
    bool exceeded; /* an allocation was refused for want of budget */
} budget;

void budget_init(budget *b, size_t payload_bytes);

#endif
