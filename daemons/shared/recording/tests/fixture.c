/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

writer w;
chunk_params params;
recording *rec;
recording_options options;
recording_error err;
recording_info info;

void fixture_setup(void)
{
    w = (writer){0};
    params = (chunk_params)CHUNK_PARAMS_INIT;
    options = (recording_options)RECORDING_OPTIONS_INIT;
    rec = NULL;
}

void fixture_teardown(void)
{
    recording_free(rec);
    writer_free(&w);
}

void begin(bool async)
{
    params.async = async;
    begin_chunk(&w, &params);
}

void end(void)
{
    put_standard_pools(&w);
    end_chunk(&w, &params);
}

const sagg *read_all(void)
{
    if (rec == NULL)
        ck_assert_msg(recording_new(&rec, &options, &err) == 0, "%s", err.message);
    ck_assert_msg(recording_add_mem(rec, w.data, w.len, &err) == 0, "%s", err.message);
    recording_get_info(rec, &info);
    const sagg *agg = recording_aggregate(rec);
    ck_assert_ptr_nonnull(agg);
    return agg;
}

void put_cpu_chunk(const char *interval)
{
    begin(true);
    if (interval != NULL) {
        put_setting(&w, T_RECORDING, "event", "ctimer");
        put_setting(&w, T_EXECUTION, "interval", interval);
    }
    put_execution(&w, 1500, 70, 7, 1);
    put_execution(&w, 1600, 70, 9, 1);
    put_execution(&w, 1700, 71, 7, 1);
    end();
}
