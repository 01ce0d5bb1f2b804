/* SPDX-License-Identifier: Apache-2.0 */
#ifndef JFR_SRC_PATTERN_H
#define JFR_SRC_PATTERN_H

#include <stdint.h>
#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

/*
 * Reads many LEB128 integers at a time: finds which of 64 bytes continue an integer, and computes
 * the value of an integer from its bytes. The code is compiled for each instruction set.
 */

static inline uint64_t jfr__load_64(const uint8_t *p)
{
    uint64_t bytes;
    memcpy(&bytes, p, sizeof(bytes));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    return bytes;
}

/* Returns bits: bit i is set when byte i of eight has its top bit set. */
static inline uint32_t jfr__continuing_8(uint64_t bytes)
{
    /* The product moves the top bit of byte k to bit 56 + k; no two meet. */
    uint64_t tops = bytes & UINT64_C(0x8080808080808080);
    return (uint32_t)(tops * UINT64_C(0x0002040810204081) >> 56);
}

/* Returns the same for the 32 bytes at `p`. */
static inline uint32_t jfr__continuing_32(const uint8_t *p)
{
#if defined(__AVX2__)
    return (uint32_t)_mm256_movemask_epi8(_mm256_loadu_si256((const __m256i *)(const void *)p));
#elif defined(__SSE2__)
    __m128i low = _mm_loadu_si128((const __m128i *)(const void *)p);
    __m128i high = _mm_loadu_si128((const __m128i *)(const void *)(p + 16));
    return (uint32_t)_mm_movemask_epi8(low) | (uint32_t)_mm_movemask_epi8(high) << 16;
#else
    uint32_t bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= jfr__continuing_8(jfr__load_64(p + 8 * i)) << 8 * i;
    return bits;
#endif
}

/* Returns the same for 64 bytes. */
static inline uint64_t jfr__continuing(const uint8_t *p)
{
    return jfr__continuing_32(p) | (uint64_t)jfr__continuing_32(p + 32) << 32;
}

/* Returns the low `count` bits, for a count below 64; for 64 to 255 the result is unspecified. */
static inline uint64_t jfr__first_bits(uint64_t bits, size_t count)
{
#if defined(__BMI2__)
    return _bzhi_u64(bits, (uint32_t)count);
#else
    return bits & ((UINT64_C(1) << (count & 63)) - 1);
#endif
}

/* Returns the low seven bits of the bytes that `mask` selects, moved together. `mask` is 0x7F in
 * each of the first few bytes and 0 in the others. */
static inline uint64_t jfr__gather(uint64_t bytes, uint64_t mask)
{
#if defined(__BMI2__)
    return _pext_u64(bytes, mask);
#else
    /* Pairs move together, then fours, then all. */
    uint64_t x = bytes & mask;
    x = (x & UINT64_C(0x007F007F007F007F)) | (x & UINT64_C(0x7F007F007F007F00)) >> 1;
    x = (x & UINT64_C(0x00003FFF00003FFF)) | (x & UINT64_C(0x3FFF00003FFF0000)) >> 2;
    return (x & UINT64_C(0x0FFFFFFF)) | (x & UINT64_C(0x0FFFFFFF00000000)) >> 4;
#endif
}

/* Returns the first `count` bytes of eight, 1 to 8; 0 in the others. */
static inline uint64_t jfr__first_bytes(uint64_t bytes, size_t count)
{
#if defined(__BMI2__)
    return _bzhi_u64(bytes, 8 * (uint32_t)count);
#else
    return bytes << (64 - 8 * count) >> (64 - 8 * count);
#endif
}

/* Returns how many bits are set. Without a CPU instruction for this, the compiler's builtin would
 * call a function. */
static inline unsigned jfr__count_bits(uint64_t x)
{
#if defined(__POPCNT__)
    return (unsigned)_mm_popcnt_u64(x);
#else
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0F0F0F0F0F0F0F0F);
    return (unsigned)(x * UINT64_C(0x0101010101010101) >> 56);
#endif
}

/* Returns the position of the `nth` set bit, counted from 1. At least `nth` bits must be set. */
static inline unsigned jfr__nth_bit(uint64_t x, unsigned nth)
{
#if defined(__BMI2__)
    return (unsigned)__builtin_ctzll(_pdep_u64(UINT64_C(1) << (nth - 1), x));
#else
    for (; nth > 1; nth--)
        x &= x - 1;
    return (unsigned)__builtin_ctzll(x);
#endif
}

/* Returns the first `count` set bits, for a count below 64. */
static inline uint64_t jfr__first_set(uint64_t x, unsigned count)
{
#if defined(__BMI2__)
    return _pdep_u64((UINT64_C(1) << count) - 1, x);
#else
    uint64_t found = 0;
    for (; count > 0; count--) {
        found |= x & -x;
        x &= x - 1;
    }
    return found;
#endif
}

/* Returns every fourth set bit. `before` is the number of set bits before these, modulo 4, so the
 * first result is set bit 4 - before. */
