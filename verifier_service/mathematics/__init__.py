"""Mathematics for the `accuracy` verifier: reads final answers, and compares them.

Each stage has a file of its own:

    completion --extraction, closing_notes, denials--> text of the final answer
    text --plain_text--> simpler text --notation--> tokens --answer_parser--> Value
    two Values --comparison--> equal, different, or not decided
    not decided --math_verify_comparison--> equal, different

`announced_sentences` finds the one number that an announced sentence states, and
`sentences_in_other_languages` has the verbs and the bounds of other languages than English.

`plain_text` puts usual notations in the place of others, by `number_notation` (`0.(3)`, `0x1A`),
`interval_notation` (`]0,1]`) and `part_labels` (`(1) 2; (2) 3`).

`answer_parser` reads an answer from the outside in, with a file for each part:

    splitting          lists, relations and rows, outside brackets
    conditions         `if x > 0`, `k \\in \\mathbb{Z}`
    ranges             inequalities and intervals
    quantities         numbers with units, angles, ratios; `units` is the table, `counters` has
                       the words behind numbers in Chinese, Japanese and Korean, and
                       `counts_in_other_scripts` takes any other words there
    wording            numbers in words, set phrases, dates and times
    expression_parser  everything else: from tokens to the trees of `expressions`

`comparison` compares texts, by `option_letters` and by their values: `value_comparison` compares
values of any kind, `pairing` elements without an order, `quantity_comparison` numbers, units and
expressions, `ordered_products` letters in their order, `arbitrary_constants` those that may be
renamed or added, `residues` those modulo a number; `rules` and `tolerance` have its options.

`evaluation` finds the values of expressions. No stage hands a string to anything that evaluates it:
tokens become dataclasses, dataclasses become numbers. Where a text is something else, functions
`parse_...` raise `Unreadable`, and functions `read_...` return None or an empty text.
"""
