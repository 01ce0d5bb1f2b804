/* SPDX-License-Identifier: Apache-2.0 */
/* Where libjfr.mjs looks for the fields of libjfr's records, in a 32-bit address space. */
#include <jfr/jfr.h>

#define AT(type, field, offset)                                                                    \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " has moved: see "          \
                                                            "libjfr.mjs")
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has grown: see libjfr.mjs")

AT(jfr_str, data, 0);
AT(jfr_str, len, 4);

AT(jfr_error, code, 0);
AT(jfr_error, offset, 8);
AT(jfr_error, message, 16);
SIZE(jfr_error, 272);

AT(jfr_options, size, 0);
AT(jfr_options, flags, 4);

AT(jfr_chunk_info, offset, 0);
AT(jfr_chunk_info, size, 8);
AT(jfr_chunk_info, major, 16);
AT(jfr_chunk_info, minor, 18);
AT(jfr_chunk_info, finished, 20);
AT(jfr_chunk_info, compressed, 21);
AT(jfr_chunk_info, start_ns, 24);
AT(jfr_chunk_info, duration_ns, 32);

AT(jfr_sample, time_ns, 0);
AT(jfr_sample, stack, 8);
AT(jfr_sample, thread, 12);
AT(jfr_sample, klass, 16);
AT(jfr_sample, source, 20);
AT(jfr_sample, state, 21);
AT(jfr_sample, lock_kind, 22);
AT(jfr_sample, value_count, 23);
AT(jfr_sample, values, 24);
SIZE(jfr_sample, 72);
AT(jfr_value, type, 0);
AT(jfr_value, raw, 8);
AT(jfr_value, value, 16);
SIZE(jfr_value, 24);

AT(jfr_stack, frames, 0);
AT(jfr_stack, frame_count, 4);
AT(jfr_stack, truncated, 8);
SIZE(jfr_stack, 12);
AT(jfr_frame, method, 0);
AT(jfr_frame, line, 8);
AT(jfr_frame, kind, 16);
AT(jfr_frame, tier, 17);
SIZE(jfr_frame, 20);
AT(jfr_method, class_name, 0);
AT(jfr_method, name, 8);
AT(jfr_method, descriptor, 16);

AT(jfr_thread, os_tid, 0);
AT(jfr_thread, java_tid, 8);
AT(jfr_thread, os_name, 16);
AT(jfr_thread, java_name, 24);
AT(jfr_thread, group, 32);
AT(jfr_thread, is_virtual, 40);
SIZE(jfr_thread, 48);
AT(jfr_class, name, 0);

AT(jfr_loss, chunks_whole, 0);
AT(jfr_loss, chunks_partial, 8);
AT(jfr_loss, chunks_lost, 16);
AT(jfr_loss, bytes_lost, 24);
AT(jfr_loss, record_count, 32);
AT(jfr_loss, records, 36);
AT(jfr_loss, recorder_samples, 40);
AT(jfr_loss, recorder_bytes, 48);
SIZE(jfr_loss, 56);
AT(jfr_loss_record, reason, 0);
AT(jfr_loss_record, offset, 8);
AT(jfr_loss_record, bytes, 16);
AT(jfr_loss_record, chunk, 24);
SIZE(jfr_loss_record, 32);
