/* SPDX-License-Identifier: Apache-2.0 */
package dev.hotstack.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The service's few URLs on a plain socket (a trimmed JDK has no HTTP server). Not for the open network. */
final class HttpFront implements Runnable {
    private static final int READ_TIMEOUT_MS = 5_000;

    private final ServerSocket listener;
    private final OrderDesk desk;
    private final AccountTransfers transfers = new AccountTransfers();
    private final ExecutorService connections = Executors.newFixedThreadPool(4, HttpFront::newThread);

    HttpFront(int port, OrderDesk desk) throws IOException {
        this.listener = new ServerSocket(port, 50, InetAddress.getByName("127.0.0.1"));
        this.desk = desk;
    }

    int port() {
        return listener.getLocalPort();
    }

    void start() {
        new Thread(this, "http-acceptor").start();
    }

    private static Thread newThread(Runnable body) {
        Thread thread = new Thread(body, "http-front");
        thread.setDaemon(true);
        return thread;
    }

    @Override
    public void run() {
        while (true) {
            try {
                Socket connection = listener.accept();
                connections.execute(() -> serve(connection));
            } catch (IOException e) {
                System.err.println("accept failed: " + e.getMessage());
                Pause.milliseconds(100);
            }
        }
    }

    private void serve(Socket connection) {
        try (connection) {
            connection.setSoTimeout(READ_TIMEOUT_MS);
            BufferedReader in = new BufferedReader(
                    new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
            String request = in.readLine();
            String line = request;
            while (line != null && !line.isEmpty()) {
                line = in.readLine();
            }
            if (request != null) {
                connection.getOutputStream().write(answer(request).getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // The client went away, or sent nothing in time: its connection is closed, that is all.
        }
    }

    private String answer(String request) {
        String[] words = request.split(" ");
        String call = words.length < 2 ? "" : words[0] + " " + words[1];
        switch (call) {
            case "GET /health":
                return response("200 OK", "ok\n");
            case "GET /stats":
                return response("200 OK", desk.stats());
            case "GET /order":
                return order();
            case "POST /deadlock/on":
                transfers.deadlock();
                return response("200 OK", "deadlock on\n");
            case "POST /deadlock/off":
                transfers.release();
                return response("200 OK", "deadlock off\n");
            default:
                return response("404 Not Found", "GET /health, /stats, /order; POST /deadlock/on, /deadlock/off\n");
        }
    }

    private String order() {
        try {
            desk.accept().get();
            return response("200 OK", "served\n");
        } catch (InterruptedException | ExecutionException e) {
            return response("500 Internal Server Error", "the order failed: " + e.getMessage() + "\n");
        }
    }

    private static String response(String status, String body) {
        return "HTTP/1.1 " + status + "\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Length: "
                + body.length() + "\r\n\r\n" + body;
    }
}
