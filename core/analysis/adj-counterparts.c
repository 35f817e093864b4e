/* SPDX-License-Identifier: MIT */
/* Pairs backward with forward.  A gradient of call f is made of gradients of f or of what reads f:
 * these calls, and those that read the same values, are candidates; the one that most speaks for is
 * taken. */

#include "analysis/adj-counterparts.h"

#include <string.h>

#include "analysis/adj-aliases.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"

#define NONE G_MAXUINT32
#define MANY_READERS 16 /* a value that more calls read tells nothing alone */
#define MAX_TABLES 16   /* values with many readers that a gradient is told by */
#define MAX_SUMS 3      /* additions in a row that a gradient passes */

/* What speaks for a candidate. */
enum
{
  SAME_GRADIENT = 1, /* a gradient that is read is of the same call */
  NEXT_GRADIENT = 2, /* … or of a call that reads the candidate's result */
  SAME_VALUE = 4,    /* both read a value, or one makes what the other reads */
  SAME_LINE = 3,
  SAME_NAME = 6, /* "gelu_backward" of "gelu" */
};

/* 0 of 0: all of it. */
typedef struct
{
  guint index, n;
} Part;

typedef struct
{
  const AdjGraph *graph;
  guint n;
  guint32 begin;    /* the first call that depends on a tangent: all from there on is backward */
  guint32 *root;    /* of each node: what it looks at; itself when it is no view */
  guint32 *value;   /* of each node: the same, but a part is a value of its own */
  guint32 *first;   /* n + 1: readers[first[i] … first[i + 1]] read node i or views of it */
  guint32 *readers; /* forward calls */
  guint32 *pair;    /* of each node */
  Part *part;       /* of each node: of the gradient that it looks at */
  guint8 *is_sum;   /* of each node: it adds gradients of the result of its pair */
  guint32 *leaf;    /* of each node: the input or attribute whose gradients it adds */
  guint32 *candidates;
  gint *score;       /* of each node: as a candidate of the node that is looked at; 0: none */
  guint *spoken;     /* of each node: the last input that spoke for it */
  gint *first_score; /* of each node: what the first input that spoke for it added */
  guint8 *agreed;    /* of each node: two inputs spoke for it alike */
  guint now;         /* number of that input */
  guint n_candidates;
  GArray *results; /* of guint32: roots of what forward returns */
} Pairing;

static gboolean
is_call (const AdjNode *node)
{
  return node->opcode == ADJ_OPCODE_CALL_FUNCTION || node->opcode == ADJ_OPCODE_CALL_METHOD ||
         node->opcode == ADJ_OPCODE_CALL_MODULE;
}

static gboolean
is_late (const Pairing *self, guint32 index)
{
  return index >= self->begin || adj_graph_depends_on_tangent (self->graph, index);
}

static guint32
find_begin (const AdjGraph *graph)
{
  guint32 n = adj_graph_get_n_nodes (graph);

  for (guint32 i = 0; i < n; i++)
    if (is_call (adj_graph_get_node (graph, i)) && adj_graph_depends_on_tangent (graph, i))
      return i;
  return n;
}

static gboolean
is_forward_call (const Pairing *self, guint32 index)
{
  return self->root[index] == index && is_call (adj_graph_get_node (self->graph, index)) &&
         !is_late (self, index);
}

/* "gelu" of "torch.ops.aten.gelu.default", with its length. */
static const char *
name_of_operator (const AdjNode *node, gsize *length)
{
  const char *name = node->target, *dot;

  if (g_str_has_prefix (name, "torch.ops.") && (dot = strchr (name + strlen ("torch.ops."), '.')))
    name = dot + 1;
  dot = strchr (name, '.');
  *length = dot ? (gsize) (dot - name) : strlen (name);
  return name;
}

static gboolean
is_called (const AdjNode *node, const char *const *names)
{
  gsize length;
  const char *name = name_of_operator (node, &length);

  for (; *names != NULL; names++)
    if (strlen (*names) == length && strncmp (name, *names, length) == 0)
      return TRUE;
  return FALSE;
}

static gboolean
takes_part (const AdjNode *node)
{
  static const char *const names[] = { "slice", "select", NULL };

  return is_called (node, names) || g_str_equal (node->target, "operator.getitem");
}

static void
find_roots (Pairing *self)
{
  const AdjAlias *aliases = adj_graph_get_aliases (self->graph);

  for (guint32 i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      gboolean view = node->n_inputs == 1 &&
                      (aliases[i].kind == ADJ_ALIAS_VIEW || aliases[i].kind == ADJ_ALIAS_ITEM);

      self->root[i] = view ? self->root[node->inputs[0].index] : i;
      self->value[i] = view && !takes_part (node) ? self->value[node->inputs[0].index] : i;
    }
}

