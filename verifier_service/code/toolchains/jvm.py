"""Toolchains of the languages of the Java machine: Java, JUnit, Kotlin and Scala."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from verifier_service.code.toolchains import installed_programs
from verifier_service.code.toolchains.installed_programs import (
    RESTART,
    existing,
    located,
    system_files,
    tools_of,
)
from verifier_service.code.toolchains.toolchain import Step, Toolchain, ToolchainError
from verifier_service.sandbox import runtime

# The archive of classes that a JDK comes with holds objects that only G1 can use: with another
# collector the machine makes them at each start, a sixth of its time.
_JAVA_OPTIONS = (
    *("-XX:+UseG1GC", "-XX:ParallelGCThreads=2", "-XX:ConcGCThreads=1", "-XX:-UsePerfData"),
    *("-XX:-UseContainerSupport", "-Xshare:auto"),
    *("-XX:CompressedClassSpaceSize=64m", "-XX:ReservedCodeCacheSize=64m"),
    *("-XX:+DisableAttachMechanism", "-XX:-CreateCoredumpOnCrash", "-XX:+ReduceSignalUsage"),
    "-XX:ErrorFile=/dev/null",
)
CLASSES = "classes"
"""Directory of the compiled classes."""
_COMPILING = ("-Xmx512m", "-XX:TieredStopAtLevel=1")
_TRUSTING = ("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote")
"""Options with which a machine runs a compiler's own classes without checking them again."""
_ASKING = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", *_TRUSTING)
"""Options with which a compiler tells its version in half the CPU time."""
_RUNNING = ("-Xmx{memory_mib}m", "-Xss16m", "-ea", "-Djava.io.tmpdir=.", "-cp")
_JAVA_PACKAGES = ("/usr/share/java/javatuples.jar",)
"""Archives of Debian's packages that a program may use, where they exist."""


def java(libraries: Sequence[Path] = (), program: Sequence[str] = ("{main}",)) -> Toolchain:
    """The toolchain of Java.

    Args:
        libraries: archives of classes that programs use.
        program: name and arguments of the program that runs.

    Raises:
        ToolchainError: it is missing.
    """
    compiler = Path(located("javac", "openjdk-17-jdk-headless"))
    libraries = [*libraries, *(path.resolve() for path in existing(*_JAVA_PACKAGES))]
    step = Step(
        arguments=(
            *(str(compiler), *(f"-J{option}" for option in (*_JAVA_OPTIONS, *_COMPILING))),
            *("-proc:none", "-nowarn", "-encoding", "UTF-8"),
            *("-implicit:none", "-cp", _class_path([Path("."), *libraries])),
            *("-d", CLASSES, "{source}"),
        ),
        input_name="{source}",
        output_name=f"{CLASSES}/",
        environment=_java_environment(compiler.parent.parent),
    )
    machine = compiler.parent / "java"
    return _on_java(
        machine,
        step,
        programs=[compiler],
        libraries=libraries,
        version=(str(machine), "-version"),
        program=program,
    )


_JUNIT = "org.junit.platform.console.ConsoleLauncher"


def junit() -> Toolchain:
    """The toolchain of Java with JUnit 5, whose console runs all tests of a program.

    Raises:
        ToolchainError: it is missing.
    """
    console = _jar("junit-platform-console-standalone", "junit5")
    # Without the pattern it leaves out a class that is not named like a test, and succeeds.
    options = (
        *("--disable-banner", "--disable-ansi-colors", "--details=tree"),
        *("--class-path=.", "--scan-class-path", "--include-classname=.*", "--fail-if-no-tests"),
    )
    return java([console], (_JUNIT, *options))


_KOTLIN = "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler"


def kotlin() -> Toolchain:
    """The toolchain of Kotlin: its compiler for the JVM. Raises ToolchainError."""
    jars = _kotlin_jars()
    library = jars[1]
    options = ("-Xdisable-default-scripting-plugin", "-cp", str(library))
    return _kotlin_toolchain(jars, [library], (*options, "-d", CLASSES, "main.kt"))


_SCRIPT_START = b"""@file:JvmName("Start")
fun main(arguments: Array<String>) {
    val file = java.io.File(".").walk().first { it.name == "Main.class" }
    val name = file.path.removePrefix("./").removeSuffix(".class").replace('/', '.')
    try { Class.forName(name).getConstructor(Array<String>::class.java).newInstance(arguments) }
    catch (failure: java.lang.reflect.InvocationTargetException) { throw failure.cause!! }
}
"""
"""Program that starts a script: a class, in any package, whose constructor runs its lines."""


def kotlin_script() -> Toolchain:
    """The toolchain of scripts in Kotlin. Raises ToolchainError."""
    jars = _kotlin_jars()
    plugins = [
        _jar(f"kotlin-scripting-{part}", "kotlin") for part in ("compiler", "common", "jvm", "impl")
    ]
    libraries = [jars[1], jars[3]]
    options = [*(f"-Xplugin={plugin}" for plugin in plugins), "-cp", _class_path(libraries)]
    found = _kotlin_toolchain(
        [*jars, *plugins],
        libraries,
        (*options, "-d", CLASSES, "main.kts", "start.kt"),
        source="main.kts",
        program=("Start",),
    )
    (step,) = found.steps
    return dataclasses.replace(
        found, steps=(dataclasses.replace(step, files={"start.kt": _SCRIPT_START}),)
    )


