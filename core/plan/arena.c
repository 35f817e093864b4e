/* SPDX-License-Identifier: MIT */
/* Offsets in the arena: large blocks first, each in a gap between the blocks that are live at the
 * same time; a result takes over the memory of an operand that is dead after the call. */

#include "plan/plan-private.h"

#define ALIGNMENT 64
/* With more blocks than this, comparing all pairs takes too long: they are placed in the order of
 * their first use. */
#define MANY_BLOCKS 2048

/* A buffer, with those that take over its memory. */
typedef struct
{
  guint32 buffer;
  guint32 first, last;
  guint64 bytes, offset;
} Block;

/* -- taking over -- */

/* The step that reads @operand of a fused region last. */
static gint
find_last_read (const AdjKFused *program, gint operand)
{
  gint last = -1;
  gint reg = -1;

  for (gint i = 0; i < program->n_steps; i++)
    {
      const AdjKStep *step = &program->steps[i];
      const guint8 args[3] = { step->a, step->b, step->c };
      gint n = step->kind == ADJ_K_STEP_OP
                   ? adj_k_op_get_arity ((AdjKOp) step->op)
                   : step->kind == ADJ_K_STEP_CAST || step->kind == ADJ_K_STEP_STORE;

      for (gint k = 0; k < n; k++)
        if (args[k] == reg)
          last = i;
      if (step->kind == ADJ_K_STEP_STORE)
        continue;
      if (step->dst == reg)
        reg = -1;
      if (step->kind == ADJ_K_STEP_LOAD && step->operand == operand)
        reg = step->dst;
    }
  return last;
}

static gint
find_store (const AdjKFused *program, gint operand)
{
  for (gint i = 0; i < program->n_steps; i++)
    if (program->steps[i].kind == ADJ_K_STEP_STORE && program->steps[i].operand == operand)
      return i;
  return -1;
}

static gboolean
same_places (const PlanFused *fused, guint a, guint b)
{
  const AdjKView *x = &fused->operands[a], *y = &fused->operands[b];

  if (fused->offsets[a] != fused->offsets[b] || x->type != y->type)
    return FALSE;
  for (gint i = 0; i < x->rank; i++)
    if (x->stride[i] != y->stride[i])
      return FALSE;
  return TRUE;
}

static gboolean
shows_once (const PlanFused *fused, guint32 buffer)
{
  guint n = 0;

  for (guint i = 0; i < fused->n_operands; i++)
    n += fused->buffers[i] == buffer;
  return n == 1;
}

/* Whether stored operand @to can take over the memory of loaded operand @from, which is live until
 * @region. */
static gboolean
can_take_over (const AdjPlan *plan, const PlanFused *fused, guint32 region, guint to, guint from)
{
  const PlanBuffer *old = plan_buffer (plan, fused->buffers[from]);
  const PlanBuffer *new = plan_buffer (plan, fused->buffers[to]);

  return old->memory == PLAN_MEMORY_ARENA && old->last == region && old->first < region &&
         old->n_bytes == new->n_bytes &&shows_once (fused, fused->buffers[from]) &&
         same_places (fused, to, from) &&
         find_last_read (&fused->program, (gint) from) < find_store (&fused->program, (gint) to);
}

/* @root: per buffer, the first buffer of the chain whose memory it is in. */
static void
take_over (AdjPlan *plan, guint32 region, gboolean *taken, guint32 *root)
{
  const PlanFused *fused = plan_region (plan, region)->fused;

  for (guint to = 0; fused != NULL && to < fused->n_operands; to++)
    {
      PlanBuffer *buffer = plan_buffer (plan, fused->buffers[to]);

      if (find_store (&fused->program, (gint) to) < 0 || buffer->memory != PLAN_MEMORY_ARENA ||
          buffer->first != region)
        continue;
      for (guint from = 0; from < fused->n_operands && buffer->taken_over == PLAN_NONE; from++)
        if (!taken[fused->buffers[from]] && find_store (&fused->program, (gint) from) < 0 &&
            can_take_over (plan, fused, region, to, from))
          {
            buffer->taken_over = fused->buffers[from];
            root[fused->buffers[to]] = root[fused->buffers[from]];
            taken[fused->buffers[from]] = TRUE;
          }
    }
}

/* -- blocks -- */

