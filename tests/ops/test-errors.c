/* SPDX-License-Identifier: MIT */
/* Invalid arguments: every operator refuses them, names the argument, and gives the same message
 * with and without values. */

#include <math.h>
#include <string.h>

#include "call/adj-context.h"
#include "call/adj-mode.h"
#include "exec/adj-executor.h"
#include "ir/adj-graph.h"
#include "ops/adj-ops.h"
#include "rules/adj-operators.h"
#include "support/graphs.h"
#include "support/oracle.h"

/* Calls every operator with one argument of a recorded case replaced by an invalid one.  The
 * call works or fails; if it fails, the message names the operator and the context stays usable. */

/* Number of cases for each operator. */
#define PER_OPERATOR 3

typedef struct
{
  GHashTable *seen; /* operator → number of cases */
  guint n_calls, n_refused, n_unnamed;
} Sweep;

/* -- what stands in for an argument; all (transfer full) -- */

static AdjValue
tensor_of (AdjDType dtype, guint rank, const gint64 *sizes)
{
  AdjTensorMeta meta = { .dtype = dtype, .device = { ADJ_DEVICE_CPU, -1 } };
  AdjTensor *tensor;

  adj_shape_init_ints (&meta.shape, rank, sizes);
  tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  return ADJ_TENSOR (tensor);
}

/* Returns a tensor of the same sizes in another dtype. */
static AdjValue
in_dtype (const AdjValue *old, AdjDType dtype)
{
  AdjTensorMeta meta;

  if (old->kind != ADJ_VALUE_TENSOR)
    return tensor_of (dtype, 0, NULL);
  meta = *adj_tensor_get_meta (old->tensor);
  adj_shape_init (&meta.shape, NULL, meta.shape.rank, meta.shape.size);
  meta.dtype = dtype;
  return ADJ_TENSOR (adj_tensor_new_empty (&meta, NULL, FALSE));
}

static AdjValue
list_of (guint n, gint64 number)
{
  AdjValue list = { .kind = ADJ_VALUE_LIST, .n = n };
  AdjValue items[80];

  for (guint i = 0; i < n; i++)
    items[i] = ADJ_INT (number);
  list.items = items;
  return adj_value_copy (&list);
}

#define N_TENSORS 10

static AdjValue
wrong_tensor (const AdjValue *old, guint which)
{
  static const gint64 sizes[][6] = {
    { 7 }, { 7, 11 }, { 7, 11, 13 }, { 0, 5 }, { 2, 3, 4, 5, 6, 1 }
  };
  static const guint ranks[] = { 1, 2, 3, 2, 6 };
  static const AdjDType dtypes[] = { ADJ_DTYPE_BOOL, ADJ_DTYPE_I64, ADJ_DTYPE_F16, ADJ_DTYPE_F64 };
  AdjDType dtype =
      old->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (old->tensor)->dtype : ADJ_DTYPE_F32;

  if (which < G_N_ELEMENTS (ranks))
    return tensor_of (dtype, ranks[which], sizes[which]);
  which -= G_N_ELEMENTS (ranks);
  if (which < G_N_ELEMENTS (dtypes))
    return in_dtype (old, dtypes[which]);
  return tensor_of (dtype, 0, NULL);
}

#define N_NUMBERS 9

static AdjValue
wrong_number (guint which)
{
  const AdjValue numbers[] = {
    ADJ_INT (-1),         ADJ_INT (-1000),      ADJ_INT (0),     ADJ_INT ((gint64) 1 << 40),
    ADJ_INT (G_MAXINT64), ADJ_INT (G_MININT64), ADJ_FLOAT (NAN), ADJ_FLOAT (-INFINITY),
    ADJ_BOOL (TRUE),
  };

  return numbers[which];
}

#define N_OTHERS 9

/* Returns a value of another kind, or a list. */
static AdjValue
wrong_kind (guint which)
{
  const AdjValue text = { .kind = ADJ_VALUE_STRING, .n = 4, .text = "nono" };

  switch (which)
    {
    case 0:
      return ADJ_NONE;
    case 1:
      return adj_value_copy (&text);
    case 2:
      return ADJ_DTYPE (ADJ_DTYPE_BOOL);
    case 3:
      return list_of (0, 0);
    case 4:
      return list_of (1, -9);
    case 5:
      return list_of (3, 0);
    case 6:
      return list_of (2, (gint64) 1 << 40);
    case 7:
      return list_of (5, G_MININT64);
    default:
      return list_of (80, 1);
    }
}

