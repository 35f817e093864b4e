#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the C file that embeds modules: embed.py OUTPUT FATBIN…

The file is rewritten whenever a module changes, so that it is compiled again.
"""

import os
import sys

HEAD = """#include "adj-kernel-cuda.h"

#define MODULE(symbol, path)                                                                       \\
  extern const char symbol[], symbol##_end[];                                                      \\
  __asm__ (".section .rodata\\n.balign 16\\n" #symbol ":\\n.incbin \\"" path "\\"\\n" #symbol "_end:\\n"    \\
           ".byte 0\\n.text\\n")
"""


def main():
    modules = [(os.path.basename(path)[: -len(".fatbin")], os.path.abspath(path)) for path in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(HEAD)
        for name, path in modules:
            out.write(f'MODULE (module_{name.replace("-", "_")}, "{path}");\n')
        out.write("const AdjKCudaModule adj_k_cuda_modules[] = {\n")
        for name, path in modules:
            symbol = "module_" + name.replace("-", "_")
            out.write(f'  {{ "{name}", {symbol}, {os.path.getsize(path)} }},\n')
        out.write("  { NULL, NULL, 0 }\n};\n")


main()
