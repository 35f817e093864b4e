/* SPDX-License-Identifier: MIT */
/* Compiles a region of pointwise calls to one program: the programs of its calls one after the
 * other. Values pass between calls in registers, rounded as if they had been stored. */

#include <string.h>

#include "plan/fuse-private.h"

/* -- what can be fused -- */

static gboolean
is_made (const PlanCall *call, guint32 value)
{
  for (guint i = 0; i < call->n_reads; i++)
    if (call->reads[i] == value)
      return call->in_place;
  return TRUE;
}

gboolean
plan_can_fuse (const AdjPlan *plan, const PlanCall *call, const char **why)
{
  *why = NULL;
  if (call->op == NULL)
    *why = call->reason;
  else if (call->programs == NULL && call->copied == PLAN_NONE)
    *why = "its kernel is not pointwise";
  else if (call->in_turn)
    *why = "it draws random numbers or has an effect";
  else if (call->in_place && plan->observed)
    *why = "it writes in place what was watched";
  for (guint i = 0; *why == NULL && i < call->n_results; i++)
    if (call->results[i].value == PLAN_NONE || !is_made (call, call->results[i].value))
      *why = "it writes in place, by a kernel of its own";
    else if (plan_value (plan, call->results[i].value)->meta.dtype > ADJ_DTYPE_F64)
      *why = "the kernel does not compute in its dtype";
  for (guint i = 0; *why == NULL && i < call->n_reads; i++)
    if (plan_value (plan, call->reads[i])->meta.dtype > ADJ_DTYPE_F64)
      *why = "the kernel does not compute in its dtype";
  return *why == NULL;
}

/* -- steps -- */

static guint8
add_operand (Fusion *f, const PlanWindow *window)
{
  if (f->operands->len == ADJ_K_MAX_OPERANDS)
    {
      f->failed = TRUE;
      return 0;
    }
  g_array_append_vals (f->operands, window, 1);
  return (guint8) (f->operands->len - 1);
}

/* Drops registers that hold values of @buffer, which is being written. */
static void
forget (Fusion *f, guint32 buffer)
{
  for (guint i = f->held->len; i-- > 0;)
    if (g_array_index (f->held, Held, i).window.buffer == buffer)
      g_array_remove_index (f->held, i);
}

static void
hold (Fusion *f, const PlanWindow *window, AdjKClass klass, guint reg)
{
  const Held held = { *window, klass, reg };

  g_array_append_val (f->held, held);
}

static guint
cast (Fusion *f, guint reg, AdjKClass from, AdjKClass to, AdjDType dtype)
{
  const AdjKStep step = {
    .kind = ADJ_K_STEP_CAST, .klass = (guint8) from, .to = (guint8) to, .type = (guint8) dtype
  };

  return plan_fusion_emit (f, &step, reg, 0, 0);
}

/* The register that holds @window as numbers of @klass, loaded or cast where needed. */
static guint
get_window (Fusion *f, const PlanWindow *window, AdjKClass klass)
{
  AdjKStep load = { .kind = ADJ_K_STEP_LOAD, .klass = (guint8) klass };
  const Held *other = NULL;
  guint reg;

  for (guint i = f->held->len; i-- > 0;)
    {
      const Held *held = &g_array_index (f->held, Held, i);

      if (!plan_window_equal (&held->window, window))
        continue;
      if (held->klass == klass)
        return held->reg;
      other = held;
    }
  if (other != NULL)
    reg = cast (f, other->reg, other->klass, klass, window->dtype);
  else
    {
      load.operand = add_operand (f, window);
      reg =
          plan_fusion_append (f, plan_window_is_one (window) ? f->fixed : f->steps, &load, 0, 0, 0);
    }
  hold (f, window, klass, reg);
  return reg;
}

