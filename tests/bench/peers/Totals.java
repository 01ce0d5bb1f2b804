/* SPDX-License-Identifier: Apache-2.0 */
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * What both Java peers compute: per kind (cpu, alloc, lock) the samples and values of each distinct
 * stack. Readers hand out one object a stack of a chunk, so samples are summed by the object first
 * and the frames of each object are looked at once.
 *
 * @param <S> the reader's stack
 */
final class Totals<S> {
    private static final String[] KINDS = {"cpu", "alloc", "lock"};

    private static final class Sum {
        long samples;
        long value;
        Set<Object> threads;
    }

    private final Map<String, Map<S, Sum>> byObject = new LinkedHashMap<>();
    private final Map<String, Sum> stackless = new HashMap<>();
    private final Function<S, List<Object>> frames;
    private long events;

    Totals(Function<S, List<Object>> frames) {
        this.frames = frames;
        for (String kind : KINDS) {
            byObject.put(kind, new IdentityHashMap<>());
            stackless.put(kind, new Sum());
        }
    }

    void event() {
        events++;
    }

    void add(String kind, S stack, long value) {
        Sum sum = stack == null
                ? stackless.get(kind)
                : byObject.get(kind).computeIfAbsent(stack, s -> new Sum());
        sum.samples++;
        sum.value += value;
    }

    /** As add, and remembers which threads had the stack. */
    void add(String kind, S stack, long value, Object thread) {
        add(kind, stack, value);
        Sum sum = stack == null ? stackless.get(kind) : byObject.get(kind).get(stack);
        if (sum.threads == null) {
            sum.threads = new HashSet<>();
        }
        sum.threads.add(thread);
    }

    private static long withThreads(Sum into, Sum from) {
        if (from.threads == null) {
            return 0;
        }
        if (into.threads == null) {
            into.threads = new HashSet<>();
        }
        long before = into.threads.size();
        into.threads.addAll(from.threads);
        return into.threads.size() - before;
    }

    /**
     * One line of JSON. Of each kind: samples and their value; distinct stacks and the sum of their
     * depths; the same of the recording's own stacks, where equal frames can be several stacks; and
     * distinct pairs of stack and thread, where threads were told.
     */
    String json() {
        StringBuilder out = new StringBuilder("{\"events\": " + events);
        for (String kind : KINDS) {
            Sum total = new Sum();
            Map<List<Object>, Sum> distinct = new HashMap<>();
            long frameCount = 0;
            long pooledFrames = 0;
            long pairs = stackless.get(kind).threads == null ? 0 : stackless.get(kind).threads.size();
            total.samples = stackless.get(kind).samples;
            total.value = stackless.get(kind).value;
            for (Map.Entry<S, Sum> entry : byObject.get(kind).entrySet()) {
                List<Object> stack = frames.apply(entry.getKey());
                Sum sum = distinct.computeIfAbsent(stack, f -> new Sum());
                pairs += withThreads(sum, entry.getValue());
                total.samples += entry.getValue().samples;
                total.value += entry.getValue().value;
                pooledFrames += stack.size() / 3;
            }
            for (List<Object> stack : distinct.keySet()) {
                frameCount += stack.size() / 3;
            }
            out.append(String.format(
                    ", \"%s\": {\"samples\": %d, \"value\": %d, \"stacks\": %d, \"frames\": %d,"
                            + " \"pool_stacks\": %d, \"pool_frames\": %d, \"pairs\": %d}",
                    kind, total.samples, total.value, distinct.size(), frameCount,
                    byObject.get(kind).size(), pooledFrames, pairs));
        }
        return out.append('}').toString();
    }
}
