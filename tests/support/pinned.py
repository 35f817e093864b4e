# SPDX-License-Identifier: MIT
"""PyTorch as the recorded numbers are made with it; import this before torch.

Its kernels, oneDNN, MKL and the code that Inductor writes choose instructions by the CPU, and the last bits of sums,
products and transcendental functions are others with each.  Here they take those that every x86-64 with AVX2 has, in
one thread, so that a number is the same wherever it is made.
"""
import os

os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "COMPATIBLE"}

import torch
import torch._inductor.config

torch.set_num_threads(1)
torch._inductor.config.cpp.simdlen = 256
MADE_BY = f"PyTorch {torch.__version__.split('+')[0]} {torch.backends.cpu.get_cpu_capability()}"
