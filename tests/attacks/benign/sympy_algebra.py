# /// control
# summary = "Factors and integrates with sympy."
# requires = ["sympy"]
# expected_stdout = "(x - 1)*(x + 1) x**3/3 [-2, 2]\n"
# ///

import sympy

x = sympy.Symbol("x")
print(sympy.factor(x**2 - 1), sympy.integrate(x**2, x), sympy.solve(x**2 - 4, x))
