/* SPDX-License-Identifier: Apache-2.0 */
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;

/**
 * A JVM that works against the programs that profile it: it attacks each directory of theirs in its /tmp as soon as it
 * sees it, and again whenever they have mended it. Usage: Hostile ATTACK HOST. HOST is a directory of the host, which
 * the container does not have, so that only a program outside of the container can follow a link to it.
 */
public class Hostile {
    interface Attack {
        void on(Path path) throws Exception;
    }

    static final Path TMP = Path.of("/tmp");
    static final List<String> FILES = List.of("recording.jfr", "session", "session.new", "log", "status", "settings.jfc",
            "expired.jfr", "libasyncProfiler.so", "libhotstackthreads.so");
    static final String NAME = "\u001b[2J\n../../../etc\u202e";
    static final long HUGE = 1L << 40;
    static final int OPEN_CHUNK = 0x40000000;
    static final Set<Object> OURS = new HashSet<>();
    static String host;
    static long number;

    /** Which file a path names, and its size, which changes when a profiler opens it and writes its own. */
    static Object keyOf(Path path) {
        try {
            BasicFileAttributes found = Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            return List.of(found.fileKey(), found.size());
        } catch (IOException e) {
            return null;
        }
    }

    /** Puts another file in a file's place, at once, unless it is there already. */
    static void replace(Path path, Attack make) throws Exception {
        if (OURS.contains(keyOf(path))) {
            return;
        }
        Path fresh = TMP.resolve("fresh");
        Files.deleteIfExists(fresh);
        make.on(fresh);
        OURS.add(keyOf(fresh));
        Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }

    static void replaceByLink(Path path, String name) throws Exception {
        replace(path, fresh -> Files.createSymbolicLink(fresh, Path.of(host, name)));
    }

    static void replaceRecording(Path directory, Attack make) throws Exception {
        replace(directory.resolve("recording.jfr"), make);
    }

    static void linkAll(Path directory) throws Exception {
        for (String name : FILES) {
            replaceByLink(directory.resolve(name), name);
        }
        replaceByLink(Files.createDirectories(TMP.resolve("hsperfdata_other")).resolve("1"), "1");
    }

    static void move(Path directory) throws Exception {
        if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
            Files.move(directory, TMP.resolve("moved-" + number++));
            Files.createSymbolicLink(directory, Path.of(host));
        }
    }

    /** Makes a recording whose only chunk states a size; it is followed by noise up to the length. */
    static void record(Path path, long stated, long length, int noise) throws Exception {
        byte[] bytes = new byte[68 + noise];
        new Random(1).nextBytes(bytes);
        ByteBuffer.wrap(bytes).put(new byte[] {'F', 'L', 'R', 0, 0, 2, 0, 1}).putLong(stated);
        try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
            file.write(bytes);
            file.setLength(length);
        }
    }

    static void lieInMarker(Path directory) throws Exception {
        String text = Files.readString(directory.resolve("session"));
        replace(directory.resolve("session"), path -> Files.writeString(path,
                text.replaceAll("installation .*", "installation other").replaceAll("owner .*", "owner \u001b[2J\u202eroot")
                        .replaceAll("(handed|started_ms|skipped) .*", "$1 9223372036854775807")));
    }

    /** Calls a program that goes on after this one returns. */
    static Process start(String... command) throws IOException {
        return new ProcessBuilder(command).redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD).start();
    }

    static void makePipe(Path path) throws Exception {
        start("mkfifo", path.toString()).waitFor();
    }

    static void lock(Path directory) throws Exception {
        for (Path path : List.of(TMP, directory)) {
            if (OURS.add(path)) {
                start("flock", path.toString(), "sleep", "1000");
            }
        }
    }

    /** Processes that are called java, and JVMs, that end as soon as they have begun. */
    static void fork(Path directory) throws Exception {
        if (OURS.add(TMP)) {
            String java = System.getProperty("java.home") + "/bin/java";
            start("bash", "-c", "while :; do (exec -a java /bin/true); (exec -a \"$0\" \"$1\" -Xmx16m -version); done", NAME, java);
        }
    }

    static final Map<String, Attack> ATTACKS = Map.ofEntries(
            Map.entry("links", Hostile::linkAll),
            Map.entry("link", directory -> replaceByLink(directory.resolve("recording.jfr"), "recording.jfr")),
            Map.entry("directory", Hostile::move),
            Map.entry("pipe", directory -> replaceRecording(directory, Hostile::makePipe)),
            Map.entry("huge", directory -> replaceRecording(directory, path -> record(path, HUGE, HUGE, 0))),
            Map.entry("garbage", directory -> replaceRecording(directory, path -> record(path, 1 << 20, 1 << 20, 1 << 20))),
            Map.entry("open", directory -> replaceRecording(directory, path -> record(path, OPEN_CHUNK, 1 << 20, 0))),
            Map.entry("marker", Hostile::lieInMarker),
            Map.entry("socket", directory -> replaceByLink(TMP.resolve(".java_pid" + ProcessHandle.current().pid()), "socket")),
            Map.entry("lock", Hostile::lock),
            Map.entry("fork", Hostile::fork));

    /** Gives this process a name that looks like the rest of its line in /proc/PID/stat. */
    static void takeName() throws IOException {
        Files.write(Path.of("/proc/self/comm"), ") Z 1 (\u001b[2J".getBytes());
    }

    public static void main(String[] args) throws Exception {
        Attack attack = ATTACKS.get(args[0]);
        host = args[1];
        System.out.println("ready");
        for (boolean begun = false;; Thread.sleep(2)) {
            try (DirectoryStream<Path> directories = Files.newDirectoryStream(TMP, "hotstack-*")) {
                for (Path directory : directories) {
                    if (!begun) {
                        takeName();
                        begun = true;
                    }
                    attack.on(directory);
                }
            } catch (IOException e) {
                continue; // they have just removed or changed it
            }
        }
    }
}
