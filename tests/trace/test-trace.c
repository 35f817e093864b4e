/* SPDX-License-Identifier: MIT */

/* C functions, traced: the goldens are what PyTorch makes of the same functions
 * (make-golden.py). */

#include <glib.h>
#include <string.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define ITEMS(k, ...)                                                                              \
  ((AdjValue){ .kind = ADJ_VALUE_##k,                                                              \
               .n = G_N_ELEMENTS (((AdjValue[]){ __VA_ARGS__ })),                                  \
               .items = (AdjValue[]){ __VA_ARGS__ } })
#define STRING(s) ((AdjValue){ .kind = ADJ_VALUE_STRING, .n = strlen (s), .text = (s) })
#define CPU ((AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = ADJ_CPU })
#define F32 ADJ_DTYPE (ADJ_DTYPE_F32)

/* -- functions ---- */

typedef AdjValue (*Body) (AdjContext *cx, const AdjValue *args);

typedef struct
{
  AdjFunction parent;
  Body body;
} Function;

static gboolean
function_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue value = ((Function *) function)->body (cx, args);

  *result = adj_value_copy (&value);
  adj_value_clear (&value);
  return !adj_context_has_error (cx);
}

static const AdjFunctionClass function_class = { .name = "test", .call = function_call };

/* Returns a value borrowed from the scope; NONE after an error. */
static AdjValue
call (AdjContext *cx, const char *name, AdjValue args, AdjValue kwargs)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.aten.%s", name);
  AdjValue result;

  adj_call (cx, adj_op_find (target), &args, &kwargs, &result);
  return result;
}

#define CALL(name, ...) call (cx, name, ITEMS (TUPLE, __VA_ARGS__), ADJ_NONE)

/* Returns a copy, because functions own their results. */
static AdjValue
keep (AdjValue value)
{
  return adj_value_copy (&value);
}

#define RETURN(...) return keep (__VA_ARGS__)

static AdjTensorData *
make_data (void)
{
  static const float numbers[] = { 0, 1, 2, 3, 4, 5 };
  AdjTensorMeta meta = { .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE };
  g_autoptr (GBytes) bytes = g_bytes_new_static (numbers, sizeof numbers);

  adj_shape_init_ints (&meta.shape, 2, (gint64[]){ 2, 3 });
  return adj_tensor_data_new (&meta, bytes, NULL);
}

static AdjValue
chain (AdjContext *cx, const AdjValue *args)
{
  AdjValue alpha = ITEMS (DICT, STRING ("alpha"), ADJ_INT (2));
  AdjValue y = call (cx, "add.Tensor", ITEMS (TUPLE, args[0], args[0]), alpha);
  AdjValue z = CALL ("add.Tensor", y, ADJ_INT (1));
  AdjValue product = CALL ("mul.Tensor", y, z);
  AdjValue dtype = ITEMS (DICT, STRING ("dtype"), ADJ_NONE);

  RETURN (call (cx, "sum.dim_IntList",
                ITEMS (TUPLE, product, ITEMS (LIST, ADJ_INT (1)), ADJ_BOOL (TRUE)), dtype));
}

static AdjValue
defaults (AdjContext *cx, const AdjValue *args)
{
  AdjValue alpha = ITEMS (DICT, STRING ("alpha"), ADJ_INT (1));
  AdjValue dtype = ITEMS (DICT, STRING ("dtype"), ADJ_NONE);
  AdjValue no = ADJ_BOOL (FALSE);
  AdjValue y = call (cx, "add.Tensor", ITEMS (TUPLE, args[0], ADJ_INT (1)), alpha);
  AdjValue z = CALL ("amax.default", y, ITEMS (LIST, ADJ_INT (1)), no);
  AdjValue mean = call (cx, "mean.dim", ITEMS (TUPLE, z, ITEMS (LIST, ADJ_INT (0)), no), dtype);

  RETURN (CALL ("squeeze.dim", CALL ("unsqueeze.default", mean, ADJ_INT (0)), ADJ_INT (0)));
}

static AdjValue
items (AdjContext *cx, const AdjValue *args)
{
  AdjValue parts = CALL ("split.Tensor", args[0], ADJ_INT (1), ADJ_INT (1));
  AdjValue norm = CALL ("native_layer_norm.default", args[0], ITEMS (LIST, ADJ_INT (3)), ADJ_NONE,
                        ADJ_NONE, ADJ_FLOAT (1e-5));

  if (norm.kind == ADJ_VALUE_NONE)
    return ADJ_NONE;
  RETURN (ITEMS (LIST, parts.items[1], norm.items[0]));
}

static AdjValue
lifted (AdjContext *cx, const AdjValue *args)
{
  g_autoptr (AdjTensorData) data = make_data ();
  AdjValue weight = ADJ_TENSOR (adj_scope_add (cx, adj_tensor_new_from_data (data)));

  RETURN (CALL ("mul.Tensor", CALL ("add.Tensor", args[0], weight), weight));
}

