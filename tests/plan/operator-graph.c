/* SPDX-License-Identifier: MIT */
/* Turns a case of the oracle into a graph: placeholders for its tensors, the call, and its
 * results and written arguments as outputs. */

#include "operator-graph.h"

#include "ir/adj-builder.h"
#include "ops/adj-op-table.h"
#include "session/adj-session.h"

typedef struct
{
  AdjBuilder *builder;
  GArray *inputs;   /* DATA */
  GArray *returned; /* NODE: the call, and the arguments it may have written */
  gboolean fed;     /* floating-point tensors pass through a pointwise call first */
  guint next;
} Making;

static AdjValue
negate (Making *m, AdjValue value)
{
  return ADJ_NODE (adj_builder_call (m->builder, "torch.ops.aten.neg.default", &value, 1));
}

static gboolean
add_placeholder (const AdjValue *leaf, gpointer data)
{
  Making *m = data;
  g_autofree char *name = g_strdup_printf ("x%u", m->inputs->len);
  AdjValue input, node;

  if (leaf->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  input = ADJ_DATA (adj_tensor_snapshot (leaf->tensor));
  node =
      ADJ_NODE (adj_builder_placeholder (m->builder, name, adj_tensor_data_get_meta (input.data)));
  g_array_append_val (m->inputs, input);
  g_array_append_val (m->returned, node);
  return TRUE;
}

static gboolean
take_leaf (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  Making *m = data;

  *out = leaf->kind == ADJ_VALUE_TENSOR ? g_array_index (m->returned, AdjValue, m->next++)
                                        : adj_value_copy (leaf);
  return TRUE;
}

static void
feed_by_pointwise (Making *m)
{
  for (guint i = 0; i < m->inputs->len; i++)
    {
      AdjTensorData *given = g_array_index (m->inputs, AdjValue, i).data;
      AdjValue *node = &g_array_index (m->returned, AdjValue, i);

      if (adj_dtype_is_floating (adj_tensor_data_get_meta (given)->dtype))
        *node = negate (m, *node);
    }
}

static AdjNodeId
add_call (Making *m, const OracleCase *c)
{
  const AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = c->n_args, .items = (AdjValue *) c->args };
  const AdjValue kwargs = { .kind = ADJ_VALUE_DICT,
                            .n = c->n_kwargs,
                            .items = (AdjValue *) c->kwargs };
  AdjNodeSpec spec = {
    .opcode = ADJ_OPCODE_CALL_FUNCTION, .name = "call", .target = c->target, .origin = ADJ_NO_NODE
  };
  AdjNodeId id;

  adj_value_foreach (&args, add_placeholder, m);
  adj_value_foreach (&kwargs, add_placeholder, m);
  if (m->fed)
    feed_by_pointwise (m);
  adj_value_map (&args, take_leaf, m, &spec.args);
  adj_value_map (&kwargs, take_leaf, m, &spec.kwargs);
  id = adj_builder_add (m->builder, &spec);
  adj_value_clear (&spec.args);
  adj_value_clear (&spec.kwargs);
  return id;
}

/* Returns results one by one, so that comparisons can name them. */
static void
add_results (Making *m, const OracleCase *c, AdjNodeId call)
{
  const AdjSchema *schema = adj_op_get_schema (c->op);
  gboolean several =
      schema->n_returns > 1 || (schema->n_returns == 1 && schema->returns[0].type.is_list);

  for (guint i = 0; i < (several ? c->results->len : 1); i++)
    {
      AdjValue args[] = { ADJ_NODE (call), ADJ_INT (i) };

      if (several)
        args[0] = ADJ_NODE (adj_builder_call (m->builder, "operator.getitem", args, 2));
      g_array_append_val (m->returned, args[0]);
    }
}

AdjGraph *
operator_graph_new (const OracleCase *c, gboolean fed, GArray *inputs)
{
  g_autoptr (AdjBuilder) builder = adj_builder_new ("call", NULL, adj_op_find);
  g_autoptr (GError) error = NULL;
  g_autoptr (GArray) returned = adj_value_array_new ();
  Making m = { .builder = builder, .inputs = inputs, .returned = returned, .fed = fed };
  AdjNodeId call = add_call (&m, c);
  AdjValue output;
  AdjGraph *graph;

  if (!adj_schema_mutates (adj_op_get_schema (c->op)))
    g_array_set_size (returned, 0);
  add_results (&m, c, call);
  output = adj_value_array_end (returned, ADJ_VALUE_TUPLE);
  adj_builder_output (builder, &output);
  adj_value_clear (&output);
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);
  return graph;
}

AdjValue
operator_graph_seed (const OracleCase *c)
{
  AdjGenerator *generator = adj_generator_new ((guint64) c->seed);
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_U8, .device = ADJ_CPU, .has_strides = TRUE };
  const gint64 n = ADJ_GENERATOR_STATE_BYTES;
  guint8 *state = g_malloc0 (ADJ_GENERATOR_STATE_BYTES);
  g_autoptr (GBytes) bytes = g_bytes_new_take (state, ADJ_GENERATOR_STATE_BYTES);
  AdjValue items[2];

  adj_generator_get_state (generator, state);
  adj_generator_free (generator);
  adj_shape_init_ints (&meta.shape, 1, &n);
  items[0] = adj_value_new_string ("cpu");
  items[1] = ADJ_DATA (adj_tensor_data_new (&meta, bytes, NULL));
  return adj_value_new_items (ADJ_VALUE_DICT, items, 2);
}
