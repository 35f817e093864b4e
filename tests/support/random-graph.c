/* SPDX-License-Identifier: MIT */
/* Random graphs that need not be runnable, with every kind of value. */

#include "support/random-graph.h"

#include <math.h>

#include "ir/adj-builder.h"
#include "ir/adj-graph.h"
#include "ops/adj-op-table.h"

typedef struct
{
  GRand *rand;
  AdjBuilder *builder;
  guint n_nodes;
} Maker;

static guint
pick (Maker *m, guint n)
{
  return (guint) g_rand_int_range (m->rand, 0, (gint32) n);
}

static gboolean
toss (Maker *m)
{
  return g_rand_boolean (m->rand);
}

static const char *
pick_text (Maker *m)
{
  static const char *const texts[] = {
    "",
    "mean",
    "it's",
    "say \"so\"",
    "both ' and \"",
    "back\\slash",
    "line\nbreak",
    "tab\there",
    "#",
    "  # adj: {seq: 1}",
    ";  x = None",
    "caf\xc3\xa9",
    "\x7f",
    "a, code: b",
    "{",
    ")",
  };

  return texts[pick (m, G_N_ELEMENTS (texts))];
}

static AdjSize
pick_size (Maker *m)
{
  AdjSymbols *symbols = adj_builder_get_symbols (m->builder);
  AdjSymbol symbol = { "s0", 4, 2, G_MAXINT64, "L['x'].size()[0]" };
  AdjSize s0, s1;

  if (pick (m, 3) > 0)
    return ADJ_SIZE (pick (m, 5));

  s0 = adj_symbols_define (symbols, &symbol);
  symbol = (AdjSymbol){ "u1", ADJ_SYMBOL_UNBACKED, G_MININT64, G_MAXINT64, NULL };
  s1 = adj_symbols_define (symbols, &symbol);

  return toss (m) ? adj_size_add (symbols, s0, ADJ_SIZE (1)) : adj_size_mul (symbols, s0, s1);
}

static void
fill_meta (Maker *m, AdjTensorMeta *meta)
{
  AdjSize sizes[4];
  guint rank = pick (m, 5);

  for (guint i = 0; i < rank; i++)
    sizes[i] = pick_size (m);

  *meta = (AdjTensorMeta){
    .dtype = pick (m, ADJ_N_DTYPES),
    .device = toss (m) ? ADJ_CPU : (AdjDevice){ ADJ_DEVICE_CUDA, (gint8) pick (m, 8) },
    .has_strides = TRUE,
    .requires_grad = toss (m),
    .storage = (gint32) pick (m, 4) - 1,
  };
  adj_shape_init (&meta->shape, adj_builder_get_symbols (m->builder), rank, sizes);
  if (pick (m, 4) == 0)
    meta->shape.offset = pick_size (m);
}