static guint
get_number (Fusion *f, const PlanCall *call, const AdjValue *value, AdjKClass klass)
{
  AdjKStep step = { .kind = ADJ_K_STEP_CONST, .klass = (guint8) klass, .type = ADJ_K_I64 };

  if (value->kind == ADJ_VALUE_FLOAT)
    {
      step.type = ADJ_K_F64;
      step.imm.f = call->compute == ADJ_DTYPE_BOOL ? value->number != 0 : value->number;
    }
  else if (value->kind == ADJ_VALUE_INT)
    step.imm.i = value->integer;
  else if (value->kind == ADJ_VALUE_BOOL)
    step.imm.i = value->boolean;
  else
    f->failed = TRUE;
  return plan_fusion_constant (f, &step);
}

static guint
get_value (Fusion *f, const PlanCall *call, guint32 value, AdjKClass klass)
{
  PlanWindow window;

  if (!plan_window_find (f->plan, value, plan_call_get_domain (f->plan, call), f->domain, &window))
    {
      f->failed = TRUE;
      return 0;
    }
  return get_window (f, &window, klass);
}

/* -- calls -- */

static gboolean
gives_truth (guint op)
{
  return (op >= ADJ_K_OP_EQ && op <= ADJ_K_OP_NOT) || op == ADJ_K_OP_ISNAN || op == ADJ_K_OP_ISINF;
}

/* (nullable): the step that makes @reg. */
static const AdjKStep *
find_maker (const Fusion *f, guint reg)
{
  for (guint i = f->steps->len; i-- > 0;)
    {
      const Virtual *v = &g_array_index (f->steps, Virtual, i);

      if (v->dst == reg && v->step.kind != ADJ_K_STEP_STORE)
        return &v->step;
    }
  return NULL;
}

/* Whether every number of @klass that @reg may hold is a value of @dtype. */
static gboolean
is_exact (const Fusion *f, guint reg, AdjKClass klass, AdjDType dtype)
{
  const AdjKStep *maker;

  if (dtype == (klass == ADJ_K_CLASS_F32   ? ADJ_DTYPE_F32
                : klass == ADJ_K_CLASS_F64 ? ADJ_DTYPE_F64
                                           : ADJ_DTYPE_I64))
    return TRUE;
  maker = dtype == ADJ_DTYPE_BOOL ? find_maker (f, reg) : NULL;
  return maker != NULL && maker->kind == ADJ_K_STEP_OP && gives_truth (maker->op);
}

static gboolean
is_held (const Fusion *f, guint reg)
{
  for (guint i = 0; i < f->held->len; i++)
    if (g_array_index (f->held, Held, i).reg == reg)
      return TRUE;
  return FALSE;
}

/* A held register may be an operand's memory, which may be overwritten while the result is still
 * read: the result gets a register of its own. */
static guint
own_register (Fusion *f, guint reg, AdjKClass klass)
{
  const AdjKStep copy = { .kind = ADJ_K_STEP_OP, .klass = (guint8) klass, .op = ADJ_K_OP_COPY };

  return is_held (f, reg) ? plan_fusion_append (f, f->steps, &copy, reg, 0, 0) : reg;
}

static gboolean
is_left_unrounded (const Fusion *f, const PlanWindow *window)
{
  return f->plan->unrounded && !f->kept[window->buffer] &&
         (window->dtype == ADJ_DTYPE_BF16 || window->dtype == ADJ_DTYPE_F16);
}

static void
finish_result (Fusion *f, const PlanCall *call, guint result, guint reg, AdjKClass klass)
{
  guint32 value = call->results[result].value;
  AdjKStep store = { .kind = ADJ_K_STEP_STORE, .klass = (guint8) klass };
  PlanWindow window;

  if (!plan_window_find (f->plan, value, plan_call_get_domain (f->plan, call), f->domain, &window))
    {
      f->failed = TRUE;
      return;
    }
  if (!is_exact (f, reg, klass, window.dtype) && !is_left_unrounded (f, &window))
    reg = cast (f, reg, klass, klass, window.dtype);
  else
    reg = own_register (f, reg, klass);
  forget (f, window.buffer);
  hold (f, &window, klass, reg);
  if (!f->kept[window.buffer])
    return;
  store.operand = add_operand (f, &window);
  plan_fusion_append (f, f->steps, &store, reg, 0, 0);
}

