/* Functions of the C library that Mono does not start without and whose system calls the sandbox
   refuses. Preloaded, these take their place: where the stack of the main thread is, which the C
   library reads in /proc/self/maps, and priorities of threads, which nobody may change. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <unistd.h>

enum { ARGUMENTS = 1 << 20 }; /* room for those that lie above the stack */

extern void *__libc_stack_end;
typedef int function(pthread_t, pthread_attr_t *);

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    struct rlimit limit;
    function *usual = (function *)dlsym(RTLD_NEXT, "pthread_getattr_np");
    int error = usual(thread, attributes);
    if (error == 0 || getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur <= 2 * ARGUMENTS)
        return error;
    uintptr_t page = sysconf(_SC_PAGESIZE);
    uintptr_t end = ((uintptr_t)__libc_stack_end & -page) + page; /* the next may not be mapped */
    uintptr_t size = (limit.rlim_cur - ARGUMENTS) & -page;
    pthread_attr_init(attributes);
    return pthread_attr_setstack(attributes, (void *)(end - size), size);
}

int pthread_getschedparam(pthread_t thread, int *policy, struct sched_param *parameters) {
    *policy = SCHED_OTHER;
    parameters->sched_priority = 0;
    return 0;
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *parameters) {
    return 0;
}

int sched_get_priority_min(int policy) { return 0; }
int sched_get_priority_max(int policy) { return 0; }
