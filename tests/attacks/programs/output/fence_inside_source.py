# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "compile_error", "no_code", "runtime_error"]
# summary = "Holds code fences in its text, so that the wrong piece is taken out of a completion."
# ///

TEXT = """
```
```python
print("3 1 2")
```
"""
print(TEXT.count("```"))
