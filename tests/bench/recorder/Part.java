/* SPDX-License-Identifier: Apache-2.0 */
package bench;

import java.io.IOException;
import java.nio.file.Paths;
import java.text.ParseException;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/** One recording of the JDK's recorder, of one chunk: the settings "profile", and every allocation. */
final class Part implements AutoCloseable {
    private final Recording recording;
    private final String file;

    Part(String file) throws IOException, ParseException {
        this.file = file;
        recording = new Recording(Configuration.getConfiguration("profile"));
        recording.enable("jdk.ObjectAllocationSample").with("throttle", "off").withStackTrace();
        recording.start();
    }

    @Override
    public void close() throws IOException {
        recording.stop();
        recording.dump(Paths.get(file));
        recording.close();
    }
}
