/* Preloaded into a program: every call that changes a file in $TRACED, and every fsync there, in $TRACE, in order.
   A record is "call\tpath\tother path\toffset\tlength\n" and so many bytes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int in_folder(const char *path) {
    const char *folder = getenv("TRACED");
    return folder && path && !strncmp(path, folder, strlen(folder));
}

static void record(const char *call, const char *path, const char *other, long offset, const void *data, long length) {
    static int log = -1;
    char head[9000];
    if (log < 0) log = syscall(SYS_openat, AT_FDCWD, getenv("TRACE"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int size = snprintf(head, sizeof head, "%s\t%s\t%s\t%ld\t%ld\n", call, path, other, offset, length);
    syscall(SYS_write, log, head, size);
    if (length) syscall(SYS_write, log, data, length);
}

static const char *name_of(int fd, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    long size = readlink(link, into, 4095);
    into[size < 0 ? 0 : size] = 0;
    return in_folder(into) ? into : NULL;
}

static int opened(int (*real)(const char *, int, ...), const char *path, int flags, int mode) {
    int was = in_folder(path) && (flags & O_CREAT) && access(path, F_OK);
    int fd = real(path, flags, mode);
    if (fd >= 0 && was) record("create", path, "", 0, "", 0);
    if (fd >= 0 && in_folder(path) && (flags & O_TRUNC)) record("truncate", path, "", 0, "", 0);
    return fd;
}
#define OPEN(name) int name(const char *path, int flags, ...) { va_list more; va_start(more, flags); \
    int mode = flags & O_CREAT ? va_arg(more, int) : 0; va_end(more); return opened(NEXT(name), path, flags, mode); }
OPEN(open)
OPEN(open64)

#define PWRITE(name, type) ssize_t name(int fd, const void *data, size_t length, type offset) { char path[4096]; \
    ssize_t done = NEXT(name)(fd, data, length, offset); \
    if (done > 0 && name_of(fd, path)) record("write", path, "", offset, data, done); return done; }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

ssize_t write(int fd, const void *data, size_t length) {
    char path[4096];
    off_t at = name_of(fd, path) ? lseek(fd, 0, SEEK_CUR) : -1;
    ssize_t done = NEXT(write)(fd, data, length);
    if (done > 0 && at >= 0) record("write", path, "", at, data, done);
    return done;
}

#define TRUNCATE(name, type) int name(int fd, type length) { char path[4096]; int failed = NEXT(name)(fd, length); \
    if (!failed && name_of(fd, path)) record("truncate", path, "", length, "", 0); return failed; }
TRUNCATE(ftruncate, off_t)
TRUNCATE(ftruncate64, off64_t)

#define SYNC(name) int name(int fd) { char path[4096]; int failed = NEXT(name)(fd); \
    if (!failed && name_of(fd, path)) record("sync", path, "", 0, "", 0); return failed; }
SYNC(fsync)
SYNC(fdatasync)

int unlink(const char *path) {
    if (in_folder(path)) record("unlink", path, "", 0, "", 0);
    return NEXT(unlink)(path);
}

int rename(const char *path, const char *other) {
    int failed = NEXT(rename)(path, other);
    if (!failed && in_folder(path)) record("rename", path, other, 0, "", 0);
    return failed;
}

int link(const char *path, const char *other) {
    int failed = NEXT(link)(path, other);
    if (!failed && in_folder(path)) record("link", path, other, 0, "", 0);
    return failed;
}
