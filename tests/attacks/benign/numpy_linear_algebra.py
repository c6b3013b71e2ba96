# /// control
# summary = "Solves equations and multiplies matrices with numpy."
# requires = ["numpy"]
# expected_stdout = "[1.0, 2.0] 2.5 [[19, 22], [43, 50]] 10\n"
# ///

import numpy as np

solution = np.linalg.solve(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([2.0, 8.0]))
product = np.array([[1, 2], [3, 4]]) @ np.array([[5, 6], [7, 8]])
generator = np.random.default_rng(0)
print(solution.tolist(), np.mean([1, 2, 3, 4]), product.tolist(), len(generator.random(10)))
