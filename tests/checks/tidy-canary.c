/* SPDX-License-Identifier: Apache-2.0 */
/* Not part of any build: the planted fault that tests/checks/tidy.py expects clang-tidy to flag. */
int canary_planted_fault(int condition);

int canary_planted_fault(int condition)
{
    int *pointer = condition != 0 ? &condition : (int *)0;

    if (condition == 0) {
        return *pointer;
    }
    return 0;
}
