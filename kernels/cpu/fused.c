/* SPDX-License-Identifier: MIT */

/* Fused pointwise operators: registers are tiles, as in pointwise.c; operands that are dense and of
 * the type of their class are not copied: their register is that memory. */

#include <string.h>

#include "adj-kernel-fused.h"
#include "tile.h"

enum
{
  LEAST = 128, /* elements of a register: least and most */
  MOST = 1024,
  CACHED = 8 * 1024, /* bytes of registers and operands of a tile: they stay in the L1 cache */
  BLOCK = 8 * 1024,  /* elements that a thread takes at a time: a multiple of every tile */
};

static bool
check_step (const AdjKFused *fused, const AdjKStep *step, const int8_t *held)
{
  const uint8_t args[3] = { step->a, step->b, step->c };
  int arity =
      step->kind == ADJ_K_STEP_OP ? adj_k_op_get_arity (step->op) : step->kind >= ADJ_K_STEP_CAST;

  if (step->kind >= ADJ_K_STEP_N || step->klass >= ADJ_K_CLASS_N || step->to >= ADJ_K_CLASS_N ||
      step->type >= ADJ_K_N || step->operand >= fused->n_operands + (fused->n_operands == 0) ||
      (step->kind != ADJ_K_STEP_STORE && step->dst >= fused->n_regs))
    return false;
  if (step->kind == ADJ_K_STEP_OP &&
      (step->op >= ADJ_K_OP_N || step->op == ADJ_K_OP_CONST || step->op == ADJ_K_OP_LOAD ||
       !adj_k_op_has_class (step->op, step->klass)))
    return false;
  for (int i = 0; i < arity; i++)
    if (args[i] >= fused->n_regs || held[args[i]] != step->klass)
      return false;
  return true;
}

bool
adj_k_fused_check (const AdjKFused *fused)
{
  int8_t held[ADJ_K_MAX_REGS];

  if (fused->n_regs < 1 || fused->n_regs > ADJ_K_MAX_REGS || fused->n_operands < 0 ||
      fused->n_operands > ADJ_K_MAX_OPERANDS || fused->n_fixed < 0 ||
      fused->n_fixed > fused->n_steps)
    return false;
  memset (held, -1, sizeof held);
  for (int i = 0; i < fused->n_steps; i++)
    {
      const AdjKStep *step = &fused->steps[i];

      if (!check_step (fused, step, held))
        return false;
      if (step->kind != ADJ_K_STEP_STORE)
        held[step->dst] = (int8_t) (step->kind == ADJ_K_STEP_CAST ? step->to : step->klass);
    }
  return true;
}

/* The state of one thread. */
typedef struct
{
  const AdjKFused *fused;
  const Loops *loops;
  const AdjKView *views;
  bool zero_division;
  const void *reg[ADJ_K_MAX_REGS]; /* a tile of @tiles, or a piece of an operand */
  char *tiles;
  size_t of_tile; /* bytes */
} Machine;

static void *
tile_at (const Machine *machine, uint8_t reg)
{
  return machine->tiles + reg * machine->of_tile;
}

/* (nullable): elements @start … @start + @n - 1 of @view in place, if they are contiguous and of
 * the type of the class. */
static void *
dense_at (const Machine *machine, const AdjKView *view, uint8_t klass, int64_t start, int n)
{
  int last = view->rank - 1;

  if (view->stride[last] != 1 || view->type != machine->loops->klass[klass].type)
    return NULL;
  if (last == 0)
    return view_at (view, start);
  if (start % view->size[last] + n > view->size[last])
    return NULL;
  return view_at (view, adj_k_view_offset (view, start));
}

static void
run_load (Machine *machine, const AdjKStep *step, int64_t start, int n)
{
  const AdjKView *view = &machine->views[step->operand];
  void *tile = tile_at (machine, step->dst),
       *there = dense_at (machine, view, step->klass, start, n);

  machine->reg[step->dst] = there ? there : tile;
  if (!there)
    adj_k_load (&machine->loops->klass[step->klass], tile, view, 0, start, n);
}

static bool
divides (uint8_t op)
{
  return op == ADJ_K_OP_FLOORDIV || op == ADJ_K_OP_TRUNCDIV || op == ADJ_K_OP_FMOD ||
         op == ADJ_K_OP_REMAINDER;
}

