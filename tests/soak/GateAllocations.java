// SPDX-License-Identifier: Apache-2.0
import java.nio.file.Path;
import java.util.SplittableRandom;
import jdk.jfr.Recording;

/**
 * A load that mostly rests: nine methods, chosen by chance, with a ninth of the allocations each; with a planted one, that
 * has a tenth of all. usage: GateAllocations OUT.jfr SECONDS planted|plain. Records itself for so many seconds; how finely
 * is a matter of -XX:TLABSize.
 */
final class GateAllocations {
    private static final int BYTES = 1008;
    private static final int A_ROUND = 8;
    private static volatile byte[] sink;

    private static byte[] first() { return new byte[BYTES]; }

    private static byte[] second() { return new byte[BYTES]; }

    private static byte[] third() { return new byte[BYTES]; }

    private static byte[] fourth() { return new byte[BYTES]; }

    private static byte[] fifth() { return new byte[BYTES]; }

    private static byte[] sixth() { return new byte[BYTES]; }

    private static byte[] seventh() { return new byte[BYTES]; }

    private static byte[] eighth() { return new byte[BYTES]; }

    private static byte[] ninth() { return new byte[BYTES]; }

    private static byte[] planted() { return new byte[BYTES]; }

    private static byte[] one(int which) {
        switch (which) {
            case 0: return first();
            case 1: return second();
            case 2: return third();
            case 3: return fourth();
            case 4: return fifth();
            case 5: return sixth();
            case 6: return seventh();
            case 7: return eighth();
            case 8: return ninth();
            default: return planted();
        }
    }

    public static void main(String[] args) throws Exception {
        int methods = args[2].equals("planted") ? 10 : 9;
        SplittableRandom random = new SplittableRandom();
        try (Recording recording = new Recording()) {
            recording.enable("jdk.ObjectAllocationInNewTLAB");
            recording.enable("jdk.ObjectAllocationOutsideTLAB");
            recording.start();
            long end = System.nanoTime() + Long.parseLong(args[1]) * 1_000_000_000L;
            while (System.nanoTime() < end) {
                for (int i = 0; i < A_ROUND; i++) sink = one(random.nextInt(methods));
                Thread.sleep(1);
            }
            recording.stop();
            recording.dump(Path.of(args[0]));
        }
    }
}
