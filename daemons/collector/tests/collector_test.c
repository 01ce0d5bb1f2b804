#include "collector_tests.h"

#include <stdlib.h>

int main(void)
{
    Suite *suite = suite_create("collector");
    suite_add_tcase(suite, batch_tests());
    suite_add_tcase(suite, queue_tests());
    suite_add_tcase(suite, rules_tests());
    suite_add_tcase(suite, session_tests());
    suite_add_tcase(suite, uploader_tests());
    suite_add_tcase(suite, wire_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
