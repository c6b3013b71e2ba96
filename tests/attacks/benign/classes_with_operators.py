# /// control
# summary = "Defines its own comparisons, hashes, context managers and generators."
# expected_stdout = "True False 1 3 [0, 1, 4] closed\n"
# ///

import contextlib


class Money:
    def __init__(self, cents):
        self.cents = cents

    def __eq__(self, other):
        return isinstance(other, Money) and self.cents == other.cents

    def __hash__(self):
        return hash(self.cents)

    def __add__(self, other):
        return Money(self.cents + other.cents)


@contextlib.contextmanager
def opened():
    yield 3
    print("closed")


with opened() as value:
    squares = (number * number for number in range(value))
    print(Money(1) == Money(1), Money(1) == 1, len({Money(2), Money(2)}), end=" ")
    print((Money(1) + Money(2)).cents, list(squares), end=" ")
