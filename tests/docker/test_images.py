"""The images: their content, and the start of the service in its image."""

from __future__ import annotations

import io
import json
import re
import tarfile
import time
from pathlib import Path

import pytest

from tests.docker.conftest import SECRET, SECRET_PLACES
from tests.docker.stack import PYTHON, Stack, wait_until

pytestmark = pytest.mark.docker

MAX_IMPORT_SHARE = 3.0
"""Most CPU time of importing the service, in those of `PACKAGES`; 1.4 on an idle machine."""
MAX_READY_SHARE = 10.0
"""Most CPU time until all processes are ready, in those of importing `PACKAGES`; 6 there."""
MEASUREMENTS = 3
"""Most measurements; one below the bound is enough, since a busy machine only adds to them."""
PACKAGES = "fastapi, numpy, sympy"
"""The largest packages of the image: a busy machine takes longer for them, too."""
MAX_ADDED_BYTES = 250 * 10**6
"""Most that the service adds to its base image; numpy and sympy are two thirds of it."""
SITE_PACKAGES = "import sysconfig; print(sysconfig.get_path('purelib'))"
IMPORT = """
import time
start = time.process_time()
import {}
print(time.process_time() - start)
"""
READY = "import urllib.request as r; r.urlopen('http://127.0.0.1:8080/readyz', timeout=4)"

CPU_SECONDS = """
from pathlib import Path
old, new = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage"), Path("/sys/fs/cgroup/cpu.stat")
if old.exists():
    print(int(old.read_text()) / 1e9)
else:
    print(int(new.read_text().split()[1]) / 1e6)
"""
"""A container's use, by either version of control groups."""


def holds(stack: Stack, image: str, needle: str) -> bool:
    """Whether the text is in a layer of an image, in its history or in its configuration."""
    with stack.engine.start_in_background("save", image) as saving:
        assert saving.stdout is not None
        wanted, kept, found = needle.encode(), b"", False
        while chunk := saving.stdout.read(2**20):
            found = found or wanted in kept + chunk
            kept = chunk[-len(wanted) :]
    assert saving.returncode == 0
    return found


def files_of(stack: Stack, image: str) -> set[str]:
    """Paths of all files in all layers of an image."""
    with stack.engine.start_in_background("save", image) as saving:
        assert saving.stdout is not None
        names = set()
        with tarfile.open(fileobj=saving.stdout, mode="r|") as archive:
            for member in archive:
                if not member.isfile():
                    continue
                content = archive.extractfile(member)
                assert content is not None
                try:
                    with tarfile.open(fileobj=content, mode="r|*") as layer:
                        names |= {entry.name.removeprefix("./") for entry in layer}
                except tarfile.ReadError:
                    continue  # a description, not a layer
    return names


@pytest.mark.parametrize("name", ["service", "proxy", "trainer"])
def test_no_secret_is_in_the_layers(stack: Stack, name: str) -> None:
    assert not holds(stack, f"{stack.name}/{name}", SECRET)


def test_a_secret_in_a_layer_would_be_found(stack: Stack) -> None:
    image = f"{stack.name}/leaky"
    recipe = f"FROM {stack.settings['BASE_IMAGE']}\nCOPY . /leaked\n"
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        described = tarfile.TarInfo("Dockerfile")
        described.size = len(recipe)
        archive.addfile(described, io.BytesIO(recipe.encode()))
        for place in SECRET_PLACES:
            archive.add(stack.folder / place, place)
    stack.engine.docker("build", "--tag", image, "-", stdin=context.getvalue())
    assert holds(stack, image, SECRET)


def test_the_image_of_the_service_has_no_torch_no_compiler_and_no_tests(stack: Stack) -> None:
    names = files_of(stack, stack.service_image)
    assert "opt/verifier/bin/verifier-service" in names
    unwanted = re.compile(
        r"site-packages/(torch|transformers|pip)/|bin/(gcc|g\+\+|cc1)|^opt/.*\.git"
    )
    assert [name for name in names if unwanted.search(name)] == []


def test_the_image_of_the_service_lists_its_packages(stack: Stack) -> None:
    code = (
        "import json, importlib.metadata as m; "
        "listed = json.load(open('/opt/verifier/sbom.cdx.json')); "
        "there = {(d.name, d.version) for d in m.distributions()}; "
        "named = {(c['name'], c['version']) for c in listed['components']}; "
        "root = listed['metadata']['component']['name']; "
        "own = {pair for pair in there if pair[0] == root}; "
        "print(listed['specVersion'], root, len(there) > 30, there - own == named - own)"
    )
    run = ("run", *stack.hardened(), "--entrypoint", PYTHON, stack.service_image, "-c", code)
    assert stack.engine.docker(*run).strip() == "1.6 reward-verifier True True"


