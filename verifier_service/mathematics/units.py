"""Units of measurement: their dimensions and exact sizes.

Sizes are exact rationals in SI base units (NIST Special Publication 811, appendix B), angles are
multiples of pi, amounts of money are in units of their own currency.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

Dimension = tuple[tuple[str, int], ...]
"""Base dimensions with their exponents, sorted by name."""


class Unit(NamedTuple):
    """A unit or a product of units."""

    dimension: Dimension
    size: Fraction
    """In base units."""
    offset: Fraction = Fraction(0)
    """What zero of this unit is in base units; not 0 only for temperatures."""

    def times(self, other: Unit, power: int = 1) -> Unit:
        """This unit times a power of another."""
        exponents = dict(self.dimension)
        for name, exponent in other.dimension:
            exponents[name] = exponents.get(name, 0) + exponent * power
        dimension = tuple(sorted((name, n) for name, n in exponents.items() if n))
        return Unit(dimension, self.size * other.size**power)


NO_UNIT = Unit((), Fraction(1))
DEGREE = Unit((("angle", 1),), Fraction(1, 180))
"""In half turns, so that the size in radians is this times pi."""
PERCENT = Unit((("percent", 1),), Fraction(1, 100))


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}

    def add(dimension: str, size: Fraction | int | str, names: str) -> Unit:
        exponents = tuple(
            sorted(
                (
                    part.rstrip("-0123456789"),
                    int(part.lstrip("abcdefghijklmnopqrstuvwxyz$€£¥₹°") or 1),
                )
                for part in dimension.split()
            )
        )
        unit = Unit(exponents, Fraction(size))
        for name in names.split():
            units[name] = unit
        return unit

    metres = "m meter meters metre metres"
    add("length", 1, metres)
    add("length", "1/1000", "mm millimeter millimeters millimetre millimetres")
    add("length", "1/100", "cm centimeter centimeters centimetre centimetres cms")
    add("length", "1/10", "dm decimeter decimeters decimetre decimetres")
    add("length", 1000, "km kilometer kilometers kilometre kilometres kms")
    add("length", "1/1000000", "micrometer micrometers micron microns")
    add("length", "1/1000000000", "nm nanometer nanometers nanometre nanometres")
    add("length", "254/10000", "in inch inches")
    add("length", "3048/10000", "ft foot feet")
    add("length", "9144/10000", "yd yard yards yds")
    add("length", "1609344/1000", "mi mile miles")
    add("length", "299792458", "light-second")
    add("mass", 1, "kg kilogram kilograms kgs kilo kilos")
    add("mass", "1/1000", "g gram grams gm gms")
    add("mass", "1/1000000", "mg milligram milligrams")
    add("mass", 1000, "tonne tonnes")
    add("mass", "45359237/100000000", "lb lbs pound pounds")
    add("mass", "45359237/1600000000", "oz ounce ounces")
    add("time", 1, "s sec secs second seconds")
    add("time", "1/1000", "ms millisecond milliseconds")
    add("time", "1/1000000000", "ns nanosecond nanoseconds")
    add("time", 60, "min mins minute minutes")
    add("time", 3600, "h hr hrs hour hours")
    add("time", 86400, "day days")
    add("time", 604800, "week weeks")
    add("month", 1, "month months")
    add("month", 12, "year years yr yrs")
    add("month", 120, "decade decades")
    add("month", 1200, "century centuries")
    add("length3", "1/1000", "L liter liters litre litres l")
    add("length3", "1/1000000", "mL ml milliliter milliliters millilitre millilitres cc")
    add("length3", "473176473/125000000000", "gal gallon gallons")
    add("length3", "473176473/500000000000", "qt quart quarts")
    add("length3", "473176473/1000000000000", "pt pint pints")
    add("length2", "10000", "hectare hectares ha")
    add("length2", "40468564224/10000000", "acre acres")
    add("length time-1", "1609344/3600000", "mph")
    add("length time-1", "1000/3600", "kph kmh kmph")
    add("currency$", 1, "$ dollar dollars USD usd bucks")
    add("currency$", "1/100", "cent cents ¢ penny pennies")
    add("currency€", 1, "€ euro euros EUR eur")
    add("currency£", 1, "£ GBP gbp")
    add("currency₹", 1, "₹ rupee rupees Rs rs INR")
    add("currency¥", 1, "¥ yen yuan RMB rmb")
    add("angle", "1/180", "° degree degrees deg")
    add("radian", 1, "rad radian radians rads")
    add("percent", "1/100", "% percent percents percentage pct")
    add("mass length2 time-2", 1, "J joule joules")
    add("mass length2 time-2", 1000, "kJ kilojoule kilojoules")
    add("mass length time-2", 1, "N newton newtons")
    add("mass length time-2", 1000, "kN")
    add("mass length2 time-3", 1, "W watt watts")
    add("mass length2 time-3", 1000, "kW kilowatt kilowatts")
    add("mass length-1 time-2", 1, "Pa pascal pascals")
    add("mass length-1 time-2", 1000, "kPa")
    add("time-1", 1, "Hz hertz")
    add("time-1", 1000, "kHz")
    add("time-1", 1000000, "MHz")
    add("current", 1, "A ampere amperes amp amps")
    add("charge", 1, "C coulomb coulombs")
    add("capacitance", 1, "F farad farads")
    add("inductance", 1, "H henry henries")
    add("flux", 1, "T tesla")
    add("concentration", 1, "M molar")
    add("light", 1, "light-year light-years ly")
    add("ton", 1, "ton tons")
    add("voltage", 1, "volt volts V")
    add("resistance", 1, "ohm ohms")
    add("amount", 1, "mol mole moles")
    add("amount", "1/1000", "mmol millimoles")
    add("amount", 1000, "kmol")
    add("energy", 1, "eV")
    add("energy", 1000000, "MeV")
    add("energy", 1000, "keV")
    add("calorie", 1, "cal calorie calories")
    add("calorie", 1000, "kcal")
    units["mA"] = Unit((("current", 1),), Fraction(1, 1000))
    units["kelvin"] = units["K"] = Unit((("temperature", 1),), Fraction(1))
    units["celsius"] = units["Celsius"] = units["°C"] = Unit(
        (("temperature", 1),), Fraction(1), Fraction("273.15")
    )
    units["fahrenheit"] = units["Fahrenheit"] = units["°F"] = Unit(
        (("temperature", 1),), Fraction(5, 9), Fraction("459.67") * Fraction(5, 9)
    )
    return units


UNITS = _table()
"""Units by their names and signs, plurals included."""

LETTER_UNITS = frozenset("m g s h L N W V J K l".split())
"""Units of one letter: read as units only where a space stands between them and a number."""

AREA_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
