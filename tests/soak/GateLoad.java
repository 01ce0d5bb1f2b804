// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.time.Duration;
import jdk.jfr.Recording;

/**
 * A load of nine methods with a ninth of the CPU each; with a planted one, that has a tenth of all.
 * usage: GateLoad OUT.jfr SECONDS planted|plain. Records itself once it is warm, for so many seconds of CPU time.
 */
final class GateLoad {
    private static final int UNIT = 20_000;
    private static volatile long sink;
    private static volatile boolean done;

    private static long first(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long second(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long third(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long fourth(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long fifth(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long sixth(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long seventh(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long eighth(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long ninth(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static long planted(long x, int n) {
        for (int i = 0; i < n; i++) { x ^= x << 13; x ^= x >>> 7; x ^= x << 17; }
        return x;
    }

    private static void work(boolean hasPlanted) {
        long x = 88172645463325252L;
        while (!done) {
            x = third(second(first(x, UNIT), UNIT), UNIT);
            x = sixth(fifth(fourth(x, UNIT), UNIT), UNIT);
            x = ninth(eighth(seventh(x, UNIT), UNIT), UNIT);
            if (hasPlanted) x = planted(x, UNIT);
            sink = x;
        }
    }

    private static long cpuMillis() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toMillis();
    }

    public static void main(String[] args) throws Exception {
        boolean hasPlanted = args[2].equals("planted");
        for (int i = 0; i < 2; i++) {
            Thread thread = new Thread(() -> work(hasPlanted), "load-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        Thread.sleep(1500); // compiled by then
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ActiveSetting");
            recording.enable("jdk.ExecutionSample").withPeriod(Duration.ofMillis(10));
            recording.start();
            long end = cpuMillis() + Long.parseLong(args[1]) * 1000;
            while (cpuMillis() < end) Thread.sleep(50);
            recording.stop();
            recording.dump(Path.of(args[0]));
        }
        done = true;
    }
}
