# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["wrong_answer", "invalid_output", "runtime_error"]
# summary = "Returns text that cannot be encoded: lone surrogates and NUL bytes."
# ///

def solve(*_):
    return ["\ud800", "\udfff\ud800", "\0", "\U0010ffff", b"\xff\x00", bytearray(b"\xed\xa0\x80")]
