/* SPDX-License-Identifier: MIT */
/* Origins of the nodes of a stage: by alignment, by recorded origin, by source line. */

#include "analysis/adj-aliases.h"
#include "analysis/adj-counterparts.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "report/adj-stage-origins.h"

#define MAX_GUESSES (1u << 22) /* pairs of nodes whose lines are compared */

char *
adj_stage_origins_target (const AdjNode *node)
{
  g_auto (GStrv) parts = g_strsplit (node->target, ".", -1);
  guint n = g_strv_length (parts);

  if (n >= 2 && g_str_has_prefix (node->target, "torch.ops."))
    return g_strdup (parts[n - 2]);
  return g_strdup (n > 0 ? parts[n - 1] : "");
}

static gboolean
is_same_line (const AdjNode *a, const AdjNode *b)
{
  const AdjFrame *x = a->meta.n_frames > 0 ? &a->meta.frames[a->meta.n_frames - 1] : NULL;
  const AdjFrame *y = b->meta.n_frames > 0 ? &b->meta.frames[b->meta.n_frames - 1] : NULL;

  return x != NULL && y != NULL && x->line == y->line && g_str_equal (x->file, y->file);
}

/* State while the nodes of one source line are visited. */
typedef struct
{
  const AdjGraph *before, *after;
  guint32 *input_of; /* per node after: the input before that it is, or is a view of; G_MAXUINT32 */
  guint32 last;      /* the origin of the last visited node; G_MAXUINT32 */
  gboolean has_computed; /* the last nodes of this origin computed more than a view */
} Guess;

/* Whether node @index of the graph after is a view of another. */
static gboolean
is_view (const Guess *self, guint32 index)
{
  AdjAliasKind kind = adj_graph_get_aliases (self->after)[index].kind;

  return kind != ADJ_ALIAS_NONE && kind != ADJ_ALIAS_UNKNOWN;
}

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode != ADJ_OPCODE_PLACEHOLDER && node->opcode != ADJ_OPCODE_OUTPUT;
}

/* Pairs the inputs of both graphs by position where they are equally many, without tangents. */
static void
find_inputs (Guess *self)
{
  guint n = adj_graph_get_n_inputs (self->before), n_primals = 0;

  for (guint i = 0; i < adj_graph_get_n_nodes (self->after); i++)
    self->input_of[i] = G_MAXUINT32;
  for (guint i = 0; i < adj_graph_get_n_inputs (self->after); i++)
    {
      guint32 input = adj_graph_get_input (self->after, i).index;

      if (adj_graph_get_input_role (self->after, input) == ADJ_INPUT_TANGENT)
        continue;
      if (n_primals < n)
        self->input_of[input] = adj_graph_get_input (self->before, n_primals).index;
      n_primals++;
    }
  for (guint i = 0; i < adj_graph_get_n_nodes (self->after); i++)
    {
      const AdjNode *node = adj_graph_get_node (self->after, i);

      if (n_primals != n)
        self->input_of[i] = G_MAXUINT32;
      else if (is_call (node) && node->n_inputs == 1 && is_view (self, i))
        self->input_of[i] = self->input_of[node->inputs[0].index];
    }
}

/* Whether call @other, before, reads an input that node @index reads, or is a view of. */
static gboolean
reads_the_same (const Guess *self, const AdjNode *other, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->after, index);

  for (guint k = 0; k < other->n_inputs; k++)
    {
      guint32 read = other->inputs[k].index;

      if (adj_graph_get_node (self->before, read)->opcode != ADJ_OPCODE_PLACEHOLDER)
        continue;
      if (self->input_of[index] == read)
        return TRUE;
      for (guint i = 0; i < node->n_inputs; i++)
        if (self->input_of[node->inputs[i].index] == read)
          return TRUE;
    }
  return FALSE;
}

static gboolean
reads_any_input (const AdjGraph *graph, const AdjNode *node)
{
  for (guint k = 0; k < node->n_inputs; k++)
    if (adj_graph_get_node (graph, node->inputs[k].index)->opcode == ADJ_OPCODE_PLACEHOLDER)
      return TRUE;
  return FALSE;
}

/* The fallback: the origin of the previous node; or, if that reads an input and its nodes have
 * computed, and @index computes on, the @next call of the line, if that reads no input. */
