/* SPDX-License-Identifier: MIT */
/* Random runnable joint graphs, some with a symbolic size. */

#include "support/random-joint.h"

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

#define SIDE 6

typedef struct
{
  GRand *rand;
  AdjBuilder *builder;
  AdjSize side;        /* SIDE, or a symbol with that value */
  AdjNodeId side_node; /* the placeholder of that symbol, or ADJ_NO_NODE */
  GArray *values;      /* AdjNodeId: square matrices available as arguments */
  gint64 region;       /* region of new nodes; -1: untagged */
  AdjRecompute policy; /* policy of new nodes; ADJ_N_RECOMPUTE: any */
  gboolean is_late;    /* nodes that depend on tangents exist, so no random numbers are drawn for
                          forward any more */
} Drawing;

/* Returns @n; a multiple of SIDE becomes a multiple of the member `side`. */
static AdjSize
size_of (Drawing *self, gint64 n)
{
  AdjSymbols *symbols = adj_builder_get_symbols (self->builder);

  if (n % SIDE != 0)
    return ADJ_SIZE (n);
  return adj_size_mul (symbols, ADJ_SIZE (n / SIDE), self->side);
}

static AdjTensorMeta
meta_of (Drawing *self, gint64 rows, gint64 columns)
{
  const AdjSize sizes[] = { size_of (self, rows), size_of (self, columns) };
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };

  adj_shape_init (&meta.shape, adj_builder_get_symbols (self->builder), 2, sizes);
  return meta;
}

static guint
pick (Drawing *self, guint n)
{
  return (guint) g_rand_int_range (self->rand, 0, (gint32) n);
}

static AdjNodeId
add (Drawing *self, const char *target, const AdjValue *args, guint n, const AdjValue *val)
{
  g_autofree char *stem = adj_target_get_stem (target);
  g_autofree char *name = adj_builder_unique_name (self->builder, stem);
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  AdjNodeSpec spec = {
    .name = name,
    .opcode = ADJ_OPCODE_CALL_FUNCTION,
    .target = target,
    .args = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = (AdjValue *) args },
    .val = *val,
    .meta = &meta,
    .origin = ADJ_NO_NODE,
  };

  if (self->region >= 0)
    {
      meta.ac_graph_id = self->region;
      meta.recompute =
          self->policy == ADJ_N_RECOMPUTE ? (AdjRecompute) (1 + pick (self, 4)) : self->policy;
    }
  return adj_builder_add (self->builder, &spec);
}

static AdjNodeId
add_tensor (
    Drawing *self, const char *target, const AdjValue *args, guint n, gint64 rows, gint64 columns)
{
  AdjTensorMeta meta = meta_of (self, rows, columns);
  AdjValue val = { .kind = ADJ_VALUE_META, .meta = &meta };

  return add (self, target, args, n, &val);
}

/* Returns an existing matrix, mostly a recent one. */
static AdjValue
any (Drawing *self)
{
  guint n = self->values->len, last = MIN (n, 4);

  return ADJ_NODE (g_array_index (self->values, AdjNodeId,
                                  pick (self, 3) > 0 ? n - 1 - pick (self, last) : pick (self, n)));
}

static void
keep (Drawing *self, AdjNodeId id)
{
  g_array_append_val (self->values, id);
}

static void
draw_unary (Drawing *self)
{
  static const char *const targets[] = {
    "torch.ops.aten.sin.default",  "torch.ops.aten.cos.default",
    "torch.ops.aten.relu.default", "torch.ops.aten.sigmoid.default",
    "torch.ops.aten.tanh.default", "torch.ops.aten.clone.default",
    "torch.ops.aten.t.default",    "torch.ops.aten.detach.default",
  };
  AdjValue args[] = { any (self) };

  keep (self, add_tensor (self, targets[pick (self, G_N_ELEMENTS (targets))], args, 1, SIDE, SIDE));
}

static void
draw_binary (Drawing *self)
{
  static const char *const targets[] = {
    "torch.ops.aten.add.Tensor", "torch.ops.aten.mul.Tensor",      "torch.ops.aten.sub.Tensor",
    "torch.ops.aten.mm.default", "torch.ops.aten.maximum.default",
  };
  AdjValue args[] = { any (self), any (self) };

  keep (self, add_tensor (self, targets[pick (self, G_N_ELEMENTS (targets))], args, 2, SIDE, SIDE));
}

static void
draw_reduction (Drawing *self)
{
  AdjValue dim = ADJ_INT (1), x = any (self);
  AdjValue args[] = { x, { .kind = ADJ_VALUE_LIST, .n = 1, .items = &dim }, ADJ_BOOL (TRUE) };
  AdjNodeId sum = add_tensor (self, "torch.ops.aten.sum.dim_IntList", args, 3, SIDE, 1);
  AdjValue sub[] = { x, ADJ_NODE (sum) };

  keep (self, add_tensor (self, "torch.ops.aten.sub.Tensor", sub, 2, SIDE, SIDE));
}

