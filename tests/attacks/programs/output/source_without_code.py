# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "no_code", "runtime_error"]
# summary = "Holds nothing but comments."
# ///

# Nothing.
