/* SPDX-License-Identifier: MIT */

/* A minimal program. */

#include "programs.h"

static gboolean
run (AdjContext *cx, GString *out)
{
  adj_program_print (cx, out, "x", adj_arange (cx, ADJ_INT (3)));
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *adj_program_trial (void);

const AdjProgram *
adj_program_trial (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "trial",
    .summary = "Three numbers",
    .run = run,
  };

  return &program;
}