static void
note_reader (Pairing *self, guint pass, guint32 value, guint32 reader)
{
  if (pass == 0)
    self->first[value + 1]++;
  else
    self->readers[self->first[value]++] = reader;
}

static void
find_readers (Pairing *self)
{
  guint32 total = 0;

  for (guint pass = 0; pass < 2; pass++)
    {
      for (guint32 i = 0; i < self->n; i++)
        {
          const AdjNode *node = adj_graph_get_node (self->graph, i);

          for (guint k = 0; k < node->n_inputs && is_forward_call (self, i); k++)
            {
              guint32 input = node->inputs[k].index;

              note_reader (self, pass, self->root[input], i);
              if (self->value[input] != self->root[input])
                note_reader (self, pass, self->value[input], i);
            }
        }
      for (guint32 i = 0; i < self->n && pass == 0; i++)
        total = self->first[i + 1] += self->first[i];
      if (pass == 0)
        self->readers = g_new (guint32, total + 1);
    }
  memmove (self->first + 1, self->first, sizeof (guint32) * self->n);
  self->first[0] = 0;
}

static void
speak_for (Pairing *self, guint32 candidate, gint weight)
{
  if (!is_forward_call (self, candidate) || self->spoken[candidate] == self->now)
    return;
  self->spoken[candidate] = self->now;
  self->agreed[candidate] = self->score[candidate] > 0 && self->first_score[candidate] == weight;
  if (self->score[candidate] == 0)
    {
      self->candidates[self->n_candidates++] = candidate;
      self->first_score[candidate] = weight;
    }
  self->score[candidate] += weight;
}

/* Of a view that is one of several parts of what it looks at, which one of how many. */
static void
find_part (Pairing *self, guint32 view)
{
  const AdjNode *node = adj_graph_get_node (self->graph, view);
  const AdjNode *base = adj_graph_get_node (self->graph, node->inputs[0].index);

  self->part[view] = self->part[node->inputs[0].index];
  if (!takes_part (node))
    return;
  self->part[view] = (Part){ 0, 0 };
  for (guint k = 0; k < base->n_users; k++)
    if (takes_part (adj_graph_get_node (self->graph, base->users[k].index)))
      {
        self->part[view].index += base->users[k].index < view;
        self->part[view].n++;
      }
}

/* Whether the gradient of input @k of @node is the @part that is read of the gradient of its
 * result, so that backward has no call for it. */
static gboolean
passes_gradient_on (const AdjNode *node, guint k, Part part)
{
  static const char *const whole[] = { "add", "sum", "clone", NULL }, *const first[] = { "sub",
                                                                                         NULL };
  static const char *const parts[] = { "cat", "stack", NULL };

  return is_called (node, whole) || (k == 0 && is_called (node, first)) ||
         (part.n > 0 && (part.n != node->n_inputs || part.index == k) && is_called (node, parts));
}

/* A part of a gradient of the result of @of is read. */
static void
follow_result (Pairing *self, guint32 of, Part part, guint depth)
{
  const AdjNode *node = adj_graph_get_node (self->graph, of);

  speak_for (self, of, NEXT_GRADIENT);
  for (guint k = 0; k < node->n_inputs && depth < MAX_SUMS; k++)
    if (passes_gradient_on (node, k, part) &&
        is_forward_call (self, self->root[node->inputs[k].index]))
      follow_result (self, self->root[node->inputs[k].index], part, depth + 1);
}

/* @part of @input, a gradient, is read. */
static void
follow_gradient (Pairing *self, guint32 input, Part part)
{
  guint32 of = self->pair[input];
  const AdjNode *node = adj_graph_get_node (self->graph, of);

  if (self->is_sum[input])
    follow_result (self, of, part, 0);
  else
    {
      for (guint k = 0; k < node->n_inputs; k++)
        follow_result (self, self->root[node->inputs[k].index], part, 0);
      speak_for (self, of, SAME_GRADIENT);
    }
}

static guint
count_readers (const Pairing *self, guint32 value)
{
  return self->first[value + 1] - self->first[value];
}

/* What calls read that read @input, a value of forward: it, or all that it is a part of. */
static guint32
find_read (const Pairing *self, guint32 input)
{
  return count_readers (self, self->value[input]) > 0 ? self->value[input] : self->root[input];
}

static gboolean
has_many_readers (const Pairing *self, guint32 input)
{
  return !is_late (self, self->root[input]) &&
         count_readers (self, find_read (self, input)) > MANY_READERS;
}

/* @input, a value of forward, is read. */
static void
follow_value (Pairing *self, guint32 input)
{
  guint32 read = find_read (self, input);

  speak_for (self, self->root[input], SAME_VALUE);
  for (guint k = 0; k < count_readers (self, read); k++)
    speak_for (self, self->readers[self->first[read] + k], SAME_VALUE);
}