def test_the_size_of_the_image_is_explained_layer_by_layer(
    stack: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    image = stack.engine.inspect(stack.service_image)
    base = stack.engine.inspect(stack.settings["BASE_IMAGE"])
    fields = "{{.Size}}\t{{.CreatedBy}}"
    command = ("history", "--no-trunc", "--human=false", "--format", fields)
    layers = [
        (int(size), made_by)
        for size, _, made_by in (
            line.partition("\t")
            for line in stack.engine.docker(*command, stack.service_image).splitlines()
        )
    ]
    code = (
        "import pathlib, sysconfig\n"
        "for path in pathlib.Path(sysconfig.get_path('purelib')).iterdir():\n"
        "    files = path.rglob('*') if path.is_dir() else [path]\n"
        "    print(sum(file.stat().st_size for file in files if file.is_file()), path.name)"
    )
    run = ("run", *stack.hardened(), "--entrypoint", PYTHON, stack.service_image, "-c", code)
    packages = sorted(
        (
            (int(size), name)
            for size, name in map(str.split, stack.engine.docker(*run).splitlines())
        ),
        reverse=True,
    )
    with capsys.disabled():
        print(
            f"\n{stack.service_image}: {megabytes(image['Size'])}, base {megabytes(base['Size'])}"
        )
        for size, made_by in layers:
            if size:
                print(f"  {megabytes(size)}  {' '.join(made_by.split())[:90]}")
        for size, name in packages[:8]:
            print(f"      of it {megabytes(size)}  {name}")
    assert sum(size for size, _ in layers) == image["Size"]
    assert int(str(image["Size"])) - int(str(base["Size"])) < MAX_ADDED_BYTES


def megabytes(size: object) -> str:
    return f"{int(str(size)) / 1e6:6.1f} MB"


def test_labels_health_check_and_user_are_in_the_image(stack: Stack) -> None:
    config = stack.engine.inspect(stack.service_image)["Config"]
    assert isinstance(config, dict)
    assert config["User"] == "10001:10001"
    assert "/readyz" in json.dumps(config["Healthcheck"]["Test"])
    assert config["Healthcheck"]["Test"][:2] == ["CMD", "bash"]  # an interpreter starts slowly
    assert config["Entrypoint"] == ["/opt/verifier/bin/verifier-service"]
    assert config["Labels"]["org.opencontainers.image.title"] == "verifier service"
    assert config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"


def test_importing_the_service_takes_little_longer_than_its_packages(stack: Stack) -> None:
    assert any(
        import_cpu_seconds(stack, "verifier_service.app") / import_cpu_seconds(stack, PACKAGES)
        < MAX_IMPORT_SHARE
        for _ in range(MEASUREMENTS)
    )


def test_the_service_is_ready_soon(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    """The CPU time of all processes counts: the clock tells how busy the machine is."""
    for _ in range(MEASUREMENTS):
        seconds, cpu_seconds = start_of_service(stack)
        share = cpu_seconds / import_cpu_seconds(stack, PACKAGES)
        with capsys.disabled():
            print(f"\nready after {seconds:.1f} s, {cpu_seconds:.1f} s of CPU time: {share:.1f}")
        if share < MAX_READY_SHARE:
            return
    pytest.fail(f"no start of {MEASUREMENTS} took less than {MAX_READY_SHARE} times {PACKAGES}")


def import_cpu_seconds(stack: Stack, names: str) -> float:
    code = IMPORT.format(names)
    options = ("run", *stack.hardened(), "--entrypoint", PYTHON, stack.service_image, "-c", code)
    return float(stack.engine.docker(*options))


def start_of_service(stack: Stack) -> tuple[float, float]:
    """Seconds until it answers that it is ready, and the CPU time of its container until then."""
    options = [option for option in stack.hardened() if option != "--rm"]
    options += ["--env", "VERIFIER_WORKERS=2", "--env", "VERIFIER_CODE_WORKERS=2"]
    start = time.monotonic()
    container = stack.engine.docker("run", "--detach", *options, stack.service_image).strip()
    try:
        log = "running on http"  # from then on each request is answered, /readyz too
        wait_until(lambda: log in stack.engine.docker("logs", container), "a running service")
        seconds = time.monotonic() - start
        stack.python(container, READY)
        return seconds, float(stack.python(container, CPU_SECONDS))
    finally:
        stack.engine.docker("rm", "--force", container)


def test_the_doctor_finds_every_layer_of_the_container_in_force(stack: Stack) -> None:
    found = stack.engine.docker("run", *stack.hardened(), stack.service_image, "doctor")
    assert "layers: rlimits+capabilities+no_new_privs+landlock+seccomp\n" in found
    assert " checks, 0 failed\n" in found
    assert "  python        works" in found


def test_the_service_is_unhealthy_where_the_sandbox_has_a_layer_less(
    stack: Stack, tmp_path: Path
) -> None:
    profile = tmp_path / "seccomp.json"
    refused = {"names": ["landlock_create_ruleset"], "action": "SCMP_ACT_ERRNO"}
    profile.write_text(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [refused]}))
    options = [option for option in stack.hardened() if option != "--rm"]
    options += ["--security-opt", f"seccomp={profile}"]
    container = stack.engine.docker("run", "--detach", *options, stack.service_image).strip()
    try:
        log = "running on http"
        wait_until(lambda: log in stack.engine.docker("logs", container), "a running service")
        code = READY.replace("r.urlopen", "print(r.urlopen").replace("=4)", "=4).status)")
        found = stack.engine.docker("exec", container, PYTHON, "-c", code, check=False)
        assert "HTTP Error 503" in found
    finally:
        stack.engine.docker("rm", "--force", container)


def test_languages_need_an_option_of_the_build(stack: Stack) -> None:
    """The image without the option is looked at by the test that scores through the port."""
    image = f"{stack.name}/with-languages"
    names = f"{stack.name}-languages"
    # C# needs a library that the image compiles.
    stack.compose("build", "verifier", IMAGES=names, WITH_CPP="1", LANGUAGES="csharp")
    stack.engine.docker("tag", f"{names}/service", image)
    told = stack.engine.docker("run", *stack.hardened(), image, "doctor")
    works = re.findall(r"^ +(\w+) +works, [\d.]+$", told, re.MULTILINE)
    # Perl comes with the base image, and the compiler of C with that of C++.
    assert set(works) >= {"python", "cpp", "csharp"}, told
    assert not {"java", "go", "lua"} & set(works), told