static AdjValue
in_place (AdjContext *cx, const AdjValue *args)
{
  AdjValue y = CALL ("clone.default", args[0]);
  AdjValue view;

  CALL ("add_.Tensor", y, ADJ_INT (1));
  view = CALL ("t.default", y);
  CALL ("mul_.Tensor", view, ADJ_INT (2));
  RETURN (ITEMS (TUPLE, y, CALL ("sum.default", y)));
}

static AdjValue
factories (AdjContext *cx, const AdjValue *args)
{
  AdjValue shape = ITEMS (LIST, ADJ_INT (2), ADJ_INT (3));
  AdjValue zeros = call (cx, "zeros.default", ITEMS (TUPLE, shape),
                         ITEMS (DICT, STRING ("dtype"), F32, STRING ("device"), CPU,
                                STRING ("pin_memory"), ADJ_BOOL (FALSE)));
  AdjValue full = call (cx, "full.default", ITEMS (TUPLE, shape, ADJ_FLOAT (-2.5)),
                        ITEMS (DICT, STRING ("pin_memory"), ADJ_BOOL (FALSE)));

  RETURN (CALL ("add.Tensor", full, zeros));
}

static AdjValue
two_lists (AdjContext *cx, const AdjValue *args)
{
  AdjValue product = CALL ("mul.Tensor", args[0].items[0], args[1].items[0]);

  RETURN (ITEMS (LIST, product, CALL ("sum.default", args[0].items[1]), ADJ_NONE));
}

static AdjValue
sizes (AdjContext *cx, const AdjValue *args)
{
  AdjSize rows = adj_tensor_get_meta (args[0].tensor)->shape.size[0];
  AdjValue n_rows = { .kind = ADJ_VALUE_SIZE, .size = rows };
  AdjValue count = n_rows;
  AdjValue flat, ones;

  count.size = adj_size_mul (adj_context_get_symbols (cx), rows, ADJ_SIZE (3));
  flat = CALL ("view.default", args[0], ITEMS (LIST, count));
  ones = call (cx, "ones.default", ITEMS (TUPLE, ITEMS (LIST, n_rows)),
               ITEMS (DICT, STRING ("pin_memory"), ADJ_BOOL (FALSE)));
  RETURN (ITEMS (TUPLE, flat, ones, count));
}

/* -- goldens ---- */

static AdjTensorMeta
make_meta (AdjSize rows)
{
  AdjTensorMeta meta = {
    .dtype = ADJ_DTYPE_F32, .device = ADJ_CPU, .has_strides = TRUE, .storage = -1
  };

  adj_shape_init (&meta.shape, NULL, 2, (AdjSize[]){ ADJ_SIZE (2), ADJ_SIZE (3) });
  meta.shape.size[0] = rows;
  return meta;
}

static AdjGraph *
trace (Body body, const AdjValue *inputs, guint n, const AdjTraceOptions *options, GError **error)
{
  g_autoptr (AdjFunction) function = adj_function_new (&function_class, sizeof (Function));

  ((Function *) function)->body = body;
  return adj_trace (function, inputs, n, options, error);
}

typedef struct
{
  const char *name;
  Body body;
  gboolean real;
} Golden;

static const Golden goldens[] = {
  { "chain", chain, FALSE },         { "defaults", defaults, FALSE },
  { "items", items, FALSE },         { "lifted", lifted, TRUE },
  { "in_place", in_place, FALSE },   { "factories", factories, FALSE },
  { "two_lists", two_lists, FALSE }, { "sizes", sizes, FALSE },
};

static void
test_golden (gconstpointer data)
{
  const Golden *golden = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = NULL;
  g_autoptr (AdjSymbols) symbols = adj_symbols_new ();
  g_autoptr (AdjTensorData) values = make_data ();
  g_autofree char *text = NULL;
  g_autofree char *path = g_strdup_printf ("trace/golden/%s.txt", golden->name);
  const char *const one[] = { "x" };
  const char *const two[] = { "primals", "tangents" };
  AdjTraceOptions options = {
    .name = golden->name, .parameters = one, .symbols = symbols, .real = golden->real
  };
  AdjSymbol s0 = { .name = "s0", .hint = 5, .min = 2, .max = G_MAXINT64 };
  AdjSize rows = golden->body == sizes ? adj_symbols_define (symbols, &s0) : ADJ_SIZE (2);
  AdjTensorMeta meta = make_meta (rows);
  AdjValue x = { .kind = ADJ_VALUE_META, .meta = &meta };
  AdjValue lists[] = { ITEMS (LIST, x, x), ITEMS (LIST, x) };

  if (golden->real)
    x = ADJ_DATA (values);
  if (golden->body == two_lists)
    options.parameters = two;
  graph = golden->body == two_lists ? trace (golden->body, lists, 2, &options, &error)
                                    : trace (golden->body, &x, 1, &options, &error);
  g_assert_no_error (error);
  text = adj_graph_print (graph, ADJ_PRINT_NO_METADATA, NULL);
  adj_test_check_golden (path, text);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (goldens); i++)
    {
      g_autofree char *path = g_strdup_printf ("/trace/golden/%s", goldens[i].name);

      g_test_add_data_func (path, &goldens[i], test_golden);
    }
  return g_test_run ();
}
