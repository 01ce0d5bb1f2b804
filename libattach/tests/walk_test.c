/* SPDX-License-Identifier: Apache-2.0 */
/* Tests both resolvers with one table: each opens and refuses the same paths as the other. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "files/files_impl.h"
#include "files/walk_impl.h"
#include "run_suite.h"

#define NOBODY      65534
#define PATH_LENGTH 8192

typedef int resolver(int root_fd, const char *path, int flags, mode_t mode, bool plain);

static resolver *const resolvers[] = {attach__walk_in_root, attach__openat2_in_root};

/* The tree: base/root is the root; nothing in base/outside may be reached. */
static char base[64];
static int base_fd, root_fd;

/* Returns whether the resolver is unavailable: valgrind and old kernels have no openat2. */
static bool is_missing(resolver *resolve)
{
    int fd = resolve(AT_FDCWD, ".", O_PATH, 0, false);
    if (fd >= 0)
        (void)close(fd);
    return fd == -ENOSYS || fd == -EPERM;
}

static void make_file(int dir_fd, const char *path)
{
    int fd = openat(dir_fd, path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(close(fd), 0);
}

static void make_directory(const char *path)
{
    ck_assert_int_eq(mkdirat(base_fd, path, 0755), 0);
}

static void make_link(const char *to, const char *path)
{
    ck_assert_int_eq(symlinkat(to, root_fd, path), 0);
}

/* Makes chain0 lead to a file through `links` links. */
static void make_chain(const char *prefix, int links)
{
    char path[32], to[32];
    for (int i = 0; i < links; i++) {
        (void)snprintf(path, sizeof(path), "%s%d", prefix, i);
        (void)snprintf(to, sizeof(to), "%s%d", prefix, i + 1);
        make_link(i + 1 < links ? to : "file", path);
    }
}

static void make_links(void)
{
    char out[128];
    (void)snprintf(out, sizeof(out), "%s/outside/secret", base);
    make_link(out, "to-outside");
    make_link("../outside/secret", "up-and-out");
    make_link("../../../../../../../../../../etc/passwd", "far-up");
    make_link("/dir/file", "absolute");
    make_link("/", "to-root");
    make_link("dir", "to-dir");
    make_link("dir/", "to-dir-slash");
    make_link("file/", "to-file-slash");
    make_link("dir/sub", "to-sub");
    make_link("..", "dir/sub/up");
    make_link("nowhere", "dangling");
    make_link("/outside/made", "dangling-out");
    make_link("loop-b", "loop-a");
    make_link("loop-a", "loop-b");
    make_link("self", "self");
    make_link("self/x", "growing");
    make_chain("chain", ATTACH__WALK_LINKS_MAX);
    make_chain("longer", ATTACH__WALK_LINKS_MAX + 1);
}

static void make_tree(void)
{
    (void)snprintf(base, sizeof(base), "/tmp/libattach-walk-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(base));
    ck_assert_int_eq(chmod(base, 0755), 0);
    base_fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    make_directory("outside");
    make_directory("root");
    make_directory("root/dir");
    make_directory("root/dir/sub");
    make_file(base_fd, "outside/secret");
    make_file(base_fd, "root/file");
    make_file(base_fd, "root/dir/file");
    root_fd = openat(base_fd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(root_fd, 0);
    make_links();
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st, (void)type, (void)where;
    return remove(path);
}

static void remove_tree(void)
{
    (void)close(root_fd);
    (void)close(base_fd);
    ck_assert_int_eq(nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

#define RD    O_RDONLY
#define LINK  (O_PATH | O_NOFOLLOW)
#define PLAIN true
#define EXCL  (O_WRONLY | O_CREAT | O_EXCL)

static const struct row {
    const char *path;
    int flags;
    const char *want; /* below base; NULL = `error` is expected */
    int error;
    bool plain;
} rows[] = {
    {"/", RD, "root", 0, false},
    {".", RD, "root", 0, false},
    {"..", RD, "root", 0, false},
    {"/..//../.", O_PATH, "root", 0, false},
    {"../outside/secret", RD, NULL, ENOENT, false},
    {"file", RD, "root/file", 0, false},
    {"///file", RD, "root/file", 0, false},
    {"dir/../file", RD, "root/file", 0, false},
    {"dir/sub/../../../../file", RD, "root/file", 0, false},
    {"dir/", O_PATH, "root/dir", 0, false},
    {"dir/.", RD | O_DIRECTORY, "root/dir", 0, false},
    {"dir/sub/..", RD, "root/dir", 0, false},
    {"", RD, NULL, ENOENT, false},
    {"none", RD, NULL, ENOENT, false},
    {"none/..", RD, NULL, ENOENT, false},
    {"file/x", RD, NULL, ENOTDIR, false},
    {"file/", RD, NULL, ENOTDIR, false},
    {"file/.", RD, NULL, ENOTDIR, false},
    {"file/..", RD, NULL, ENOTDIR, false},
    {"file", RD | O_DIRECTORY, NULL, ENOTDIR, false},
    {"to-outside", RD, NULL, ENOENT, false},
    {"up-and-out", RD, NULL, ENOENT, false},
    {"far-up", RD, NULL, ENOENT, false},
    {"to-outside", LINK, "root/to-outside", 0, false},
    {"to-outside/", LINK, NULL, ENOENT, false},
    {"absolute", RD, "root/dir/file", 0, false},
    {"dir/sub/../../absolute", RD, "root/dir/file", 0, false},
    {"absolute/", RD, NULL, ENOTDIR, false},
    {"absolute", RD | O_NOFOLLOW, NULL, ELOOP, false},
    {"absolute", O_WRONLY | O_TRUNC | O_NOFOLLOW, NULL, ELOOP, false},
    {"to-root", RD, "root", 0, false},
    {"to-root/../..", RD, "root", 0, false},
    {"to-root/file", RD, "root/file", 0, false},
    {"dir/sub/up/file", RD, "root/dir/file", 0, false},
    {"dir/sub/up", RD, "root/dir", 0, false},
    {"to-dir", RD, "root/dir", 0, false},
    {"to-dir", O_PATH, "root/dir", 0, false},
    {"to-dir", O_PATH | O_DIRECTORY, "root/dir", 0, false},
    {"to-dir", RD | O_DIRECTORY | O_NOFOLLOW, NULL, ENOTDIR, false},
    {"to-dir", LINK | O_DIRECTORY, NULL, ENOTDIR, false},
    {"to-dir/", LINK, "root/dir", 0, false},
    {"to-dir/file", RD | O_NOFOLLOW, "root/dir/file", 0, false},
    {"to-dir-slash", RD, "root/dir", 0, false},
    {"to-dir-slash/file", RD, "root/dir/file", 0, false},
    {"to-file-slash", RD, NULL, ENOTDIR, false},
    {"to-sub/../file", RD, "root/dir/file", 0, false},
    {"dangling", RD, NULL, ENOENT, false},
    {"loop-a", RD, NULL, ELOOP, false},
    {"loop-a/x", RD, NULL, ELOOP, false},
    {"self", O_PATH, NULL, ELOOP, false},
    {"growing", RD, NULL, ELOOP, false},
    {"chain0", RD, "root/file", 0, false},
    {"longer0", RD, NULL, ELOOP, false},
    {"to-dir", RD, NULL, ELOOP, PLAIN},
    {"to-dir/file", RD, NULL, ELOOP, PLAIN},
    {"to-dir", LINK, "root/to-dir", 0, PLAIN},
    {"dir/sub/../file", RD, "root/dir/file", 0, PLAIN},
    {"file", EXCL, NULL, EEXIST, false},
    {"dangling", EXCL, NULL, EEXIST, false},
    {"dir", O_WRONLY | O_CREAT, NULL, EISDIR, false},
    {"to-dir", O_WRONLY | O_CREAT, NULL, EISDIR, false},
    {"dir/sub/..", O_WRONLY | O_CREAT, NULL, EISDIR, false},
    {"new/", O_WRONLY | O_CREAT, NULL, EISDIR, false},
    {"none/new", O_WRONLY | O_CREAT, NULL, ENOENT, false},
    {"dangling-out", O_WRONLY | O_CREAT, NULL, ENOENT, false},
    {"dangling", O_WRONLY | O_CREAT | O_NOFOLLOW, NULL, ELOOP, false},
};

static void assert_is(int fd, int dir_fd, const char *want, const char *path)
{
    struct stat opened, wanted;
    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(-fd));
    ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
    ck_assert_int_eq(fstat(fd, &opened), 0);
    ck_assert_int_eq(fstatat(dir_fd, want, &wanted, AT_SYMLINK_NOFOLLOW), 0);
    ck_assert_msg(opened.st_ino == wanted.st_ino && opened.st_dev == wanted.st_dev, "%s is not %s",
                  path, want);
    ck_assert_int_eq(close(fd), 0);
}

static void assert_fails(int fd, int error, const char *path)
{
    ck_assert_msg(fd == -error, "%s: %d (%s), not %s", path, fd, fd < 0 ? strerror(-fd) : "opened",
                  strerror(error));
}

START_TEST(opens_the_same)
{
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    for (int i = 0; i < ROWS(rows); i++) {
        const struct row *r = &rows[i];
        int fd = resolve(root_fd, r->path, r->flags, 0600, r->plain);
        if (r->want != NULL)
            assert_is(fd, base_fd, r->want, r->path);
        else
            assert_fails(fd, r->error, r->path);
    }
}
END_TEST

START_TEST(creates_below_the_root)
{
    struct stat st;
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    (void)umask(0);
    assert_is(resolve(root_fd, "to-dir/new", EXCL, 0640, false), base_fd, "root/dir/new", "new");
    ck_assert_int_eq(fstatat(base_fd, "root/dir/new", &st, 0), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0640);
    assert_is(resolve(root_fd, "dangling", O_WRONLY | O_CREAT, 0600, false), base_fd,
              "root/nowhere", "dangling");
}
END_TEST

static char *repeated(const char *text, size_t times, const char *end)
{
    static char path[PATH_LENGTH];
    size_t n = strlen(text);
    ck_assert_uint_lt(n * times + strlen(end), sizeof(path));
    for (size_t i = 0; i < times; i++)
        memcpy(path + i * n, text, n);
    memcpy(path + n * times, end, strlen(end) + 1);
    return path;
}

START_TEST(bounds_lengths)
{
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    assert_fails(resolve(root_fd, repeated("n", 255, ""), RD, 0, false), ENOENT, "255");
    assert_fails(resolve(root_fd, repeated("n", 256, ""), RD, 0, false), ENAMETOOLONG, "256");
    assert_fails(resolve(root_fd, repeated("n", 256, "/x"), RD, 0, false), ENAMETOOLONG, "256/");
    assert_is(resolve(root_fd, repeated("dir/../", 584, "./file"), RD, 0, false), base_fd,
              "root/file", "4094");
    assert_fails(resolve(root_fd, repeated("dir/../", 584, "dir/file"), RD, 0, false), ENAMETOOLONG,
                 "4096");
}
END_TEST

/* The walk has a bound of its own, because it keeps the directories of the path open. */
START_TEST(bounds_the_depth)
{
    int fd = dup(root_fd);
    for (int i = 0; i < ATTACH__WALK_DEPTH_MAX + 1; i++) {
        ck_assert_int_eq(mkdirat(fd, "d", 0755), 0);
        int below = openat(fd, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(below, 0);
        (void)close(fd);
        fd = below;
    }
    make_file(fd, "end");
    (void)close(fd);
    fd = attach__walk_in_root(root_fd, repeated("d/", ATTACH__WALK_DEPTH_MAX, "d"), RD, 0, false);
    ck_assert_int_ge(fd, 0);
    (void)close(fd);
    fd = attach__walk_in_root(root_fd, repeated("d/", ATTACH__WALK_DEPTH_MAX + 1, "end"), RD, 0,
                              false);
    assert_fails(fd, ENAMETOOLONG, "one more");
}
END_TEST

/* Magic links, which the kernel follows to places outside any root. */
START_TEST(refuses_magic_links)
{
    static const char *const names[] = {"exe", "root", "root/etc", "cwd/..", "fd/0", "ns/mnt"};
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    int proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(proc, 0);
    for (int i = 0; i < ROWS(names); i++) {
        char path[64];
        (void)snprintf(path, sizeof(path), "%d/%s", (int)getpid(), names[i]);
        assert_fails(resolve(proc, path, O_PATH, 0, false), ELOOP, path);
    }
    char exe[32];
    (void)snprintf(exe, sizeof(exe), "%d/exe", (int)getpid());
    assert_is(resolve(proc, exe, LINK, 0, false), proc, exe, exe);
    if (resolve == attach__walk_in_root) /* stricter: it cannot recognise magic links */
        assert_fails(resolve(proc, "self", O_PATH, 0, false), ELOOP, "self");
    (void)close(proc);
}
END_TEST

static bool kernel_protects_links(void)
{
    attach__blob text;
    ck_assert_int_eq(attach__read_proc(&text, AT_FDCWD, "/proc/sys/fs/protected_symlinks", 16), 0);
    bool on = text.n > 0 && text.p[0] != '0';
    free(text.p);
    return on;
}

/* A last link of another user in a directory like /tmp may be a trap. Only root can create such a
 * link for this test. */
START_TEST(distrusts_links_of_others)
{
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    make_directory("root/tmp");
    ck_assert_int_eq(fchmodat(base_fd, "root/tmp", 01777, 0), 0);
    make_link("../file", "tmp/link");
    make_link("../dir", "tmp/link-dir");
    assert_is(resolve(root_fd, "tmp/link", RD, 0, false), base_fd, "root/file", "own link");
    if (geteuid() == 0) {
        bool refuses = resolve == attach__walk_in_root || kernel_protects_links();
        ck_assert_int_eq(fchownat(root_fd, "tmp/link", NOBODY, NOBODY, AT_SYMLINK_NOFOLLOW), 0);
        ck_assert_int_eq(fchownat(root_fd, "tmp/link-dir", NOBODY, NOBODY, AT_SYMLINK_NOFOLLOW), 0);
        int fd = resolve(root_fd, "tmp/link", RD, 0, false);
        if (refuses)
            assert_fails(fd, EACCES, "another's link");
        else
            assert_is(fd, base_fd, "root/file", "another's link");
        assert_is(resolve(root_fd, "tmp/link-dir/file", RD, 0, false), base_fd, "root/dir/file",
                  "on the way");
        ck_assert_int_eq(fchownat(base_fd, "root/tmp", NOBODY, NOBODY, 0), 0);
        assert_is(resolve(root_fd, "tmp/link", RD, 0, false), base_fd, "root/file", "the owner's");
    }
}
END_TEST

START_TEST(needs_the_right_to_search)
{
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    ck_assert_int_eq(fchmodat(base_fd, "root/dir", 0600, 0), 0);
    uid_t before = geteuid();
    if (before == 0)
        ck_assert_int_eq(seteuid(NOBODY), 0);
    int fd = resolve(root_fd, "dir/file", O_PATH, 0, false);
    int second = resolve(root_fd, "dir/../file", O_PATH, 0, false);
    int third = resolve(root_fd, "dir/.", O_PATH, 0, false);
    int itself = resolve(root_fd, "to-dir/", O_PATH, 0, false);
    ck_assert_int_eq(seteuid(before), 0);
    ck_assert_int_eq(fchmodat(base_fd, "root/dir", 0755, 0), 0);
    assert_fails(fd, EACCES, "dir/file");
    assert_fails(second, EACCES, "dir/../file");
    assert_fails(third, EACCES, "dir/.");
    assert_is(itself, base_fd, "root/dir", "to-dir/");
}
END_TEST

typedef struct mover {
    atomic_bool stop;
    atomic_int moves;
} mover;

/* Makes dir in turn a directory, a link that leads out, and a directory outside its place. */
static void *move(void *arg)
{
    mover *m = arg;
    while (!atomic_load(&m->stop)) {
        ck_assert_int_eq(renameat2(root_fd, "dir", root_fd, "up-and-out", RENAME_EXCHANGE), 0);
        ck_assert_int_eq(renameat2(root_fd, "dir", root_fd, "up-and-out", RENAME_EXCHANGE), 0);
        ck_assert_int_eq(renameat(root_fd, "dir", base_fd, "outside/dir"), 0);
        ck_assert_int_eq(renameat(base_fd, "outside/dir", root_fd, "dir"), 0);
        atomic_fetch_add(&m->moves, 1);
    }
    return NULL;
}

static const struct {
    const char *path;
    const char *want; /* below base: the only file that may be opened; NULL = none */
} raced[] = {
    {"dir/file", "root/dir/file"},
    {"dir/secret", NULL},
    {"dir/sub/../../file", "root/file"},
    {"dir/sub/../../secret", NULL},
    {"dir/sub/../../outside/secret", NULL},
    {"dir/sub/up/../../outside/secret", NULL},
    {"up-and-out", "root/dir"},
};

static void race_once(resolver *resolve, int i, const struct stat *wanted)
{
    struct stat st;
    int fd = resolve(root_fd, raced[i].path, O_PATH, 0, false);
    if (fd < 0) {
        ck_assert_msg(fd == -ENOENT || fd == -EAGAIN || fd == -EXDEV || fd == -ENOTDIR, "%s: %s",
                      raced[i].path, strerror(-fd));
        return;
    }
    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_msg(raced[i].want != NULL && st.st_ino == wanted->st_ino, "%s leads elsewhere",
                  raced[i].path);
    ck_assert_int_eq(close(fd), 0);
}

START_TEST(holds_while_others_rename)
{
    struct stat wanted[ROWS(raced)];
    mover m = {false, 0};
    pthread_t thread;
    resolver *resolve = resolvers[_i];
    if (is_missing(resolve))
        return;
    for (int i = 0; i < ROWS(raced); i++)
        if (raced[i].want != NULL)
            ck_assert_int_eq(fstatat(base_fd, raced[i].want, &wanted[i], 0), 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, move, &m), 0);
    for (int n = 0; n < 1000 || atomic_load(&m.moves) < 100; n++)
        for (int i = 0; i < ROWS(raced); i++)
            race_once(resolve, i, &wanted[i]);
    atomic_store(&m.stop, true);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 1024; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

START_TEST(leaves_no_descriptor)
{
    int before = open_descriptors();
    for (int i = 0; i < ROWS(rows); i++) {
        int fd = attach__walk_in_root(root_fd, rows[i].path, rows[i].flags, 0600, rows[i].plain);
        if (fd >= 0)
            (void)close(fd);
    }
    ck_assert_int_eq(open_descriptors(), before);
}
END_TEST

/* Uses the resolver that the kernel supports. */
START_TEST(reads_by_either)
{
    attach__blob text;
    assert_is(attach__open_in_root(root_fd, "to-sub/up/file", RD, 0), base_fd, "root/dir/file",
              "in root");
    assert_fails(attach__open_plain(root_fd, "to-sub/up/file", RD), ELOOP, "plain");
    assert_fails(attach__open_regular(root_fd, "absolute", RD, 0), ELOOP, "regular");
    assert_fails(attach__open_regular(root_fd, "dir", RD, 0), EINVAL, "a directory");
    ck_assert_int_eq(attach__read_in_root(&text, root_fd, "to-dir/file", 16), 0);
    ck_assert_uint_eq(text.n, 0);
    free(text.p);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("walk");
    TCase *tc = tcase_create("walk");
    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, make_tree, remove_tree);
    tcase_add_loop_test(tc, opens_the_same, 0, ROWS(resolvers));
    tcase_add_loop_test(tc, creates_below_the_root, 0, ROWS(resolvers));
    tcase_add_loop_test(tc, bounds_lengths, 0, ROWS(resolvers));
    tcase_add_test(tc, bounds_the_depth);
    tcase_add_loop_test(tc, refuses_magic_links, 0, ROWS(resolvers));
    tcase_add_loop_test(tc, distrusts_links_of_others, 0, ROWS(resolvers));
    tcase_add_loop_test(tc, needs_the_right_to_search, 0, ROWS(resolvers));
    tcase_add_loop_test(tc, holds_while_others_rename, 0, ROWS(resolvers));
    tcase_add_test(tc, leaves_no_descriptor);
    tcase_add_test(tc, reads_by_either);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
