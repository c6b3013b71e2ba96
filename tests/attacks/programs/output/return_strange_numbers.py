# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["wrong_answer", "invalid_output", "runtime_error"]
# summary = "Returns numbers that encoders refuse: huge integers, not-a-number, infinities, complex ones."
# ///

def solve(values):
    return {
        "huge": 1 << 20_000,
        "nan": float("nan"),
        "infinite": [float("inf"), float("-inf"), -0.0],
        "complex": complex("nan+infj"),
        10**5000: True,
    }
