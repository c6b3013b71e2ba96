/* Starts a program from a zygote without copying the zygote's memory: clone(2) with CLONE_VM and
   CLONE_VFORK, every layer in the order of `Layers.apply`, one exec.

   Between clone and exec the child has the zygote's memory and the zygote stands still. The child
   runs only this file, on a stack of its own, and returns only by _exit. Numbers that may differ by
   machine and all decisions come from `launcher.py`, which fills in `struct launch`. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

enum { PROGRAM_FD = 4, STATUS_FD = 3, NOT_STARTED = 126, MAX_MESSAGE = 200 };

struct descriptor { int32_t from, to; };
struct limit { int32_t resource; uint32_t unused; struct rlimit64 value; };
struct blank { uint32_t offset, low_half_of_secret, high_half_of_secret; };
struct seccomp_program { unsigned short length; void *filter; };

struct launch {
    const char *directory;
    const struct descriptor *descriptors;
    const struct limit *limits;
    struct seccomp_program *filter; /* or null */
    unsigned char *filter_image;
    const struct blank *blanks; /* places in the image: halves of the secret, else the pid */
    char *const *arguments;
    char *const *environment;
    uint64_t secret; /* sixth argument of the one exec that the filter permits */
    int32_t num_descriptors, num_limits, num_blanks;
    int32_t parent;  /* pid of the zygote */
    int32_t user;    /* user to become, or -1 */
    int32_t ruleset; /* descriptor of Landlock's rules, or -1 */
    int32_t drops_capabilities, sets_no_new_privs;
    int32_t opens_no_input; /* whether descriptor 0 is to be /dev/null */
    int32_t first_closed;   /* this descriptor and all after it are closed */
};

static char stack[1 << 16] __attribute__((aligned(64)));

/* Say on the status socket that a step of ours failed; see `entries.BROKEN`. */
static int broken(const char *step) {
    char message[MAX_MESSAGE] = "E";
    strncat(message, step, MAX_MESSAGE / 2);
    strcat(message, ": ");
    strncat(message, strerror(errno), MAX_MESSAGE / 4);
    send(STATUS_FD, message, strlen(message), MSG_NOSIGNAL);
    _exit(1);
}

#define MUST(call) do { if ((call) < 0) return broken(#call); } while (0)

static int arrange_descriptors(const struct launch *launch) {
    for (int n = 0; n < launch->num_descriptors; n++)
        MUST(dup2(launch->descriptors[n].from, launch->descriptors[n].to));
    if (launch->opens_no_input) {
        int null = open("/dev/null", O_RDONLY);
        MUST(null);
        MUST(dup2(null, 0));
        MUST(close(null));
    }
    MUST(fcntl(STATUS_FD, F_SETFD, FD_CLOEXEC)); /* inherited, it would let the program forge */
    MUST(fcntl(PROGRAM_FD, F_SETFD, FD_CLOEXEC)); /* the program cannot read its own file */
    MUST(chdir(launch->directory));
    umask(077);
    MUST(setsid());
    return 0;
}

/* The calls themselves: those of the C library would change every thread of the zygote. */
static int become_user(int user) {
    MUST(syscall(SYS_setgroups, 0, 0));
    MUST(syscall(SYS_setresgid, user, user, user));
    MUST(syscall(SYS_setresuid, user, user, user));
    return 0;
}

static int confine(const struct launch *launch) {
    static const uint32_t version[2] = {0x20080522, 0}, none[6];
    if (launch->user >= 0)
        become_user(launch->user);
    for (int n = 0; n < launch->num_limits; n++)
        MUST(syscall(SYS_prlimit64, 0, launch->limits[n].resource, &launch->limits[n].value, 0));
    MUST(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0));
    if (getppid() != launch->parent) /* the zygote has died, and no signal will come */
        _exit(1);
    MUST(prctl(PR_SET_DUMPABLE, 0, 0, 0, 0));
    if (launch->drops_capabilities)
        MUST(syscall(SYS_capset, version, none));
    if (launch->sets_no_new_privs)
        MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
    if (launch->ruleset >= 0)
        MUST(syscall(SYS_landlock_restrict_self, launch->ruleset, 0));
    MUST(syscall(SYS_close_range, launch->first_closed, ~0u, 0));
    return 0;
}

static int filter_calls(const struct launch *launch) {
    uint32_t pid = syscall(SYS_getpid);
    for (int n = 0; n < launch->num_blanks; n++) {
        const struct blank *blank = &launch->blanks[n];
        uint32_t value = blank->low_half_of_secret    ? (uint32_t)launch->secret
                         : blank->high_half_of_secret ? (uint32_t)(launch->secret >> 32)
                                                      : pid;
        memcpy(launch->filter_image + blank->offset, &value, sizeof value);
    }
    MUST(prctl(PR_SET_SECCOMP, 2, launch->filter, 0, 0));
    return 0;
}

static int child(void *argument) {
    static const char refused[] = "cannot be started: ";
    const struct launch *launch = argument;
    struct sigaction usual = {.sa_handler = SIG_DFL};
    arrange_descriptors(launch);
    /* The interpreter or the zygote ignores these. */
    sigaction(SIGPIPE, &usual, 0);
    sigaction(SIGXFSZ, &usual, 0);
    sigaction(SIGINT, &usual, 0);
    confine(launch);
    if (launch->filter)
        filter_calls(launch);
    send(STATUS_FD, "S", 1, MSG_NOSIGNAL); /* `entries.CONFINED` */
    send(STATUS_FD, "R", 1, MSG_NOSIGNAL); /* `entries.BEGUN` */
    syscall(SYS_execveat, PROGRAM_FD, "", launch->arguments, launch->environment, AT_EMPTY_PATH,
            launch->secret);
    const char *why = strerror(errno);
    if (write(2, refused, sizeof refused - 1) > 0 && write(2, why, strlen(why)) > 0)
        (void)!write(2, "\n", 1);
    _exit(NOT_STARTED);
}

/* The pid of the new process, once it has become its program or has ended; else -errno. */
int launch(struct launch *launch) {
    int flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
    int pid = clone(child, stack + sizeof stack, flags, launch);
    return pid < 0 ? -errno : pid;
}
