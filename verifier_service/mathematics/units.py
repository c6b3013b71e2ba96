"""Units of measurement: their dimensions and exact sizes.

Sizes are exact rationals in SI base units (NIST Special Publication 811, appendix B). Angles are
multiples of pi, and amounts of money are in units of their own currency. `quantities` finds units
among tokens.
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
    """Size of one of this unit, in base units."""
    offset: Fraction = Fraction(0)
    """Zero of this unit's scale, in base units: 273.15 for °C; 0 unless it measures temperature."""
    currency: Dimension = ()
    """Dimension of the money that the unit's name can also mean: that of £ for `pounds`."""

    def times(self, other: Unit, power: int = 1) -> Unit:
        """This unit times a power of another."""
        exponents = dict(self.dimension)
        for name, exponent in other.dimension:
            exponents[name] = exponents.get(name, 0) + exponent * power
        dimension = tuple(sorted((name, n) for name, n in exponents.items() if n))
        return Unit(dimension, self.size * other.size**power)


NO_UNIT = Unit((), Fraction(1))
DEGREE = Unit((("angle", 1),), Fraction(1, 180))
"""A degree; sizes of angles are in half turns, so that the size in radians is this times pi."""
PERCENT = Unit((("percent", 1),), Fraction(1, 100))


_SIZES: tuple[tuple[str, int | str, str], ...] = (
    # dimension, size in base units, names
    ("length", 1, "m meter meters metre metres 米"),
    ("length", "1/1000", "mm millimeter millimeters millimetre millimetres 毫米"),
    ("length", "1/100", "cm centimeter centimeters centimetre centimetres cms 厘米 公分"),
    ("length", "1/10", "dm decimeter decimeters decimetre decimetres 分米"),
    ("length", 1000, "km kilometer kilometers kilometre kilometres kms 千米 公里"),
    ("length", "1/1000000", "micrometer micrometers micron microns"),
    ("length", "1/1000000000", "nm nanometer nanometers nanometre nanometres"),
    ("length", "254/10000", "in inch inches"),
    ("length", "3048/10000", "ft foot feet"),
    ("length", "9144/10000", "yd yard yards yds"),
    ("length", "1609344/1000", "mi mile miles"),
    ("length", "299792458", "light-second"),
    ("mass", 1, "kg kilogram kilograms kgs kilo kilos 千克 公斤"),
    ("mass", "1/1000", "g gram grams gm gms 克"),
    ("mass", "1/1000000", "mg milligram milligrams"),
    ("mass", 1000, "tonne tonnes 吨"),
    ("mass", "45359237/100000000", "lb lbs pound pounds"),
    ("mass", "45359237/1600000000", "oz ounce ounces"),
    ("time", 1, "s sec secs second seconds 秒"),
    ("time", "1/1000", "ms millisecond milliseconds"),
    ("time", "1/1000000000", "ns nanosecond nanoseconds"),
    ("time", 60, "min mins minute minutes 分钟"),
    ("time", 3600, "h hr hrs hour hours 小时"),
    ("time", 86400, "day days 天"),
    ("time", 604800, "week weeks"),
    ("month", 1, "month months 个月"),
    ("month", 12, "year years yr yrs 年"),
    ("month", 120, "decade decades"),
    ("month", 1200, "century centuries"),
    ("length3", "1/1000", "L liter liters litre litres l 升"),
    ("length3", "1/1000000", "mL ml milliliter milliliters millilitre millilitres cc 毫升"),
    ("length3", "473176473/125000000000", "gal gallon gallons"),
    ("length3", "473176473/500000000000", "qt quart quarts"),
    ("length3", "473176473/1000000000000", "pt pint pints"),
    ("length2", "10000", "hectare hectares ha"),
    ("length2", "40468564224/10000000", "acre acres"),
    ("length2", 1, "平方米"),
    ("length2", "1/100", "平方分米"),
    ("length2", "1/10000", "平方厘米"),
    ("length2", "1000000", "平方千米 平方公里"),
    ("length3", 1, "立方米"),
    ("length3", "1/1000", "立方分米"),
    ("length3", "1/1000000", "立方厘米"),
    ("length time-1", "1609344/3600000", "mph"),
    ("length time-1", "1000/3600", "kph kmh kmph"),
    ("currency$", 1, "$ dollar dollars USD usd bucks"),
    ("currency$", "1/100", "cent cents ¢ penny pennies"),
    ("currency€", 1, "€ euro euros EUR eur"),
    ("currency£", 1, "£ ₤ GBP gbp"),
    ("currency₹", 1, "₹ rupee rupees Rs rs INR"),
    ("currency¥", 1, "¥ yen yuan RMB rmb JPY CNY 元 円"),
    ("currency¥", "1/10", "角"),
    ("currency₩", 1, "₩ KRW"),
    ("currency₽", 1, "₽ RUB ruble rubles rouble roubles"),
    ("currencyCAD", 1, "CAD"),
    ("currencyAUD", 1, "AUD"),
    ("currencyNZD", 1, "NZD"),
    ("currencyHKD", 1, "HKD"),
    ("currencySGD", 1, "SGD"),
    ("currencyCHF", 1, "CHF"),
    ("currencySEK", 1, "SEK"),
    ("currencyNOK", 1, "NOK"),
    ("currencyDKK", 1, "DKK"),
    ("currencyKRW", 1, "KRW"),
    ("currencyBRL", 1, "BRL"),
    ("currencyZAR", 1, "ZAR"),
    ("angle", "1/180", "° degree degrees deg 度"),
    ("radian", 1, "rad radian radians rads"),
    ("percent", "1/100", "% percent percents percentage pct"),
    ("current", 1, "A ampere amperes amp amps"),
    ("amount", 1, "mol mole moles"),
    ("temperature", 1, "kelvin K"),
    ("mass length2 time-2", 1, "J joule joules"),
    ("mass length time-2", 1, "N newton newtons"),
    ("mass length2 time-3", 1, "W watt watts"),
    ("mass length-1 time-2", 1, "Pa pascal pascals"),
    ("time-1", 1, "Hz hertz"),
    ("current time", 1, "C coulomb coulombs"),
    ("mass length2 time-3 current-1", 1, "V volt volts"),
    ("mass length2 time-3 current-2", 1, "ohm ohms Ω \u2126"),
    ("mass-1 length-2 time4 current2", 1, "F farad farads"),
    ("mass length2 time-2 current-2", 1, "H henry henries henrys"),
    ("mass time-2 current-1", 1, "T tesla teslas"),
    ("mass length2 time-2 current-1", 1, "Wb weber webers"),
    ("amount length-3", 1000, "M molar"),
    (
        "mass length2 time-2",
        "1602176634/10000000000000000000000000000",
        "eV electronvolt electronvolts electron-volt electron-volts",
    ),
    ("mass length2 time-2", 3600, "Wh"),
    ("mass length-1 time-2", 101325, "atm atmosphere atmospheres"),
    ("mass length-1 time-2", 100000, "bar bars"),
    ("mass length-1 time-2", "101325/760", "mmHg torr Torr"),
    ("length", "1/10000000000", "Å angstrom angstroms"),
    ("light", 1, "light-year light-years ly"),
    ("ton", 1, "ton tons"),
    ("calorie", 1, "cal calorie calories"),
    ("turn", 1, "rev revs revolution revolutions"),
    ("turn time-1", "1/60", "rpm"),
    ("mass length2 time-2", "1/10000000", "erg ergs"),
    ("mass length2 time-2", "105505585262/100000000", "Btu BTU btu"),
    ("mass length time-2", "1/100000", "dyn dyne dynes"),
    ("mass length time-2", "44482216152605/10000000000000", "lbf"),
    ("mass time-2 current-1", "1/10000", "gauss"),
    ("mass length2 time-3", "74569987158227022/100000000000000", "horsepower"),
    ("mass length-1 time-1", "1/10", "poise"),
    ("mass-1 length-2 time3 current2", 1, "siemens"),
    ("length time-1", "1852/3600", "knot knots"),
    ("time-1", 1, "Bq becquerel becquerels"),
    ("time-1", 37000000000, "curie curies"),
    ("parsec", 1, "parsec parsecs"),
    ("sound", 1, "dB decibel decibels"),
)
_PREFIXES = (
    # sign, name, factor, signs of units
    ("f", "femto", Fraction(1, 10**15), "m s"),
    ("p", "pico", Fraction(1, 10**12), "s A C F J W"),
    ("n", "nano", Fraction(1, 10**9), "m g s A mol C F H J L N T V W"),
    ("μ", "micro", Fraction(1, 10**6), "m g s A mol L C F H J N Pa T V W Wb Ω"),
    ("m", "milli", Fraction(1, 10**3), "m g s A mol L C F H J M N Pa T V W Wb Ω eV bar Hz"),
    ("k", "kilo", Fraction(10**3), "m g A mol C Hz J N Pa V W Wh eV cal Ω"),
    ("M", "mega", Fraction(10**6), "Hz J N Pa V W Wh eV Ω"),
    ("G", "giga", Fraction(10**9), "Hz J Pa W Wh eV Ω"),
    ("T", "tera", Fraction(10**12), "Hz J W eV"),
)
"""Prefixes of the SI, each with the units before which it is read: `pm` is no length here."""
GREEK_SIGNS = {"mu": "μ", "Omega": "Ω"}
"""Letters of Greek that stand in signs of units, by their names."""
_OTHER_SIGNS = {"μ": ("u", "mc"), "Ω": ("ohm",)}
"""Other ways to write the sign of a prefix or a unit: `ug`, `mcg`, `kohm`."""
_NO_SIGNS = frozenset({"us", "um", "mcs", "mcm", "mcA", "uA"})
"""Signs that would follow from those, and are words or names of variables."""
_SCALES_WITH_OFFSET: tuple[tuple[Fraction, Fraction, str], ...] = (
    # size of one degree and what zero degrees are, in kelvin; names
    (Fraction(1), Fraction("273.15"), "celsius Celsius °C"),
    (Fraction(5, 9), Fraction("459.67") * Fraction(5, 9), "fahrenheit Fahrenheit °F"),
)


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for dimension, size, names in _SIZES:
        unit = Unit(_dimension(dimension), Fraction(size))
        units |= dict.fromkeys(names.split(), unit)
    for degree, zero, names in _SCALES_WITH_OFFSET:
        unit = Unit((("temperature", 1),), degree, zero)
        units |= dict.fromkeys(names.split(), unit)
    for name in ("pound", "pounds"):
        units[name] = units[name]._replace(currency=units["£"].dimension)
    return units


