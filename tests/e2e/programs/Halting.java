// SPDX-License-Identifier: Apache-2.0
// A JVM that works a little and has power over the thread that takes snapshots of it. Commands on standard input: "halt"
// suspends that thread, "slow" lets it run a twentieth of the time, "free" lets it run. Needs JDK 11 to 19, whose threads
// can be suspended.
import java.util.Scanner;

public final class Halting {
    static volatile boolean halted, slow;
    static volatile long sink;

    public static void main(String[] args) {
        start("worker", Halting::work);
        start("warden", Halting::watch);
        System.out.println("ready");
        Scanner commands = new Scanner(System.in);
        while (commands.hasNextLine()) {
            String command = commands.nextLine();
            halted = command.equals("halt");
            slow = command.equals("slow");
        }
    }

    static void start(String name, Runnable body) {
        Thread thread = new Thread(body, name);
        thread.setDaemon(true);
        thread.start();
    }

    static void work() {
        while (true) {
            for (int i = 0; i < 5_000_000; i++) sink += i;
            pause(20);
        }
    }

    static void watch() {
        while (true) {
            Thread taker = null;
            for (Thread one : Thread.getAllStackTraces().keySet()) if (one.getName().equals("Hotstack threads")) taker = one;
            if (taker != null && (halted || slow)) suspend(taker);
            pause(20);
        }
    }

    @SuppressWarnings("deprecation")
    static void suspend(Thread taker) {
        taker.suspend();
        do pause(19); while (halted);
        taker.resume();
        pause(1);
    }

    static void pause(long ms) {
        try {
            Thread.sleep(ms);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
