/* Calls of the system that fail when they are told to: preloaded, it stands before libc for Python, DuckDB and Arrow
 * alike. `arm` starts the count; the n-th call that its kind is about fails, or has a signal delivered at it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CALLS = 1, FULL_DISK = 2, MEMORY = 3, SIGNALS = 4 };
enum { LARGE = 1 << 16 };

struct log {
    atomic_long seen;
    char asked[256]; /* the library that asked for the memory that was refused */
};
static struct log *shared; /* with the processes forked from the one that called `prepare` */
static long target;
static int kind, signal_number;
static char root[PATH_MAX];

void prepare(void) {
    void *frame;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    backtrace(&frame, 1); /* which loads a library the first time */
}

void arm(int what, int signum, long n, const char *folder) {
    snprintf(root, sizeof root, "%s", folder);
    atomic_store(&shared->seen, 0);
    shared->asked[0] = 0;
    signal_number = signum;
    target = n;
    kind = what;
}

int calls_seen(void) { return (int)atomic_load(&shared->seen); }

const char *who_asked(void) { return shared->asked; }

static int is_due(int sticky) {
    long now = atomic_fetch_add(&shared->seen, 1) + 1;
    return target > 0 && (sticky ? now >= target : now == target);
}

static int is_watched(const char *path) { return path && strncmp(path, root, strlen(root)) == 0; }

static int is_watched_at(int folder, const char *path) {
    char name[32], where[PATH_MAX];
    if (path && path[0] == '/') return is_watched(path);
    if (folder == AT_FDCWD) return path && getcwd(where, sizeof where) && is_watched(where);
    snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
    ssize_t size = readlink(name, where, sizeof where - 1);
    if (size < 0) return 0;
    where[size] = 0;
    return is_watched(where);
}

static int is_watched_file(int fd) { return is_watched_at(fd, NULL); }

/* Whether a call on what is watched, or not, is to fail. */
static int fails(int watched, int writes) {
    int saved = errno, due = 0;
    if (kind == SIGNALS) {
        if (is_due(0)) kill(getpid(), signal_number);
    } else if (kind == CALLS && watched) {
        due = is_due(0);
    } else if (kind == FULL_DISK && watched && writes) {
        due = is_due(1);
    }
    errno = due ? (writes ? ENOSPC : EIO) : saved;
    return due;
}

/* Note the innermost library on the stack that is neither this one nor one that only passes requests on. */
static void note_asked(void) {
    void *frames[32];
    Dl_info here, found;
    int depth = backtrace(frames, 32);
    dladdr((void *)note_asked, &here);
    for (int i = 0; i < depth; i++) {
        if (!dladdr(frames[i], &found) || !found.dli_fname || found.dli_fbase == here.dli_fbase) continue;
        if (strstr(found.dli_fname, "libstdc++") || strstr(found.dli_fname, "libc.so")) continue;
        snprintf(shared->asked, sizeof shared->asked, "%s", found.dli_fname);
        return;
    }
}

static int lacks_memory(size_t size) {
    if (kind != MEMORY || size < LARGE || !is_due(0)) return 0;
    note_asked();
    return 1;
}

#define WRAP(type, name, parameters, arguments, watched, writes, failed)                                               \
    type name parameters {                                                                                             \
        static type(*real) parameters;                                                                                 \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                                                     \
        return kind && fails(watched, writes) ? failed : real arguments;                                               \
    }

WRAP(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n), is_watched_file(fd), 0, -1)
WRAP(ssize_t, pread, (int fd, void *to, size_t n, off_t at), (fd, to, n, at), is_watched_file(fd), 0, -1)
WRAP(ssize_t, pread64, (int fd, void *to, size_t n, off64_t at), (fd, to, n, at), is_watched_file(fd), 0, -1)
WRAP(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n), is_watched_file(fd), 1, -1)
WRAP(ssize_t, pwrite, (int fd, const void *from, size_t n, off_t at), (fd, from, n, at), is_watched_file(fd), 1, -1)
WRAP(ssize_t, pwrite64, (int fd, const void *from, size_t n, off64_t at), (fd, from, n, at), is_watched_file(fd), 1, -1)
WRAP(ssize_t, writev, (int fd, const struct iovec *v, int n), (fd, v, n), is_watched_file(fd), 1, -1)
WRAP(int, fsync, (int fd), (fd), is_watched_file(fd), 1, -1)
WRAP(int, fdatasync, (int fd), (fd), is_watched_file(fd), 1, -1)
WRAP(int, ftruncate, (int fd, off_t n), (fd, n), is_watched_file(fd), 1, -1)
WRAP(int, ftruncate64, (int fd, off64_t n), (fd, n), is_watched_file(fd), 1, -1)
WRAP(int, rename, (const char *from, const char *to), (from, to), is_watched_at(AT_FDCWD, to), 1, -1)
WRAP(int, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to), is_watched_at(b, to), 1, -1)
WRAP(int, mkdir, (const char *path, mode_t mode), (path, mode), is_watched_at(AT_FDCWD, path), 1, -1)
WRAP(int, mkdirat, (int at, const char *path, mode_t mode), (at, path, mode), is_watched_at(at, path), 1, -1)

/* Opening has an argument that is only there when a file is made. */
#define WRAP_OPEN(name, parameters, arguments, folder)                                                                 \
    int name parameters {                                                                                              \
        static int (*real) parameters;                                                                                 \
        va_list rest;                                                                                                  \
        if (!real) real = (int (*) parameters)dlsym(RTLD_NEXT, #name);                                                 \
        va_start(rest, flags);                                                                                         \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                  \
        return kind && fails(is_watched_at(folder, path), flags & O_CREAT) ? -1 : real arguments;                      \
    }

WRAP_OPEN(open, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
WRAP_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode), AT_FDCWD)
WRAP_OPEN(openat, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)
WRAP_OPEN(openat64, (int at, const char *path, int flags, ...), (at, path, flags, mode), at)

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void *none(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t n) { return lacks_memory(n) ? none() : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return lacks_memory(n * size) ? none() : __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { return lacks_memory(n) ? none() : __libc_realloc(old, n); }
void *aligned_alloc(size_t to, size_t n) { return lacks_memory(n) ? none() : __libc_memalign(to, n); }
void *memalign(size_t to, size_t n) { return lacks_memory(n) ? none() : __libc_memalign(to, n); }

int posix_memalign(void **out, size_t to, size_t n) {
    if (lacks_memory(n)) return ENOMEM;
    *out = __libc_memalign(to, n);
    return *out ? 0 : ENOMEM;
}

void *mmap(void *at, size_t n, int protection, int flags, int fd, off_t offset) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "mmap");
    if (flags & MAP_ANONYMOUS && protection & PROT_WRITE && lacks_memory(n)) return errno = ENOMEM, MAP_FAILED;
    return real(at, n, protection, flags, fd, offset);
}
