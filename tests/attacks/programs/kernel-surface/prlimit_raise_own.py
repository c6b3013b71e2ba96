# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Raises its own limits, or finds that it has none."
# ///

import resource

names = ("RLIMIT_AS", "RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_NOFILE", "RLIMIT_CORE")
for name in names:
    which = getattr(resource, name)
    try:
        soft, hard = resource.getrlimit(which)
    except OSError as error:
        print("blocked", error)
        continue
    if hard == resource.RLIM_INFINITY or hard > 1 << 40:
        print("unlimited", name)
        print("PWNED")
        continue
    for wanted in (hard + 1, resource.RLIM_INFINITY):
        try:
            resource.setrlimit(which, (wanted, wanted))
        except (OSError, ValueError) as error:
            print("blocked", error)
        else:
            print("raised", name)
            print("PWNED")