/* -- calling -- */

static gboolean
names_operator (const AdjOp *op, const char *message)
{
  const AdjSchema *schema = adj_op_get_schema (op);

  /* A composite is decomposed: one of its components refuses. */
  return strstr (message, schema->name) != NULL ||
         ((op->flags & ADJ_OP_COMPOSITE) != 0 && strstr (message, "::") != NULL);
}

static void
call_with (Sweep *sweep, OracleCase *c, gboolean fake, const char *what, guint arg)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (NULL);
  g_autoptr (GError) error = NULL;
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = c->n_args, .items = c->args };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = c->n_kwargs, .items = c->kwargs };
  AdjValue result = ADJ_NONE;

  adj_context_push_mode (cx, fake ? adj_fake_mode_new () : adj_eager_mode_new ());
  sweep->n_calls++;
  if (adj_call (cx, c->op, &args, &kwargs, &result))
    return;
  g_assert_true (adj_context_take_error (cx, &error));
  sweep->n_refused++;
  if (!names_operator (c->op, error->message))
    {
      sweep->n_unnamed++;
      g_test_message ("%s, argument %u %s: %s", c->target, arg, what, error->message);
    }
  g_assert_false (adj_context_has_error (cx));
}

/* Uses copies in both modes, because a call can write its tensors. */
static void
try_value (Sweep *sweep, OracleCase *c, AdjValue *slot, AdjValue value, const char *what)
{
  AdjValue old = *slot;

  *slot = value;
  for (guint fake = 0; fake < 2; fake++)
    call_with (sweep, c, fake != 0, what, (guint) (slot - c->args));
  *slot = old;
  adj_value_clear (&value);
}

static void
try_all (Sweep *sweep, OracleCase *c, AdjValue *slot)
{
  for (guint i = 0; i < N_TENSORS; i++)
    try_value (sweep, c, slot, wrong_tensor (slot, i), "is another tensor");
  for (guint i = 0; i < N_NUMBERS; i++)
    try_value (sweep, c, slot, wrong_number (i), "is another number");
  for (guint i = 0; i < N_OTHERS; i++)
    try_value (sweep, c, slot, wrong_kind (i), "is of another kind");
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  guint n = GPOINTER_TO_UINT (g_hash_table_lookup (sweep->seen, c->op));

  if (n >= PER_OPERATOR)
    return;
  g_hash_table_insert (sweep->seen, (gpointer) c->op, GUINT_TO_POINTER (n + 1));
  for (guint i = 0; i < c->n_args; i++)
    try_all (sweep, c, &c->args[i]);
  for (guint i = 1; i < c->n_kwargs; i += 2)
    try_all (sweep, c, &c->kwargs[i]);
  if (c->n_args > 0)
    {
      c->n_args--;
      call_with (sweep, c, FALSE, "is missing", c->n_args);
      c->n_args++;
    }
}

static void
name_the_operator (void)
{
  Sweep sweep = { .seen = g_hash_table_new (NULL, NULL) };

  oracle_foreach (check_case, &sweep);
  g_test_message ("%u operators, %u calls with a wrong argument, %u refused",
                  g_hash_table_size (sweep.seen), sweep.n_calls, sweep.n_refused);
  g_assert_cmpuint (sweep.n_unnamed, ==, 0);
  g_assert_cmpuint (sweep.n_refused, >, 10000);
  g_hash_table_unref (sweep.seen);
}

/* -- what would be another number -- */

/* Runs @lines, which compute `a` from x = [[1, 2, 3], [4, 5, 6]]. */
static gboolean
run_lines (const char *executor, const char *lines, AdjRunResult *result, GError **error)
{
  g_autofree char *text = g_strdup_printf ("class G(torch.nn.Module):\n"
                                           "    def forward(self, x: \"f32[2, 3][3, 1]cpu\"):\n"
                                           "        %s\n        return (a,)\n",
                                           lines);
  g_autoptr (AdjGraph) graph = adj_test_parse_graph (text);
  const float numbers[] = { 1, 2, 3, 4, 5, 6 };
  const gint64 sizes[] = { 2, 3 };
  g_autoptr (AdjTensorData) x =
      adj_tensor_data_new_from_array (ADJ_DTYPE_F32, sizes, 2, numbers, NULL);
  AdjValue input = ADJ_DATA (x);
  AdjRunRequest request = { .graph = graph, .inputs = &input, .n_inputs = 1 };

  return adj_executor_run (adj_executor_find (executor, NULL), &request, result, NULL, error);
}

