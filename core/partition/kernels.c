/* SPDX-License-Identifier: MIT */
/* Groups calls into kernels and counts their memory traffic.
 *
 * Bytes that both graphs read and write when fusible calls are one kernel, as in PyTorch's
 * Inductor: connected pointwise calls and reductions run as one, unless a call between them does
 * not fuse; reductions over different dimensions are different kernels, and each reads its inputs.
 * Views move nothing. */

#include "ir/adj-graph.h"
#include "partition/liveness-private.h"

typedef struct
{
  const Joint *joint;
  const guint8 *here;     /* per node: this graph computes it */
  guint32 *root;          /* per node: the node whose memory it views */
  guint32 *kernel;        /* per root: its parent in the union-find forest of kernels */
  guint32 *stage;         /* per root: number of kernels on the longest path from it */
  guint32 *feeds;         /* per root: bit mask of the reductions of its kernel that need it */
  guint32 *made;          /* per kernel: all its reductions */
  guint32 reductions[31]; /* per bit: the dimensions; bit 31: all others */
  guint n_reductions;
  guint8 *written; /* per root */
  GArray *reads;   /* of Read */
} Kernels;

typedef struct
{
  guint32 kernel, reduction, root;
  guint64 bytes;
} Read;

static gboolean
fuses (const Kernels *self, guint i)
{
  return self->joint->kind[i] == NODE_CALL &&
         (self->joint->traits[i] & (OP_RECOMPUTE | OP_RANDOM | OP_CAT)) != 0;
}

static guint32
find_kernel (Kernels *self, guint32 i)
{
  while (self->kernel[i] != i)
    i = self->kernel[i] = self->kernel[self->kernel[i]];
  return i;
}

/* The source of a view, or the call of a single result. */
static guint32
source_of (const Joint *joint, guint i)
{
  if (joint->kind[i] != NODE_CALL ||
      (joint->owner[i] == i && (joint->traits[i] & (OP_VIEW | OP_GETITEM)) == 0) ||
      joint->inputs.begin[i] == joint->inputs.begin[i + 1])
    return i;
  return joint->inputs.items[joint->inputs.begin[i]];
}

static void
find_root (Kernels *self, guint i)
{
  guint32 source = source_of (self->joint, i);

  self->kernel[i] = i;
  self->root[i] = self->here[i] && source != i ? self->root[source] : i;
}

static gboolean
is_work (const Kernels *self, guint i)
{
  return self->here[i] && source_of (self->joint, i) == i;
}

/* Raises the stages of the inputs of node @i. Called in reverse order: the stage of @i is final. */
static void
find_stage (Kernels *self, guint i)
{
  const Joint *joint = self->joint;

  for (guint32 k = joint->inputs.begin[i]; is_work (self, i) && k < joint->inputs.begin[i + 1]; k++)
    {
      guint32 root = self->root[joint->inputs.items[k]];
      gboolean together = fuses (self, i) && fuses (self, root);

      self->stage[root] = MAX (self->stage[root], self->stage[i] + !together);
    }
}

static void
join (Kernels *self, guint i)
{
  const Joint *joint = self->joint;

  for (guint32 k = joint->inputs.begin[i];
       is_work (self, i) && fuses (self, i) && k < joint->inputs.begin[i + 1]; k++)
    {
      guint32 root = self->root[joint->inputs.items[k]];

      if (self->here[root] && fuses (self, root) && self->stage[root] == self->stage[i])
        self->kernel[find_kernel (self, root)] = find_kernel (self, i);
    }
}

/* The dimensions that node @i reduces, a bit each; 0: it is no reduction. */
static guint32
reduced_dims (const Kernels *self, guint i)
{
  const Joint *joint = self->joint;
  const AdjNode *node = adj_graph_get_node (joint->graph, i), *input;
  guint32 first = joint->inputs.begin[i], all, dims = 0;
  gint64 rank;

  if (!fuses (self, i) || source_of (joint, i) != i || joint->value[i] != VALUE_TENSOR ||
      first == joint->inputs.begin[i + 1] ||
      joint->value[joint->inputs.items[first]] != VALUE_TENSOR ||
      joint->bytes[i] >= joint->bytes[joint->inputs.items[first]])
    return 0;
  input = adj_graph_get_node (joint->graph, joint->inputs.items[first]);
  rank = input->val.meta->shape.rank;
  all = (1u << rank) - 1;
  if (node->args.n == 1)
    return node->val.meta->shape.rank == 0 ? all : 0;
  if (!adj_value_is_container (&node->args.items[1]))
    return 0;
  for (guint k = 0; k < node->args.items[1].n; k++)
    {
      const AdjValue *dim = &node->args.items[1].items[k];

      if (dim->kind == ADJ_VALUE_INT && dim->integer >= -rank && dim->integer < rank)
        dims |= 1u << (dim->integer < 0 ? dim->integer + rank : dim->integer);
    }
  return node->args.items[1].n == 0 ? all : dims;
}

/* A bit for these dimensions; those beyond the 31st set share the last bit. */
static guint32
reduction_bit (Kernels *self, guint32 dims)
{
  guint at = 0;

  while (at < self->n_reductions && self->reductions[at] != dims)
    at++;
  if (at == self->n_reductions && at < G_N_ELEMENTS (self->reductions))
    self->reductions[self->n_reductions++] = dims;
  return 1u << at;
}

