# /// control
# summary = "Works for a while on a hundred megabytes, which is allowed."
# expected_stdout = "104857600 9592\n"
# ///

block = bytearray(100 << 20)
sieve = bytearray(b"\x01") * 100_000
for number in range(2, 317):
    if sieve[number]:
        sieve[number * number :: number] = bytes(len(range(number * number, 100_000, number)))
print(len(block), sum(sieve[2:]))
