// Tries what a native program must not be able to do, and prints what it could: nothing.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char nowhere[4096];
static char *arguments[] = {nowhere, nullptr};

static void check(const char *name, long result) {
    if (result != -1) std::printf("%s\n", name);
}

static long in_a_child(pid_t pid) {
    if (pid == 0) _exit(0);
    if (pid > 0) waitpid(pid, nullptr, 0);
    return pid;
}

static long execute(int directory, const char *path, int flags) {
    return syscall(SYS_execveat, directory, path, arguments, nullptr, flags);
}

int main(int, char **argv) {
    for (int descriptor = 3; descriptor < 64; descriptor++)
        check("inherited descriptor", fcntl(descriptor, F_GETFD));
    check("open own program", open("/proc/self/exe", O_RDONLY));
    check("fork", in_a_child(fork()));
    check("clone", in_a_child(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)));
    check("clone3", syscall(SYS_clone3, nowhere, 88));
    check("vfork", in_a_child(syscall(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0, 0)));
    check("execve shell", execve("/bin/sh", arguments, nullptr));
    check("execve self", execve("/proc/self/exe", arguments, nullptr));
    check("execveat shell", execute(AT_FDCWD, "/bin/sh", 0));
    check("execveat self", execute(AT_FDCWD, "/proc/self/exe", 0));
    for (int descriptor = 0; descriptor < 64; descriptor++)
        check("execveat a descriptor", execute(descriptor, "", AT_EMPTY_PATH));
    check("execveat argv", execute(4, argv[0], AT_EMPTY_PATH));
    check("memfd_create", memfd_create("x", 0));
    check("internet socket", socket(AF_INET, SOCK_STREAM, 0));
    check("datagram socket", socket(AF_INET, SOCK_DGRAM, 0));
    check("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
    check("netlink socket", socket(AF_NETLINK, SOCK_RAW, 0));
    check("read /etc/passwd", open("/etc/passwd", O_RDONLY));
    check("read /etc/hostname", open("/etc/hostname", O_RDONLY));
    check("read a header", open("/usr/include/stdio.h", O_RDONLY));
    check("read a library", open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY));
    check("list /", open("/", O_RDONLY | O_DIRECTORY));
    check("list /proc", open("/proc", O_RDONLY | O_DIRECTORY));
    check("read own memory map", open("/proc/self/maps", O_RDONLY));
    check("write a file here", open("file", O_CREAT | O_WRONLY, 0600));
    check("write a file", open("/tmp/file", O_CREAT | O_WRONLY, 0600));
    check("write a device", open("/dev/tty", O_WRONLY));
    check("symlink", symlink("/etc/passwd", "link"));
    check("link", link("/etc/passwd", "link"));
    check("mknod", mknod("pipe", S_IFIFO | 0600, 0));
    check("chmod", chmod("/dev/null", 0777));
    check("kill parent", kill(getppid(), 0));
    check("kill all", kill(-1, 0));
    check("kill group", kill(0, 0));
    check("ptrace parent", ptrace(PTRACE_ATTACH, getppid(), 0, 0));
    check("setsid", setsid());
    check("setpgid", setpgid(0, 0));
    check("setuid", syscall(SYS_setresuid, 0, 0, 0));
    check("unshare", unshare(CLONE_NEWUSER));
    check("pid descriptor", syscall(SYS_pidfd_open, getppid(), 0));
    check("io_uring", syscall(SYS_io_uring_setup, 1, nowhere));
    check("bpf", syscall(SYS_bpf, 0, nowhere, 0));
    check("keyring", syscall(SYS_add_key, "user", "x", "x", 1, -2));
    check("shared memory", syscall(SYS_shmget, 0, 4096, 01600));
    std::printf("done\n");
}
