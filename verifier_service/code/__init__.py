"""What the `code` verifier is made of.

    completion --extraction--> program
    reference.tests --problem--> cases or test code
    program, tests --grading--> sandboxed processes --> what happened --judging--> verdict

`program_side` and `judge_side` run in the sandbox, in two processes that share a socket; `codec` is
what crosses it.
"""
