"""Parts of the `code` verifier, in the order of a completion's way through them.

| step | file |
|---|---|
| the program in a completion | `extraction` |
| the tests in a reference | `reference_tests` |
| from settings to limits, from findings to a verdict | `verdicts`, `wall_limit` |
| run the program against its tests, count the results | `run_tests`, `findings` |
| the table of languages, their toolchains on this machine | `languages`, `toolchains` |
| programs that are compiled already | `compiled_programs` |
| compare the output of a whole program with the expected one | `output_checkers` |
| compare what a function returned with the expected value | `returned_values` |
| from how a process ended (`ExitReason`) to the verdict's reason | `reasons` |

Calls of a function need two sandboxed processes, so that tests and program share no memory:

    judge_process: runs the tests          <-- socket --> program_process: runs the program
      tests_reading: what the text of the tests says        and answers requests
      handles: stand-ins for its objects
                           value_codec: the values that cross

A reading of the tests follows from their text alone (`assertions`, `counting`, and what they use),
so `run_tests` keeps it for the next programs (`kept_readings`).

Two parts serve others than the verifier: `plain_run` runs a program without judging it, for the
protocols in `compat`, and `check_tests` is the command of that name.
"""
