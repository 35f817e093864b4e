/* SPDX-License-Identifier: MIT */
/* Finds repeated stretches of calls: a distance at which operators and source lines are equal for
 * at least twice that distance.  Takes the longest repetition, then searches before and after it.
 */

#include "analysis/adj-blocks.h"

#include <string.h>

#include "analysis/adj-counterparts.h"
#include "analysis/adj-lines.h"
#include "analysis/blocks-leader-private.h"
#include "base/adj-arena.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"

#define MIN_PERIOD 6   /* minimal calls of a block */
#define LONG_PERIOD 16 /* … if there are only two blocks */
#define N_DISTANCES 64 /* number of distances tried */

typedef struct
{
  AdjBlocks shown; /* first member: the public part */
  AdjArena *texts;
  GArray *blocks; /* of AdjBlock */
  guint32 *of_node;
} Result;

typedef struct
{
  const AdjGraph *graph;
  GArray *calls;  /* of guint32: nodes of forward */
  guint32 *token; /* of each call: its operator and source line */
  guint *live; /* of each call and one more: number of values made before and read from there on */
  guint n_runs;
  Result *result;
} Search;

/* A repetition: calls[start + i] is like calls[start + i + period]. */
typedef struct
{
  guint start, length, period; /* length: of the whole repetition */
} Run;

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION || node->opcode == ADJ_OPCODE_CALL_METHOD ||
         node->opcode == ADJ_OPCODE_CALL_MODULE;
}

static gboolean
names_modules (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      const AdjNodeMeta *meta = &adj_graph_get_node (graph, i)->meta;

      if (meta->n_modules + meta->n_fwd_modules > 0)
        return TRUE;
    }
  return FALSE;
}

static gboolean
returns_early (const AdjGraph *graph)
{
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  for (guint k = 0; k < output->n_inputs; k++)
    if (!adj_graph_depends_on_tangent (graph, output->inputs[k].index) &&
        is_call (adj_graph_get_node (graph, output->inputs[k].index)))
      return TRUE;
  return FALSE;
}

/* The calls of forward: up to the first that depends on a tangent; in a pure backward graph all
 * calls. */
static GArray *
collect_calls (const AdjGraph *graph)
{
  GArray *calls = g_array_new (FALSE, FALSE, sizeof (guint32));
  gboolean all = !returns_early (graph);

  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      if (!is_call (adj_graph_get_node (graph, i)))
        continue;
      if (!all && adj_graph_depends_on_tangent (graph, i))
        break;
      g_array_append_val (calls, i);
    }
  return calls;
}

static guint32
token_of (const AdjNode *node)
{
  const AdjFrame *frame = node->meta.n_frames ? &node->meta.frames[node->meta.n_frames - 1] : NULL;
  guint32 token = g_str_hash (node->target) * 31 + node->n_inputs;

  return frame ? (token * 31 + g_str_hash (frame->file)) * 31 + frame->line : token;
}

static const AdjNode *
get_call (const Search *self, guint at)
{
  return adj_graph_get_node (self->graph, g_array_index (self->calls, guint32, at));
}

static void
count_live (Search *self)
{
  guint n = self->calls->len;
  g_autofree guint *at = g_new0 (guint, adj_graph_get_n_nodes (self->graph) + 1);

  for (guint k = 0; k < n; k++)
    at[g_array_index (self->calls, guint32, k)] = k + 1;
  for (guint k = 0; k < n; k++)
    {
      const AdjNode *node = get_call (self, k);
      guint last = 0;

      for (guint u = 0; u < node->n_users; u++)
        last = MAX (last, at[node->users[u].index]);
      if (last > 0)
        {
          self->live[k + 1]++;
          self->live[last]--;
        }
    }
  for (guint k = 1; k <= n; k++)
    self->live[k] += self->live[k - 1];
}

/* Number of equal calls at a distance. */
typedef struct
{
  guint distance, n;
} Distance;

static gint
most_frequent_first (gconstpointer a, gconstpointer b)
{
  const Distance *x = a, *y = b;

  return x->n != y->n ? (x->n > y->n ? -1 : 1)
                      : (x->distance > y->distance) - (x->distance < y->distance);
}