static inline uint64_t jfr__every_fourth(uint64_t x, unsigned before)
{
    const unsigned others = 3 - before % 4;
#if defined(__BMI2__)
    return _pdep_u64(UINT64_C(0x1111111111111111) << others, x);
#else
    uint64_t found = 0;
    for (unsigned left = others; x != 0; left = left == 0 ? 3 : left - 1) {
        found |= left == 0 ? x & -x : 0;
        x &= x - 1;
    }
    return found;
#endif
}

/* The place of an integer in eight bytes. */
typedef struct jfr__field_place {
    uint64_t mask;  /* the low seven bits of its bytes */
    uint64_t shift; /* bits below them */
} jfr__field_place;

static inline uint64_t jfr__gather_at(uint64_t bytes, const jfr__field_place *place)
{
#if defined(__BMI2__)
    return _pext_u64(bytes, place->mask);
#else
    return jfr__gather(bytes >> place->shift, place->mask >> place->shift);
#endif
}

/* Returns the mask of an integer of `bytes` bytes, 1 to 8. */
static inline uint64_t jfr__gather_mask(unsigned bytes)
{
    return UINT64_C(0x7F7F7F7F7F7F7F7F) >> (64 - 8 * bytes);
}

/* The places of JFR__NEAR integers of at most four bytes among 16 bytes: for each integer the
 * indices of its bytes, followed by JFR__NO_BYTE. */
enum { JFR__NEAR = 4, JFR__NO_BYTE = 0x80 };
typedef struct jfr__picks {
    uint8_t bytes[JFR__NEAR][4];
} jfr__picks;

/* The values of such integers. */
typedef uint32_t jfr__near __attribute__((vector_size(4 * JFR__NEAR)));

static inline jfr__near jfr__gather_near(const uint8_t *p, const jfr__picks *picks)
{
#if defined(__AVX2__)
    __m128i order = _mm_loadu_si128((const __m128i *)(const void *)picks);
    __m128i bytes = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(const void *)p), order);
    bytes = _mm_and_si128(bytes, _mm_set1_epi8(0x7F));
    /* Pairs of 7 bits to 14, pairs of these to 28. */
    __m128i pairs = _mm_maddubs_epi16(_mm_set1_epi16((int16_t)0x8001), bytes);
    return (jfr__near)_mm_madd_epi16(pairs, _mm_set1_epi32(0x40000001));
#else
    jfr__near out = {0};
    for (int i = 0; i < JFR__NEAR; i++) {
        const uint8_t *bytes = picks->bytes[i];
        for (unsigned k = 0; k < 4 && bytes[k] != JFR__NO_BYTE; k++)
            out[i] |= (uint32_t)(p[bytes[k]] & 0x7F) << 7 * k;
    }
    return out;
#endif
}

/* Returns bits: bit i is set when number i is equal in both. */
static inline uint32_t jfr__near_equal(jfr__near a, jfr__near b)
{
#if defined(__SSE2__)
    return (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32((__m128i)a, (__m128i)b)));
#else
    uint32_t same = 0;
    for (unsigned i = 0; i < JFR__NEAR; i++)
        same |= (uint32_t)(a[i] == b[i]) << i;
    return same;
#endif
}

/* Returns bits: bit i is set when number i of eight equals `x` in the bits of `mask`; `x` has no
 * other bits. */
static inline uint32_t jfr__equal_eight(const uint32_t numbers[8], uint32_t x, uint32_t mask)
{
#if defined(__AVX2__)
    __m256i all = _mm256_load_si256((const __m256i *)(const void *)numbers);
    __m256i same = _mm256_cmpeq_epi32(_mm256_and_si256(all, _mm256_set1_epi32((int)mask)),
                                      _mm256_set1_epi32((int)x));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
#elif defined(__SSE2__)
    uint32_t found = 0;
    for (int i = 0; i < 8; i += 4) {
        __m128i four = _mm_load_si128((const __m128i *)(const void *)(numbers + i));
        __m128i same =
            _mm_cmpeq_epi32(_mm_and_si128(four, _mm_set1_epi32((int)mask)), _mm_set1_epi32((int)x));
        found |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(same)) << i;
    }
    return found;
#else
    uint32_t found = 0;
    for (unsigned i = 0; i < 8; i++)
        found |= (uint32_t)((numbers[i] & mask) == x) << i;
    return found;
#endif
}

/* Returns bits: bit i is set when number i of four equals `x`. The numbers are at a multiple of 32
 * bytes. */
static inline uint32_t jfr__equal_four(const uint64_t numbers[4], uint64_t x)
{
#if defined(__AVX2__)
    __m256i same = _mm256_cmpeq_epi64(_mm256_load_si256((const __m256i *)(const void *)numbers),
                                      _mm256_set1_epi64x((long long)x));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same));
#else
    uint32_t found = 0;
    for (unsigned i = 0; i < 4; i++)
        found |= (uint32_t)(numbers[i] == x) << i;
    return found;
#endif
}

/* Returns whether eight successive bytes continue an integer. Then there may be an integer of nine
 * bytes, whose last byte uses its top bit for the value. */
static inline int jfr__has_nine(uint64_t continuing)
{
    uint64_t runs = continuing & continuing >> 1;
    runs &= runs >> 2;
    runs &= runs >> 4;
    return runs != 0;
}

#endif
