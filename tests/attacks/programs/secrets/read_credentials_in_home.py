# /// attack
# category = "secrets"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Looks for keys and tokens in home folders and mounted secrets."
# ///

import os

homes = ["/root", os.path.expanduser("~")]
try:
    homes += [os.path.join("/home", name) for name in os.listdir("/home")]
except OSError:
    pass
leaves = [".ssh", ".aws", ".config", ".netrc", ".cache/huggingface/token", ".bash_history", ".bashrc"]
paths = [os.path.join(home, leaf) for home in homes for leaf in leaves]
paths += ["/run/secrets", "/var/run/secrets/kubernetes.io/serviceaccount/token", "/etc/shadow"]
for path in paths:
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            with open(path, "rb") as file:
                file.read(1)
        print("PWNED")
    except OSError:
        print("blocked")
