# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["compile_error", "memory_limit_exceeded", "time_limit_exceeded"]
# compiles = false
# summary = "Nests brackets deeper than a parser's stack."
# ///

(((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((
