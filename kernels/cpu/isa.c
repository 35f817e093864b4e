/* SPDX-License-Identifier: MIT */
/* Chooses the loops that were compiled for this processor. */

#include "tile.h"

const Loops *
adj_k_loops_get (Isa isa)
{
#if defined __x86_64__ && !defined __clang__
  if (isa == ISA_V4 && __builtin_cpu_supports ("x86-64-v4"))
    return &adj_k_loops_v4;
  if (isa == ISA_V3 && __builtin_cpu_supports ("x86-64-v3"))
    return &adj_k_loops_v3;
#endif
  return isa == ISA_BASE ? &adj_k_loops_base : NULL;
}

const Loops *
adj_k_loops (void)
{
  for (Isa isa = ISA_N; isa-- > ISA_BASE;)
    {
      const Loops *loops = adj_k_loops_get (isa);

      if (loops)
        return loops;
    }
  return &adj_k_loops_base;
}