static AdjValue
make_meta (Maker *m)
{
  AdjTensorMeta *meta = g_new0 (AdjTensorMeta, 1);

  fill_meta (m, meta);

  return (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
}

static AdjValue
make_text (const char *text, AdjValueKind kind)
{
  AdjValue value = adj_value_new_string (text);

  value.kind = kind;

  return value;
}

static AdjValue
make_scalar (Maker *m)
{
  static const double floats[] = { 0, -0.0, 1, 0.1, 1e-5, 1e22, -3.5, INFINITY, -INFINITY, NAN };
  static const gint64 ints[] = { 0, 1, -1, 7, G_MAXINT64, G_MININT64 };

  switch (pick (m, 11))
    {
    case 0:
      return ADJ_BOOL (toss (m));
    case 1:
      return ADJ_INT (ints[pick (m, G_N_ELEMENTS (ints))]);
    case 2:
      return ADJ_FLOAT (floats[pick (m, G_N_ELEMENTS (floats))]);
    case 3:
      return adj_value_new_string (pick_text (m));
    case 4:
      return ADJ_DTYPE (pick (m, ADJ_N_DTYPES));
    case 5:
      return (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = { ADJ_DEVICE_CUDA, -1 } };
    case 6:
      return (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = pick (m, ADJ_N_LAYOUTS) };
    case 7:
      return (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT,
                         .format = pick (m, ADJ_N_MEMORY_FORMATS) };
    case 8:
      return (AdjValue){ .kind = ADJ_VALUE_ELLIPSIS };
    case 9:
      return make_text ("torch.ops.aten.relu.default", ADJ_VALUE_OP);
    default:
      return ADJ_NONE;
    }
}

static AdjValue make_value (Maker *m, guint depth);

static AdjValue
make_container (Maker *m, guint depth)
{
  static const AdjValueKind kinds[] = { ADJ_VALUE_LIST, ADJ_VALUE_TUPLE, ADJ_VALUE_DICT,
                                        ADJ_VALUE_SLICE };
  AdjValueKind kind = kinds[pick (m, G_N_ELEMENTS (kinds))];
  guint n = kind == ADJ_VALUE_SLICE ? 3 : kind == ADJ_VALUE_DICT ? 2 * pick (m, 3) : pick (m, 4);
  AdjValue items[8];

  for (guint i = 0; i < n; i++)
    if (kind == ADJ_VALUE_DICT && i % 2 == 0)
      items[i] = adj_value_new_string (i == 0 ? "first" : "second");
    else
      items[i] = make_value (m, depth + 1);

  return adj_value_new_items (kind, items, n);
}

static AdjValue
make_value (Maker *m, guint depth)
{
  guint choice = pick (m, 10);

  if (choice < 4 && m->n_nodes > 0)
    return ADJ_NODE (((AdjNodeId){ pick (m, m->n_nodes) }));
  if (choice < 6 && depth < 3)
    return make_container (m, depth);
  if (choice == 6)
    return (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = pick_size (m) };

  return make_scalar (m);
}

static AdjValue
make_values (Maker *m, guint n)
{
  AdjValue items[4];

  for (guint i = 0; i < n; i++)
    items[i] = make_value (m, 0);

  return adj_value_new_items (ADJ_VALUE_TUPLE, items, n);
}

static AdjValue
make_keywords (Maker *m)
{
  AdjValue items[2];

  if (toss (m))
    return ADJ_NONE;

  items[0] = adj_value_new_string ("alpha");
  items[1] = make_value (m, 0);

  return adj_value_new_items (ADJ_VALUE_DICT, items, 2);
}

static void
fill_metadata (Maker *m, AdjNodeMeta *meta, AdjValue *extra)
{
  static const char *const traces[] = {
    "  File \"/home/u/net.py\", line 12, in forward\n    y = x.relu()  # why, code: not\n",
    "  File \"/home/u/a.py\", line 3, in f\n    g(x)\n  File \"/home/u/net.py\", line 12, in "
    "forward\n    y = x.relu()  # why, code: not\n",
    "  File \"/home/u/odd:7 in name.py\", line 1, in <lambda>\n    z\n",
    "no frame at all",
  };
  static const AdjModule modules[] = { { "", "Net" },
                                       { "h.0", "Block" },
                                       { "L['self'].x", "A\"'" } };
  AdjValue entry[2];

  if (toss (m))
    meta->stack_trace = traces[pick (m, G_N_ELEMENTS (traces))];
  if (pick (m, 3) > 0)
    return;

  meta->recompute = pick (m, ADJ_N_RECOMPUTE);
  meta->seq_nr = (gint64) pick (m, 9) - 1;
  meta->ac_graph_id = (gint64) pick (m, 3) - 1;
  meta->partitioner_tag = toss (m) ? "is_backward" : NULL;
  meta->original_aten = toss (m) ? "aten.add.Tensor" : NULL;
  meta->source = toss (m) ? pick_text (m) : NULL;
  meta->parameter = toss (m) ? "h.0.weight" : NULL;
  meta->modules = modules;
  meta->n_modules = pick (m, 4);
  meta->fwd_modules = modules;
  meta->n_fwd_modules = pick (m, 2);
  entry[0] = adj_value_new_string (toss (m) ? "custom" : "odd key");
  entry[1] = make_scalar (m);
  *extra = adj_value_new_items (ADJ_VALUE_DICT, entry, 2);
  meta->extra = extra;
}

static void
add (Maker *m, AdjNodeSpec *spec)
{
  AdjNodeMeta meta = ADJ_NODE_META_INIT;
  g_auto (AdjValue) extra = ADJ_NONE;

  fill_metadata (m, &meta, &extra);
  spec->meta = &meta;
  spec->origin = ADJ_NO_NODE;
  adj_builder_add (m->builder, spec);
  m->n_nodes++;
  adj_value_clear (&spec->args);
  adj_value_clear (&spec->kwargs);
  adj_value_clear (&spec->val);
}

static AdjValue
make_val (Maker *m)
{
  guint choice = pick (m, 10);
  AdjValue items[2];

  if (choice < 6)
    return make_meta (m);
  if (choice == 6)
    return (AdjValue){ .kind = ADJ_VALUE_SIZE, .size = pick_size (m) };
  if (choice == 7)
    return ADJ_INT (pick (m, 9));
  if (choice > 8)
    return ADJ_NONE;

  items[0] = make_meta (m);
  items[1] = make_meta (m);

  return adj_value_new_items (ADJ_VALUE_TUPLE, items, 2);
}

static void
add_call (Maker *m)
{
  static const char *const functions[] = {
    "torch.ops.aten.add.Tensor", "torch.nn.functional.gelu",        "len",
    "torch_private_thing",       "torch.ops.mylib.strange.default",
  };
  static const char *const operators[] = { "operator.add", "operator.pow", "operator.iadd",
                                           "operator.getitem" };
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_CALL_FUNCTION };

  switch (pick (m, 6))
    {
    case 0:
      spec.target = operators[pick (m, G_N_ELEMENTS (operators))];
      spec.args = make_values (m, 2);
      adj_value_clear (&spec.args.items[0]);
      spec.args.items[0] = ADJ_NODE (((AdjNodeId){ pick (m, m->n_nodes) }));
      /* Calls with an annotated number of items have two. */
      if (g_str_equal (spec.target, "operator.getitem"))
        {
          adj_value_clear (&spec.args.items[1]);
          spec.args.items[1] = toss (m) ? ADJ_INT (pick (m, 2)) : adj_value_new_string ("key");
        }
      break;
    case 1:
      spec.opcode = ADJ_OPCODE_CALL_METHOD;
      spec.target = "view";
      spec.args = make_values (m, 1 + pick (m, 3));
      adj_value_clear (&spec.args.items[0]);
      spec.args.items[0] = ADJ_NODE (((AdjNodeId){ pick (m, m->n_nodes) }));
      spec.kwargs = make_keywords (m);
      break;
    case 2:
      spec.opcode = toss (m) ? ADJ_OPCODE_GET_ATTR : ADJ_OPCODE_CALL_MODULE;
      spec.target = toss (m) ? "h.0.weight" : "fc";
      spec.args = spec.opcode == ADJ_OPCODE_GET_ATTR ? ADJ_NONE : make_values (m, 2);
      break;
    default:
      spec.target = functions[pick (m, G_N_ELEMENTS (functions))];
      spec.args = make_values (m, pick (m, 4));
      spec.kwargs = make_keywords (m);
      break;
    }
  spec.val = make_val (m);
  add (m, &spec);
}