static guint
fuse_code (Fusion *f, const PlanCall *call, const AdjTileProgram *program, guint *of_reg, guint i)
{
  const AdjKCode *code = &program->program.code[i];
  AdjKClass klass = program->program.klass;
  AdjKStep step = { .kind = ADJ_K_STEP_OP, .klass = (guint8) klass, .op = (guint8) code->op };
  gint arity = adj_k_op_get_arity (code->op);
  const AdjValue *arg;

  if (code->op == ADJ_K_OP_CONST)
    {
      step.kind = ADJ_K_STEP_CONST;
      step.op = 0;
      step.type = klass == ADJ_K_CLASS_I64 ? ADJ_K_I64 : ADJ_K_F64;
      step.imm.i = code->imm.i;
      return plan_fusion_constant (f, &step);
    }
  if (code->op == ADJ_K_OP_COPY)
    return of_reg[code->a];
  if (code->op != ADJ_K_OP_LOAD)
    return plan_fusion_emit (f, &step, arity > 0 ? of_reg[code->a] : G_MAXUINT,
                             arity > 1 ? of_reg[code->b] : G_MAXUINT,
                             arity > 2 ? of_reg[code->c] : G_MAXUINT);
  arg = &call->args.items[program->arg_of[code->imm.i]];
  return arg->kind == ADJ_VALUE_NODE ? get_value (f, call, arg->node.index, klass)
                                     : get_number (f, call, arg, klass);
}

static void
fuse_program (Fusion *f, const PlanCall *call, guint result)
{
  const AdjTileProgram *program = call->programs[result];
  guint of_reg[ADJ_K_MAX_REGS] = { 0 };

  for (gint i = 0; i < program->program.n_code && !f->failed; i++)
    of_reg[program->program.code[i].dst] = fuse_code (f, call, program, of_reg, (guint) i);
  finish_result (f, call, result, of_reg[program->program.result], program->program.klass);
}

static AdjKClass
class_of (AdjDType dtype)
{
  AdjKClass klass = ADJ_K_CLASS_F32;

  adj_tile_program_class (dtype, &klass);
  return klass;
}

/* The class that adj_k_copy() goes through. */
static AdjKClass
class_of_copy (AdjDType to, AdjDType from)
{
  AdjKClass a = class_of (to), b = class_of (from);

  if (a == ADJ_K_CLASS_F64 || b == ADJ_K_CLASS_F64)
    return ADJ_K_CLASS_F64;
  return a == ADJ_K_CLASS_F32 || b == ADJ_K_CLASS_F32 ? ADJ_K_CLASS_F32 : ADJ_K_CLASS_I64;
}

static void
fuse_copy (Fusion *f, const PlanCall *call)
{
  AdjKClass klass = class_of_copy (plan_value (f->plan, call->results[0].value)->meta.dtype,
                                   plan_value (f->plan, call->copied)->meta.dtype);

  finish_result (f, call, 0, get_value (f, call, call->copied, klass), klass);
}

static void
fuse_calls (Fusion *f, const PlanRegion *region)
{
  for (guint i = 0; i < region->n_calls && !f->failed; i++)
    {
      const PlanCall *call = plan_call (f->plan, region->calls[i]);

      if (call->programs == NULL)
        fuse_copy (f, call);
      else
        for (guint r = 0; r < call->n_results; r++)
          fuse_program (f, call, r);
    }
}

/* -- registers -- */

