# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["compile_error", "memory_limit_exceeded", "runtime_error", "time_limit_exceeded", "wrong_answer"]
# compiles = false
# summary = "Nests brackets deeper than a parser's stack."
# ///

(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
