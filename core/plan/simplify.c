/* SPDX-License-Identifier: MIT */
/* Simplifies the program of a fused region: steps on constants alone are computed now, by the
 * kernel that would run them; unused arguments of a choice (lerp by 0.1) are dropped; steps on
 * single elements run once instead of per tile. */

#include "plan/fuse-private.h"

guint
plan_step_count_read (const AdjKStep *step)
{
  if (step->kind == ADJ_K_STEP_OP)
    return (guint) adj_k_op_get_arity (step->op);
  return step->kind == ADJ_K_STEP_CAST || step->kind == ADJ_K_STEP_STORE;
}

guint
plan_fusion_append (Fusion *f, GArray *where, const AdjKStep *step, guint a, guint b, guint c)
{
  Virtual v = { *step, f->n_regs++, a, b, c };

  g_array_append_val (where, v);
  return v.dst;
}

guint
plan_fusion_constant (Fusion *f, const AdjKStep *step)
{
  Constant made = { *step, 0 };

  for (guint i = 0; i < f->constants->len; i++)
    {
      const Constant *constant = &g_array_index (f->constants, Constant, i);

      if (constant->imm.klass == step->klass && constant->imm.type == step->type &&
          constant->imm.imm.i == step->imm.i)
        return constant->reg;
    }
  made.reg = plan_fusion_append (f, f->fixed, step, 0, 0, 0);
  g_array_append_val (f->constants, made);
  return made.reg;
}

/* (nullable): the step before the tiles that makes @reg. */
static const AdjKStep *
find_fixed (const Fusion *f, guint reg)
{
  for (guint i = 0; i < f->fixed->len; i++)
    {
      const Virtual *v = &g_array_index (f->fixed, Virtual, i);

      if (v->dst == reg)
        return &v->step;
    }
  return NULL;
}

/* Computes @step now.  Its first @n_read arguments @args and the @result are steps that set a
 * constant; %FALSE: an integer was divided by zero. */
static gboolean
compute (const AdjKStep *step, const AdjKStep *const *args, guint n_read, AdjKStep *result)
{
  const guint8 to = step->kind == ADJ_K_STEP_CAST ? step->to : step->klass;
  const AdjKView view = { .data = &result->imm,
                          .type = to == ADJ_K_CLASS_I64 ? ADJ_K_I64 : ADJ_K_F64 };
  AdjKStep steps[6] = { 0 };
  AdjKFused fused = { .n_operands = 1, .n_regs = 5, .n_steps = (gint) n_read + 2, .steps = steps };

  for (guint i = 0; i < n_read; i++)
    {
      steps[i] = *args[i];
      steps[i].dst = (guint8) i;
    }
  steps[n_read] = *step;
  steps[n_read].a = 0;
  steps[n_read].b = 1;
  steps[n_read].c = 2;
  steps[n_read].dst = 3;
  steps[n_read + 1] = (AdjKStep){ .kind = ADJ_K_STEP_STORE, .klass = to, .a = 3 };
  *result = (AdjKStep){ .kind = ADJ_K_STEP_CONST, .klass = to, .type = (guint8) view.type };
  return adj_k_fused_check (&fused) && adj_k_fused (&fused, &view);
}

/* Whether @step sets the constant @number of its class. */
static gboolean
is_number (const AdjKStep *step, gint number)
{
  const AdjKStep copy = { .kind = ADJ_K_STEP_OP, .klass = step->klass, .op = ADJ_K_OP_COPY };
  AdjKStep result;

  if (step->kind != ADJ_K_STEP_CONST || !compute (&copy, &step, 1, &result))
    return FALSE;
  return result.type == ADJ_K_F64 ? result.imm.f == number : result.imm.i == number;
}

/* Whether @step returns one of its arguments unchanged; @chosen: which. */
static gboolean
chooses (const AdjKStep *step, const AdjKStep *const *made, const guint *args, guint *chosen)
{
  if (step->kind != ADJ_K_STEP_OP)
    return FALSE;
  if (step->op == ADJ_K_OP_SELECT && made[0] != NULL && made[0]->kind == ADJ_K_STEP_CONST)
    {
      *chosen = args[is_number (made[0], 0) ? 2 : 1];
      return TRUE;
    }
  if (step->op == ADJ_K_OP_POW && made[1] != NULL && is_number (made[1], 1))
    {
      *chosen = args[0];
      return TRUE;
    }
  for (guint i = 0; step->op == ADJ_K_OP_MUL && i < 2; i++)
    if (made[i] != NULL && is_number (made[i], 1))
      {
        *chosen = args[1 - i];
        return TRUE;
      }
  return FALSE;
}

guint
plan_fusion_emit (Fusion *f, const AdjKStep *step, guint a, guint b, guint c)
{
  const guint args[3] = { a, b, c };
  const guint n_read = plan_step_count_read (step);
  const AdjKStep *made[3] = { NULL };
  gboolean fixed = TRUE, known = TRUE;
  AdjKStep number;
  guint chosen;

  for (guint i = 0; i < n_read; i++)
    {
      made[i] = find_fixed (f, args[i]);
      fixed &= made[i] != NULL;
      known &= made[i] != NULL && made[i]->kind == ADJ_K_STEP_CONST;
    }
  if (chooses (step, made, args, &chosen))
    return chosen;
  if (known && compute (step, made, n_read, &number))
    return plan_fusion_constant (f, &number);
  return plan_fusion_append (f, fixed ? f->fixed : f->steps, step, a, b, c);
}

/* -- what is rounded when it is stored -- */

static void
count_reads (const Fusion *f, guint *n_reads)
{
  for (guint i = 0; i < f->steps->len; i++)
    {
      const Virtual *v = &g_array_index (f->steps, Virtual, i);
      const guint args[3] = { v->a, v->b, v->c };

      for (guint k = 0; k < plan_step_count_read (&v->step); k++)
        n_reads[args[k]]++;
    }
}

