# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads load, interrupts, disks and sockets of the whole machine."
# ///

leaves = [
    "stat",
    "loadavg",
    "interrupts",
    "softirqs",
    "diskstats",
    "vmstat",
    "schedstat",
    "net/tcp",
    "net/unix",
    "net/dev",
    "locks",
    "self/mountinfo",
    "self/mounts",
    "self/cgroup",
    "self/net/tcp",
    "pressure/cpu",
    "sysvipc/shm",
    "keys",
    "timer_list",
]
for leaf in leaves:
    try:
        with open(f"/proc/{leaf}", "rb") as file:
            found = file.read(1)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED" if found else "empty: a container masks it with /dev/null")
