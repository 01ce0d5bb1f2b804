/* SPDX-License-Identifier: Apache-2.0 */
#include "writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A field as metadata describes it. */
struct field {
    const char *name;
    enum type type;
    bool pool;
    bool array;
    const char *timespan;
    /* only in rich metadata: */
    const char *timestamp;
    const char *amount;
    bool is_unsigned;
};

enum { MAX_FIELDS = 20 };

struct type_def {
    const char *name;
    struct field fields[MAX_FIELDS];
};

#define START                                                                                      \
    {                                                                                              \
        .name = "startTime", .type = T_LONG, .timestamp = "TICKS"                                  \
    }
#define SPAN                                                                                       \
    {                                                                                              \
        .name = "duration", .type = T_LONG, .timespan = "TICKS"                                    \
    }
#define WHO                                                                                        \
    {                                                                                              \
        .name = "eventThread", .type = T_THREAD, .pool = true                                      \
    }
#define WHOM                                                                                       \
    {                                                                                              \
        .name = "sampledThread", .type = T_THREAD, .pool = true                                    \
    }
#define STACK                                                                                      \
    {                                                                                              \
        .name = "stackTrace", .type = T_STACK, .pool = true                                        \
    }
#define STATE                                                                                      \
    {                                                                                              \
        .name = "state", .type = T_STATE, .pool = true                                             \
    }
#define SPAN_ID                                                                                    \
    {                                                                                              \
        .name = "spanId", .type = T_LONG                                                           \
    }
#define WHAT                                                                                       \
    {                                                                                              \
        .name = "objectClass", .type = T_CLASS, .pool = true                                       \
    }

