/* SPDX-License-Identifier: Apache-2.0 */
#include "sums/sum_impl.h"

#include "pools/frames_impl.h"

#ifdef JFR__BMI2
#if __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>

/* AMD CPUs before Zen 3 implement the instruction in microcode, which is slower than code without
 * it. */
enum { ZEN_FAMILY = 0x17, HYGON_FAMILY = 0x18 };

/* Asks the C library, because each CPUID instruction costs microseconds in a virtual machine. */
static bool has_fast_gather(void)
{
    unsigned signature = __x86_get_cpuid_feature_leaf(CPUID_INDEX_1)->cpuid_array[0];
    unsigned family = (signature >> 8 & 0xF) + (signature >> 20 & 0xFF);
    return CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(POPCNT) &&
           family != ZEN_FAMILY && family != HYGON_FAMILY;
}
#else
static bool has_fast_gather(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("znver1") &&
           !__builtin_cpu_is("znver2");
}
#endif

static bool gathers_fast;

__attribute__((constructor)) static void detect_cpu(void)
{
    gathers_fast = has_fast_gather();
}
#endif

jfr__sums_loop *jfr__sums_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast)
        return jfr__sums_loop_bmi2;
#endif
    return jfr__sums_loop_plain;
}

jfr__values_loop *jfr__values_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast)
        return jfr__values_loop_bmi2;
#endif
    return jfr__values_loop_plain;
}

jfr__skip_loop *jfr__skip_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast)
        return jfr__skip_loop_bmi2;
#endif
    return jfr__skip_loop_plain;
}

jfr__frames_loop *jfr__frames_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast)
        return jfr__frames_loop_bmi2;
#endif
    return jfr__frames_loop_plain;
}
