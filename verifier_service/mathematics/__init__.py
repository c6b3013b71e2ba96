"""What the `accuracy` verifier knows of mathematics, each stage in a file of its own.

    completion --extraction--> final answer --notation--> tokens --expressions, reading--> Value
    two Values --comparison--> equal, different, or not decided
    not decided --math_verify_comparison--> equal, different

No stage hands a string to anything that evaluates it: tokens become dataclasses, dataclasses become
numbers.
"""