static gboolean
run_norm (const char *call, AdjRunResult *result, GError **error)
{
  g_autofree char *line = g_strconcat ("a = ", call, NULL);

  return run_lines ("interpreter", line, result, error);
}

static void
refuse_norms (void)
{
  static const struct
  {
    const char *call, *says;
  } rows[] = {
    { "torch.linalg.norm(x, 0)", "orders" },
    { "torch.linalg.norm(x, 3)", "orders" },
    { "torch.linalg.norm(x, 'two')", "orders" },
    { "torch.linalg.norm(x, 1, [1, 1])", "two different dimensions" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjRunResult result = { 0 };
      g_autoptr (GError) error = NULL;

      g_assert_false (run_norm (rows[i].call, &result, &error));
      if (strstr (error->message, rows[i].says) == NULL)
        g_error ("%s: %s", rows[i].call, error->message);
    }
}

/* Matrix norms based on singular values, under the names of operators and of Python functions,
 * as PyTorch 2.6 computes them: never vector norms. */
static void
norms_of_singular_values (void)
{
  static const struct
  {
    const char *call;
    double expected;
  } rows[] = {
    { "torch.ops.aten.linalg_norm.default(x, 2)", 9.508030891418457 },
    { "torch.ops.aten.linalg_norm.default(x, -2, [1, 0])", 0.7728696465492249 },
    { "torch.ops.aten.linalg_norm.ord_str(x, 'nuc')", 10.280900955200195 },
    { "torch.ops.aten.linalg_matrix_norm.default(x, 2)", 9.508030891418457 },
    { "torch.ops.aten.linalg_matrix_norm.str_ord(x, 'nuc')", 10.280900955200195 },
    { "torch._C._linalg.linalg_norm(x, 2)", 9.508030891418457 },
    { "torch._C._linalg.linalg_matrix_norm(x, 'nuc')", 10.280900955200195 },
    { "torch.linalg.norm(x, ord = -2, keepdim = True)", 0.7728696465492249 },
    { "torch.norm(x, 'nuc')", 10.280900955200195 },
    { "torch.functional.norm(x, p = 'nuc', dim = [0, 1])", 10.280900955200195 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      AdjRunResult result = { 0 };
      g_autoptr (GError) error = NULL;
      const float *number;

      if (!run_norm (rows[i].call, &result, &error) && strstr (error->message, "LAPACK") != NULL)
        {
          g_test_skip ("there is no LAPACK here");
          return;
        }
      g_assert_no_error (error);
      number = g_bytes_get_data (adj_tensor_data_get_bytes (result.output.items[0].data), NULL);
      g_test_message ("%s: %.9g, not %.9g", rows[i].call, *number, rows[i].expected);
      g_assert_cmpfloat_with_epsilon (*number, rows[i].expected, 2e-6 * rows[i].expected);
      adj_run_result_clear (&result);
    }
}

/* -- values that would reach outside of memory -- */

#define NEXT "\n        "

static void
refuse (const char *executor, const char *lines, const char *says)
{
  AdjRunResult result = { 0 };
  g_autoptr (GError) error = NULL;

  g_assert_false (run_lines (executor, lines, &result, &error));
  if (strstr (error->message, says) == NULL)
    g_error ("%s, %s: %s", executor, lines, error->message);
}

/* Refused when their kernel runs, at the latest. */
static void
refuse_values (void)
{
  static const struct
  {
    const char *lines, *says;
  } rows[] = {
    { "n = torch.ops.aten.slice.Tensor(x, 1, 0, 0)" NEXT
      "a = torch.ops.aten.multinomial.default(n, 2, True)",
      "nothing to choose from" },
    { "r = torch.ops.aten.full.default([3], 2, dtype = torch.int64)" NEXT
      "a = torch.ops.aten.repeat_interleave.Tensor(r, output_size = 9)",
      "output_size" },
    { "h = torch.ops.aten.full.default([], 1e30)" NEXT
      "a = torch.ops.aten.randint_like.Tensor(x, h)",
      "no integer is below" },
    { "o = torch.ops.aten.full.default([3], 0, dtype = torch.int64)" NEXT
      "a = torch.ops.aten._padded_dense_to_jagged_forward.default(x, [o], -1)",
      "negative" },
    { "v = torch.ops.aten.view.default(x, [6])" NEXT
      "a = torch.ops.aten.stft.center(v, 4, return_complex = True, align_to_window = False)",
      "align_to_window only where center is False" },
    { "v = torch.ops.aten.view.default(x, [6])" NEXT
      "a = torch.functional.stft(v, 4, return_complex = True, align_to_window = True)",
      "align_to_window only where center is False" },
  };
  static const char *const executors[] = { "interpreter", "planned" };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint k = 0; k < G_N_ELEMENTS (executors); k++)
      refuse (executors[k], rows[i].lines, rows[i].says);
}

/* Batch entries with different bounds cannot draw the same number. */
static void
refuse_bounds_of_batch (void)
{
  refuse ("interpreter",
          "t = torch.ops.aten.full.default([2], 5)" NEXT
          "b = torch._C._functorch._vmap_increment_nesting(2, 'same')" NEXT
          "h = torch._C._functorch._add_batch_dim(t, 0, 1)" NEXT
          "a = torch.ops.aten.randint_like.Tensor(x, h)",
          "does not draw the same numbers");
}

/* A batch may claim more entries than its tensors have, and than there is memory for. */
static void
refuse_size_of_batch (void)
{
  refuse ("interpreter",
          "v = torch.ops.aten.view.default(x, [6])" NEXT
          "b = torch._C._functorch._vmap_increment_nesting(1000000000000, 'error')" NEXT
          "h = torch._C._functorch._add_batch_dim(v, 0, 1)" NEXT
          "a = torch.ops.aten.logcumsumexp.default(h, 0)",
          "1000000000000 entries of a batch do not fit in memory");
  refuse ("interpreter",
          "v = torch.ops.aten.view.default(x, [6])" NEXT
          "b = torch._C._functorch._vmap_increment_nesting(1000000, 'error')" NEXT
          "h = torch._C._functorch._add_batch_dim(v, 0, 1)" NEXT
          "a = torch.ops.aten.logcumsumexp.default(h, 0)",
          "the index is out of range");
}

/* Windows of fractional pooling stay inside the input for all samples: the last window of [0, 1,
 * 2, 3] is its third because its start is rounded to 4. */
static void
windows_inside (void)
{
  static const struct
  {
    const char *sample;
    float third;
  } rows[] = { { "33554436.0", 3 }, { "0.5", 2 }, { "float('nan')", 0 } };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *lines = g_strdup_printf (
          "r = torch.ops.aten.arange.default(4, dtype = torch.float32)" NEXT
          "v = torch.ops.aten.view.default(r, [1, 1, 4])" NEXT
          "s = torch.ops.aten.full.default([1, 1, 2], %s)" NEXT
          "p = torch.ops.aten.fractional_max_pool2d.default(v, [1, 1], [1, 4], s)" NEXT
          "a = operator.getitem(p, 0)",
          rows[i].sample);
      AdjRunResult result = { 0 };
      g_autoptr (GError) error = NULL;
      const float *numbers;

      run_lines ("interpreter", lines, &result, &error);
      g_assert_no_error (error);
      numbers = g_bytes_get_data (adj_tensor_data_get_bytes (result.output.items[0].data), NULL);
      g_assert_cmpfloat (numbers[2], ==, rows[i].third);
      g_assert_cmpfloat (numbers[3], ==, 3);
      adj_run_result_clear (&result);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ops/errors/name-the-operator", name_the_operator);
  g_test_add_func ("/ops/errors/norms", refuse_norms);
  g_test_add_func ("/ops/errors/norms-of-singular-values", norms_of_singular_values);
  g_test_add_func ("/ops/errors/values", refuse_values);
  g_test_add_func ("/ops/errors/bounds-of-batch", refuse_bounds_of_batch);
  g_test_add_func ("/ops/errors/size-of-batch", refuse_size_of_batch);
  g_test_add_func ("/ops/errors/windows-inside", windows_inside);

  return g_test_run ();
}