/* Whether the forward call @call is one of the readers of @value, which are in order. */
static gboolean
reads (const Pairing *self, guint32 call, guint32 value)
{
  guint32 low = self->first[value], end = self->first[value + 1], high = end;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (self->readers[middle] < call)
        low = middle + 1;
      else
        high = middle;
    }
  return low < end && self->readers[low] == call;
}

/* @input, a value of forward with many readers, is read: it tells something of those calls alone
 * that others speak for. */
static void
follow_table (Pairing *self, guint32 input)
{
  guint32 read = find_read (self, input);

  for (guint i = self->n_candidates; i-- > 0;)
    if (self->candidates[i] == self->root[input] || reads (self, self->candidates[i], read))
      speak_for (self, self->candidates[i], SAME_VALUE);
}

static gboolean
is_named_after (const AdjNode *backward, const AdjNode *forward)
{
  gsize n, m;
  const char *a = name_of_operator (backward, &n), *b = name_of_operator (forward, &m);
  /* native_dropout_backward of native_dropout, nll_loss_backward of nll_loss_forward */
  gsize stem = g_str_has_suffix (b, "_forward.default") ? m - strlen ("_forward") : m;

  return n > stem && strncmp (a, b, stem) == 0 && g_str_has_prefix (a + stem, "_backward");
}

static gboolean
is_of_same_line (const AdjNode *a, const AdjNode *b)
{
  const AdjFrame *x, *y;

  if (a->meta.n_frames == 0 || b->meta.n_frames == 0)
    return FALSE;
  x = &a->meta.frames[a->meta.n_frames - 1];
  y = &b->meta.frames[b->meta.n_frames - 1];
  return x->line == y->line && strcmp (x->file, y->file) == 0;
}

/* Whether gradients of the result of @of can be added up: several read it, or one and the caller.
 */
static gboolean
has_sum (const Pairing *self, guint32 of)
{
  guint n = count_readers (self, of);

  for (guint i = 0; i < self->results->len && n == 1; i++)
    n += g_array_index (self->results, guint32, i) == of;
  return n > 1;
}

/* The last call that what @index is made of can be a gradient of: the gradient of a call is made of
 * gradients of later ones.  NONE: there is no telling. */
static guint32
find_last (const Pairing *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);
  guint32 last = 0;

  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 input = self->root[node->inputs[k].index];

      if (adj_graph_depends_on_tangent (self->graph, input))
        last = MAX (last, self->pair[input]);
    }
  return last > 0 ? last : NONE;
}

/* The candidate that most speaks for, the last of several: backward begins with what forward did
 * last.  The line of a sum of gradients is that of whatever ran before. */
static guint32
choose (Pairing *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);
  guint32 best = NONE, last = find_last (self, index);
  gint most = 0;

  for (guint i = 0; i < self->n_candidates; i++)
    {
      guint32 c = self->candidates[i];
      const AdjNode *forward = adj_graph_get_node (self->graph, c);
      gint score = self->score[c];

      self->score[c] = 0;
      if (self->is_sum[index] && !has_sum (self, c))
        continue;
      score += !self->is_sum[index] && is_of_same_line (node, forward) ? SAME_LINE : 0;
      score += is_named_after (node, forward) ? SAME_NAME : 0;
      if (score > most || (score == most && (c <= last) > (best <= last)) ||
          (score == most && (c <= last) == (best <= last) && c > best))
        {
          best = c;
          most = score;
        }
    }
  self->n_candidates = 0;
  return best;
}

static gboolean
is_gradient_of_leaf (const Pairing *self, guint32 gradient, guint32 leaf)
{
  const AdjNode *of;

  if (self->leaf[gradient] != NONE || self->pair[gradient] == NONE)
    return self->leaf[gradient] == leaf;
  of = adj_graph_get_node (self->graph, self->pair[gradient]);
  for (guint k = 0; k < of->n_inputs; k++)
    if (self->root[of->inputs[k].index] == leaf)
      return TRUE;
  return FALSE;
}

/* What forward does not make, and both @a and @b are gradients of. */
static guint32
find_common_leaf (const Pairing *self, guint32 a, guint32 b)
{
  const AdjNode *of;

  if (self->leaf[a] != NONE || self->pair[a] == NONE)
    return is_gradient_of_leaf (self, b, self->leaf[a]) ? self->leaf[a] : NONE;
  of = adj_graph_get_node (self->graph, self->pair[a]);
  for (guint k = 0; k < of->n_inputs; k++)
    {
      guint32 value = self->root[of->inputs[k].index];

      if (!is_call (adj_graph_get_node (self->graph, value)) &&
          is_gradient_of_leaf (self, b, value))
        return value;
    }
  return NONE;
}

