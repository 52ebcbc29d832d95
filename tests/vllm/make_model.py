"""Turn a GGUF file into a model folder that vLLM serves. Runs in the vLLM environment: python make_model.py FILE FOLDER.

The weights are dequantised, so the served model computes with the values of the GGUF file, held as bfloat16.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def make(source: Path, folder: Path) -> None:
    """Write the folder under another name first: a killed run must not leave half a model that looks whole."""
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    model = AutoModelForCausalLM.from_pretrained(
        **where, quantization_config=GgufConfig(dequantize=True), dtype=torch.bfloat16
    )
    vars(model.config).pop("quantization_config", None)  # some versions keep it, and vLLM would dequantise again
    model.save_pretrained(part)
    AutoTokenizer.from_pretrained(**where).save_pretrained(part)
    part.replace(folder)


if __name__ == "__main__":
    make(Path(sys.argv[1]), Path(sys.argv[2]))
