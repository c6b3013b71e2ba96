# /// control
# summary = "Adds the numbers of its input."
# stdin = "3 1 2\n"
# expected_stdout = "6\n"
# ///

print(sum(int(word) for word in input().split()))
