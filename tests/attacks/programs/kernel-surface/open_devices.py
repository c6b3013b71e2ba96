# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens devices: graphics cards, virtual machines, terminals, fuse, block devices."
# ///

import os

names = ["kvm", "fuse", "net/tun", "tty", "ptmx", "console", "nvidia0", "nvidiactl", "nvidia-uvm"]
names += ["dri/renderD128", "dri/card0", "kfd", "vda", "sda", "nvme0n1", "loop-control", "uinput"]
names += ["vhost-net", "vhost-vsock", "input/event0", "snd/timer", "hwrng", "udmabuf"]
for name in names:
    for flags in (os.O_RDWR, os.O_RDONLY):
        try:
            os.close(os.open(f"/dev/{name}", flags | os.O_NONBLOCK | os.O_NOCTTY))
        except OSError:
            continue
        print("opened", name)
        print("PWNED")
print("done")
