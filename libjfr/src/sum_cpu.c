#include "sum.h"

#include "frames.h"

#ifdef JFR__BMI2
/* AMD before Zen 3 has the instruction, in microcode: slower than doing without it. */
static bool gathers_fast(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && !__builtin_cpu_is("znver1") &&
           !__builtin_cpu_is("znver2");
}
#endif

jfr__sums_loop *jfr__sums_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast())
        return jfr__sums_loop_bmi2;
#endif
    return jfr__sums_loop_plain;
}

jfr__values_loop *jfr__values_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast())
        return jfr__values_loop_bmi2;
#endif
    return jfr__values_loop_plain;
}

jfr__skip_loop *jfr__skip_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast())
        return jfr__skip_loop_bmi2;
#endif
    return jfr__skip_loop_plain;
}

jfr__frames_loop *jfr__frames_loop_best(void)
{
#ifdef JFR__BMI2
    if (gathers_fast())
        return jfr__frames_loop_bmi2;
#endif
    return jfr__frames_loop_plain;
}