static bool
has_zero (const int64_t *x, int n)
{
  int64_t zeros = 0;

  for (int i = 0; i < n; i++)
    zeros += x[i] == 0;
  return zeros > 0;
}

/* The target of step @i: the memory of an operand, if the next step stores the result there
 * unchanged. */
static void *
find_target (const Machine *machine, int i, int end, int64_t start, int n)
{
  const AdjKStep *step = &machine->fused->steps[i], *next = step + 1;
  void *there;

  if (i + 1 == end || next->kind != ADJ_K_STEP_STORE || next->a != step->dst)
    return tile_at (machine, step->dst);
  there = dense_at (machine, &machine->views[next->operand], next->klass, start, n);
  return there ? there : tile_at (machine, step->dst);
}

/* (nullable): the loop that does step @i and the next one together, if only that one reads the
 * result. */
static OpLoop
find_both (const Machine *machine, int i, int end)
{
  static const Pair pairs[][2] = { [ADJ_K_OP_ADD] = { PAIR_ADD, PAIR_ADD },
                                   [ADJ_K_OP_SUB] = { PAIR_SUB, PAIR_SUB_FROM },
                                   [ADJ_K_OP_MUL] = { PAIR_MUL, PAIR_MUL } };
  const AdjKStep *step = &machine->fused->steps[i], *next = step + 1;
  const ClassLoops *loops = &machine->loops->klass[step->klass];

  if (!step->passed || i + 1 == end || next->klass != step->klass)
    return NULL;
  if (next->kind == ADJ_K_STEP_CAST)
    return next->type == ADJ_K_BF16 && next->to == step->klass ? loops->rounded_bf16[step->op]
                                                               : NULL;
  if (next->kind != ADJ_K_STEP_OP || next->a == next->b || step->op > ADJ_K_OP_MUL ||
      (next->op != ADJ_K_OP_ADD && next->op != ADJ_K_OP_SUB && next->op != ADJ_K_OP_MUL))
    return NULL;
  return loops->pair[step->op][pairs[next->op][next->a != step->dst]];
}

/* Runs step @i, maybe with following ones; returns how many. */
static int
run_op (Machine *machine, int i, int end, int64_t start, int n)
{
  const AdjKStep *step = &machine->fused->steps[i];
  const void *a = machine->reg[step->a], *b = machine->reg[step->b];
  OpLoop both = find_both (machine, i, end);
  const AdjKStep *last = both ? step + 1 : step;
  void *target = find_target (machine, both ? i + 1 : i, end, start, n);
  uint8_t c = !both ? step->c : last->a != step->dst ? last->a : last->b;

  if (step->klass == ADJ_K_CLASS_I64 && divides (step->op) && has_zero (b, n))
    machine->zero_division = true;
  if (!both)
    both = machine->loops->klass[step->klass].op[step->op];
  both (target, a, b, machine->reg[c], n);
  machine->reg[last->dst] = target;
  return 1 + (int) (last - step);
}

static void
run_cast (Machine *machine, const AdjKStep *step, int n)
{
  Scalar between[MOST];
  void *tile = tile_at (machine, step->dst);
  const ClassLoops *from = &machine->loops->klass[step->klass];

  if (step->type == ADJ_K_BF16 && step->klass == ADJ_K_CLASS_F32 && step->to == ADJ_K_CLASS_F32)
    from->round_bf16 (tile, machine->reg[step->a], n);
  else
    {
      from->store[step->type](between, 1, machine->reg[step->a], n);
      machine->loops->klass[step->to].load[step->type](tile, between, 1, n);
    }
  machine->reg[step->dst] = tile;
}

static void
run_store (const Machine *machine, const AdjKStep *step, int64_t start, int n)
{
  const AdjKView *view = &machine->views[step->operand];
  const void *from = machine->reg[step->a];
  void *there = dense_at (machine, view, step->klass, start, n);

  if (!there)
    adj_k_store (&machine->loops->klass[step->klass], view, 0, start, from, n);
  else if (from != there)
    memcpy (there, from, (size_t) n * adj_k_type_get_size (view->type));
}

