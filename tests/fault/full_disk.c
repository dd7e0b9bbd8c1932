// A disk that is full from the n-th write on, counted over the files of one directory. FULL_DISK names the directory, FULL_AT the
// write, FULL_FOR after how many refused writes there is room again (never, unless it is set), FULL_LOG a file that gets a byte for
// each write that was refused.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static long count;

static ssize_t real_write(int file, const void *bytes, size_t length) {
    static ssize_t (*real)(int, const void *, size_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    return real(file, bytes, length);
}

// Whether this call must fail.
static int is_full(int file) {
    const char *directory = getenv("FULL_DISK"), *at = getenv("FULL_AT"), *log = getenv("FULL_LOG");
    const char *times = getenv("FULL_FOR");
    char link[64], path[4096];
    if (!directory || !at) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    if (strncmp(path, directory, strlen(directory))) return 0;
    long now = __sync_add_and_fetch(&count, 1);
    if (now < atol(at) || (times && now >= atol(at) + atol(times))) return 0;
    int told = log ? open(log, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;
    if (told >= 0) {
        real_write(told, "x", 1);
        close(told);
    }
    errno = ENOSPC;
    return 1;
}

ssize_t write(int file, const void *bytes, size_t length) {
    return is_full(file) ? -1 : real_write(file, bytes, length);
}

ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t at) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = (ssize_t (*)(int, const void *, size_t, off64_t))dlsym(RTLD_NEXT, "pwrite64");
    return is_full(file) ? -1 : real(file, bytes, length, at);
}

ssize_t pwrite(int file, const void *bytes, size_t length, off_t at) {
    return pwrite64(file, bytes, length, at);
}

int ftruncate64(int file, off64_t length) {
    static int (*real)(int, off64_t);
    if (!real) real = (int (*)(int, off64_t))dlsym(RTLD_NEXT, "ftruncate64");
    struct stat now;
    int grows = fstat(file, &now) == 0 && length > now.st_size;
    return grows && is_full(file) ? -1 : real(file, length);
}

int ftruncate(int file, off_t length) {
    return ftruncate64(file, length);
}
