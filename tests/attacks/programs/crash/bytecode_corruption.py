# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded", "sandbox_violation", "wrong_answer"]
# summary = "Runs a function whose bytecode was replaced by nonsense."
# ///

def victim():
    return 1


code = victim.__code__
for opcode in (0x64, 0x01, 0x7C, 0xA0, 0x00, 0xFE):
    noise = bytes([opcode, 0xFF]) * (len(code.co_code) // 2)
    victim.__code__ = code.replace(co_code=noise, co_stacksize=1, co_consts=())
    print(victim())
