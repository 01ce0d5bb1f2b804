/* SPDX-License-Identifier: Apache-2.0 */
#include <contract/wire/budget.h>

#include <stdlib.h>

static void *take(void *context, size_t size)
{
    budget *b = context;

    if (size > b->left) {
        b->exceeded = true;
        return NULL;
    }
    /* Freed memory is not credited: memory that a decoder frees and allocates again counts twice,
     * on purpose. */
    b->left -= size;
    void *block = malloc(size);
    b->no_memory = b->no_memory || block == NULL;
    return block;
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
    b->no_memory = false;
}
