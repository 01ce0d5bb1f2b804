/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/native_image_impl.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#define SECTIONS_MAX 512
#define NAMES_MAX    ((size_t)64 << 10)
#define HEAP_SECTION ".svm_heap"

#ifndef CIFS_SUPER_MAGIC
#define CIFS_SUPER_MAGIC 0xff534d42
#endif
#define CIFS2_SUPER_MAGIC 0xfe534d42
#ifndef CEPH_SUPER_MAGIC
#define CEPH_SUPER_MAGIC 0x00c36400
#endif
#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

static bool read_at(int fd, void *out, size_t n, uint64_t offset)
{
    if (offset > INT64_MAX)
        return false;
    ssize_t got;
    do
        got = pread(fd, out, n, (off_t)offset);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)n;
}

static bool read_header(Elf64_Ehdr *out, int fd)
{
    return read_at(fd, out, sizeof(*out), 0) && memcmp(out->e_ident, ELFMAG, SELFMAG) == 0 &&
           out->e_ident[EI_CLASS] == ELFCLASS64 && out->e_ident[EI_DATA] == ELFDATA2LSB &&
           out->e_shentsize == sizeof(Elf64_Shdr) && out->e_shnum <= SECTIONS_MAX &&
           out->e_shstrndx < out->e_shnum;
}

static bool has_name(const char *names, size_t n, const Elf64_Shdr *sections, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = sections[i].sh_name;
        if (at < n && n - at >= sizeof(HEAP_SECTION) &&
            memcmp(names + at, HEAP_SECTION, sizeof(HEAP_SECTION)) == 0)
            return true;
    }
    return false;
}

bool attach__is_native_image(int fd)
{
    Elf64_Ehdr header;
    if (!read_header(&header, fd))
        return false;
    Elf64_Shdr *sections = malloc(header.e_shnum * sizeof(*sections));
    char *names = NULL;
    bool found = false;
    if (sections != NULL &&
        read_at(fd, sections, header.e_shnum * sizeof(*sections), header.e_shoff)) {
        const Elf64_Shdr *table = &sections[header.e_shstrndx];
        size_t n = table->sh_size < NAMES_MAX ? (size_t)table->sh_size : NAMES_MAX;
        names = n == 0 ? NULL : malloc(n);
        found = names != NULL && read_at(fd, names, n, table->sh_offset) &&
                has_name(names, n, sections, header.e_shnum);
    }
    free(names);
    free(sections);
    return found;
}

static bool could_hang(int fd)
{
    static const uint32_t types[] = {NFS_SUPER_MAGIC, CIFS_SUPER_MAGIC, CIFS2_SUPER_MAGIC,
                                     SMB_SUPER_MAGIC, CEPH_SUPER_MAGIC, FUSE_SUPER_MAGIC,
                                     AFS_SUPER_MAGIC, V9FS_MAGIC,       CODA_SUPER_MAGIC};
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0)
        return true;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
        if ((uint32_t)fs.f_type == types[i])
            return true;
    return false;
}

bool attach__runs_native_image(int proc_fd)
{
    int path_fd = openat(proc_fd, "exe", O_PATH | O_CLOEXEC);
    if (path_fd < 0)
        return false;
    bool skip = could_hang(path_fd);
    (void)close(path_fd);
    int fd = skip ? -1 : openat(proc_fd, "exe", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool found = attach__is_native_image(fd);
    (void)close(fd);
    return found;
}
