/* SPDX-License-Identifier: MIT */
#pragma once

#include "plan/windows-private.h"

G_BEGIN_DECLS

/* A register that holds a window, as numbers of a class. */
typedef struct
{
  PlanWindow window;
  AdjKClass klass;
  guint reg;
} Held;

typedef struct
{
  AdjKStep imm; /* the step that sets its number */
  guint reg;
} Constant;

/* A step before registers are allocated: each writes a register of its own. */
typedef struct
{
  AdjKStep step; /* its registers are not set yet */
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

/* How many of a, b and c @step reads. */
guint plan_step_count_read (const AdjKStep *step);

/* The register that the step writes, which is appended to @where. */
guint
plan_fusion_append (Fusion *f, GArray *where, const AdjKStep *step, guint a, guint b, guint c);
/* The register with the result of @step, an operation or a cast.  It is computed per tile, once
 * before the tiles, or now if its arguments are constants. */
guint plan_fusion_emit (Fusion *f, const AdjKStep *step, guint a, guint b, guint c);
/* The register of a constant. */
guint plan_fusion_constant (Fusion *f, const AdjKStep *step);
/* Removes steps that need not run, and puts steps that the kernel runs as a pair side by side. */
void plan_fusion_simplify (Fusion *f);

G_END_DECLS