static AdjGraph *
make_graph (GRand *rand, guint n_calls, guint depth, AdjSymbols *symbols)
{
  g_autoptr (AdjBuilder) builder =
      adj_builder_new (depth ? "child" : "<lambda>", symbols, adj_op_find);
  g_autoptr (GError) error = NULL;
  Maker m = { rand, builder, 0 };
  guint n_inputs = 1 + pick (&m, 4);
  AdjValue result;
  AdjGraph *graph;

  for (guint i = 0; i < n_inputs; i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u", toss (&m) ? "primals" : "L_x", i + 1);
      g_autofree char *lower = g_ascii_strdown (name, -1);
      AdjNodeSpec spec = {
        .opcode = ADJ_OPCODE_PLACEHOLDER,
        .name = toss (&m) ? lower : name,
        .target = name,
        .val = toss (&m) ? make_meta (&m) : ADJ_NONE,
      };

      add (&m, &spec);
    }
  if (toss (&m))
    adj_builder_set_header (builder, ADJ_HEADER_PYTREE, "primals, tangents");

  for (guint i = 0; i < n_calls; i++)
    add_call (&m);
  result = make_container (&m, 0);
  adj_builder_output (builder, &result);
  adj_value_clear (&result);
  if (depth < 2 && toss (&m))
    {
      g_autoptr (AdjGraph) child =
          make_graph (rand, n_calls / 2, depth + 1, adj_builder_get_symbols (builder));

      adj_builder_add_subgraph (builder, "body_0", child);
    }

  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);

  return graph;
}