typedef struct
{
  gint *last;         /* of each virtual register: the last step that reads it; -1: none */
  gboolean *is_fixed; /* it is set once before the tiles, and read for every tile */
  guint8 *of_reg;     /* the register that it lies in */
  guint8 free[ADJ_K_MAX_REGS];
  guint n_free, n_regs;
} Allocation;

static gboolean
take_reg (Allocation *allocation, guint virtual)
{
  if (allocation->n_free > 0)
    allocation->of_reg[virtual] = allocation->free[--allocation->n_free];
  else if (allocation->n_regs == ADJ_K_MAX_REGS)
    return FALSE;
  else
    allocation->of_reg[virtual] = (guint8) allocation->n_regs++;
  return TRUE;
}

/* Step @i: those that run once come first, then those of every tile. */
static const Virtual *
get_step (const Fusion *f, guint i)
{
  const guint n_fixed = f->fixed->len;

  return i < n_fixed ? &g_array_index (f->fixed, Virtual, i)
                     : &g_array_index (f->steps, Virtual, i - n_fixed);
}

static void
find_last_reads (const Fusion *f, Allocation *allocation)
{
  const guint n_fixed = f->fixed->len;

  for (guint i = 0; i < f->n_regs; i++)
    allocation->last[i] = -1;
  for (guint i = 0; i < n_fixed + f->steps->len; i++)
    {
      const Virtual *v = get_step (f, i);
      const guint args[3] = { v->a, v->b, v->c };

      for (guint k = 0; k < plan_step_count_read (&v->step); k++)
        allocation->last[args[k]] =
            i >= n_fixed && allocation->is_fixed[args[k]] ? G_MAXINT : (gint) i;
      allocation->is_fixed[v->dst] = i < n_fixed;
    }
}

static gboolean
allocate_step (Allocation *allocation, const Virtual *v, gint index, AdjKStep *out)
{
  const guint args[3] = { v->a, v->b, v->c };
  guint n_read = plan_step_count_read (&v->step);

  *out = v->step;
  out->a = n_read > 0 ? allocation->of_reg[v->a] : 0;
  out->b = n_read > 1 ? allocation->of_reg[v->b] : 0;
  out->c = n_read > 2 ? allocation->of_reg[v->c] : 0;
  for (guint k = 0; k < n_read; k++)
    if (allocation->last[args[k]] == index)
      {
        allocation->free[allocation->n_free++] = allocation->of_reg[args[k]];
        allocation->last[args[k]] = -1; /* freed once, even if it is read twice */
      }
  if (v->step.kind == ADJ_K_STEP_STORE)
    return TRUE;
  if (!take_reg (allocation, v->dst))
    return FALSE;
  out->dst = allocation->of_reg[v->dst];
  out->passed = v->step.kind == ADJ_K_STEP_OP && allocation->last[v->dst] == index + 1;
  if (allocation->last[v->dst] < 0)
    allocation->free[allocation->n_free++] = out->dst;
  return TRUE;
}

/* (nullable) (transfer full): the steps with shared registers. */
static AdjKStep *
allocate (const Fusion *f, guint *n_regs)
{
  guint n = f->fixed->len + f->steps->len;
  g_autofree gint *last = g_new (gint, f->n_regs + 1);
  g_autofree gboolean *is_fixed = g_new0 (gboolean, f->n_regs + 1);
  g_autofree guint8 *of_reg = g_new0 (guint8, f->n_regs + 1);
  g_autofree AdjKStep *steps = g_new0 (AdjKStep, n + 1);
  Allocation allocation = { .last = last, .is_fixed = is_fixed, .of_reg = of_reg };

  find_last_reads (f, &allocation);
  for (guint i = 0; i < n; i++)
    if (!allocate_step (&allocation, get_step (f, i), (gint) i, &steps[i]))
      return NULL;
  *n_regs = MAX (allocation.n_regs, 1);
  return g_steal_pointer (&steps);
}

/* -- the result -- */

