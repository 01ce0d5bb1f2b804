/* SPDX-License-Identifier: Apache-2.0 */
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import jdk.jfr.EventType;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/**
 * What the JDK's own API reads from recordings: per profile type the number of samples and the sum
 * of raw values, by the rules of libjfr's jfr/sample.h. The yardstick of libjfr and of the e2e test.
 *
 * <p>usage: java -cp DIR JfrTruth [--events] FILE...
 *
 * <p>Each chunk is handed to the API as a file of its own. Given the whole file it takes the first
 * chunk's clock and type ids for all whose type descriptions are equal: durations of a recording of
 * async-profiler, which measures the clock anew for each chunk, come out wrong by some millionths, and
 * files of jfrsync are misread.
 *
 * <p>Prints one JSON object: {"types": {"cpu": {"events": N, "raw_value": N, "stackless": N}, ...}}
 * summed over the files; settings hold on within a file, because async-profiler writes them into its first
 * chunk only; with --events also {"events": {"jdk.X": N, ...}}.
 * Exit code 0, or 1 with a message when a file cannot be read.
 */
public final class JfrTruth {
    private static final String[] TYPES = {
        "cpu", "wall", "alloc_bytes", "alloc_objects", "lock_count", "lock_delay", "live_bytes",
        "nativemem_bytes"
    };
    private static final String[] LOCKS = {
        "java.util.concurrent.locks.Reentrant",
        "java.util.concurrent.locks.StampedLock",
        "java.util.concurrent.Semaphore"
    };

    private static final Set<String> CPU_EVENTS =
            Set.of("cpu", "cpu-clock", "task-clock", "ctimer", "itimer");

    /** One type's totals. */
    private static final class Total {
        long events;
        long rawValue;
        long stackless;
    }

    private final Map<String, Total> totals = new LinkedHashMap<>();
    private final Map<String, Long> counts = new java.util.TreeMap<>();

    // One file: the settings of each writer.
    private Map<Boolean, Map<String, String>> settingsOf = new HashMap<>();
    // One chunk.
    private Map<String, String> settings = new HashMap<>();
    private List<RecordedEvent> samples = new ArrayList<>();
    private Set<String> seen = new HashSet<>();
    private boolean async;

    private JfrTruth() {
        for (String type : TYPES) {
            totals.put(type, new Total());
        }
    }

    private void add(RecordedEvent event, String type, long raw) {
        Total total = totals.computeIfAbsent(type, absent -> new Total());
        total.events++;
        total.rawValue += raw;
        if (event.getStackTrace() == null) {
            total.stackless++;
        }
    }

    private void read(Path file) throws IOException {
        settingsOf = new HashMap<>();
        Path copy = Files.createTempFile("chunk", ".jfr");
        try (FileChannel in = FileChannel.open(file)) {
            for (long offset = 0, size; offset < in.size(); offset += size) {
                size = chunkSize(in, offset);
                try (FileChannel out = FileChannel.open(copy, WRITE, TRUNCATE_EXISTING)) {
                    in.transferTo(offset, size, out);
                }
                readChunk(copy);
            }
        } finally {
            Files.delete(copy);
        }
    }

    /** The size of the chunk at an offset, from its header: its second 8 bytes, big-endian. */
    private static long chunkSize(FileChannel in, long offset) throws IOException {
        ByteBuffer header = ByteBuffer.allocate(16);
        int read = in.read(header, offset);
        long size = read < 16 ? 0 : header.getLong(8);
        if (size < 68 || size > in.size() - offset) {
            throw new IOException("no whole chunk at offset " + offset);
        }
        return size;
    }

