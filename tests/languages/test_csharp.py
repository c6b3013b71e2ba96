"""C# as .NET has it: usings that a project has by default, and assertions that end the program."""

from __future__ import annotations

import tracemalloc

import pytest

from tests.languages.judge import Judge
from verifier_service.code.languages.language import CompileFailure
from verifier_service.code.toolchains.implicit_usings import with_usings

MODERN = """public class Program
{
    public static void Main(string[] args)
    {
        var numbers = new List<int> { Convert.ToInt32(Console.ReadLine()) };
        Task.Run(() => Thread.Sleep(1)).Wait();
        Console.WriteLine(numbers.Select(it => it + 1).Sum() + new StringReader("7").ReadLine());
    }
}
"""
AMBIGUOUS = """using System;
using System.Timers;
class Program { static Timer timer; static void Main() { Console.WriteLine(timer == null); } }
"""
ASSERTING = """using System;
using System.Diagnostics;
class Program
{
    static void Main()
    {
        Debug.Assert(1 < 2, "never told");
        Debug.WriteLine("only where DEBUG is defined");
        Console.WriteLine("begun");
        try { Debug.Assert(1 == 2, "two is not one", "a detail of {0}", 5); }
        finally { Console.WriteLine("not reached"); }
    }
}
"""


@pytest.mark.parametrize(
    "head", ["", "#define X\n", "// a\n/* b * c */\n#pragma warning disable\n"]
)
def test_usings_come_after_what_stands_before_all_usings(head: str) -> None:
    found = with_usings(head.encode() + b"class P { }", b"error CS0246: The type `List'")
    assert found is not None
    before, usings, line, after = (
        found.decode().rsplit("\n", 3) if head else ("", *found.decode().split("\n"))
    )
    assert (before, after) == (head.rstrip("\n"), "class P { }")
    assert usings.startswith("using System; ")
    assert line == f"#line {head.count(chr(10)) + 1}"


@pytest.mark.parametrize(
    "messages",
    [b"error CS0029: Cannot implicitly convert", b"error CS1525: Unexpected symbol", b""],
)
def test_a_source_that_lacks_no_name_is_not_read_again(messages: bytes) -> None:
    assert with_usings(b"class P { }", messages) is None


LONG_HEADS = [b"\n" * 300_000, b"/*" + b"a*" * 150_000 + b"*/", b"//a\n" * 99_999]


@pytest.mark.parametrize("head", LONG_HEADS, ids=["lines", "a comment", "comments"])
def test_a_long_head_takes_as_much_memory_as_the_source(head: bytes) -> None:
    tracemalloc.start()
    found = with_usings(head + b"class P { }", b"error CS0103: The name")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found is not None
    assert peak < 5 * len(found)


@pytest.mark.slow
def test_a_program_without_usings_has_those_of_dotnet(judge: Judge) -> None:
    assert judge.run("csharp", MODERN, stdin="65535").stdout == b"655367\n"
    assert judge.run("csharp", f"#define X\n{MODERN}", stdin="1").stdout == b"27\n"


QUERY = """using System;
using System.Collections;
class Program
{
    static IEnumerable<int> Numbers() { yield return 1; }
    static void Main()
    {
        foreach (var it in from one in Numbers() select one + 1) Console.WriteLine(it);
    }
}
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "head", ["using System.Linq;\n", "using System.Collections.Generic;\n"], ids=["type", "query"]
)
def test_a_program_with_a_part_of_the_usings_has_the_others(judge: Judge, head: str) -> None:
    assert judge.run("csharp", head + QUERY).stdout == b"2\n"


@pytest.mark.slow
def test_a_program_with_many_messages_is_read_again(judge: Judge) -> None:
    lines = "Console.Write(1);\n" * 1500
    source = f"class Program {{ static void Main() {{\n{lines}}} }}\n"
    assert judge.run("csharp", source).stdout == b"1" * 1500
    failure = judge.built("csharp", source.replace("Console", "Konsole"))
    assert isinstance(failure, CompileFailure)
    assert "The name `Konsole' does not exist" in failure.message


@pytest.mark.slow
def test_a_message_names_the_line_of_the_source(judge: Judge) -> None:
    failure = judge.built("csharp", MODERN.replace("numbers.Select", "others.Select"))
    assert isinstance(failure, CompileFailure)
    assert failure.message.startswith("main.cs(7,27): error CS0103: The name `others'")
    assert failure.message.count("error") == 1


@pytest.mark.slow
def test_a_program_with_usings_of_its_own_is_compiled_as_it_stands(judge: Judge) -> None:
    assert judge.run("csharp", AMBIGUOUS).stdout == b"True\n"


@pytest.mark.slow
def test_an_assertion_that_fails_ends_the_program(judge: Judge) -> None:
    run = judge.run("csharp", ASSERTING)
    assert (run.exit_code, run.stdout) == (134, b"begun\n")
    told = run.stderr.decode().splitlines()
    assert told[:3] == [
        "Process terminated. Assertion failed.",
        "two is not one",
        "a detail of 5",
    ]
    assert "at Program.Main" in told[-1]
    assert "never told" not in run.stderr.decode()
