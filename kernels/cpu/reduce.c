/* SPDX-License-Identifier: MIT */

/* Reductions over any dims of strided views.
 *
 * Outputs are reduced by rows (their elements are read in runs) or by columns (COLUMNS neighbouring
 * outputs advance together), whichever reads memory in order.  Both use the same tree. */

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "tree.h"

enum
{
  CHUNK = 64 * LEAF,  /* elements of one long row per thread; a power of two of leaves */
  SERIAL = 32 * 1024, /* elements below which threads do not pay */
  NARROW = 128,       /* outputs handled together if there are many threads */
  SHORT = 64          /* reductions of at most this many elements go by columns */
};

typedef struct
{
  const ClassLoops *loops;
  AdjKClass klass;
  AdjKView in;      /* the kept dims */
  AdjKView reduced; /* the reduced dims */
  int64_t n;        /* elements of `reduced` */
} Job;

/* The reduction of one output, or of some neighbours. */
typedef struct
{
  const Job *job;
  Combine combine;
  Map map;
  const Scalar *center; /* packed elements of the class, for MAP_DEVIATE */
  int64_t base;         /* offset of the first output's elements */
  int64_t stride;       /* from one output's elements to its neighbour's */
  int width;            /* outputs */
} Task;

static Job
job_new (const AdjKView *in, uint32_t dims, AdjKClass klass)
{
  Job job = {
    .loops = &adj_k_loops ()->klass[klass],
    .klass = klass,
    .in = adj_k_view_keep (in, ~dims),
    .reduced = adj_k_view_keep (in, dims),
  };

  adj_k_views_merge (&job.reduced, 1);
  job.n = adj_k_view_count (&job.reduced);
  return job;
}

static bool
goes_by_columns (const Job *job)
{
  int last = job->in.rank - 1;

  return job->in.size[last] >= 4 &&
         (job->n <= SHORT || job->in.stride[last] < job->reduced.stride[job->reduced.rank - 1]);
}

static void
apply_map (const Task *task, void *tile, int step, int n)
{
  MapLoop map = task->job->loops->map[task->map];

  if (map)
    map (tile, task->center, step, n);
}

static void
reduce_columns (const Task *task, Scalar *result)
{
  const Job *job = task->job;
  _Alignas(64) Scalar lanes[LANES * COLUMNS];
  Scalar row[COLUMNS];
  LoadLoop load = job->loops->load[job->in.type];
  bool as_they_are =
      !job->loops->map[task->map] && task->stride == 1 && job->in.type == job->loops->type;
  Walk walk;
  Tree tree;

  adj_k_walk_begin (&walk, &job->reduced);
  adj_k_walk_add (&walk, job->reduced.stride);
  adj_k_tree_begin (&tree, job->loops, task->combine, task->width);
  for (int64_t start = 0; start < job->n; start += LEAF)
    {
      int m = (int) min_i64 (LEAF, job->n - start);

      adj_k_tree_begin_columns (&tree, lanes, m);
      for (int i = 0; i < m; i++, adj_k_walk_next (&walk))
        {
          const void *at = view_at (&job->in, task->base + walk.offset[0]);

          if (!as_they_are)
            {
              load (row, at, task->stride, task->width);
              apply_map (task, row, 1, task->width);
            }
          adj_k_tree_add_columns (&tree, lanes, as_they_are ? at : row, i);
        }
      adj_k_tree_push_columns (&tree, lanes, m);
    }
  adj_k_tree_end (&tree, result);
}

/* A part of one row: elements from @start on. */
typedef struct
{
  const Task *task;
  int64_t start;
} Part;

static void
read_part (const void *source, void *tile, int64_t start, int n)
{
  const Part *part = source;
  const Job *job = part->task->job;

  adj_k_load (job->loops, tile, &job->reduced, part->task->base, part->start + start, n);
  apply_map (part->task, tile, 0, n);
}

