/* SPDX-License-Identifier: MIT */
/* Chooses the loops that were compiled for this processor. */

#include "pairs.h"
#include "tile.h"

#if defined __x86_64__
/* Clang knows the names of levels from 18 on.  Earlier versions lack some of their features, but
 * every processor with those that are tested has the others too. */
#if defined __clang__ && __clang_major__ < 18
static bool
supports_v3 (void)
{
  return __builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("fma") &&
         __builtin_cpu_supports ("bmi2");
}

static bool
supports_v4 (void)
{
  return supports_v3 () && __builtin_cpu_supports ("avx512bw") &&
         __builtin_cpu_supports ("avx512cd") && __builtin_cpu_supports ("avx512dq") &&
         __builtin_cpu_supports ("avx512vl");
}
#else
static bool
supports_v3 (void)
{
  return __builtin_cpu_supports ("x86-64-v3");
}

static bool
supports_v4 (void)
{
  return __builtin_cpu_supports ("x86-64-v4");
}
#endif
#endif

const Loops *
adj_k_loops_get (Isa isa)
{
#if defined __x86_64__
  if (isa == ISA_V4 && supports_v4 ())
    return &adj_k_loops_v4;
  if (isa == ISA_V3 && supports_v3 ())
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

const PairLoops *
adj_k_pair_loops (void)
{
#if defined __x86_64__
  if (adj_k_loops () == &adj_k_loops_v4 && __builtin_cpu_supports ("avx512bf16"))
    return adj_k_pair_loops_try ();
#endif
  return NULL;
}
