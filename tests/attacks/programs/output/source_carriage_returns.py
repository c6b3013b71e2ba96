# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "compile_error", "runtime_error"]
# summary = "Ends its lines with carriage returns, so that a scanner sees one comment."
# ///

# nothing to seeimport subprocessprint(subprocess.__name__)print(' ')
