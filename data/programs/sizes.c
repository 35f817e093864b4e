/* SPDX-License-Identifier: MIT */

/* One graph for every batch size.
 *
 * A graph traced with the numbers of an example is valid for its batch size only.  Here the
 * batch size is a symbol s0 whose hint is that of the example: computed sizes become nodes of
 * the graph, and the graph runs on other batch sizes. */

#include "ir/adj-graph.h"
#include "programs.h"

ADJ_PUBLIC const AdjProgram *adj_program_sizes (void);

/* Multiplies the rows by their number. */
static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const AdjShape *shape = &adj_tensor_get_meta (args[0].tensor)->shape;
  const gint64 flat[] = { -1 };
  AdjTensor *x = adj_reshape (cx, args[0].tensor, flat, 1);

  x = adj_mul (cx, x, adj_full (cx, NULL, 0, adj_value_from_size (shape->size[0])));
  *result = ADJ_TENSOR (adj_keep (x));
  return x != NULL;
}

static gboolean
inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const gint64 size[] = { 4, 2 };

  in->args[0] = ADJ_TENSOR (adj_ones (cx, size, 2));
  in->n_args = 1;
  return !adj_context_has_error (cx);
}

static AdjGraph *
trace (GError **error)
{
  g_autoptr (AdjFunction) function = adj_program_function_new (adj_program_sizes ());
  AdjSymbols *symbols = adj_symbols_new ();
  const AdjSymbol batch = { .name = "s0", .hint = 4, .min = 2, .max = G_MAXINT64 };
  AdjSize sizes[2] = { adj_symbols_define (symbols, &batch), ADJ_SIZE (2) };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  AdjValue example = { .kind = ADJ_VALUE_META, .meta = &meta };
  const AdjTraceOptions options = { .name = "sizes", .symbols = symbols };
  AdjGraph *graph;

  adj_shape_init (&meta.shape, symbols, 2, sizes);
  graph = adj_trace (function, &example, 1, &options, error);
  adj_symbols_unref (symbols);
  return graph;
}

static gboolean
run (AdjContext *cx, GString *out)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = trace (&error);
  g_autofree char *text = NULL;

  if (graph == NULL)
    {
      adj_context_fail (cx, error->domain, error->code, "%s", error->message);
      return FALSE;
    }
  text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA | ADJ_PRINT_NO_COMMENTS, NULL);
  g_string_append (out, text);
  for (gint64 rows = 2; rows <= 3; rows++)
    {
      const gint64 size[] = { rows, 2 };
      AdjValue arg = ADJ_TENSOR (adj_ones (cx, size, 2)), result;

      if (!adj_interpret (cx, graph, &arg, 1, NULL, &result))
        return FALSE;
      g_string_append_printf (out, "\na batch of %" G_GINT64_FORMAT, rows);
      adj_program_print (cx, out, "", result.tensor);
      adj_value_clear (&result);
    }
  return TRUE;
}

const AdjProgram *
adj_program_sizes (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "sizes",
    .summary = "One graph for every batch: symbolic sizes",
    .run = run,
    .call = call,
    .inputs = inputs,
  };

  return &program;
}
