#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define REAL(name) static __typeof__(&name) real; if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static long number(const char *name) { const char *value = getenv(name); return value ? atol(value) : 0; }

/* Past everything that is intercepted. */
static void note(const char *call, int fd, const char *path) {
    const char *to = getenv("CALLS_LOG");
    if (!to) return;
    char place[512] = "?", line[700], link[64];
    if (!path) {
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, place, sizeof place - 1);
        if (n >= 0) place[n] = 0;
        path = place;
    }
    const char *name = strrchr(path, '/');
    int size = snprintf(line, sizeof line, "%s %s\n", call, name ? name + 1 : path);
    int log = (int)syscall(SYS_openat, AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    syscall(SYS_write, log, line, size);
    syscall(SYS_close, log);
}

/* True if this is the call. */
static int is_due(const char *call, int fd, const char *path) {
    static long calls;
    note(call, fd, path);
    return __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST) == number("CALLS_AT");
}

static void strike(void) { raise((int)number("CALLS_SIGNAL")); }

static void before(const char *call, int fd, const char *path) { if (is_due(call, fd, path)) strike(); }

/* Whether this write is to be torn. */
static int is_torn(int fd) {
    struct stat file;
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) || !is_due("write", fd, 0)) return 0;
    if (!number("CALLS_TORN")) strike();
    return number("CALLS_TORN") != 0;
}

ssize_t write(int fd, const void *data, size_t size) {
    REAL(write);
    if (is_torn(fd)) { real(fd, data, size / 2); strike(); }
    return real(fd, data, size);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at) {
    REAL(pwrite64);
    if (is_torn(fd)) { real(fd, data, size / 2, at); strike(); }
    return real(fd, data, size, at);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at) { return pwrite64(fd, data, size, at); }

/* Whoever is killed takes nothing along that the system has: what is written need not reach the disk, which takes long. */
int fsync(int fd) { before("fsync", fd, 0); return 0; }
int fdatasync(int fd) { before("fsync", fd, 0); return 0; }

int ftruncate64(int fd, off64_t size) { REAL(ftruncate64); before("truncate", fd, 0); return real(fd, size); }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int unlink(const char *path) { REAL(unlink); before("unlink", 0, path); return real(path); }

int fcntl64(int fd, int command, ...) {
    REAL(fcntl64);
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    if (command == F_SETLK || command == F_SETLKW) {
        short type = ((struct flock *)argument)->l_type;
        before(type == F_UNLCK ? "unlock" : type == F_RDLCK ? "share" : "lock", fd, 0);
    }
    return real(fd, command, argument);
}

int fcntl(int fd, int command, ...) {
    va_list arguments;
    va_start(arguments, command);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    return fcntl64(fd, command, argument);
}
