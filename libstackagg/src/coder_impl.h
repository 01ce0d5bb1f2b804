/* SPDX-License-Identifier: Apache-2.0 */
/* Codes of packed flame graphs (docs/formats/flamegraph-packed.md): numbers, each as short as it
 * was likely until then, in digits that may stand in a JSON string. */
#ifndef STACKAGG_CODER_H
#define STACKAGG_CODER_H

#include "output/emit_impl.h"

/* Places that a context takes. */
#define SAGG__PLACES 592u

typedef struct sagg__coder {
    sagg__emit *emit;
    sagg__mem *mem;
    struct sagg__place *places; /* what was learnt */
    uint32_t contexts;
    uint32_t low;
    uint32_t range;
    uint64_t nines; /* highest digits behind `held`: a carry may still turn them all */
    int held;       /* the last digit that a carry may reach; -1 = none */
} sagg__coder;

/* Begins a code of numbers in `contexts` contexts. Returns 0 or SAGG_ERR_NOMEM. */
int sagg__coder_begin(sagg__coder *coder, sagg__emit *emit, sagg__mem *mem, uint32_t contexts);
/* Writes what is left of the code, and frees what begin took, a coder of zeros included. */
void sagg__coder_end(sagg__coder *coder);

void sagg__coder_bit(sagg__coder *coder, uint32_t place, bool bit);
/* A number below `end`, all of them as likely. */
void sagg__coder_below(sagg__coder *coder, uint32_t number, uint32_t end);
/* A number of a context below `contexts`. UINT64_MAX is written as one less. */
void sagg__coder_number(sagg__coder *coder, uint32_t context, uint64_t number);

#endif
