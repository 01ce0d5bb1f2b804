#include "run.h"

#include <stdlib.h>
#include <string.h>

int run_suite(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

attach__span span(const char *text)
{
    return attach__span_of(text, strlen(text));
}