def _prefixed(units: dict[str, Unit]) -> dict[str, Unit]:
    """Each unit with the prefixes that it is met with, by signs and by names."""
    names: dict[Unit, list[str]] = {}
    for name, unit in units.items():
        if len(name) > 2 and name.islower():
            names.setdefault(unit, []).append(name)
    found: dict[str, Unit] = {}
    for prefix, word, factor, signs in _PREFIXES:
        for sign in signs.split():
            unit = units[sign]
            larger = unit._replace(size=unit.size * factor)
            for first in (prefix, *_OTHER_SIGNS.get(prefix, ())):
                for second in (sign, *_OTHER_SIGNS.get(sign, ())):
                    found[first + second] = larger
            found |= dict.fromkeys((word + name for name in names.get(unit, [])), larger)
    return {name: unit for name, unit in found.items() if name not in _NO_SIGNS}


def _dimension(text: str) -> Dimension:
    """Base dimensions with their exponents: `length time-1`, `length2`."""
    exponents = []
    for part in text.split():
        name = part.rstrip("-0123456789")
        exponents.append((name, int(part.removeprefix(name) or 1)))
    return tuple(sorted(exponents))


def _may_be_product(name: str) -> bool:
    """Whether a sign of a unit may as well be a product of variables or a segment: `mV`, `MN`."""
    return len(name) == 2 and name.isascii() and name[0] != "k" and name != "mA"