static const struct type_def types[T_ALL_COUNT] = {
    [T_BOOLEAN] = {.name = "boolean"},
    [T_BYTE] = {.name = "byte"},
    [T_CHAR] = {.name = "char"},
    [T_SHORT] = {.name = "short"},
    [T_INT] = {.name = "int"},
    [T_LONG] = {.name = "long"},
    [T_FLOAT] = {.name = "float"},
    [T_DOUBLE] = {.name = "double"},
    [T_STRING] = {.name = "java.lang.String"},
    [T_CLASS] = {"java.lang.Class",
                 {{.name = "name", .type = T_SYMBOL, .pool = true},
                  {.name = "modifiers", .type = T_INT}}},
    [T_THREAD] = {"java.lang.Thread",
                  {{.name = "osName", .type = T_STRING},
                   {.name = "osThreadId", .type = T_LONG},
                   {.name = "javaName", .type = T_STRING},
                   {.name = "javaThreadId", .type = T_LONG},
                   {.name = "group", .type = T_GROUP, .pool = true},
                   {.name = "virtual", .type = T_BOOLEAN}}},
    [T_GROUP] = {"jdk.types.ThreadGroup",
                 {{.name = "parent", .type = T_GROUP, .pool = true},
                  {.name = "name", .type = T_STRING}}},
    [T_FRAME_TYPE] = {"jdk.types.FrameType", {{.name = "description", .type = T_STRING}}},
    [T_STATE] = {"jdk.types.ThreadState", {{.name = "name", .type = T_STRING}}},
    [T_STACK] = {"jdk.types.StackTrace",
                 {{.name = "truncated", .type = T_BOOLEAN},
                  {.name = "frames", .type = T_FRAME, .array = true}}},
    [T_FRAME] = {"jdk.types.StackFrame",
                 {{.name = "method", .type = T_METHOD, .pool = true},
                  {.name = "lineNumber", .type = T_INT},
                  {.name = "bytecodeIndex", .type = T_INT},
                  {.name = "type", .type = T_FRAME_TYPE, .pool = true}}},
    [T_METHOD] = {"jdk.types.Method",
                  {{.name = "type", .type = T_CLASS, .pool = true},
                   {.name = "name", .type = T_SYMBOL, .pool = true},
                   {.name = "descriptor", .type = T_SYMBOL, .pool = true},
                   {.name = "hidden", .type = T_BOOLEAN}}},
    [T_SYMBOL] = {"jdk.types.Symbol", {{.name = "string", .type = T_STRING}}},
    [T_WEIRD] = {"test.Weird",
                 {{.name = "c", .type = T_CHAR},
                  {.name = "s", .type = T_SHORT},
                  {.name = "f", .type = T_FLOAT},
                  {.name = "d", .type = T_DOUBLE},
                  {.name = "inner", .type = T_METHOD},
                  {.name = "texts", .type = T_STRING, .array = true},
                  {.name = "bytes", .type = T_BYTE, .array = true},
                  {.name = "frames", .type = T_FRAME, .array = true}}},
    [T_LABEL] = {"jdk.jfr.Label", {{.name = "value", .type = T_STRING}}},
    [T_TIMESPAN] = {"jdk.jfr.Timespan", {{.name = "value", .type = T_STRING}}},
    [T_RECORDING] = {"jdk.ActiveRecording", {START}},
    [T_SETTING] = {"jdk.ActiveSetting",
                   {START,
                    {.name = "id", .type = T_LONG},
                    {.name = "name", .type = T_STRING},
                    {.name = "value", .type = T_STRING}}},
    [T_JVM] = {"jdk.JVMInformation",
               {START,
                {.name = "jvmName", .type = T_STRING},
                {.name = "jvmVersion", .type = T_STRING},
                {.name = "jvmArguments", .type = T_STRING},
                {.name = "javaArguments", .type = T_STRING},
                {.name = "jvmStartTime", .type = T_LONG},
                {.name = "pid", .type = T_LONG}}},
    [T_EXECUTION] = {"jdk.ExecutionSample", {START, WHOM, STACK, STATE}},
    [T_CPU_TIME] = {"jdk.CPUTimeSample",
                    {START,
                     STACK,
                     WHO,
                     {.name = "failed", .type = T_BOOLEAN},
                     {.name = "samplingPeriod", .type = T_LONG, .timespan = "NANOSECONDS"}}},
    [T_NATIVE_METHOD] = {"jdk.NativeMethodSample", {START, WHOM, STACK, STATE}},
    [T_WALL] = {"profiler.WallClockSample",
                {START, WHOM, STACK, STATE, {.name = "samples", .type = T_INT}}},
    [T_IN_TLAB] = {"jdk.ObjectAllocationInNewTLAB",
                   {START,
                    WHO,
                    STACK,
                    WHAT,
                    {.name = "allocationSize", .type = T_LONG},
                    {.name = "tlabSize", .type = T_LONG}}},
    [T_OUTSIDE] = {"jdk.ObjectAllocationOutsideTLAB",
                   {START, WHO, STACK, WHAT, {.name = "allocationSize", .type = T_LONG}}},
    [T_ALLOC_SAMPLE] = {"jdk.ObjectAllocationSample",
                        {START, WHO, STACK, WHAT, {.name = "weight", .type = T_LONG}}},
    [T_LIVE] = {"profiler.LiveObject",
                {START, WHO, STACK, WHAT, {.name = "allocationSize", .type = T_LONG}}},
    [T_MALLOC] = {"profiler.Malloc", {START, WHO, STACK, {.name = "size", .type = T_LONG}}},
    [T_MONITOR_ENTER] =
        {"jdk.JavaMonitorEnter",
         {START, SPAN, WHO, STACK, {.name = "monitorClass", .type = T_CLASS, .pool = true}}},
    [T_MONITOR_WAIT] =
        {"jdk.JavaMonitorWait",
         {START, SPAN, WHO, STACK, {.name = "monitorClass", .type = T_CLASS, .pool = true}}},
    [T_PARK] = {"jdk.ThreadPark",
                {START,
                 SPAN,
                 WHO,
                 STACK,
                 {.name = "parkedClass", .type = T_CLASS, .pool = true},
                 {.name = "timeout", .type = T_LONG}}},
    [T_NATIVE_LOCK] = {"profiler.NativeLock", {START, SPAN, WHO, STACK}},
    [T_TIMESTAMP] = {"jdk.jfr.Timestamp", {{.name = "value", .type = T_STRING}}},
    [T_UNSIGNED] = {"jdk.jfr.Unsigned", {{.name = "value", .type = T_STRING}}},
    [T_CONTENT_TYPE] = {.name = "jdk.jfr.ContentType"},
    [T_DATA_AMOUNT] = {"jdk.jfr.DataAmount", {{.name = "value", .type = T_STRING}}},
    [T_CATEGORY] = {"jdk.jfr.Category", {{.name = "value", .type = T_STRING, .array = true}}},
    [T_SAMPLES_LOST] = {"jdk.CPUTimeSamplesLost",
                        {START, {.name = "lostSamples", .type = T_INT}, WHO}},
    [T_DATA_LOSS] = {"jdk.DataLoss",
                     {START,
                      {.name = "amount", .type = T_LONG, .amount = "BYTES", .is_unsigned = true},
                      {.name = "total", .type = T_LONG, .amount = "BYTES", .is_unsigned = true}}},
    [T_ANYTHING] = {"test.Anything",
                    {START,
                     SPAN,
                     {.name = "flag", .type = T_BOOLEAN},
                     {.name = "small", .type = T_BYTE, .is_unsigned = true},
                     {.name = "letter", .type = T_CHAR},
                     {.name = "amount", .type = T_LONG, .amount = "BYTES"},
                     {.name = "ratio", .type = T_FLOAT},
                     {.name = "precise", .type = T_DOUBLE},
                     {.name = "text", .type = T_STRING},
                     {.name = "none", .type = T_STRING},
                     {.name = "pooled", .type = T_STRING},
                     STATE,
                     WHO,
                     STACK,
                     {.name = "weird", .type = T_WEIRD, .pool = true},
                     {.name = "numbers", .type = T_INT, .array = true},
                     {.name = "names", .type = T_STRING, .array = true},
                     {.name = "span", .type = T_INT, .timespan = "MILLISECONDS"}}},
    [T_DATADOG_CONFIG] = {"datadog.DatadogProfilerConfig",
                          {START,
                           SPAN,
                           WHO,
                           {.name = "cpuInterval", .type = T_LONG, .timespan = "MILLISECONDS"},
                           {.name = "wallInterval", .type = T_LONG, .timespan = "MILLISECONDS"}}},
    [T_DATADOG_CPU] = {"datadog.ExecutionSample",
                       {START, WHO, STACK, STATE, {.name = "weight", .type = T_LONG}, SPAN_ID}},
    [T_DATADOG_WALL] = {"datadog.MethodSample",
                        {START, WHO, STACK, STATE, {.name = "weight", .type = T_LONG}, SPAN_ID}},
    [T_DATADOG_ALLOC] = {"datadog.ObjectSample",
                         {START,
                          WHO,
                          STACK,
                          WHAT,
                          {.name = "size", .type = T_LONG},
                          {.name = "weight", .type = T_FLOAT},
                          SPAN_ID}},
    [T_DATADOG_LIVE] = {"datadog.HeapLiveObject",
                        {START,
                         WHO,
                         STACK,
                         WHAT,
                         {.name = "size", .type = T_LONG},
                         {.name = "weight", .type = T_FLOAT},
                         SPAN_ID}},
    [T_DATADOG_QUEUE] = {"datadog.QueueTime", {START, SPAN, WHO, SPAN_ID}},
    [T_DATADOG_STRANGE] = {"datadog.StrangeSample", {START, WHO, STACK, SPAN_ID}},
    [T_METHOD_TRACE] =
        {"jdk.MethodTrace",
         {START, SPAN, WHO, STACK, {.name = "method", .type = T_METHOD, .pool = true}}},
};

