/* SPDX-License-Identifier: Apache-2.0 */
#include "coder_impl.h"

/* The range is kept between 90^3 and 90^4. */
#define LEAST 729000u
#define WHOLE (90 * LEAST)
/* A 0 has odds of so many; the first guess is a half. */
#define ODDS 8192u
/* A bit moves the odds by a half, then by less and less, down to 2^-5. */
#define SLOWEST 5u
/* Digits of a number that have places. */
#define LEARNT 3u
/* Bits that are coded at a time where all values are as likely. */
#define MOST_PLAIN 12u

/* The places of a number's context: of fours (at 0), of which of the four, of the digits by size.
 */
enum { WHICH = 16, DIGITS = WHICH + 16 * 4 };
_Static_assert(DIGITS + 64 * (1 << LEARNT) == SAGG__PLACES, "a context takes so many places");

struct sagg__place {
    uint32_t odds; /* 0 = never met */
    uint32_t met;
};

int sagg__coder_begin(sagg__coder *coder, sagg__emit *emit, sagg__mem *mem, uint32_t contexts)
{
    *coder =
        (sagg__coder){.emit = emit, .mem = mem, .contexts = contexts, .range = WHOLE, .held = -1};
    coder->places = sagg__alloc_zero(mem, (size_t)contexts * SAGG__PLACES, sizeof(*coder->places));
    return coder->places != NULL ? 0 : SAGG_ERR_NOMEM;
}

/* The 90 printable characters from '#' on, without '<' and '\\'. */
static void emit_digit(sagg__emit *emit, uint32_t value)
{
    value += '#';
    value += value >= '<' ? 1 : 0;
    value += value >= '\\' ? 1 : 0;
    char digit = (char)value;
    sagg__emit_bytes(emit, &digit, 1);
}

/* What no carry can reach any more, with the one that has come. */
static void emit_held(sagg__coder *coder, bool carry)
{
    if (coder->held >= 0)
        emit_digit(coder->emit, (uint32_t)coder->held + carry);
    for (; coder->nines > 0; coder->nines--)
        emit_digit(coder->emit, carry ? 0 : 89);
}

static void shift(sagg__coder *coder)
{
    bool carry = coder->low >= WHOLE;
    uint32_t first = (coder->low - (carry ? WHOLE : 0)) / LEAST;
    if (first == 89 && !carry) {
        coder->nines++;
    } else {
        emit_held(coder, carry);
        coder->held = (int)first;
    }
    coder->low = coder->low % LEAST * 90;
}

static void fit(sagg__coder *coder)
{
    for (; coder->range < LEAST; coder->range *= 90)
        shift(coder);
}

void sagg__coder_bit(sagg__coder *coder, uint32_t place, bool bit)
{
    struct sagg__place *at = &coder->places[place];
    uint32_t odds = at->odds > 0 ? at->odds : ODDS / 2;
    uint32_t bound = coder->range / ODDS * odds;
    uint32_t pace = 31u - (uint32_t)__builtin_clz(at->met + 3);
    coder->low += bit ? bound : 0;
    coder->range = bit ? coder->range - bound : bound;
    at->odds = bit ? odds - (odds >> pace) : odds + ((ODDS - odds) >> pace);
    at->met += pace < SLOWEST ? 1 : 0;
    fit(coder);
}

/* The lowest `count` bits of a value, all of them as likely. */
static void code_plain(sagg__coder *coder, uint64_t value, uint32_t count)
{
    while (count > 0) {
        uint32_t some = count < MOST_PLAIN ? count : MOST_PLAIN;
        count -= some;
        coder->range >>= some;
        coder->low += (uint32_t)(value >> count & ((1u << some) - 1)) * coder->range;
        fit(coder);
    }
}

void sagg__coder_below(sagg__coder *coder, uint32_t number, uint32_t end)
{
    code_plain(coder, number, end > 1 ? 32u - (uint32_t)__builtin_clz(end - 1) : 0);
}

/* How many digits a number has behind its first: by fours, then which of the four. */
static void code_size(sagg__coder *coder, uint32_t base, uint32_t size)
{
    uint32_t fours = size / 4;
    uint32_t which = base + WHICH + fours * 4;
    for (uint32_t i = 0; i <= fours; i++)
        sagg__coder_bit(coder, base + i, i < fours);
    sagg__coder_bit(coder, which + 1, (size & 2) != 0);
    sagg__coder_bit(coder, which + 2 + (size >> 1 & 1), (size & 1) != 0);
}

void sagg__coder_number(sagg__coder *coder, uint32_t context, uint64_t number)
{
    uint32_t base = context * SAGG__PLACES;
    uint64_t value = number < UINT64_MAX ? number + 1 : number;
    uint32_t size = 63u - (uint32_t)__builtin_clzll(value);
    uint32_t left = size;
    code_size(coder, base, size);
    for (; left > 0 && size - left < LEARNT; left--) {
        uint32_t before = (uint32_t)(value >> left);
        sagg__coder_bit(coder, base + DIGITS + (size << LEARNT) + before,
                        (value >> (left - 1) & 1) != 0);
    }
    code_plain(coder, value, left);
}

/* Of all that the range holds the number that ends soonest: a reader adds zeros behind it. */
static void finish(sagg__coder *coder)
{
    uint32_t step = LEAST;
    uint32_t low = coder->low + step - 1;
    for (; low - low % step - coder->low >= coder->range; low = coder->low + step - 1)
        step /= 90;
    coder->low = low - low % step;
    do {
        shift(coder);
    } while (coder->low > 0);
    emit_held(coder, false);
}

void sagg__coder_end(sagg__coder *coder)
{
    if (coder->places == NULL)
        return;
    finish(coder);
    sagg__release(coder->mem, coder->places,
                  (size_t)coder->contexts * SAGG__PLACES * sizeof(*coder->places));
    coder->places = NULL;
}
