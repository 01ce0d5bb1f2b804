/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that take the values of the table's options: see option_row.take. */
#ifndef HOTSTACK_CLI_OPTION_VALUES_H
#define HOTSTACK_CLI_OPTION_VALUES_H

#include "cli/options/option.h"

int take_flag(void *field, const option_row *row, const char *text);    /* bool */
int take_text(void *field, const option_row *row, const char *text);    /* const char * */
int take_number(void *field, const option_row *row, const char *text);  /* uint32_t */
int take_time(void *field, const option_row *row, const char *text);    /* ms, uint32_t */
int take_percent(void *field, const option_row *row, const char *text); /* double */
/* Takes a percentage, as parts per billion: uint32_t. */
int take_width(void *field, const option_row *row, const char *text);
int take_word(void *field, const option_row *row, const char *text);   /* unsigned */
int take_words(void *field, const option_row *row, const char *text);  /* bits, uint32_t */
int take_events(void *field, const option_row *row, const char *text); /* event_intervals */

option_words type_words, state_words, event_words, engine_words, sort_words, diff_format_words;

#endif
