# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Spins for ever."
# ///

while True:
    pass