static void
run_steps (Machine *machine, int first, int end, int64_t start, int n)
{
  for (int i = first, done = 1; i < end; i += done)
    {
      const AdjKStep *step = &machine->fused->steps[i];

      done = 1;
      if (step->kind == ADJ_K_STEP_OP)
        done = run_op (machine, i, end, start, n);
      else if (step->kind == ADJ_K_STEP_LOAD)
        run_load (machine, step, start, n);
      else if (step->kind == ADJ_K_STEP_CAST)
        run_cast (machine, step, n);
      else if (step->kind == ADJ_K_STEP_STORE)
        run_store (machine, step, start, n);
      else
        {
          void *tile = tile_at (machine, step->dst);

          machine->reg[step->dst] = tile;
          machine->loops->klass[step->klass].load[step->type](tile, &step->imm, 0, n);
        }
    }
}

/* The size of an element of a register. */
static size_t
find_size (const AdjKFused *fused)
{
  for (int i = 0; i < fused->n_steps; i++)
    if (fused->steps[i].klass != ADJ_K_CLASS_F32 || fused->steps[i].to != ADJ_K_CLASS_F32)
      return sizeof (Scalar);
  return sizeof (float);
}

/* The number of elements of a tile for which everything fits into the L1 cache. */
static int
find_span (const AdjKFused *fused, const AdjKView *views, size_t size)
{
  size_t held = size * (size_t) fused->n_regs;
  int span = MOST;

  for (int i = 0; i < fused->n_operands; i++)
    held += adj_k_type_get_size (views[i].type);
  while (span > LEAST && (size_t) span * held > CACHED)
    span /= 2;
  return span;
}

static bool
run_block (const AdjKFused *fused, const AdjKView *views, int64_t start, int64_t end)
{
  _Alignas(64) char tiles[ADJ_K_MAX_REGS * LEAST * sizeof (Scalar) + CACHED];
  size_t size = find_size (fused);
  int span = find_span (fused, views, size);
  Machine machine = { .fused = fused,
                      .loops = adj_k_loops (),
                      .views = views,
                      .tiles = tiles,
                      .of_tile = (size_t) span * size };

  run_steps (&machine, 0, fused->n_fixed, start, (int) min_i64 (span, end - start));
  for (; start < end; start += span)
    run_steps (&machine, fused->n_fixed, fused->n_steps, start, (int) min_i64 (span, end - start));
  return machine.zero_division;
}

/* The operand whose strides decide the order of dims: a stored one, else the first. */
static int
find_first_stored (const AdjKFused *fused)
{
  for (int i = 0; i < fused->n_steps; i++)
    if (fused->steps[i].kind == ADJ_K_STEP_STORE)
      return fused->steps[i].operand;
  return 0;
}

static void
swap_views (AdjKView *views, int a, int b)
{
  AdjKView view = views[a];

  views[a] = views[b];
  views[b] = view;
}

void
adj_k_fused_merge (const AdjKFused *fused, AdjKView *operands)
{
  int first = find_first_stored (fused);

  if (fused->n_operands == 0)
    return;
  swap_views (operands, 0, first);
  adj_k_views_merge_any_order (operands, fused->n_operands);
  swap_views (operands, 0, first);
}

static bool
run_merged (const AdjKFused *fused, const AdjKView *views)
{
  int64_t n = adj_k_view_count (&views[0]), block = BLOCK;
  int n_zero_divisions = 0;

  if (n <= block)
    return !run_block (fused, views, 0, n);

#pragma omp parallel for schedule(static) reduction(+ : n_zero_divisions)
  for (int64_t start = 0; start < n; start += block)
    n_zero_divisions += run_block (fused, views, start, min_i64 (n, start + block));

  return n_zero_divisions == 0;
}

bool
adj_k_fused (const AdjKFused *fused, const AdjKView *operands)
{
  AdjKView views[ADJ_K_MAX_OPERANDS];

  if (fused->n_operands == 0)
    return true;
  if (fused->merged)
    return run_merged (fused, operands);
  memcpy (views, operands, (size_t) fused->n_operands * sizeof *operands);
  adj_k_fused_merge (fused, views);
  return run_merged (fused, views);
}