_USUAL = _table()
_PREFIXED = _prefixed(_USUAL)

UNITS = {name: unit for name, unit in _PREFIXED.items() if not _may_be_product(name)} | _USUAL
"""Every unit, by each of its names and signs, plurals included."""

PRODUCT_UNITS = {name: unit for name, unit in _PREFIXED.items() if name not in UNITS}
"""Units by signs that are units behind a number or in text alone: `mV` may be a product."""


def unit_named(name: str) -> Unit | None:
    """The unit of a name or sign; the case of names of one or two letters counts."""
    found = UNITS.get(name) or PRODUCT_UNITS.get(name)
    return found or (UNITS.get(name.lower()) if len(name) > 2 else None)


LETTER_UNITS = frozenset("m g s h L N W V J K l".split())
"""Units of one letter, which are units after a number and a space: `5m` alone is a product."""

CAPITAL_UNITS = frozenset("ACFHMT")
"""Units of one capital, which are units behind a decimal and in text: `2 A` is a product."""

MAX_UNIT_EXPONENT = 20
"""Largest exponent of a unit; computing the size of `km^99999999` would take minutes."""

SPEED_OF_LIGHT = Unit(_dimension("length time-1"), Fraction(299792458))
ENERGY = _dimension("mass length2 time-2")
"""The dimension of units that the speed of light may divide: `MeV/c`, `GeV/c^2`."""

AREA_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
"""Words before a unit of length, and the exponent that they give it: `square meters`."""
