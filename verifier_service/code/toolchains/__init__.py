"""Toolchains of this machine: the programs that compile and run each language, found once.

| languages | file |
|---|---|
| C, C++, D, Fortran | `gcc` |
| C# | `csharp` |
| Go | `go` |
| Haskell | `haskell` |
| Java, also with JUnit; Kotlin, also as a script; Scala | `jvm` |
| JavaScript, TypeScript | `node` |
| Racket | `racket` |
| Rust | `rust` |
| Verilog | `verilog` |
| those of a plain interpreter, such as Bash, Ruby and R | `interpreters` |

`toolchain` says what each of them finds, and has the error where it is missing. All search
`installed_programs`; `compiled_libraries` compiles those libraries in C that are our own.
"""