enum { MAX_STRINGS = 512, MAX_TEXT = 64 };

/* The metadata's string table, filled while its elements are written. */
struct strings {
    char text[MAX_STRINGS][MAX_TEXT];
    unsigned count;
};

static void put_index(writer *w, struct strings *s, const char *text)
{
    unsigned i = 0;
    while (i < s->count && strcmp(s->text[i], text) != 0)
        i++;
    if (i == MAX_STRINGS)
        abort();
    if (i == s->count)
        snprintf(s->text[s->count++], MAX_TEXT, "%s", text);
    put_int(w, i);
}

static void put_attribute(writer *w, struct strings *s, const char *key, const char *value)
{
    put_index(w, s, key);
    put_index(w, s, value);
}

static void put_id_attribute(writer *w, struct strings *s, const char *key, unsigned id)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", id);
    put_attribute(w, s, key, text);
}

static void put_annotation(writer *w, struct strings *s, enum type type, const char *value)
{
    put_index(w, s, "annotation");
    put_int(w, 2);
    put_id_attribute(w, s, "class", w->base + (unsigned)type);
    put_attribute(w, s, "value", value);
    put_int(w, 0);
}

static void put_field(writer *w, struct strings *s, const struct field *f)
{
    const bool timestamp = w->rich && f->timestamp != NULL;
    const bool amount = w->rich && f->amount != NULL;
    const bool is_unsigned = w->rich && f->is_unsigned;
    put_index(w, s, "field");
    put_int(w, 2u + f->pool + f->array);
    put_attribute(w, s, "name", f->name);
    put_id_attribute(w, s, "class", w->base + (unsigned)f->type);
    if (f->pool)
        put_attribute(w, s, "constantPool", "true");
    if (f->array)
        put_attribute(w, s, "dimension", "1");
    put_int(w, 0u + (f->timespan != NULL) + timestamp + amount + is_unsigned);
    if (f->timespan != NULL)
        put_annotation(w, s, T_TIMESPAN, f->timespan);
    if (timestamp)
        put_annotation(w, s, T_TIMESTAMP, f->timestamp);
    if (amount)
        put_annotation(w, s, T_DATA_AMOUNT, f->amount);
    if (is_unsigned)
        put_annotation(w, s, T_UNSIGNED, "");
}

