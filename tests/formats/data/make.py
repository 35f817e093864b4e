# SPDX-License-Identifier: MIT
"""Makes files with other programs for the tests of formats: needs torch, safetensors, zip.

The tests contain their expected content; run it only to change that."""

import os
import subprocess
import zipfile

import torch
from safetensors.torch import save_file

save_file(
    {
        "weight": torch.arange(6, dtype=torch.float32).reshape(2, 3) / 2,
        "bias": torch.tensor([1.5, -2.0], dtype=torch.float64),
        "half": torch.tensor([0.5, 65504.0], dtype=torch.float16),
        "brain": torch.tensor([1.0, -3.0], dtype=torch.bfloat16),
        "mask": torch.tensor([[True], [False]]),
        "count": torch.tensor(7, dtype=torch.int64),
        "none": torch.empty(0, 4),
        "small": torch.tensor([-1, 2], dtype=torch.int8),
        "name with \"quotes\" and ünïcode": torch.tensor([9], dtype=torch.int32),
    },
    "torch.safetensors",
    metadata={"format": "pt"},
)

with zipfile.ZipFile("python.zip", "w") as archive:
    archive.writestr(zipfile.ZipInfo("stored.txt"), "stored as it is\n")
    info = zipfile.ZipInfo("folder/deflated.txt")
    info.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(info, "again and again\n" * 40)
    info = zipfile.ZipInfo("large.txt")
    with archive.open(info, "w", force_zip64=True) as entry:
        entry.write(b"sizes of 64 bits\n")
    archive.writestr(zipfile.ZipInfo("empty"), "")
    archive.comment = b"with a comment"

os.makedirs("folder", exist_ok=True)
with open("folder/deflated.txt", "w") as out:
    out.write("again and again\n" * 40)
with open("stored.txt", "w") as out:
    out.write("stored as it is\n")
os.path.exists("infozip.zip") and os.remove("infozip.zip")
subprocess.run(["zip", "-q", "-X", "-r", "infozip.zip", "stored.txt", "folder"], check=True)
# When its input is a pipe, Info-ZIP writes a data descriptor and ZIP64 sizes.
subprocess.run("echo 'from a pipe' | zip -q -X -fz stream.zip -", shell=True, check=True)
for name in ("folder/deflated.txt", "stored.txt"):
    os.remove(name)
os.rmdir("folder")