/* Gradients of one value meet in a sum: of a value that forward does not make, that is no call's.
 */
static void
find_leaf (Pairing *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);

  if (!self->is_sum[index] || node->n_inputs != 2)
    return;
  for (guint i = 0; i < self->n_candidates; i++)
    if (self->agreed[self->candidates[i]])
      return;
  self->leaf[index] =
      find_common_leaf (self, self->root[node->inputs[0].index], self->root[node->inputs[1].index]);
}

static guint32
find_pair (Pairing *self, guint32 index)
{
  const AdjNode *node = adj_graph_get_node (self->graph, index);
  guint32 best;
  guint n_tables = 0;

  self->is_sum[index] = adj_graph_adds_gradients (self->graph, index);
  for (guint k = 0; k < node->n_inputs; k++)
    {
      guint32 input = self->root[node->inputs[k].index];

      self->now++;
      if (has_many_readers (self, node->inputs[k].index))
        continue;
      if (!is_late (self, input))
        follow_value (self, node->inputs[k].index);
      else if (adj_graph_get_node (self->graph, input)->opcode == ADJ_OPCODE_PLACEHOLDER)
        for (guint r = 0; r < self->results->len; r++)
          speak_for (self, g_array_index (self->results, guint32, r), NEXT_GRADIENT);
      else if (self->pair[input] != NONE && adj_graph_depends_on_tangent (self->graph, input))
        follow_gradient (self, input, self->part[node->inputs[k].index]);
      else if (self->pair[input] != NONE) /* made of values of forward, for this gradient */
        speak_for (self, self->pair[input], SAME_VALUE);
    }
  for (guint k = 0; k < node->n_inputs && n_tables < MAX_TABLES; k++)
    if (has_many_readers (self, node->inputs[k].index))
      {
        n_tables++;
        self->now++;
        follow_table (self, node->inputs[k].index);
      }
  find_leaf (self, index);
  best = choose (self, index);
  return self->leaf[index] == NONE ? best : NONE;
}

static gboolean
collect_result (const AdjValue *leaf, gpointer data)
{
  Pairing *self = data;

  if (leaf->kind == ADJ_VALUE_NODE && is_forward_call (self, self->root[leaf->node.index]))
    g_array_append_val (self->results, self->root[leaf->node.index]);
  return TRUE;
}

static gpointer
compute (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  Pairing self = { .graph = graph,
                   .n = n,
                   .begin = find_begin (graph),
                   .root = g_new (guint32, n + 1),
                   .value = g_new (guint32, n + 1),
                   .first = g_new0 (guint32, n + 2),
                   .pair = g_new (guint32, n + 1),
                   .part = g_new0 (Part, n + 1),
                   .is_sum = g_new0 (guint8, n + 1),
                   .leaf = g_new (guint32, n + 1),
                   .agreed = g_new0 (guint8, n + 1),
                   .first_score = g_new (gint, n + 1),
                   .spoken = g_new0 (guint, n + 1),
                   .candidates = g_new (guint32, n + 1),
                   .score = g_new0 (gint, n + 1),
                   .results = g_array_new (FALSE, FALSE, sizeof (guint32)) };

  memset (self.pair, 0xff, sizeof (guint32) * n);
  memset (self.leaf, 0xff, sizeof (guint32) * n);
  find_roots (&self);
  find_readers (&self);
  adj_value_foreach (&adj_graph_get_node (graph, adj_graph_get_output (graph).index)->args,
                     collect_result, &self);
  for (guint32 i = 0; i < n; i++)
    {
      if (!is_late (&self, i) || !is_call (adj_graph_get_node (graph, i)) ||
          adj_graph_is_update (graph, i))
        continue;
      if (self.root[i] != i)
        find_part (&self, i);
      self.pair[i] = self.root[i] == i ? find_pair (&self, i) : self.pair[self.root[i]];
    }
  g_free (self.root);
  g_free (self.value);
  g_free (self.first);
  g_free (self.readers);
  g_free (self.part);
  g_free (self.is_sum);
  g_free (self.leaf);
  g_free (self.agreed);
  g_free (self.first_score);
  g_free (self.spoken);
  g_free (self.candidates);
  g_free (self.score);
  g_array_unref (self.results);
  return self.pair;
}

static const AdjGraphAnalysis counterparts_analysis = { compute, g_free };

gboolean
adj_graph_adds_gradients (const AdjGraph *graph, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);

  return node->op == adj_op (ADJ_OP_add_Tensor) && node->n_inputs == 2 &&
         adj_graph_depends_on_tangent (graph, node->inputs[0].index) &&
         adj_graph_depends_on_tangent (graph, node->inputs[1].index);
}

const guint32 *
adj_graph_get_counterparts (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &counterparts_analysis);
}