/* Writes the annotations of a type, the category as an array of two. Returns how many. */
static unsigned put_type_annotations(writer *w, struct strings *s, enum type type, bool async)
{
    if (type == T_RECORDING && async) {
        put_annotation(w, s, T_LABEL, "Async-profiler Recording");
        return 1;
    }
    if (w->rich && (type == T_DATA_AMOUNT || type == T_TIMESPAN || type == T_TIMESTAMP)) {
        put_annotation(w, s, T_CONTENT_TYPE, "");
        return 1;
    }
    if (type != T_ANYTHING)
        return 0;
    put_annotation(w, s, T_LABEL, "Any Thing");
    put_index(w, s, "annotation");
    put_int(w, 3);
    put_id_attribute(w, s, "class", w->base + (unsigned)T_CATEGORY);
    put_attribute(w, s, "value-0", "Test Bench");
    put_attribute(w, s, "value-1", "Parts");
    put_int(w, 0);
    return 2;
}

static void put_class(writer *w, struct strings *s, enum type type, bool async)
{
    const struct type_def *def = &types[type];
    bool event = w->rich && ((type >= T_RECORDING && type < T_COUNT) || type >= T_SAMPLES_LOST);
    bool simple = w->rich && (type == T_STATE || type == T_FRAME_TYPE || type == T_SYMBOL);
    unsigned fields = 0;
    while (fields < MAX_FIELDS && def->fields[fields].name != NULL)
        fields++;
    /* The count of the annotations precedes the fields, so annotations are written to a buffer. */
    writer aside = {.base = w->base, .plain = w->plain, .rich = w->rich};
    put_index(w, s, "class");
    put_int(w, 2u + event + simple);
    put_attribute(w, s, "name", def->name);
    put_id_attribute(w, s, "id", w->base + (unsigned)type);
    if (event)
        put_attribute(w, s, "superType", "jdk.jfr.Event");
    if (simple)
        put_attribute(w, s, "simpleType", "true");
    unsigned annotations = put_type_annotations(&aside, s, type, async);
    put_int(w, fields + annotations);
    for (unsigned i = 0; i < fields; i++)
        put_field(w, s, &def->fields[i]);
    put_bytes(w, aside.data, aside.len);
    writer_free(&aside);
}

static void put_region(writer *w, struct strings *s)
{
    put_index(w, s, "region");
    put_int(w, 2);
    put_attribute(w, s, "gmtOffset", "-18000000");
    put_attribute(w, s, "dst", "3600000");
    put_int(w, 0);
}

/* Returns whether the metadata has the type. */
static bool describes(const writer *w, int type)
{
    bool defined = type < (w->rich ? T_RICH_COUNT : T_COUNT) ||
                   (w->others && type >= T_RICH_COUNT && type < T_ALL_COUNT);
    return defined && (w->only == 0 || (w->only >> type & 1) != 0);
}

/* Writes the metadata event. The element tree refers to the string table before it, so the tree is
 * first written to a buffer. */
void put_metadata(writer *w, bool async)
{
    struct strings *s = calloc(1, sizeof(*s));
    if (s == NULL)
        abort();
    writer tree = {.base = w->base, .plain = w->plain, .rich = w->rich};
    unsigned count = 0;
    for (int type = 0; type < T_ALL_COUNT; type++)
        count += describes(w, type);
    put_index(&tree, s, "root");
    put_int(&tree, 0);
    put_int(&tree, 1u + w->rich);
    put_index(&tree, s, "metadata");
    put_int(&tree, 0);
    put_int(&tree, count);
    for (int type = 0; type < T_ALL_COUNT; type++) {
        if (describes(w, type))
            put_class(&tree, s, (enum type)type, async);
    }
    if (w->rich)
        put_region(&tree, s);

    size_t at = w->len;
    put_be(w, 0, 4);
    for (int i = 0; i < 4; i++)
        put_long(w, 0); /* type, start, duration, id */
    put_int(w, s->count);
    for (unsigned i = 0; i < s->count; i++)
        put_text(w, s->text[i]);
    put_bytes(w, tree.data, tree.len);
    end_event(w, at);
    writer_free(&tree);
    free(s);
}
