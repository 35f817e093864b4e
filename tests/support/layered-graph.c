/* SPDX-License-Identifier: MIT */
/* Makes a joint graph of any number of equal layers, with modules and source lines. */

#include "support/layered-graph.h"

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

static const struct
{
  const char *name, *class;
  guint n_nodes;
} parts[] = { { "ln_1", "LayerNorm", 5 },
              { "attn", "Attention", 34 },
              { "ln_2", "LayerNorm", 5 },
              { "mlp", "MLP", 26 } };

typedef struct
{
  AdjBuilder *builder;
  AdjTensorMeta meta;
  gint64 seq_nr;
  GArray *gradients; /* of AdjValue */
} Maker;

/* Values made in forward, which backward reads in reverse order. */
typedef struct
{
  AdjNodeId node, inputs[2];
  guint n_inputs;
  AdjNodeId parameter;
  gint64 seq_nr;
  AdjNodeId gradient;
  guint part, layer, position;
} Made;

static AdjNodeId
call (Maker *self,
      const char *target,
      const Made *made,
      gboolean backward,
      const AdjNodeId *in,
      guint n)
{
  g_autofree char *outer = g_strdup_printf ("h.%u", made->layer);
  g_autofree char *inner = g_strdup_printf ("h.%u.%s", made->layer, parts[made->part].name);
  AdjModule modules[2] = { { outer, "Block" }, { inner, parts[made->part].class } };
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION, .target = target, .meta = &meta, .origin = ADJ_NO_NODE
  };
  AdjValue args[3];
  AdjNodeId id;

  meta.seq_nr = made->seq_nr;
  meta.partitioner_tag = backward ? "is_backward" : NULL;
  if (backward)
    {
      meta.n_fwd_modules = 2;
      meta.fwd_modules = modules;
    }
  else
    {
      meta.n_modules = 2;
      meta.modules = modules;
    }
  for (guint i = 0; i < n; i++)
    args[i] = ADJ_NODE (in[i]);
  spec.args = adj_value_new_items (ADJ_VALUE_TUPLE, args, n);
  spec.val.kind = ADJ_VALUE_META;
  spec.val.meta = &self->meta;
  id = adj_builder_add (self->builder, &spec);
  adj_value_clear (&spec.args);
  return id;
}

static void
make_part (Maker *self,
           GRand *rand,
           GArray *all,
           guint layer,
           guint part,
           AdjNodeId *stream,
           AdjNodeId weight)
{
  guint first = all->len;

  for (guint i = 0; i < parts[part].n_nodes; i++)
    {
      Made made = { .layer = layer,
                    .part = part,
                    .position = i,
                    .seq_nr = self->seq_nr++,
                    .gradient = ADJ_NO_NODE,
                    .parameter = i == 0 ? weight : ADJ_NO_NODE };
      AdjNodeId in[3];
      guint n;

      made.inputs[0] = i ? g_array_index (all, Made, all->len - 1).node : *stream;
      made.n_inputs = 1;
      if (i > 2 && g_rand_int_range (rand, 0, 4) == 0)
        made.inputs[made.n_inputs++] =
            g_array_index (all, Made, first + (guint) g_rand_int_range (rand, 0, (gint) i - 1))
                .node;
      for (n = 0; n < made.n_inputs; n++)
        in[n] = made.inputs[n];
      if (adj_node_id_is_valid (made.parameter))
        in[n++] = made.parameter;
      made.node = call (self, n > 1 ? "torch.ops.aten.mul.Tensor" : "torch.ops.aten.sin.default",
                        &made, FALSE, in, n);
      g_array_append_val (all, made);
    }
  *stream = g_array_index (all, Made, all->len - 1).node;
}

/* Adds @part to the gradient of @to. */
static void
flow (Maker *self, GArray *all, AdjNodeId to, AdjNodeId part, const Made *by)
{
  for (guint i = all->len; i-- > 0;)
    {
      Made *made = &g_array_index (all, Made, i);

      if (made->node.index != to.index)
        continue;
      if (adj_node_id_is_valid (made->gradient))
        {
          AdjNodeId in[2] = { made->gradient, part };

          made->gradient = call (self, "torch.ops.aten.add.Tensor", by, TRUE, in, 2);
        }
      else
        made->gradient = part;
      return;
    }
}

static void
make_backward (Maker *self, GArray *all, AdjNodeId tangent)
{
  g_array_index (all, Made, all->len - 1).gradient = tangent;
  for (guint i = all->len; i-- > 0;)
    {
      const Made made = g_array_index (all, Made, i);
      AdjNodeId in[2] = { made.gradient, made.inputs[0] };

      for (guint k = 0; k < made.n_inputs; k++)
        flow (self, all, made.inputs[k],
              call (self, "torch.ops.aten.mul.Tensor", &made, TRUE, in,
                    made.position % 3 == 0 ? 2 : 1),
              &made);
      if (adj_node_id_is_valid (made.parameter))
        {
          AdjValue gradient =
              ADJ_NODE (call (self, "torch.ops.aten.mul.Tensor", &made, TRUE, in, 2));

          g_array_append_val (self->gradients, gradient);
        }
    }
}

AdjGraph *
adj_test_layered_graph (guint n_layers, gboolean vary)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("joint", NULL, adj_op_find);
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (Made));
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (AdjNodeId));
  g_autoptr (GError) error = NULL;
  Maker maker = { .builder = builder };
  static const gint64 sizes[] = { 32, 64 };
  AdjNodeId stream, tangent;
  AdjValue output, result;
  AdjGraph *graph;

  maker.meta = (AdjTensorMeta){ .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .storage = -1 };
  adj_shape_init_ints (&maker.meta.shape, 2, sizes);
  maker.gradients = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  for (guint i = 0; i < n_layers * G_N_ELEMENTS (parts); i++)
    {
      g_autofree char *name = g_strdup_printf ("primals_%u", i + 1);
      AdjNodeId weight = adj_builder_placeholder (builder, name, &maker.meta);

      g_array_append_val (weights, weight);
    }
  stream = adj_builder_placeholder (builder, "primals_x", &maker.meta);
  tangent = adj_builder_placeholder (builder, "tangents_1", &maker.meta);
  for (guint layer = 0; layer < n_layers; layer++)
    for (guint part = 0; part < G_N_ELEMENTS (parts); part++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (7 + part + (vary ? 100 * layer : 0));

        make_part (&maker, rand, all, layer, part, &stream,
                   g_array_index (weights, AdjNodeId, layer * G_N_ELEMENTS (parts) + part));
      }
  result = ADJ_NODE (stream);
  make_backward (&maker, all, tangent);
  /* Gradients were made in reverse order. */
  for (guint i = 0; i < maker.gradients->len / 2; i++)
    {
      AdjValue *a = &g_array_index (maker.gradients, AdjValue, i);
      AdjValue *b = &g_array_index (maker.gradients, AdjValue, maker.gradients->len - 1 - i);
      AdjValue c = *a;

      *a = *b;
      *b = c;
    }
  g_array_prepend_val (maker.gradients, result);
  result = ADJ_NONE;
  g_array_append_val (maker.gradients, result);
  output = adj_value_new_items (ADJ_VALUE_LIST, (const AdjValue *) (gpointer) maker.gradients->data,
                                maker.gradients->len);
  adj_builder_output (builder, &output);
  adj_value_clear (&output);
  g_array_unref (maker.gradients);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return graph;
}
