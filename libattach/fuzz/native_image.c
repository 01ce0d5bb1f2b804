/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#include "jvm/native_image_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("native-image", MFD_CLOEXEC);
    if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
        (void)attach__is_native_image(fd);
    if (fd >= 0)
        (void)close(fd);
    return 0;
}