static AdjNodeId
add_item (Drawing *self, AdjNodeId from, gint64 index, gint64 columns)
{
  AdjValue args[] = { ADJ_NODE (from), ADJ_INT (index) };

  return add_tensor (self, "operator.getitem", args, 2, SIDE, columns);
}

static void
draw_several (Drawing *self)
{
  AdjValue dim = ADJ_INT (1), x = any (self);
  AdjTensorMeta meta = meta_of (self, SIDE, 1);
  AdjValue parts[] = { { .kind = ADJ_VALUE_META, .meta = &meta },
                       { .kind = ADJ_VALUE_META, .meta = &meta } };
  AdjValue val = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = parts };
  AdjValue args[] = {
    x, { .kind = ADJ_VALUE_LIST, .n = 1, .items = &dim }, ADJ_BOOL (TRUE), ADJ_BOOL (TRUE)
  };
  AdjNodeId pair = add (self, "torch.ops.aten.var_mean.dim", args, 4, &val);
  AdjNodeId var = add_item (self, pair, 0, 1), mean = add_item (self, pair, 1, 1);
  AdjValue first[] = { x, ADJ_NODE (mean) };
  AdjNodeId centred = add_tensor (self, "torch.ops.aten.sub.Tensor", first, 2, SIDE, SIDE);
  AdjValue second[] = { ADJ_NODE (centred), ADJ_NODE (var) };

  keep (self, centred);
  keep (self, add_tensor (self, "torch.ops.aten.mul.Tensor", second, 2, SIDE, SIDE));
}

static void
draw_random (Drawing *self)
{
  AdjTensorMeta meta = meta_of (self, SIDE, SIDE), mask = meta_of (self, SIDE, SIDE);
  AdjValue parts[] = { { .kind = ADJ_VALUE_META, .meta = &meta },
                       { .kind = ADJ_VALUE_META, .meta = &mask } };
  AdjValue val = { .kind = ADJ_VALUE_TUPLE, .n = 2, .items = parts };
  AdjValue args[] = { any (self), ADJ_FLOAT (0.5), ADJ_BOOL (TRUE) };

  if (self->is_late)
    return;
  mask.dtype = ADJ_DTYPE_BOOL;
  if (pick (self, 2) == 0)
    keep (self, add_tensor (self, "torch.ops.aten.rand_like.default", args, 1, SIDE, SIDE));
  else
    keep (self, add_item (self, add (self, "torch.ops.aten.native_dropout.default", args, 3, &val),
                          0, SIDE));
}

static void
draw_cat (Drawing *self)
{
  AdjValue both[] = { any (self), any (self) };
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 2, .items = both };
  AdjValue cut[] = { ADJ_NONE, ADJ_INT (0), ADJ_INT (2), ADJ_INT (2 + SIDE) };

  cut[0] = ADJ_NODE (add_tensor (self, "torch.ops.aten.cat.default", &list, 1, 2 * SIDE, SIDE));
  keep (self, add_tensor (self, "torch.ops.aten.slice.Tensor", cut, 4, SIDE, SIDE));
}

/* Expands a column to the width of the matrices, given as a number or as the symbol. */
static void
draw_expand (Drawing *self)
{
  AdjValue side =
      adj_node_id_is_valid (self->side_node) ? ADJ_NODE (self->side_node) : ADJ_INT (SIDE);
  AdjValue dim = ADJ_INT (1), x = any (self), sides[] = { side, side };
  AdjValue sum[] = { x, { .kind = ADJ_VALUE_LIST, .n = 1, .items = &dim }, ADJ_BOOL (TRUE) };
  AdjValue args[] = { ADJ_NODE (
                          add_tensor (self, "torch.ops.aten.sum.dim_IntList", sum, 3, SIDE, 1)),
                      { .kind = ADJ_VALUE_LIST, .n = 2, .items = sides } };
  AdjNodeId wide = add_tensor (self, "torch.ops.aten.expand.default", args, 2, SIDE, SIDE);
  AdjValue product[] = { x, ADJ_NODE (wide) };

  keep (self, add_tensor (self, "torch.ops.aten.mul.Tensor", product, 2, SIDE, SIDE));
}

static void
draw_step (Drawing *self)
{
  static void (*const steps[]) (Drawing *) = {
    draw_unary,     draw_unary,   draw_unary,  draw_binary, draw_binary, draw_binary,
    draw_reduction, draw_several, draw_random, draw_cat,    draw_expand,
  };

  steps[pick (self, G_N_ELEMENTS (steps))](self);
}