static guint64
align (guint64 bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static GArray *
list_blocks (AdjPlan *plan, const guint32 *root)
{
  guint n = plan->buffers->len;
  g_autofree guint32 *last = g_new0 (guint32, n + 1);
  GArray *blocks = g_array_new (FALSE, FALSE, sizeof (Block));

  for (guint32 i = 0; i < n; i++)
    if (plan_buffer (plan, i)->last != PLAN_NONE)
      last[root[i]] = MAX (last[root[i]], plan_buffer (plan, i)->last);
  for (guint32 i = 0; i < n; i++)
    {
      const PlanBuffer *buffer = plan_buffer (plan, i);
      const Block block = { i, buffer->first, last[i], align (buffer->n_bytes), 0 };

      if (buffer->memory == PLAN_MEMORY_ARENA && buffer->first != PLAN_NONE && root[i] == i)
        g_array_append_val (blocks, block);
    }
  return blocks;
}

static guint64
find_peak (const GArray *blocks, guint n_regions)
{
  g_autofree gint64 *change = g_new0 (gint64, n_regions + 2);
  gint64 live = 0, peak = 0;

  for (guint i = 0; i < blocks->len; i++)
    {
      const Block *block = &g_array_index (blocks, Block, i);

      change[block->first] += (gint64) block->bytes;
      change[block->last + 1] -= (gint64) block->bytes;
    }
  for (guint i = 0; i < n_regions; i++)
    {
      live += change[i];
      peak = MAX (peak, live);
    }
  return (guint64) peak;
}

static int
larger_first (gconstpointer a, gconstpointer b)
{
  const Block *x = a, *y = b;

  if (x->bytes != y->bytes)
    return x->bytes < y->bytes ? 1 : -1;
  return x->first < y->first ? -1 : x->first > y->first;
}

static int
earlier_first (gconstpointer a, gconstpointer b)
{
  const Block *x = a, *y = b;

  if (x->first != y->first)
    return x->first < y->first ? -1 : 1;
  return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

/* The offset of the tightest gap for @block between the blocks @placed, which are live at the same
 * time and sorted by offset. */
static guint64
find_gap (const GPtrArray *placed, const Block *block)
{
  guint64 end = 0, best = G_MAXUINT64, best_at = 0;

  for (guint i = 0; i < placed->len; i++)
    {
      const Block *other = placed->pdata[i];

      if (other->last < block->first || other->first > block->last)
        continue;
      if (other->offset >= end + block->bytes && other->offset - end < best)
        {
          best = other->offset - end;
          best_at = end;
        }
      end = MAX (end, other->offset + other->bytes);
    }
  return best != G_MAXUINT64 ? best_at : end;
}

static void
insert_by_offset (GPtrArray *placed, Block *block)
{
  guint low = 0, high = placed->len;

  while (low < high)
    {
      guint middle = (low + high) / 2;

      if (((Block *) placed->pdata[middle])->offset <= block->offset)
        low = middle + 1;
      else
        high = middle;
    }
  g_ptr_array_insert (placed, (gint) low, block);
}

static void
drop_ended (GPtrArray *placed, guint32 first)
{
  guint n = 0;

  for (guint i = 0; i < placed->len; i++)
    if (((Block *) placed->pdata[i])->last >= first)
      placed->pdata[n++] = placed->pdata[i];
  g_ptr_array_set_size (placed, (gint) n);
}

static guint64
place_blocks (GArray *blocks)
{
  g_autoptr (GPtrArray) placed = g_ptr_array_new ();
  gboolean many = blocks->len > MANY_BLOCKS;
  guint64 size = 0;

  g_array_sort (blocks, many ? earlier_first : larger_first);
  for (guint i = 0; i < blocks->len; i++)
    {
      Block *block = &g_array_index (blocks, Block, i);

      if (many)
        drop_ended (placed, block->first);
      block->offset = find_gap (placed, block);
      insert_by_offset (placed, block);
      size = MAX (size, block->offset + block->bytes);
    }
  return size;
}

void
plan_place_buffers (AdjPlan *plan)
{
  guint n = plan->buffers->len;
  g_autofree gboolean *taken = g_new0 (gboolean, n + 1);
  g_autofree guint32 *root = g_new (guint32, n + 1);
  g_autoptr (GArray) blocks = NULL;

  for (guint32 i = 0; i < n; i++)
    root[i] = i;
  for (guint32 r = 0; r < plan->regions->len; r++)
    take_over (plan, r, taken, root);
  blocks = list_blocks (plan, root);
  plan->lower_bound = find_peak (blocks, plan->regions->len);
  plan->arena_bytes = place_blocks (blocks);
  for (guint i = 0; i < blocks->len; i++)
    {
      const Block *block = &g_array_index (blocks, Block, i);

      plan_buffer (plan, block->buffer)->offset = block->offset;
    }
  for (guint32 i = 0; i < n; i++)
    plan_buffer (plan, i)->offset = plan_buffer (plan, root[i])->offset;
}