static void
spread_reads (Kernels *self, guint i)
{
  const Joint *joint = self->joint;
  guint32 dims;

  if (!is_work (self, i) || !fuses (self, i))
    return;
  dims = reduced_dims (self, i);
  if (dims != 0)
    self->feeds[i] |= reduction_bit (self, dims);
  self->made[find_kernel (self, i)] |= self->feeds[i];
  for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
    {
      guint32 root = self->root[joint->inputs.items[k]];

      if (self->here[root] && fuses (self, root) &&
          find_kernel (self, root) == find_kernel (self, i))
        self->feeds[root] |= self->feeds[i];
    }
}

/* The reductions whose kernels run node @i. A node that feeds none runs with one of them. */
static guint32
reading_reductions (Kernels *self, guint i)
{
  guint32 made = self->made[find_kernel (self, i)];

  if (self->feeds[i] != 0)
    return self->feeds[i];
  return made != 0 ? made & -made : 1u;
}

static void
add_reads (Kernels *self, guint i)
{
  const Joint *joint = self->joint;

  if (!is_work (self, i))
    return;
  self->written[i] |= !fuses (self, i);
  if ((joint->traits[i] & OP_SHAPE_ONLY) != 0)
    return;
  for (guint32 k = joint->inputs.begin[i]; k < joint->inputs.begin[i + 1]; k++)
    {
      guint32 input = joint->inputs.items[k], root = self->root[input];
      guint32 feeds = reading_reductions (self, i);

      if (self->here[root] && fuses (self, root) && fuses (self, i) &&
          find_kernel (self, root) == find_kernel (self, i))
        continue;
      self->written[root] |= self->here[root];
      for (guint bit = 0; bit < 32; bit++)
        if ((feeds >> bit & 1) != 0)
          {
            Read read = { find_kernel (self, i), bit, joint->owner[root],
                          MIN (joint->bytes[input], joint->bytes[joint->owner[input]]) };

            g_array_append_val (self->reads, read);
          }
    }
}

static int
compare_reads (gconstpointer a, gconstpointer b)
{
  const Read *x = a, *y = b;

  if (x->kernel != y->kernel)
    return x->kernel < y->kernel ? -1 : 1;
  if (x->reduction != y->reduction)
    return x->reduction < y->reduction ? -1 : 1;
  if (x->root != y->root)
    return x->root < y->root ? -1 : 1;
  return (x->bytes < y->bytes) - (x->bytes > y->bytes); /* the largest first */
}

static guint64
sum (Kernels *self)
{
  guint64 bytes = 0;

  g_array_sort (self->reads, compare_reads);
  for (guint i = 0; i < self->reads->len; i++)
    {
      const Read *read = &g_array_index (self->reads, Read, i), *before = read - 1;

      if (i == 0 || before->kernel != read->kernel || before->reduction != read->reduction ||
          before->root != read->root)
        bytes += read->bytes;
    }
  for (guint i = 0; i < self->joint->n; i++)
    bytes += self->written[i] ? self->joint->bytes[i] : 0;
  return bytes;
}

static guint64
traffic_of_graph (const Joint *joint, const guint8 *here, const guint8 *returned)
{
  Kernels self = { .joint = joint, .here = here };
  guint64 bytes;

  self.root = g_new0 (guint32, joint->n);
  self.kernel = g_new0 (guint32, joint->n);
  self.stage = g_new0 (guint32, joint->n);
  self.feeds = g_new0 (guint32, joint->n);
  self.made = g_new0 (guint32, joint->n);
  self.written = g_new0 (guint8, joint->n);
  self.reads = g_array_new (FALSE, FALSE, sizeof (Read));
  for (guint i = 0; i < joint->n; i++)
    find_root (&self, i);
  for (guint i = joint->n; i-- > 0;)
    find_stage (&self, i);
  for (guint i = 0; i < joint->n; i++)
    join (&self, i);
  for (guint i = joint->n; i-- > 0;)
    spread_reads (&self, i);
  for (guint i = 0; i < joint->n; i++)
    {
      add_reads (&self, i);
      if (returned[i] && here[self.root[i]])
        self.written[self.root[i]] = TRUE;
    }
  bytes = sum (&self);
  g_free (self.root);
  g_free (self.kernel);
  g_free (self.stage);
  g_free (self.feeds);
  g_free (self.made);
  g_free (self.written);
  g_array_unref (self.reads);
  return bytes;
}

guint64
cost_fused_traffic (const Plan *plan)
{
  const Joint *joint = plan->joint;
  g_autofree guint8 *from_forward = g_new0 (guint8, joint->n);
  g_autofree guint8 *from_backward = g_new0 (guint8, joint->n);

  for (guint i = 0; i < joint->n_outputs; i++)
    if (joint_output (joint, i) != NOBODY)
      (i < joint->n_forward_outputs ? from_forward : from_backward)[joint_output (joint, i)] = TRUE;
  for (guint i = 0; i < plan->tensors->len; i++)
    from_forward[plan_item (plan->tensors, i)] = TRUE;
  return traffic_of_graph (joint, plan->in_forward, from_forward) +
         traffic_of_graph (joint, plan->in_backward, from_backward);
}