static void
fill_operand (const Fusion *f, const PlanWindow *window, AdjKView *view)
{
  *view = (AdjKView){ .type = (AdjKType) window->dtype, .rank = (gint) f->domain->rank };
  for (guint i = 0; i < f->domain->rank; i++)
    {
      view->size[i] = f->domain->size[i].word;
      view->stride[i] = window->stride[i];
    }
}

/* Sets the layout of @fused that a run uses. */
static void
make_places (PlanFused *fused)
{
  guint n = fused->n_operands;
  g_autofree AdjKView *merged = g_memdup2 (fused->operands, (n + 1) * sizeof *merged);
  gsize of_rank;

  adj_k_fused_merge (&fused->program, merged);
  fused->program.merged = TRUE;
  fused->rank = merged[0].rank;
  fused->places = g_new (PlanOperand, n + 1);
  of_rank = (gsize) fused->rank;
  fused->extents = g_new (gint64, (n + 1) * of_rank);
  memcpy (fused->extents, merged[0].size, of_rank * sizeof (gint64));
  for (guint i = 0; i < n; i++)
    {
      fused->places[i] = (PlanOperand){ fused->offsets[i], fused->buffers[i], merged[i].type };
      memcpy (fused->extents + (i + 1) * of_rank, merged[i].stride, of_rank * sizeof (gint64));
    }
}

static PlanFused *
finish (const Fusion *f)
{
  guint n = f->operands->len, n_regs;
  AdjKStep *steps = f->failed ? NULL : allocate (f, &n_regs);
  PlanFused *fused;

  if (steps == NULL)
    return NULL;
  fused = g_new0 (PlanFused, 1);
  fused->program = (AdjKFused){ .n_operands = (gint) n,
                                .n_regs = (gint) n_regs,
                                .n_fixed = (gint) f->fixed->len,
                                .n_steps = (gint) (f->fixed->len + f->steps->len),
                                .steps = steps };
  fused->n_operands = n;
  fused->operands = g_new0 (AdjKView, n + 1);
  fused->buffers = g_new0 (guint32, n + 1);
  fused->offsets = g_new0 (gint64, n + 1);
  for (guint i = 0; i < n; i++)
    {
      const PlanWindow *window = &g_array_index (f->operands, PlanWindow, i);

      fill_operand (f, window, &fused->operands[i]);
      fused->buffers[i] = window->buffer;
      fused->offsets[i] = window->offset * (gint64) adj_k_type_get_size ((AdjKType) window->dtype);
    }
  make_places (fused);
  if (!adj_k_fused_check (&fused->program))
    g_clear_pointer (&fused, plan_fused_free);
  return fused;
}

PlanFused *
plan_fuse (const AdjPlan *plan, const PlanRegion *region, const gboolean *kept)
{
  g_autoptr (GArray) fixed = g_array_new (FALSE, FALSE, sizeof (Virtual));
  g_autoptr (GArray) steps = g_array_new (FALSE, FALSE, sizeof (Virtual));
  g_autoptr (GArray) held = g_array_new (FALSE, FALSE, sizeof (Held));
  g_autoptr (GArray) constants = g_array_new (FALSE, FALSE, sizeof (Constant));
  g_autoptr (GArray) operands = g_array_new (FALSE, FALSE, sizeof (PlanWindow));
  Fusion f = { .plan = plan,
               .domain = plan_call_get_domain (plan, plan_call (plan, region->domain)),
               .kept = kept,
               .fixed = fixed,
               .steps = steps,
               .held = held,
               .constants = constants,
               .operands = operands };

  fuse_calls (&f, region);
  plan_fusion_simplify (&f);
  return finish (&f);
}

void
plan_fused_free (PlanFused *fused)
{
  g_free ((gpointer) fused->program.steps);
  g_free (fused->operands);
  g_free (fused->buffers);
  g_free (fused->offsets);
  g_free (fused->places);
  g_free (fused->extents);
  g_free (fused);
}
