# /// control
# summary = "Defines data classes, enumerations and an abstract class."
# expected_stdout = "[Point(x=1, y=2), Point(x=3, y=0)] Colour.RED 2 9.0\n"
# ///

import abc
import dataclasses
import enum


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int


class Colour(enum.Enum):
    RED = enum.auto()
    BLUE = enum.auto()


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...


class Square(Shape):
    def area(self):
        return 9.0


print(sorted([Point(3, 0), Point(1, 2)]), Colour.RED, len(Colour), Square().area())
