/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/windows-private.h"

G_BEGIN_DECLS

/* A register that holds a window, in a class. */
typedef struct
{
  PlanWindow window;
  AdjKClass klass;
  guint reg;
} Held;

typedef struct
{
  AdjKStep imm; /* the step that makes it */
  guint reg;
} Constant;

/* A step before registers are shared: each writes one of its own. */
typedef struct
{
  AdjKStep step; /* but for its registers */
  guint dst, a, b, c;
} Virtual;

typedef struct
{
  const AdjPlan *plan;
  const AdjShape *domain;
  const gboolean *kept;
  GArray *fixed, *steps; /* Virtual */
  GArray *held;          /* Held */
  GArray *constants;     /* Constant */
  GArray *operands;      /* PlanWindow */
  guint n_regs;
  gboolean failed;
} Fusion;

/* The registers that @step reads: so many of a, b, c. */
guint plan_step_count_read (const AdjKStep *step);

/* The register that the step writes, which is appended to @where. */
guint
plan_fusion_append (Fusion *f, GArray *where, const AdjKStep *step, guint a, guint b, guint c);
/* The register with the result of @step, an operation or a cast, which is computed for each tile,
 * once, or now. */
guint plan_fusion_emit (Fusion *f, const AdjKStep *step, guint a, guint b, guint c);
/* The register with a number. */
guint plan_fusion_constant (Fusion *f, const AdjKStep *step);
/* Without steps that need not run; what the kernel does as one stands side by side. */
void plan_fusion_simplify (Fusion *f);

G_END_DECLS
