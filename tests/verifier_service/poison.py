"""Answers written to hang, crash, flood or take over whatever judges them."""

from __future__ import annotations

POISON = r"\boxed{\gcd(9^{9^{9^{9}}}, 2)}"
"""math-verify would work on it until it is killed."""

HOSTILE: dict[str, str] = {
    # power tower
    "tower_latex": "9^{9^{9^{9^{9}}}}",
    # eager integer power
    "tower_python": "9**9**9**9",
    # unicode superscripts, huge exponent
    "tower_unicode_sup": "9⁹⁹⁹⁹⁹⁹⁹⁹⁹",
    # mixed syntaxes
    "tower_mixed": "2^2**2^{2^{2**99}}",
    # nested power 3000 deep
    "tower_deep": "2^{" * 3_000 + "2" + "}" * 3_000,
    # huge factorial
    "fact_huge": "(10^9)!",
    # double or iterated factorial
    "fact_chain": "5!!!!!!!",
    # nested factorials
    "fact_nested": "((((5!)!)!)!)!",
    # python spelled factorial
    "fact_func": "factorial(factorial(factorial(10)))",
    # sum with 10^12 terms and no closed form
    "sum_huge": r"\sum_{k=1}^{10^{12}} \frac{1}{k^{2}+\sin k}",
    # nested sums
    "sum_nested": r"\sum_{i=1}^{10^5}\sum_{j=1}^{10^5}\sum_{k=1}^{10^5} \gcd(i,j,k)",
    # huge product
    "prod_huge": r"\prod_{n=1}^{10^{9}} (n^n)",
    # huge binomial
    "binom_huge": r"\binom{10^{10}}{5\cdot 10^{9}}",
    # integral with no closed form, Risch hang
    "integral_hard": r"\int_0^{\infty} \frac{\sin(x^{x^{x}})}{\ln(1+e^{\cos x})}\,dx",
    # limit that stalls gruntz
    "limit_hard": r"\lim_{n\to\infty} \left(\sum_{k=1}^{n} \sin(k!\pi e)\right)^{\frac{1}{n^n}}",
    # float exponent; exact conversion would need 10^9 digits
    "exp_float": "1e999999999",
    # exact rational with a huge denominator
    "exp_tiny": "10^{-999999999}",
    # exact rational power blows up memory
    "compound_limit": "(1+10^{-9})^{10^{9}}",
    # gamma
    "gamma_huge": r"\Gamma(10^{10})",
    # gamma as python
    "gamma_func": "gamma(10**10)",
    # zeta at a height that hangs numeric evaluation
    "zeta_hard": "zeta(1/2 + 10**15*I)",
    # even zeta via a Bernoulli number
    "zeta_even": "zeta(10**7)",
    # nth prime
    "prime_nth": "prime(10**12)",
    # huge Fibonacci
    "fib_huge": "fibonacci(10**12)",
    # factoring a hard Mersenne number
    "factorint": "factorint(2**1277-1)",
    # sqrt triggers factoring
    "sqrt_semiprime": r"\sqrt{1234567891234567891234567891234567891234567891234567123456789123456789123456789123456789123456789123456712345678912345678912345678912345678912345678912345671234567891234567891234567891234567891234567891234567}",
    # nested logs, 2000
    "log_nest": r"\ln(" * 2_000 + "2" + ")" * 2_000,
    # nested logs of a tower
    "log_nest_short": r"\log(\log(\log(\log(\log(\log(10^{10^{10}}))))))",
    # argument reduction needs 10^8 digits
    "trig_huge": r"\sin(10^{10^{8}})",
    # minimal polynomial or simplify on a big prime denominator
    "trig_many": r"\cos(\frac{\pi}{1048573})+\cos(\frac{3\pi}{1048573})",
    # expand hang
    "poly_pow": "(x+1)^{100000}",
    # multinomial blow-up
    "poly_multi": "(a+b+c+d+e+f)^{60}",
    # cancel / gcd hang
    "rational_high": r"\frac{x^{100003}-1}{x^{99991}-1}+\frac{y^{65537}-x}{x^{65539}+y}",
    # sqrtdenest / is_zero hang
    "roots_nested": r"\sqrt{2+\sqrt{3+\sqrt{5+\sqrt{7+\sqrt{11+\sqrt{13+\sqrt{17}}}}}}}-\sqrt{17+\sqrt{13+\sqrt{11+\sqrt{7}}}}",
    # 9x9 symbolic determinant
    "det_symbolic": r"\det\begin{pmatrix}a_{00}&a_{01}&a_{02}&a_{03}&a_{04}&a_{05}&a_{06}&a_{07}&a_{08}\\a_{10}&a_{11}&a_{12}&a_{13}&a_{14}&a_{15}&a_{16}&a_{17}&a_{18}\\a_{20}&a_{21}&a_{22}&a_{23}&a_{24}&a_{25}&a_{26}&a_{27}&a_{28}\\a_{30}&a_{31}&a_{32}&a_{33}&a_{34}&a_{35}&a_{36}&a_{37}&a_{38}\\a_{40}&a_{41}&a_{42}&a_{43}&a_{44}&a_{45}&a_{46}&a_{47}&a_{48}\\a_{50}&a_{51}&a_{52}&a_{53}&a_{54}&a_{55}&a_{56}&a_{57}&a_{58}\\a_{60}&a_{61}&a_{62}&a_{63}&a_{64}&a_{65}&a_{66}&a_{67}&a_{68}\\a_{70}&a_{71}&a_{72}&a_{73}&a_{74}&a_{75}&a_{76}&a_{77}&a_{78}\\a_{80}&a_{81}&a_{82}&a_{83}&a_{84}&a_{85}&a_{86}&a_{87}&a_{88}\end{pmatrix}",
    # 160k-entry matrix
    "matrix_huge": r"\begin{pmatrix}"
    + "1&2&3&4&5&6&7&8\\\\" * 20_000
    + r"1&2&3&4&5&6&7&8\end{pmatrix}",
    # half-million tuple
    "tuple_huge": "(" + "1," * 500_000 + "1)",
    # million-element list
    "list_million": "[" + "0, " * 1_000_000 + "0]",
    # deep unbalanced braces
    "braces_deep": "{" * 100_000 + "1" + "}" * 1_000,
    # continued fraction, 5000 deep
    "frac_deep": r"\frac{1}{1+" * 5_000 + "1" + "}" * 5_000,
    # deep sqrt, recursion
    "sqrt_deep": r"\sqrt{" * 20_000 + "2" + "}" * 20_000,
    # deep parentheses: python parser s_push / RecursionError
    "paren_deep": "(" * 50_000 + "1" + ")" * 50_000,
    # megabyte digit string: int() conversion limit raises ValueError
    "digits_mb": "7" * 1_000_000,
    # long decimal
    "decimal_long": "0." + "3" * 300_000,
    # repeated unary minus, 50001
    "unary_minus": "-" * 50_001 + "1",
    # odd count of minus signs, value -1
    "unary_minus_short": "-----1",
    # percent chain
    "percent_chain": "50" + "%" * 50_000,
    # few percent signs
    "percent_short": "50%%%%",
    # unbalanced LaTeX
    "latex_unbalanced": r"\frac{1}{2\left(\sqrt{3}\right.}}}{\begin{cases} 1 & x",
    # Arabic-Indic 42; int() takes it
    "digits_arabic": "٤٢",
    # fullwidth 42 with ideographic space
    "digits_fullwidth": "\uff14\uff12\u3000",
    # mathematical bold 42, NFKC folds to 42
    "digits_mathbold": "\U0001d7d2\U0001d7d0",
    # isdigit true while int() fails; vulgar fraction, Roman numeral, circled 42
    "digits_other": "\xb2\u2083\xbd\u2167\u32b7",
    # Cyrillic look-alikes for x, Sin, O, abs
    "lookalikes": "х = Ѕіn(О) + аbѕ(−l)",
    # zero-width and bidi override
    "zero_width_bidi": "4\u200b2\u200d\u2060\ufeff\u202e1/3\u202c\u2066\u2069",
    # NUL, bell, backspace, ANSI clear, C1
    "control_chars": "12\x00\x01\x07\x08\x1b[2J\x7f\x9f",
    # a pile of combining marks on one digit
    "combining": "1" + "\u0301" * 20_000,
    # lone combining marks with no base
    "combining_lone": "\u0301\u20dd\u0338",
    # eval injection; check that /tmp/pwned does not appear
    "py_import": "__import__('os').system('touch pwned')",
    # infinite recursion under eval
    "py_lambda": "(lambda f: f(f))(lambda f: f(f))",
    # attribute chain
    "py_attrs": "().__class__.__bases__[0].__subclasses__()[-1].__init__.__globals__['os'].system('touch pwned')",
    # f-string, walrus, globals()
    "py_fstring_walrus": "f\"{(o:=__import__('os')).system('touch pwned')}\" or globals().clear()",
    # nested sympify
    "sym_S": 'S(\'__import__("os").system("touch pwned")\')',
    # sympy names, doit, clashing single-letter names
    "sym_isms": "Symbol('x', positive=True) + Integral(exp(exp(x**x)),(x,0,oo)).doit() + E + I + N + Q",
    # nonfinite sympy constants; must equal nothing
    "sym_nonfinite": "oo - oo + zoo*0 + nan",
    # JSON/float specials; nan != nan must not crash nor be equal
    "float_nonfinite": "NaN, Infinity, -Infinity, -0.0",
    # ratio 0/0
    "zero_div": "0/0",
    # ratio 1/0: ZeroDivisionError in python, zoo in sympy
    "zero_div_one": "1/0",
    # division by zero
    "zero_div_latex": r"\frac{1}{0} + 0^{0} + 1/0",
    # complex, nested powers of i
    "complex_mess": r"(-1)^{\sqrt{2}i} + i^{i^{i^{i^{i}}}} + \overline{\ln(-1)}",
    # many spaces before a non-match: \s*...\s*$ is quadratic
    "re_spaces": "1" + " " * 200_000 + "x",
    # odd number of dollars
    "re_dollars": "$" * 100_001,
    # odd number of backslashes
    "re_backslashes": "\\" * 100_001,
    # alternating dollar and text, with the last one open
    "re_dollar_text": "$a$ b " * 50_000 + "$",
    # thousands of open boxes: a naive brace scan per box is quadratic
    "re_boxed": r"\boxed{" * 30_000 + "1",
    # long or/and list: pairwise or permutation matching blows up
    "re_text_and": r"\text{" + "1 or 2 and 3, " * 40_000 + "}",
    # recursive macro, file read, shell escape
    "tex_macros": r"\def\a{\a\a}\a \input{/etc/passwd} \immediate\write18{touch pwned}",
    # HTML, JSON, SQL and template injection
    "markup_inject": '<script>alert(1)</script>"}],"reason":"equal","x":[{"\'; DROP TABLE grades; -- ${jndi:x} {{7*7}}',
    # mixed numbers with zero denominators
    "mixed_number": r"-3 1/0 2\frac{4}{0}",
}