static void
draw_forward (Drawing *self)
{
  gboolean tagged = pick (self, 2) == 0;
  gint64 region = 0;

  self->policy = pick (self, 2) == 0 ? ADJ_RECOMPUTE_PREFER_RECOMPUTE : ADJ_N_RECOMPUTE;
  for (guint i = 3 + pick (self, 12); i > 0; i--)
    {
      if (tagged && pick (self, 4) == 0)
        self->region = self->region < 0 ? ++region : -1;
      draw_step (self);
    }
  self->region = -1;
}

/* Combines a tangent, or a value that depends on one, with any matrix. */
static void
draw_gradient (Drawing *self, Drawing *gradients)
{
  const char *target =
      pick (self, 3) == 0 ? "torch.ops.aten.mm.default" : "torch.ops.aten.mul.Tensor";
  AdjValue args[] = { any (gradients), any (self) };

  keep (gradients, add_tensor (self, target, args, 2, SIDE, SIDE));
}

static void
draw_backward (Drawing *self, Drawing *gradients)
{
  for (guint i = 3 + pick (self, 10); i > 0; i--)
    {
      guint kind = pick (self, 8);

      if (kind < 2)
        draw_step (self);
      else if (kind < 6)
        draw_gradient (self, gradients);
      else
        draw_step (gradients);
    }
}

/* Adds the first input, the size of all others. */
static void
add_side (Drawing *self)
{
  const AdjSymbol symbol = { "s0", SIDE, 2, G_MAXINT64, NULL };
  AdjSize side = adj_symbols_define (adj_builder_get_symbols (self->builder), &symbol);
  AdjNodeSpec spec = { .name = "primals_1",
                       .opcode = ADJ_OPCODE_PLACEHOLDER,
                       .target = "primals_1",
                       .val = { .kind = ADJ_VALUE_SIZE, .size = side },
                       .origin = ADJ_NO_NODE };

  self->side = side;
  self->side_node = adj_builder_add (self->builder, &spec);
}

static void
add_placeholders (Drawing *self, const char *stem, guint from, guint n)
{
  AdjTensorMeta meta = meta_of (self, SIDE, SIDE);

  for (guint i = from; i < from + n; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u", stem, i + 1);

      keep (self, adj_builder_placeholder (self->builder, name, &meta));
    }
}

static void
add_outputs (Drawing *self, Drawing *gradients, guint n_forward, guint n_primals, guint n_outputs)
{
  guint n_sizes = adj_node_id_is_valid (self->side_node);
  g_autofree AdjValue *items = g_new0 (AdjValue, n_outputs + n_sizes + n_primals);
  AdjValue all = { .kind = ADJ_VALUE_TUPLE, .n = n_outputs + n_sizes + n_primals, .items = items };
  guint n = n_forward - n_primals;

  for (guint i = 0; i < n_outputs; i++)
    items[i] = ADJ_NODE (
        g_array_index (self->values, AdjNodeId, n_primals + n - 1 - pick (self, MIN (n, 4))));
  for (guint i = 0; i < n_primals; i++)
    items[n_outputs + n_sizes + i] = pick (self, 10) == 0 ? ADJ_NONE : any (gradients);
  if (pick (self, 12) == 0)
    items[n_outputs + n_sizes] =
        ADJ_NODE (g_array_index (self->values, AdjNodeId, pick (self, n_forward)));
  adj_builder_output (self->builder, &all);
}

AdjGraph *
adj_test_random_joint (GRand *rand, guint *num_fwd_outputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("joint", NULL, adj_op_find);
  g_autoptr (GArray) values = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  g_autoptr (GArray) derived = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  g_autoptr (GError) error = NULL;
  Drawing self = { .rand = rand,
                   .builder = builder,
                   .side = ADJ_SIZE (SIDE),
                   .side_node = ADJ_NO_NODE,
                   .values = values,
                   .region = -1 };
  Drawing gradients;
  guint n_primals = 2 + pick (&self, 3), n_outputs = 1 + pick (&self, 2), n_forward;
  AdjGraph *graph;

  if (pick (&self, 4) == 0)
    add_side (&self);
  gradients = self;
  gradients.values = derived;
  add_placeholders (&self, "primals", adj_node_id_is_valid (self.side_node), n_primals);
  add_placeholders (&gradients, "tangents", 0, n_outputs);
  draw_forward (&self);
  n_forward = values->len;
  self.is_late = TRUE;
  draw_backward (&self, &gradients);
  add_outputs (&self, &gradients, n_forward, n_primals, n_outputs);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  *num_fwd_outputs = n_outputs;
  return graph;
}