/* Adds to @count the distances between equal stretches of @width calls. */
static void
count_distances (const Search *self, guint from, guint to, guint width, guint *count)
{
  g_autoptr (GHashTable) last = g_hash_table_new (NULL, NULL);

  for (guint k = from; k + width <= to; k++)
    {
      guint32 token = 0;
      guint before;

      for (guint i = 0; i < width; i++)
        token = (token ^ self->token[k + i]) * 0x9e3779b1u;
      before = GPOINTER_TO_UINT (g_hash_table_lookup (last, GUINT_TO_POINTER (token)));
      if (before > 0)
        count[k + 1 - before]++;
      g_hash_table_insert (last, GUINT_TO_POINTER (token), GUINT_TO_POINTER (k + 1));
    }
}

/* (transfer full): of Distance. */
static GArray *
find_distances (const Search *self, guint from, guint to)
{
  static const guint widths[] = { 1, 8, 32 };
  g_autofree guint *count = g_new0 (guint, to - from + 1);
  GArray *distances = g_array_new (FALSE, FALSE, sizeof (Distance));

  for (guint i = 0; i < G_N_ELEMENTS (widths); i++)
    count_distances (self, from, to, widths[i], count);
  for (guint d = 1; d <= to - from; d++)
    if (count[d] > 0)
      {
        Distance distance = { d, count[d] };

        g_array_append_val (distances, distance);
      }
  g_array_sort (distances, most_frequent_first);
  return distances;
}

/* The longest repetition of @period in a range; a short period is multiplied. */
static Run
find_run (const Search *self, guint from, guint to, guint period)
{
  guint times = (MIN_PERIOD + period - 1) / period;
  Run best = { 0, 0, times * period };

  for (guint k = from, start = from; k + period <= to; k++)
    if (k + period == to || self->token[k] != self->token[k + period])
      {
        if (k > start && k - start + period > best.length)
          {
            best.start = start;
            best.length = k - start + period;
          }
        start = k + 1;
      }
  if (best.length < (best.period < LONG_PERIOD ? 3 : 2) * best.period)
    best.length = 0;
  return best;
}

/* Where to start the blocks of a run: where the fewest values pass from one to the next. */
static guint
find_phase (const Search *self, const Run *run)
{
  guint best = 0;

  for (guint d = 1; d < run->period && 2 * run->period + d <= run->length; d++)
    if (self->live[run->start + run->period + d] < self->live[run->start + run->period + best])
      best = d;
  return best;
}

/* "models.py:40–71" of calls[from … to]. */
static char *
name_lines (const Search *self, guint from, guint to)
{
  AdjLines lines = { 0 };
  char *name;

  for (guint k = from; k < to; k++)
    adj_lines_add (&lines, get_call (self, k));
  name = adj_lines_print (&lines);
  return name != NULL ? name : g_strdup_printf ("%u calls", to - from);
}