AdjGraph *
adj_test_random_graph (GRand *rand, guint n_calls)
{
  return make_graph (rand, n_calls, 0, NULL);
}

AdjGraph *
adj_test_random_program (GRand *rand, guint n_calls)
{
  static const struct
  {
    const char *target;
    guint n_args;
  } calls[] = {
    { "torch.ops.aten.add.Tensor", 2 },   { "torch.ops.aten.mul.Tensor", 2 },
    { "torch.ops.aten.sub.Tensor", 2 },   { "torch.ops.aten.relu.default", 1 },
    { "torch.ops.aten.tanh.default", 1 }, { "torch.ops.aten.mm.default", 2 },
    { "torch.ops.aten.t.default", 1 },
  };
  g_autoptr (AdjBuilder) builder = adj_builder_new ("GraphModule", NULL, adj_op_find);
  g_autoptr (GError) error = NULL;
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32,
    .device = ADJ_CPU,
    .has_strides = TRUE,
    .storage = -1,
  };
  AdjNodeSpec spec = { .opcode = ADJ_OPCODE_CALL_FUNCTION, .origin = ADJ_NO_NODE };
  Maker m = { rand, builder, 0 };
  AdjValue args[2], results[2];
  AdjGraph *graph;

  adj_shape_init_ints (&meta.shape, 2, (gint64[]){ 4, 4 });
  for (; m.n_nodes < 3; m.n_nodes++)
    {
      g_autofree char *name = g_strdup_printf ("arg%u_1", m.n_nodes);

      adj_builder_placeholder (builder, name, &meta);
    }

  for (guint i = 0; i < n_calls; i++, m.n_nodes++)
    {
      guint k = pick (&m, G_N_ELEMENTS (calls));

      /* Reads one of the last few values, so that values die; a transposed result has no
       * annotation. */
      for (guint j = 0; j < 2; j++)
        args[j] = ADJ_NODE (((AdjNodeId){ m.n_nodes - 1 - pick (&m, MIN (m.n_nodes, 8)) }));
      spec.target = calls[k].target;
      spec.args = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = calls[k].n_args, .items = args };
      adj_builder_add (builder, &spec);
    }

  results[0] = ADJ_NODE (((AdjNodeId){ m.n_nodes - 1 }));
  results[1] = ADJ_NODE (((AdjNodeId){ m.n_nodes / 2 }));
  adj_builder_output (builder, &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = results });
  graph = adj_builder_seal (builder, &error);
  g_assert_no_error (error);

  return graph;
}
