/* SPDX-License-Identifier: Apache-2.0 */
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

/**
 * The stacks of a recording with their totals, by the JDK's own reader.
 *
 * <p>usage: JdkTotals [--threads] FILE. With --threads it also counts the threads of each stack.
 */
public final class JdkTotals {
    private final Totals<RecordedStackTrace> totals = new Totals<>(JdkTotals::frames);
    private final boolean threads;

    private JdkTotals(boolean threads) {
        this.threads = threads;
    }

    private static List<Object> frames(RecordedStackTrace stack) {
        List<Object> out = new ArrayList<>(3 * stack.getFrames().size());
        for (RecordedFrame frame : stack.getFrames()) {
            out.add(frame.getMethod().getType().getName());
            out.add(frame.getMethod().getName());
            out.add(frame.getLineNumber());
        }
        return out;
    }

    private void add(RecordedEvent event) {
        switch (event.getEventType().getName()) {
            case "jdk.ExecutionSample":
                add("cpu", event, 1, "sampledThread");
                break;
            case "jdk.ObjectAllocationInNewTLAB":
                add("alloc", event, event.getLong("tlabSize"), "eventThread");
                break;
            case "jdk.ObjectAllocationOutsideTLAB":
                add("alloc", event, event.getLong("allocationSize"), "eventThread");
                break;
            case "jdk.ObjectAllocationSample":
                add("alloc", event, event.getLong("weight"), "eventThread");
                break;
            case "jdk.JavaMonitorEnter":
            case "jdk.ThreadPark":
                add("lock", event, event.getDuration().toNanos(), "eventThread");
                break;
            default:
                break;
        }
    }

    private void add(String kind, RecordedEvent event, long value, String thread) {
        if (threads) {
            RecordedThread of = event.getThread(thread);
            totals.add(kind, event.getStackTrace(), value, of == null ? -1L : of.getId());
        } else {
            totals.add(kind, event.getStackTrace(), value);
        }
    }

    public static void main(String[] args) throws Exception {
        JdkTotals reader = new JdkTotals(args.length > 1 && args[0].equals("--threads"));
        try (RecordingFile recording = new RecordingFile(Paths.get(args[args.length - 1]))) {
            while (recording.hasMoreEvents()) {
                reader.totals.event();
                reader.add(recording.readEvent());
            }
        }
        System.out.println(reader.totals.json());
    }
}