    private void readChunk(Path file) throws IOException {
        samples = new ArrayList<>();
        seen = new HashSet<>();
        try (RecordingFile recording = new RecordingFile(file)) {
            async = recording.readEventTypes().stream().anyMatch(JfrTruth::isAsyncProfilers);
            settings = settingsOf.computeIfAbsent(async, writer -> new HashMap<>());
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                String name = event.getEventType().getName();
                counts.merge(name, 1L, Long::sum);
                seen.add(name);
                if (name.equals("jdk.ActiveSetting")) {
                    setting(event);
                } else if (isSample(name)) {
                    samples.add(event);
                }
            }
        }
        for (RecordedEvent event : samples) {
            sample(event, event.getEventType().getName());
        }
    }

    private static boolean isAsyncProfilers(EventType type) {
        String label = type.getLabel();
        return type.getName().equals("jdk.ActiveSetting") && label != null && label.startsWith("Async-profiler");
    }

    private static boolean isSample(String name) {
        return name.startsWith("jdk.ObjectAllocation") || name.startsWith("profiler.")
                || name.equals("jdk.ExecutionSample") || name.equals("jdk.CPUTimeSample")
                || name.equals("jdk.JavaMonitorEnter") || name.equals("jdk.ThreadPark");
    }

    private void setting(RecordedEvent event) {
        String name = event.getString("name");
        long id = event.getLong("id");
        settings.put(name, event.getString("value"));
        settings.put(id + "#" + name, event.getString("value"));
    }

    private long number(String name, long fallback) {
        String value = settings.get(name);
        long parsed = value == null ? 0 : Long.parseLong(value);
        return parsed == 0 ? fallback : parsed;
    }

    private static long periodNanos(String period) {
        if (period == null || !period.contains(" ")) {
            return 0;
        }
        String[] parts = period.split(" ");
        long value = Long.parseLong(parts[0]);
        switch (parts[1]) {
            case "ns":
                return value;
            case "us":
                return value * 1_000;
            case "ms":
                return value * 1_000_000;
            default:
                return value * 1_000_000_000;
        }
    }

    /** A sample whose interval is no time ("everyChunk", a counter, a method) is no cpu time. */
    private void execution(RecordedEvent event) {
        if (!async) {
            long period = periodNanos(settings.get(event.getEventType().getId() + "#period"));
            if (period != 0) {
                add(event, "cpu", period);
            }
            return;
        }
        String state = event.getString("state");
        String main = settings.get("event");
        boolean wallOn = settings.containsKey("wall");
        if ("wall".equals(main) || (wallOn && !"STATE_DEFAULT".equals(state))) {
            add(event, "wall", wallInterval());
        } else if (CPU_EVENTS.contains(main)) {
            add(event, "cpu", number("interval", 10_000_000));
        } else {
            add(event, "events", number("interval", 1));
        }
    }

    private long wallInterval() {
        String name = settings.containsKey("wall") ? "wall" : "interval";
        return number(name, 50_000_000);
    }

    private void lock(RecordedEvent event) {
        // The field: getDuration() without a name subtracts two times of day that were rounded each, and
        // is off by one now and then where a tick is not a whole nanosecond.
        Duration duration = event.getDuration("duration");
        add(event, "lock_count", 1);
        add(event, "lock_delay", duration.toNanos());
    }

    private static boolean isLock(RecordedClass parked) {
        if (parked == null) {
            return false;
        }
        for (String prefix : LOCKS) {
            if (parked.getName().startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    private void sample(RecordedEvent event, String name) {
        boolean inTlab = seen.contains("jdk.ObjectAllocationInNewTLAB");
        switch (name) {
            case "jdk.ExecutionSample":
                if (!seen.contains("jdk.CPUTimeSample")) {
                    execution(event);
                }
                break;
            case "jdk.CPUTimeSample":
                add(event, "cpu", event.getDuration("samplingPeriod").toNanos());
                break;
            case "profiler.WallClockSample":
                add(event, "wall", event.getInt("samples") * wallInterval());
                break;
            case "jdk.ObjectAllocationInNewTLAB":
                add(event, "alloc_bytes", event.getLong("tlabSize"));
                add(event, "alloc_objects", 1);
                break;
            case "jdk.ObjectAllocationOutsideTLAB":
                if (inTlab || !seen.contains("jdk.ObjectAllocationSample")) {
                    add(event, "alloc_bytes", event.getLong("allocationSize"));
                    add(event, "alloc_objects", 1);
                }
                break;
            case "jdk.ObjectAllocationSample":
                if (!inTlab) {
                    add(event, "alloc_bytes", event.getLong("weight"));
                }
                break;
            case "jdk.JavaMonitorEnter":
            case "profiler.NativeLock":
                lock(event);
                break;
            case "jdk.ThreadPark":
                if (isLock(event.getValue("parkedClass"))) {
                    lock(event);
                }
                break;
            case "profiler.LiveObject":
                add(event, "live_bytes", event.getLong("allocationSize"));
                break;
            case "profiler.Malloc":
                add(event, "nativemem_bytes", event.getLong("size"));
                break;
            default:
                break;
        }
    }

    private String json(boolean withEvents) {
        StringBuilder out = new StringBuilder("{\"types\": {");
        String separator = "";
        for (Map.Entry<String, Total> entry : totals.entrySet()) {
            Total total = entry.getValue();
            out.append(separator).append('"').append(entry.getKey()).append("\": {\"events\": ")
                    .append(total.events).append(", \"raw_value\": ").append(total.rawValue)
                    .append(", \"stackless\": ").append(total.stackless).append('}');
            separator = ", ";
        }
        out.append('}');
        if (withEvents) {
            out.append(", \"events\": {");
            separator = "";
            for (Map.Entry<String, Long> entry : counts.entrySet()) {
                out.append(separator).append('"').append(entry.getKey()).append("\": ")
                        .append(entry.getValue());
                separator = ", ";
            }
            out.append('}');
        }
        return out.append('}').toString();
    }

    public static void main(String[] args) {
        JfrTruth truth = new JfrTruth();
        boolean withEvents = false;
        for (String arg : args) {
            if (arg.equals("--events")) {
                withEvents = true;
                continue;
            }
            try {
                truth.read(Paths.get(arg));
            } catch (IOException | RuntimeException e) {
                System.err.println("JfrTruth: cannot read " + arg + ": " + e);
                System.exit(1);
            }
        }
        System.out.println(truth.json(withEvents));
    }
}