/* Whether a block of another run has the same name and number of blocks. */
static gboolean
is_taken (const Search *self, const char *name, guint n)
{
  for (guint i = 0; i < self->result->blocks->len; i++)
    {
      const AdjBlock *block = &g_array_index (self->result->blocks, AdjBlock, i);

      if (block->position == 1 && block->n_of_run == n && strcmp (block->name, name) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
append_blocks (Search *self, guint start, guint period, guint n)
{
  AdjArena *texts = self->result->texts;
  g_autofree char *lines = name_lines (self, start, start + period);
  g_autofree char *name = g_strdup (lines);

  for (guint again = 2; is_taken (self, name, n); again++)
    {
      g_free (name);
      name = g_strdup_printf ("%s (%u)", lines, again);
    }
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *path = g_strdup_printf ("%s · %u of %u", name, i + 1, n);
      AdjBlock block = { .module = { adj_arena_intern (texts, path), "" },
                         .name = adj_arena_intern (texts, name),
                         .run = self->n_runs,
                         .position = i + 1,
                         .n_of_run = n,
                         .first = start + i * period,
                         .end = start + (i + 1) * period };

      g_array_append_val (self->result->blocks, block);
    }
  self->n_runs++;
}

/* Searches calls[from … to]. */
static void
search (Search *self, guint from, guint to)
{
  g_autoptr (GArray) distances = NULL;
  Run best = { 0, 0, 0 };
  guint phase, n;

  if (to - from < 2 * MIN_PERIOD)
    return;
  distances = find_distances (self, from, to);
  for (guint i = 0; i < MIN (distances->len, N_DISTANCES); i++)
    {
      Run run = find_run (self, from, to, g_array_index (distances, Distance, i).distance);
      guint covered = run.length / run.period * run.period;
      guint most = best.period ? best.length / best.period * best.period : 0;

      if (covered > most || (covered == most && covered > 0 && run.period < best.period))
        best = run;
    }
  if (best.length == 0)
    return;
  phase = find_phase (self, &best);
  n = (best.length - phase) / best.period;
  search (self, from, best.start + phase);
  append_blocks (self, best.start + phase, best.period, n);
  search (self, best.start + phase + n * best.period, to);
}

/* Assigns nodes to blocks: their calls, and the gradients of these. */
static void
assign_nodes (Search *self)
{
  Result *result = self->result;
  const guint32 *counterparts = adj_graph_get_counterparts (self->graph);

  for (guint b = 0; b < result->blocks->len; b++)
    {
      AdjBlock *block = &g_array_index (result->blocks, AdjBlock, b);

      for (guint k = block->first; k < block->end; k++)
        result->of_node[g_array_index (self->calls, guint32, k)] = b;
      block->end = g_array_index (self->calls, guint32, block->end - 1) + 1;
      block->first = g_array_index (self->calls, guint32, block->first);
    }
  for (guint32 i = 0; i < adj_graph_get_n_nodes (self->graph); i++)
    if (result->of_node[i] == ADJ_NO_BLOCK)
      result->of_node[i] = blocks_of_gradient (self->graph, i, counterparts[i], result->of_node);
  blocks_take_readers (self->graph, result->of_node);
}

static void
find_own (const AdjGraph *graph, Result *result)
{
  Search self = { .graph = graph, .result = result };

  self.calls = collect_calls (graph);
  self.token = g_new (guint32, self.calls->len + 1);
  self.live = g_new0 (guint, self.calls->len + 2);
  for (guint k = 0; k < self.calls->len; k++)
    self.token[k] = token_of (get_call (&self, k));
  count_live (&self);
  search (&self, 0, self.calls->len);
  if (result->blocks->len > 0)
    assign_nodes (&self);
  g_array_unref (self.calls);
  g_free (self.token);
  g_free (self.live);
}

/* Copies the blocks of another graph that have a node here. */
static void
take_blocks (const AdjGraph *graph, const AdjBlocks *blocks, Result *result)
{
  g_autofree guint32 *taken = g_new (guint32, blocks->n_blocks);

  memset (taken, 0xff, sizeof (guint32) * blocks->n_blocks);
  for (guint32 i = 0; i < adj_graph_get_n_nodes (graph); i++)
    {
      guint32 block = result->of_node[i];

      if (block == ADJ_NO_BLOCK)
        continue;
      if (taken[block] == ADJ_NO_BLOCK)
        {
          AdjBlock own = blocks->blocks[block];

          taken[block] = result->blocks->len;
          own.module.path = adj_arena_intern (result->texts, own.module.path);
          own.name = adj_arena_intern (result->texts, own.name);
          own.first = i;
          own.end = i + 1;
          g_array_append_val (result->blocks, own);
        }
      result->of_node[i] = taken[block];
      if (!adj_graph_depends_on_tangent (graph, i))
        g_array_index (result->blocks, AdjBlock, taken[block]).end = i + 1;
    }
}

static gpointer
compute (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  Result *result = g_new0 (Result, 1);
  gboolean named = names_modules (graph);
  const AdjBlocks *led = NULL;

  result->texts = adj_arena_new ();
  result->blocks = g_array_new (FALSE, FALSE, sizeof (AdjBlock));
  result->of_node = g_new (guint32, n + 1);
  if (!named)
    led = blocks_of_leader (graph, result->of_node);
  if (led != NULL)
    take_blocks (graph, led, result);
  else
    memset (result->of_node, 0xff, sizeof (guint32) * n);
  if (!named && led == NULL)
    find_own (graph, result);
  result->shown.n_blocks = result->blocks->len;
  result->shown.blocks = (const AdjBlock *) (gconstpointer) result->blocks->data;
  result->shown.of_node = result->of_node;
  return result;
}

static void
result_free (gpointer data)
{
  Result *result = data;

  adj_arena_free (result->texts);
  g_array_unref (result->blocks);
  g_free (result->of_node);
  g_free (result);
}

static const AdjGraphAnalysis blocks_analysis = { compute, result_free };

const AdjBlocks *
adj_graph_get_blocks (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &blocks_analysis);
}