static gboolean
rounds_for (const Fusion *f, const Virtual *cast, const Virtual *store)
{
  return cast->step.kind == ADJ_K_STEP_CAST && store->step.kind == ADJ_K_STEP_STORE &&
         store->a == cast->dst && cast->step.klass == cast->step.to &&
         cast->step.type ==
             (guint8) g_array_index (f->operands, PlanWindow, store->step.operand).dtype;
}

/* A store rounds its value, so a cast before it that only the store reads is skipped. */
static void
store_unrounded (Fusion *f)
{
  g_autofree guint *n_reads = g_new0 (guint, f->n_regs + 1);

  count_reads (f, n_reads);
  for (guint i = 0; i + 1 < f->steps->len; i++)
    {
      const Virtual *cast = &g_array_index (f->steps, Virtual, i);
      Virtual *store = &g_array_index (f->steps, Virtual, i + 1);

      if (rounds_for (f, cast, store) && n_reads[cast->dst] == 1)
        store->a = cast->a;
    }
}

/* -- copies -- */

static Virtual *
get_step (const Fusion *f, guint i)
{
  return &g_array_index (f->steps, Virtual, i);
}

static gboolean
reads (const Virtual *v, guint reg)
{
  guint n = plan_step_count_read (&v->step);

  return (n > 0 && v->a == reg) || (n > 1 && v->b == reg) || (n > 2 && v->c == reg);
}

static guint32
get_stored_buffer (const Fusion *f, const Virtual *store)
{
  return g_array_index (f->operands, PlanWindow, store->step.operand).buffer;
}

/* Whether @reg is computed before step @end and stays in a tile: it is neither an operand's memory
 * nor stored at once, and so is not overwritten. */
static gboolean
lies_in_tile (const Fusion *f, guint reg, guint end)
{
  gboolean computed = FALSE;

  for (guint i = 0; i < end; i++)
    {
      const Virtual *v = get_step (f, i);

      if (v->step.kind == ADJ_K_STEP_STORE && v->a == reg)
        return FALSE;
      computed |=
          v->dst == reg && (v->step.kind == ADJ_K_STEP_OP || v->step.kind == ADJ_K_STEP_CAST);
    }
  return computed;
}

static gboolean
is_stored_again (const Fusion *f, guint store)
{
  for (guint i = store + 1; i < f->steps->len; i++)
    if (get_step (f, i)->step.kind == ADJ_K_STEP_STORE &&
        get_stored_buffer (f, get_step (f, i)) == get_stored_buffer (f, get_step (f, store)))
      return TRUE;
  return FALSE;
}

/* Stores the source of a copy instead of the copy, where the buffer is not stored to again. */
static void
store_uncopied (Fusion *f)
{
  for (guint i = 0; i + 1 < f->steps->len; i++)
    {
      const Virtual *copy = get_step (f, i), *store = get_step (f, i + 1);

      if (copy->step.kind != ADJ_K_STEP_OP || copy->step.op != ADJ_K_OP_COPY ||
          store->step.kind != ADJ_K_STEP_STORE || store->a != copy->dst ||
          !lies_in_tile (f, copy->a, i) || is_stored_again (f, i + 1))
        continue;
      for (guint k = i + 1; k < f->steps->len; k++)
        {
          Virtual *v = get_step (f, k);

          v->a = v->a == copy->dst ? copy->a : v->a;
          v->b = v->b == copy->dst ? copy->a : v->b;
          v->c = v->c == copy->dst ? copy->a : v->c;
        }
    }
}

/* -- neighbours -- */

static gboolean
may_be_pair (const Virtual *v)
{
  return v->step.kind == ADJ_K_STEP_OP && v->step.op >= ADJ_K_OP_ADD && v->step.op <= ADJ_K_OP_MUL;
}

/* Moves a load before a pair of operations that the kernel runs as one. */
static void
load_before_pairs (Fusion *f)
{
  for (guint i = 0; i + 2 < f->steps->len; i++)
    {
      Virtual *first = get_step (f, i), *load = get_step (f, i + 1);
      const Virtual step = *first;

      if (load->step.kind != ADJ_K_STEP_LOAD || !may_be_pair (first) ||
          !may_be_pair (get_step (f, i + 2)) || !reads (get_step (f, i + 2), first->dst))
        continue;
      *first = *load;
      *load = step;
    }
}

/* -- what nothing reads -- */

/* Whether the step has an effect: stores, and integer operations that may divide by zero. */
static gboolean
shows (const AdjKStep *step)
{
  return step->kind == ADJ_K_STEP_STORE ||
         (step->kind == ADJ_K_STEP_OP && step->klass == ADJ_K_CLASS_I64 &&
          adj_k_op_get_arity (step->op) == 2);
}

static void
drop_from (GArray *steps, gboolean *read)
{
  guint n = steps->len, at = n;

  for (guint i = n; i-- > 0;)
    {
      const Virtual v = g_array_index (steps, Virtual, i);
      const guint args[3] = { v.a, v.b, v.c };

      if (!shows (&v.step) && !read[v.dst])
        continue;
      for (guint k = 0; k < plan_step_count_read (&v.step); k++)
        read[args[k]] = TRUE;
      g_array_index (steps, Virtual, --at) = v;
    }
  g_array_remove_range (steps, 0, at);
}

void
plan_fusion_simplify (Fusion *f)
{
  g_autofree gboolean *read = g_new0 (gboolean, f->n_regs + 1);

  store_unrounded (f);
  store_uncopied (f);
  drop_from (f->steps, read);
  drop_from (f->fixed, read);
  load_before_pairs (f);
}