static guint32
go_on (const Guess *self, guint32 index, guint32 next)
{
  gboolean done = self->has_computed && !is_view (self, index) &&
                  reads_any_input (self->before, adj_graph_get_node (self->before, self->last));

  return done && next != G_MAXUINT32 &&
                 !reads_any_input (self->before, adj_graph_get_node (self->before, next))
             ? next
             : self->last;
}

/* Of the calls before on the same line as node @index: the one that calls the same, or that reads
 * the same input; else continues from the last origin; else the first. */
static guint32
guess_origin (Guess *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->after, index);
  g_autofree char *target = adj_stage_origins_target (node);
  guint32 first = G_MAXUINT32, next = G_MAXUINT32, read = G_MAXUINT32;

  for (guint i = 0; i < adj_graph_get_n_nodes (self->before); i++)
    {
      const AdjNode *other = adj_graph_get_node (self->before, i);
      g_autofree char *name = NULL;

      if (!is_same_line (other, node) || other->opcode == ADJ_OPCODE_PLACEHOLDER)
        continue;
      name = adj_stage_origins_target (other);
      if (g_str_equal (name, target))
        return i;
      if (read == G_MAXUINT32 && reads_the_same (self, other, index))
        read = i;
      first = MIN (first, i);
      if (self->last != G_MAXUINT32 && i > self->last)
        next = MIN (next, i);
    }
  if (read != G_MAXUINT32)
    return read;
  return self->last != G_MAXUINT32 &&
                 is_same_line (adj_graph_get_node (self->before, self->last), node)
             ? go_on (self, index, next)
             : first;
}

/* The origin of a gradient is that of its forward call. */
static guint32
find_origin (Guess *self, guint32 index, const guint32 *counterparts, const guint32 *origins)
{
  const AdjNode *node = adj_graph_get_node (self->after, index);
  guint32 found;

  if (counterparts[index] != G_MAXUINT32 && origins[counterparts[index]] != G_MAXUINT32 &&
      is_same_line (adj_graph_get_node (self->before, origins[counterparts[index]]), node))
    return origins[counterparts[index]];
  found = guess_origin (self, index);
  if (found != self->last)
    self->has_computed = FALSE;
  self->has_computed |= is_call (node) && !is_view (self, index);
  self->last = found;
  return found;
}

static gboolean
has_origins (const AdjGraph *graph)
{
  for (guint i = 0; i < adj_graph_get_n_nodes (graph); i++)
    if (adj_node_id_is_valid (adj_graph_get_node (graph, i)->origin))
      return TRUE;
  return FALSE;
}

guint32 *
adj_stage_origins_guess (const AdjGraph *before, const AdjGraph *after)
{
  guint n = adj_graph_get_n_nodes (after);
  g_autofree guint32 *input_of = g_new (guint32, n);
  Guess guess = { before, after, input_of, G_MAXUINT32, FALSE };
  const guint32 *counterparts;
  guint32 *origins;

  if ((guint64) n * adj_graph_get_n_nodes (before) > MAX_GUESSES || has_origins (after))
    return NULL;
  origins = g_new (guint32, n);
  counterparts = adj_graph_get_counterparts (after);
  find_inputs (&guess);
  for (guint i = 0; i < n; i++)
    origins[i] = find_origin (&guess, i, counterparts, origins);
  return origins;
}

guint32 *
adj_stage_origins_find (const AdjGraph *before,
                        const AdjGraph *after,
                        gboolean made,
                        const AdjAlignment *alignment)
{
  guint n = adj_graph_get_n_nodes (after);
  guint32 *origins = made ? adj_stage_origins_guess (before, after) : NULL;

  if (origins == NULL)
    {
      origins = g_new (guint32, n);
      for (guint i = 0; i < n; i++)
        {
          origins[i] = adj_graph_get_node (after, i)->origin.index;
          if (!made || origins[i] >= adj_graph_get_n_nodes (before))
            origins[i] = G_MAXUINT32;
        }
    }
  for (guint i = 0; i < alignment->n_changes; i++)
    if (adj_node_id_is_valid (alignment->changes[i].a) &&
        adj_node_id_is_valid (alignment->changes[i].b))
      origins[alignment->changes[i].b.index] = alignment->changes[i].a.index;
  return origins;
}