def _kotlin_jars() -> list[Path]:
    """The archives of Kotlin's compiler. Raises ToolchainError."""
    parts = ("kotlin-compiler", "kotlin-stdlib", "kotlin-reflect", "kotlin-script-runtime")
    others = ("libtrove-intellij", "org.jetbrains.annotations-common")
    return [_jar(name, "kotlin") for name in (*parts, *others)]


def _kotlin_toolchain(
    jars: Sequence[Path],
    libraries: Sequence[Path],
    arguments: Sequence[str],
    *,
    source: str = "main.kt",
    program: Sequence[str] = ("{main}",),
) -> Toolchain:
    machine = Path(located("java", "openjdk-17-jdk-headless"))
    arguments = ("-nowarn", "-no-stdlib", "-no-reflect", "-jvm-target", "1.8", *arguments)
    step = _java_step(machine, jars, _KOTLIN, arguments, source)
    version = (str(machine), *_ASKING, "-cp", _class_path(jars), _KOTLIN, "-version")
    return _on_java(
        machine, step, libraries=libraries, readable=jars, version=version, program=program
    )


def scala() -> Toolchain:
    """The toolchain of Scala. Raises ToolchainError."""
    parts = ("compiler", "library", "reflect")
    jars = [_jar(f"scala-{part}", "scala") for part in parts]
    jars += [_jar(f"scala-{part}_2.11", "scala") for part in ("xml", "parser-combinators")]
    library = jars[1]
    machine = Path(located("java", "openjdk-17-jdk-headless"))
    arguments = (
        *("-nowarn", "-encoding", "UTF-8", "-target:jvm-1.8", "-cp", str(library)),
        *("-Xmax-classfile-name", "150", "-d", CLASSES, "main.scala"),
    )
    main = "scala.tools.nsc.Main"
    step = dataclasses.replace(
        _java_step(machine, jars, main, arguments, "main.scala"),
        files={f"{CLASSES}/.keep": b""},  # the compiler makes no directory
    )
    version = (str(machine), *_ASKING, "-cp", _class_path(jars), main, "-version")
    return _on_java(machine, step, libraries=[library], readable=jars, version=version)


def _jar(name: str, package: str) -> Path:
    """An archive of classes from Debian's packages. Raises ToolchainError."""
    path = installed_programs.SYSTEM / "share/java" / f"{name}.jar"
    if not path.exists():
        raise ToolchainError(
            f"no {path}: install it (Debian and Ubuntu: apt install {package}), {RESTART}"
        )
    return path.resolve()


def _class_path(jars: Iterable[Path]) -> str:
    return ":".join(map(str, jars))


def _java_environment(home: Path) -> dict[str, str]:
    # The loader would look for libraries beside the program, whose path it reads in /proc.
    return {"MALLOC_ARENA_MAX": "1", "LD_LIBRARY_PATH": str(home / "lib")}


def _java_step(
    machine: Path, jars: Sequence[Path], name: str, arguments: Sequence[str], source: str
) -> Step:
    """A compiler that is a program of Java: the class of this name in these archives."""
    options = (*_JAVA_OPTIONS, *_COMPILING, "-Xss16m", *_TRUSTING)
    return Step(
        arguments=(str(machine), *options, "-cp", _class_path(jars), name, *arguments),
        input_name=source,
        output_name=f"{CLASSES}/",
        environment=_java_environment(machine.parent.parent),
    )


def _on_java(
    machine: Path,
    step: Step,
    *,
    version: tuple[str, ...],
    programs: Sequence[Path] = (),
    libraries: Sequence[Path] = (),
    readable: Sequence[Path] = (),
    program: Sequence[str] = ("{main}",),
) -> Toolchain:
    """A toolchain whose compiler makes classes for a Java machine.

    Args:
        machine: the program `java`.
        step: the compiler.
        version: command that prints a text with the version.
        programs: programs besides the machine that are started.
        libraries: archives of classes that programs use.
        readable: archives of classes that the compiler reads.
        program: name of the class that is started, and its arguments.
    """
    home = machine.parent.parent
    # Debian has its configuration in /etc, with links to it.
    links = [*(home / "conf").rglob("*"), *(home / "lib/security").rglob("*")]
    outside = sorted({path.resolve() for path in links if path.is_symlink() and path.exists()})
    running = Step(
        arguments=(
            *(str(machine), *_JAVA_OPTIONS, *_RUNNING, _class_path([Path("."), *libraries])),
            *program,
        ),
        input_name="",
        environment=_java_environment(home),
    )
    files = [home, *outside, *libraries, *readable, *system_files()]
    tools = tools_of([*programs, machine], files, runtime.DEVICES, runtime_calls="java")
    return Toolchain(steps=(step,), runtime=running, tools=tools, version=version)
