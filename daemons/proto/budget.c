#include "budget.h"

#include <stdlib.h>

static void *take(void *context, size_t size)
{
    budget *b = context;

    if (size > b->left) {
        b->exceeded = true;
        return NULL;
    }
    /* Nothing is given back: what a decoder frees and takes again counts twice, on purpose. */
    b->left -= size;
    return malloc(size);
}

static void give_back(void *context, void *memory)
{
    (void)context;
    free(memory);
}

void budget_init(budget *b, size_t bytes)
{
    b->allocator = (ProtobufCAllocator){take, give_back, b};
    b->left = bytes;
    b->exceeded = false;
}
