"""The mathematics of the `accuracy` verifier, each stage in a file of its own.

    completion --extraction--> final answer --notation--> tokens --expressions, reading--> Value
    two Values --comparison--> equal, different, or not decided
    not decided --math_verify_comparison--> equal, different

`comparison` compares texts, by `option_letters` and by the values that they have.
`value_comparison` compares values of any kind, `pairing` elements without an order,
`quantity_comparison` numbers, units and expressions; `rules` and `tolerance` have its options.

No stage hands a string to anything that evaluates it: tokens become dataclasses, dataclasses become
numbers.
"""
