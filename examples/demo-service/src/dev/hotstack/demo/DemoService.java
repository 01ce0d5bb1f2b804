/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;

/** A small order service that is always busy, written to be profiled. See README.md beside it. */
public final class DemoService {
    private static final Map<String, Integer> LEVELS = Map.of("low", 50, "normal", 200, "high", 400);

    private static final String USAGE =
            "usage: java -jar demo-service.jar [--port N] [--port-file FILE] [--load LEVEL]\n"
                    + "\n"
                    + "  --port N          listen on 127.0.0.1:N; 0, the default, takes a free port\n"
                    + "  --port-file FILE  write the port to FILE once the service answers\n"
                    + "  --load LEVEL      low, normal (default), high, or orders per second;\n"
                    + "                    an order costs about 2 ms of CPU\n";

    private int port;
    private Path portFile;
    private int ordersPerSecond = LEVELS.get("normal");

    private DemoService() {}

    public static void main(String[] arguments) throws IOException {
        DemoService service = new DemoService();
        try {
            service.parse(arguments);
        } catch (IllegalArgumentException e) {
            System.err.print(e.getMessage() + "\n" + USAGE);
            System.exit(2);
        }
        service.run();
    }

    private void parse(String[] arguments) {
        for (int i = 0; i < arguments.length; i++) {
            String name = arguments[i];
            if (name.equals("--help") || name.equals("-h")) {
                System.out.print(USAGE);
                System.exit(0);
            }
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException("unknown argument, or value missing: " + name);
            }
            set(name, arguments[++i]);
        }
    }

    private void set(String name, String value) {
        switch (name) {
            case "--port":
                port = number(name, value, 0, 65535);
                break;
            case "--port-file":
                portFile = Path.of(value);
                break;
            case "--load":
                Integer level = LEVELS.get(value);
                ordersPerSecond = level != null ? level : number(name, value, 1, 100_000);
                break;
            default:
                throw new IllegalArgumentException("unknown argument: " + name);
        }
    }

    private static int number(String name, String value, int min, int max) {
        try {
            int n = Integer.parseInt(value);
            if (n >= min && n <= max) {
                return n;
            }
        } catch (NumberFormatException e) {
            // Reported below, together with numbers out of range.
        }
        throw new IllegalArgumentException(
                name + " takes a number from " + min + " to " + max + ", not '" + value + "'");
    }

    private void run() throws IOException {
        OrderDesk desk = new OrderDesk();
        HttpFront front;
        try {
            front = new HttpFront(port, desk);
        } catch (IOException e) {
            System.err.println("cannot listen on 127.0.0.1:" + port + ": " + e.getMessage());
            System.exit(1);
            return;
        }
        front.start();
        new LoadGenerator(desk, ordersPerSecond).start();
        if (portFile != null) {
            writePort(front.port());
        }
        System.out.println("demo service on http://127.0.0.1:" + front.port() + "/health");
    }

    /** By rename, so that a reader never sees half a number. */
    private void writePort(int actual) throws IOException {
        Path draft = portFile.resolveSibling(portFile.getFileName() + ".new");
        Files.write(draft, (actual + "\n").getBytes(StandardCharsets.US_ASCII));
        Files.move(draft, portFile, StandardCopyOption.ATOMIC_MOVE);
    }
}
