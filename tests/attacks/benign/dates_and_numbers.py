# /// control
# summary = "Computes with dates, time zones, decimals and fractions."
# expected_stdout = "2024-03-01 3 days, 0:00:00 14:00 0.30 5/6 1.414214\n"
# ///

import datetime
import decimal
import fractions
import math

day = datetime.date(2024, 2, 29) + datetime.timedelta(days=1)
noon = datetime.datetime(2024, 1, 1, 12, tzinfo=datetime.UTC)
east = noon.astimezone(datetime.timezone(datetime.timedelta(hours=2)))
total = decimal.Decimal("0.10") + decimal.Decimal("0.20")
half = fractions.Fraction(1, 2) + fractions.Fraction(1, 3)
print(day, day - datetime.date(2024, 2, 27), east.strftime("%H:%M"), total, half, f"{2**0.5:.6f}")
assert math.isclose(math.pi, 3.14159, rel_tol=1e-5)
