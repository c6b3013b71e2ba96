# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded", "compile_error", "wrong_answer"]
# summary = "Compiles, after the program has started, text that breaks compilers."
# ///

import ast

BOMBS = ["(" * 90, "-" * 100_000 + "1", "+".join(["1"] * 100_000), "a" + ".b" * 100_000]
BOMBS += ["if 1:\n " * 1, "x = " + "[" * 10_000 + "]" * 10_000, "f'" + "{" * 1000, "lambda:" * 50_000]
for bomb in BOMBS:
    for tool in (ast.parse, lambda text: compile(text, "bomb", "exec"), ast.literal_eval):
        try:
            tool(bomb)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            print(type(error).__name__)