/* Chunks are complete subtrees, so joining their results gives the tree of the whole row. */
static void
reduce_row (const Task *task, Scalar *result)
{
  const Job *job = task->job;
  int64_t n_chunks = (job->n + CHUNK - 1) / CHUNK;
  Scalar *chunks = n_chunks > 1 ? malloc ((size_t) n_chunks * sizeof *chunks) : NULL;
  Tree tree;

  if (!chunks)
    {
      Part all = { task, 0 };

      adj_k_tree_fold (job->loops, task->combine, read_part, &all, job->n, result);
      return;
    }

#pragma omp parallel for schedule(static)
  for (int64_t i = 0; i < n_chunks; i++)
    {
      Part part = { task, i * CHUNK };

      adj_k_tree_fold (job->loops, task->combine, read_part, &part,
                       min_i64 (CHUNK, job->n - part.start), &chunks[i]);
    }

  adj_k_tree_begin (&tree, job->loops, task->combine, 1);
  for (int64_t i = 0; i < n_chunks; i++)
    {
      memcpy (adj_k_tree_slot (&tree), &chunks[i], job->loops->size);
      adj_k_tree_push (&tree);
    }
  adj_k_tree_end (&tree, result);
  free (chunks);
}

/* @result gets packed elements of the class. */
static void
reduce_task (const Task *task, Scalar *result)
{
  Task one = *task;

  if (goes_by_columns (task->job))
    {
      reduce_columns (task, result);
      return;
    }

  one.width = 1;
  for (int i = 0; i < task->width; i++)
    {
      size_t at = (size_t) i * task->job->loops->size;

      one.base = task->base + i * task->stride;
      one.center = task->center ? (const void *) ((const char *) task->center + at) : NULL;
      reduce_row (&one, (void *) ((char *) result + at));
    }
}

/* result = result ∘ value, elementwise. */
static void
apply_op (const Job *job, AdjKOp op, Scalar *result, double value, int n)
{
  Scalar other[COLUMNS];
  int64_t whole = (int64_t) value;

  if (job->klass == ADJ_K_CLASS_I64)
    job->loops->load[ADJ_K_I64](other, &whole, 0, n);
  else
    job->loops->load[ADJ_K_F64](other, &value, 0, n);
  job->loops->op[op](result, result, other, other, n);
}

/* Reduces COLUMNS (or fewer) neighbouring outputs. */
typedef void (*Finish) (const void *what, Task *task, int64_t index);

/* Outputs of a group: long runs of memory, but enough groups for all threads. */
static int64_t
group_width (int64_t length)
{
  int64_t each = length / omp_get_max_threads () / NARROW * NARROW;

  return each > COLUMNS ? COLUMNS : each > NARROW ? each : NARROW;
}

/* Calls @finish for all outputs in groups of neighbours, with the index of each group's first
 * one. */
static void
for_each_group (const Job *job, Finish finish, const void *what)
{
  const AdjKView *in = &job->in;
  int last = in->rank - 1;
  int64_t length = in->size[last], width = group_width (length);
  int64_t groups = (length + width - 1) / width;
  int64_t count = adj_k_view_count (in), rows = length ? count / length : 0;
  bool threads = rows * groups > 1 && count * (job->n + 1) > SERIAL;

#pragma omp parallel for schedule(static) if (threads)
  for (int64_t i = 0; i < rows * groups; i++)
    {
      int64_t first = i / groups * length + i % groups * width;
      Task task = {
        .job = job,
        .base = adj_k_view_offset (in, first),
        .stride = in->stride[last],
        .width = (int) min_i64 (width, length - i % groups * width),
      };

      finish (what, &task, first);
    }
}

/* --- sum and the like --------------------------------------------------------------------------
 */

