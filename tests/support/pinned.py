# SPDX-License-Identifier: MIT
"""Configures PyTorch for recording numbers; import this before torch.

Its kernels, oneDNN, MKL and Inductor's code choose instructions by the CPU, which changes the last bits of sums,
products and transcendental functions.  Here they are restricted to AVX2 and one thread, so that the numbers are the
same on every machine.
"""
import os

os.environ |= {"ATEN_CPU_CAPABILITY": "avx2", "ONEDNN_MAX_CPU_ISA": "AVX2", "MKL_CBWR": "COMPATIBLE"}

import torch
import torch._inductor.config

torch.set_num_threads(1)
torch._inductor.config.cpp.simdlen = 256
MADE_BY = f"PyTorch {torch.__version__.split('+')[0]} {torch.backends.cpu.get_cpu_capability()}"
