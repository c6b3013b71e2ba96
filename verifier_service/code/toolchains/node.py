"""Toolchains of JavaScript and TypeScript, which Node.js runs."""

from __future__ import annotations

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
from verifier_service.sandbox.execution import Tools

_NODE_OPTIONS = ("--max-old-space-size={memory_mib}", "--stack-size=60000")
_NODE_PACKAGES = "/usr/share/nodejs"
"""Directory of Debian's packages for Node.js, which a program may `require`."""
# It does not start where its configuration of OpenSSL is there and may not be read.
_NODE_ENVIRONMENT = {"OPENSSL_CONF": "/dev/null", "NODE_PATH": _NODE_PACKAGES}
_TYPESCRIPT_PLACES = ("share/nodejs", "lib/node_modules", "local/lib/node_modules")
# Types are left out and not checked, as by those who run TypeScript (tsx, ts-node): what Node.js
# itself declares is in a package of its own, without which no program that reads would be right.
_TRANSPILE = """
const ts = require(process.argv[1]), fs = require("fs");
const made = ts.transpileModule(fs.readFileSync("main.ts", "utf8"), {
  fileName: "main.ts", reportDiagnostics: true,
  compilerOptions: {target: "es2022", module: "commonjs", esModuleInterop: true},
});
for (const one of made.diagnostics) {
  const at = one.file && one.file.getLineAndCharacterOfPosition(one.start);
  const text = ts.flattenDiagnosticMessageText(one.messageText, "\\n");
  console.error(`main.ts${at ? `:${at.line + 1}:${at.character + 1}` : ""}: error: ${text}`);
}
if (made.diagnostics.length) process.exit(1);
fs.writeFileSync("output", made.outputText);
"""


def javascript() -> Toolchain:
    """The toolchain of JavaScript, which is Node.js. Raises ToolchainError."""
    node = located("node", "nodejs")
    arguments = (node, *_NODE_OPTIONS, "{source}")
    running = Step(arguments=arguments, input_name="{source}", environment=_NODE_ENVIRONMENT)
    return Toolchain(runtime=running, tools=_node_tools(node), version=(node, "--version"))


def typescript() -> Toolchain:
    """The toolchain of TypeScript: its compiler, run by Node.js. Raises ToolchainError."""
    node = located("node", "nodejs")
    places = [installed_programs.SYSTEM / place / "typescript" for place in _TYPESCRIPT_PLACES]
    places = [place for place in places if place.exists()]
    if not places:
        raise ToolchainError(
            f"no typescript in {', '.join(f'/usr/{one}' for one in _TYPESCRIPT_PLACES)}: install "
            "it (Debian and Ubuntu: apt install node-typescript; or npm install --global "
            f"typescript), {RESTART}"
        )
    module = str(places[0].resolve() / "lib/typescript.js")
    compiling = Step(
        arguments=(node, "-e", _TRANSPILE, module),
        input_name="main.ts",
        environment=_NODE_ENVIRONMENT,
    )
    running = Step(
        arguments=(node, *_NODE_OPTIONS, "main.js"),
        input_name="main.js",
        environment=_NODE_ENVIRONMENT,
    )
    tools = _node_tools(node, places[0].resolve())
    version = (node, "-p", "require(process.argv[1]).version", module)
    return Toolchain(steps=(compiling,), runtime=running, tools=tools, version=version)


def _node_tools(node: str, *more: Path) -> Tools:
    return tools_of(
        [Path(node)],
        [*more, *existing(_NODE_PACKAGES), *system_files()],
        runtime.DEVICES,
        runtime_calls="node",
    )