static const struct
{
  Combine combine;
  Map map;
} kinds[] = {
  [ADJ_K_SUM] = { COMBINE_SUM, MAP_NONE },    [ADJ_K_PROD] = { COMBINE_PROD, MAP_NONE },
  [ADJ_K_MAX] = { COMBINE_MAX, MAP_NONE },    [ADJ_K_MIN] = { COMBINE_MIN, MAP_NONE },
  [ADJ_K_MEAN] = { COMBINE_SUM, MAP_NONE },   [ADJ_K_ANY] = { COMBINE_MAX, MAP_NONZERO },
  [ADJ_K_ALL] = { COMBINE_MIN, MAP_NONZERO }, [ADJ_K_NORM2] = { COMBINE_SUM, MAP_SQUARE },
};

typedef struct
{
  AdjKReduce kind;
  AdjKView out; /* the kept dims */
} Reduction;

static void
finish_reduction (const void *what, Task *task, int64_t index)
{
  const Reduction *reduction = what;
  const Job *job = task->job;
  Scalar result[COLUMNS];

  task->combine = kinds[reduction->kind].combine;
  task->map = kinds[reduction->kind].map;
  reduce_task (task, result);

  if (reduction->kind == ADJ_K_MEAN)
    apply_op (job, job->klass == ADJ_K_CLASS_I64 ? ADJ_K_OP_FLOORDIV : ADJ_K_OP_DIV, result,
              (double) job->n, task->width);
  if (reduction->kind == ADJ_K_NORM2 && job->klass != ADJ_K_CLASS_I64)
    job->loops->op[ADJ_K_OP_SQRT](result, result, NULL, NULL, task->width);
  if (reduction->kind == ADJ_K_ANY && job->n == 0)
    memset (result, 0, sizeof result);
  if (kinds[reduction->kind].map == MAP_NONZERO) /* the identity of min is not 1 */
    job->loops->map[MAP_NONZERO](result, NULL, 0, task->width);
  adj_k_store (job->loops, &reduction->out, 0, index, result, task->width);
}

void
adj_k_reduce (AdjKReduce kind, const AdjKView *out, const AdjKView *in, uint32_t dims)
{
  bool logical = kind == ADJ_K_ANY || kind == ADJ_K_ALL;
  Job job = job_new (in, dims, class_of (logical ? in->type : out->type));
  Reduction reduction = { .kind = kind };
  AdjKView kept[2] = { job.in, adj_k_view_keep (out, ~dims) };

  adj_k_views_merge_any_order (kept, 2);
  job.in = kept[0];
  reduction.out = kept[1];
  for_each_group (&job, finish_reduction, &reduction);
}

/* --- variance ----------------------------------------------------------------------------------
 */

typedef struct
{
  AdjKView var, mean; /* the kept dims; no data: not wanted */
  double correction;
} Variance;

static void
finish_variance (const void *what, Task *task, int64_t index)
{
  const Variance *variance = what;
  const Job *job = task->job;
  Scalar mean[COLUMNS], var[COLUMNS];

  task->combine = COMBINE_SUM;
  task->map = MAP_NONE;
  reduce_task (task, mean);
  apply_op (job, ADJ_K_OP_DIV, mean, (double) job->n, task->width);
  if (variance->mean.data)
    adj_k_store (job->loops, &variance->mean, 0, index, mean, task->width);
  if (!variance->var.data)
    return;

  task->map = MAP_DEVIATE;
  task->center = mean;
  reduce_task (task, var);
  apply_op (job, ADJ_K_OP_DIV, var, fmax ((double) job->n - variance->correction, 0), task->width);
  adj_k_store (job->loops, &variance->var, 0, index, var, task->width);
}

void
adj_k_var_mean (
    const AdjKView *var, const AdjKView *mean, const AdjKView *in, uint32_t dims, double correction)
{
  const AdjKView *any = var ? var : mean;
  Job job = job_new (in, dims, class_of (any->type));
  Variance variance = { .correction = correction };
  AdjKView kept[3] = { job.in, adj_k_view_keep (any, ~dims),
                       adj_k_view_keep (mean ? mean : any, ~dims) };

  adj_k_views_merge_any_order (kept, 3);
  job.in = kept[0];
  if (var)
    variance.var = kept[1];
  if (mean)
    variance.mean = kept[2];
  for_each_group (&job, finish_variance, &variance);
}
