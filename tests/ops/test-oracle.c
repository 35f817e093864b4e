/* SPDX-License-Identifier: MIT */
/* Every operator against the results that PyTorch recorded. */

#include <math.h>
#include <string.h>

#include "call/adj-context.h"
#include "call/adj-mode.h"
#include "interpreter/adj-gauge.h"
#include "ops/adj-ops.h"
#include "rules/adj-operators.h"
#include "support/oracle.h"

/* Runs every case of data/oracle (see make-oracle.py) and compares with PyTorch: dtype, sizes
 * and strides exactly, values exactly or within the tolerance of the operator. */

/* -- comparing -- */

/* The tolerance is two times (with cancellation three times) the error bound of an operator.  It
 * also holds for PyTorch on other CPUs: with AVX-512 instead of AVX2, 487 of the 14,721 cases
 * differ in bits, and all but one (gelu, which makes NaN of inf there) are within it.  Normally
 * distributed draws have other bits without AVX2 and are compared exactly. */
static double
band_of (const OracleCase *c, AdjDType dtype, double reduction)
{
  const AdjOpCall call = { .op = c->op, .schema = adj_op_get_schema (c->op), .args = c->args };
  double u = 0x1p-53;
  double k = MAX (reduction, 1);

  dtype = adj_dtype_get_real (dtype);
  if (dtype == ADJ_DTYPE_F32)
    u = 0x1p-24;
  else if (dtype == ADJ_DTYPE_F16)
    u = 0x1p-11;
  else if (dtype == ADJ_DTYPE_BF16)
    u = 0x1p-8;
  switch (adj_op_call_get_band (&call))
    {
    case ADJ_BAND_ROUNDED:
      return 2 * u;
    case ADJ_BAND_SMOOTH:
    case ADJ_BAND_PLACES:
      return 8 * u;
    case ADJ_BAND_SUM:
      return u * (4 + log2 (k));
    case ADJ_BAND_PRODUCT:
      return u * (4 + 2 * log2 (k));
    case ADJ_BAND_LINALG:
      return u * (8 + 4 * log2 (k));
    case ADJ_BAND_EXACT:
    default:
      return 0;
    }
}

/* Each side has an error of one bound; the third is for cancellation in a small case. */
static gboolean
close_enough (const double *got, const double *expected, gint64 n, double band, GString *why)
{
  double difference = 0, norm = 0;

  for (gint64 i = 0; i < n; i++)
    {
      if (isnan (expected[i]) && isnan (got[i]))
        continue;
      if (isnan (expected[i]) || isnan (got[i]) || isinf (expected[i]) || isinf (got[i]) ||
          band == 0)
        {
          if (got[i] == expected[i])
            continue;
          g_string_append_printf (why, "element %" G_GINT64_FORMAT " is %.9g, not %.9g", i, got[i],
                                  expected[i]);
          return FALSE;
        }
      difference += (got[i] - expected[i]) * (got[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
  if (sqrt (difference) <= 3 * band * sqrt (norm) + 1e-300)
    return TRUE;
  g_string_append_printf (why, "relative error %.3g, band %.3g", sqrt (difference / norm),
                          3 * band);
  return FALSE;
}

/* The recording has strides of eager tensors; for sizes of 1 and tensors without elements, ours
 * are those of traced graphs (tests/tensor/data/view.txt, pointwise.txt). */
static gboolean
check_meta (AdjTensor *tensor, const AdjTensorMeta *wanted, GString *why)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);
  AdjTensorMeta traced = *wanted;
  g_autoptr (GString) a = g_string_new (NULL);
  g_autoptr (GString) b = g_string_new (NULL);

  for (guint i = 0; i < MIN (meta->shape.rank, traced.shape.rank); i++)
    if (adj_size_same (traced.shape.size[i], ADJ_SIZE (1)) ||
        adj_size_same (adj_shape_numel (&traced.shape, NULL), ADJ_SIZE (0)))
      traced.shape.stride[i] = meta->shape.stride[i];
  adj_tensor_meta_print (meta, NULL, a);
  adj_tensor_meta_print (&traced, NULL, b);
  if (g_str_equal (a->str, b->str))
    return TRUE;
  g_string_append_printf (why, "gives %s, not %s", a->str, b->str);
  return FALSE;
}

/* A complex number counts as two. */
static gint64
count_numbers (const AdjTensorData *data)
{
  AdjDType dtype = adj_tensor_data_get_meta (data)->dtype;

  return adj_tensor_data_get_numel (data) * (adj_dtype_get_real (dtype) != dtype ? 2 : 1);
}

/* If @op defines its vectors up to a factor, returns the equivalent ones nearest to @expected. */
static AdjTensorData *
snapshot (const AdjOp *op, AdjTensor *tensor, const AdjTensorData *expected, guint result)
{
  g_autoptr (AdjTensorData) got = adj_tensor_snapshot (tensor);

  if ((op->flags & ADJ_OP_GAUGE) == 0)
    return g_steal_pointer (&got);
  return adj_gauge_align (got, expected, result == 2);
}

static gboolean
check_tensor (const AdjOp *op,
              guint result,
              AdjTensor *tensor,
              const AdjTensorMeta *wanted,
              GBytes *bytes,
              double band,
              GString *why)
{
  AdjTensorMeta dense = *wanted;
  g_autoptr (AdjTensorData) got = NULL;
  g_autoptr (AdjTensorData) expected = NULL;
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;
  gint64 n;

  if (!check_meta (tensor, wanted, why))
    return FALSE;
  adj_shape_init (&dense.shape, NULL, wanted->shape.rank, wanted->shape.size);
  expected = adj_tensor_data_new (&dense, bytes, NULL);
  g_assert_nonnull (expected);
  got = snapshot (op, tensor, expected, result);
  n = count_numbers (expected);
  x = g_new (double, MAX (n, 1));
  y = g_new (double, MAX (n, 1));
  adj_tensor_data_read_parts (got, x);
  adj_tensor_data_read_parts (expected, y);
  return close_enough (x, y, n, band, why);
}

/* -- cases -- */

/* Records the number of values that a call sums over, for the tolerance. */
typedef struct
{
  AdjMode mode;
  double *reduction;
} Spy;

static gboolean
spy_call (AdjMode *mode, AdjOpCall *call)
{
  gboolean done = adj_mode_call_below (mode, call);

  if (done)
    *((Spy *) mode)->reduction = adj_op_call_get_reduction (call);
  return done;
}

static const AdjModeClass spy_class = { .name = "spy", .call = spy_call };

static void
check_value (const OracleCase *c,
             guint result,
             const AdjValue *value,
             const char *line,
             double reduction,
             GString *why)
{
  g_autofree char *copy = g_strdup (line);
  OracleReader r = { .text = copy };
  const char *kind = strtok_r (r.text, " ", &r.text);
  AdjTensorMeta meta;
  g_autoptr (GBytes) bytes = NULL;

  if (kind[0] == 'i' && (value->kind != ADJ_VALUE_INT || value->integer != atoll (r.text)))
    g_string_append_printf (why, "a result is not the integer %s", r.text);
  if (kind[0] != 't' || value->kind != ADJ_VALUE_TENSOR)
    {
      /* Traces include results that kernels leave undefined. */
      if (kind[0] == 'n' && c->needs_cuda && c->op->traced != NULL)
        return;
      if ((kind[0] == 'n') != (value->kind == ADJ_VALUE_NONE) ||
          (kind[0] == 't') != (value->kind == ADJ_VALUE_TENSOR))
        g_string_append (why, "a result is undefined, or should be");
      return;
    }
  bytes = oracle_read_tensor (&r, &meta);
  if (c->needs_cuda && c->op->traced != NULL)
    {
      memcpy (meta.shape.stride, adj_tensor_get_meta (value->tensor)->shape.stride,
              sizeof meta.shape.stride);
      meta.dtype = adj_tensor_get_meta (value->tensor)->dtype;
    }
  if (c->needs_cuda)
    check_meta (value->tensor, &meta, why);
  else if ((c->op->flags & ADJ_OP_NO_COMPARE) == 0)
    check_tensor (c->op, result, value->tensor, &meta, bytes, band_of (c, meta.dtype, reduction),
                  why);
}

static void
check_results (const OracleCase *c, const AdjValue *result, double reduction, GString *why)
{
  gboolean list = adj_value_is_container (result);
  guint n = list ? result->n : adj_op_get_schema (c->op)->n_returns;

  if (n != c->results->len)
    {
      g_string_append_printf (why, "gives %u results, not %u", n, c->results->len);
      return;
    }
  for (guint i = 0; i < n && why->len == 0; i++)
    check_value (c, i, list ? &result->items[i] : result, c->results->pdata[i], reduction, why);
}

typedef struct
{
  const OracleCase *c;
  double reduction;
  guint next;
  GString *why;
} Written;

static gboolean
check_written_tensor (const AdjValue *value, gpointer data)
{
  Written *written = data;

  if (value->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  g_assert_cmpuint (written->next, <, written->c->written->len);
  check_value (written->c, 0, value, written->c->written->pdata[written->next++],
               written->reduction, written->why);
  return written->why->len == 0;
}

/* Checks arguments that the call wrote and did not return. */
static void
check_written (const OracleCase *c, double reduction, GString *why)
{
  const AdjSchema *schema = adj_op_get_schema (c->op);
  Written written = { c, reduction, 0, why };

  if (c->written->len == 0)
    return;
  for (guint i = 0; i < c->n_args && why->len == 0; i++)
    if (schema->arguments[i].type.written)
      adj_value_foreach (&c->args[i], check_written_tensor, &written);
}

/* Checks a case; appends a description of each error to @why. */
typedef void (*CaseCheck) (OracleCase *c, GString *why);

static gboolean
call_case (AdjContext *cx, OracleCase *c, AdjValue *result, GString *why)
{
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .n = c->n_args, .items = c->args };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = c->n_kwargs, .items = c->kwargs };
  g_autoptr (GError) error = NULL;

  if (c->seed >= 0)
    adj_generator_seed (adj_context_get_generator (cx), (guint64) c->seed);
  if (adj_call (cx, c->op, &args, &kwargs, result))
    return TRUE;
  g_assert_true (adj_context_take_error (cx, &error));
  g_string_append (why, error->message);
  return FALSE;
}

static AdjContext *
new_context (AdjMode *bottom, double *reduction)
{
  AdjContext *cx = adj_context_new_empty (NULL);
  Spy *spy = g_new0 (Spy, 1);

  adj_context_push_mode (cx, bottom);
  spy->mode.klass = &spy_class;
  spy->reduction = reduction;
  adj_context_push_mode (cx, &spy->mode);
  return cx;
}

static void
check_eager (OracleCase *c, GString *why)
{
  double reduction = 1;
  g_autoptr (AdjContext) cx = new_context (adj_eager_mode_new (), &reduction);
  AdjValue result = ADJ_NONE;

  if (c->needs_cuda)
    {
      if (call_case (cx, c, &result, why))
        check_results (c, &result, reduction, why);
      else if (strstr (why->str, "needs CUDA") != NULL)
        g_string_truncate (why, 0);
      return;
    }
  if (!call_case (cx, c, &result, why))
    return;
  check_results (c, &result, reduction, why);
  check_written (c, reduction, why);
  if (c->seed >= 0 && adj_generator_next32 (adj_context_get_generator (cx)) % (1u << 31) != c->next)
    g_string_append (why, "draws more or less than PyTorch");
}

/* The call without values gives the same dtypes, sizes and strides, or those of traced graphs
 * where these differ (tests/call/test-fake.c, tests/session/test-dynamo-joint.c). */
static void
check_fake (OracleCase *c, GString *why)
{
  double reduction = 1;
  g_autoptr (AdjContext) cx = new_context (adj_fake_mode_new (), &reduction);
  AdjValue result = ADJ_NONE;
  gboolean needs_cuda = c->needs_cuda;

  if (!call_case (cx, c, &result, why))
    return;
  c->needs_cuda = TRUE;
  check_results (c, &result, reduction, why);
  c->needs_cuda = needs_cuda;
}

/* -- float64 as the truth -- */

static void
promote (AdjValue *value)
{
  g_autoptr (AdjTensorData) data = NULL;
  g_autoptr (AdjTensorData) wide = NULL;

  if (value->kind == ADJ_VALUE_LIST)
    for (guint i = 0; i < value->n; i++)
      promote (&value->items[i]);
  if (value->kind != ADJ_VALUE_TENSOR ||
      !adj_dtype_is_differentiable (adj_tensor_get_meta (value->tensor)->dtype))
    return;
  data = adj_tensor_snapshot (value->tensor);
  wide = adj_tensor_data_cast_storage (
      data, adj_dtype_get_widest (adj_tensor_get_meta (value->tensor)->dtype));
  adj_tensor_unref (value->tensor);
  value->tensor = adj_tensor_new_from_data (wide);
}

/* The elements of @value in row-major order; %NULL unless it is a floating-point tensor. */
static double *
read_doubles (const AdjValue *value, gint64 *n)
{
  g_autoptr (AdjTensorData) data = NULL;
  double *out;

  if (value->kind != ADJ_VALUE_TENSOR ||
      !adj_dtype_is_differentiable (adj_tensor_get_meta (value->tensor)->dtype))
    return NULL;
  data = adj_tensor_snapshot (value->tensor);
  *n = count_numbers (data);
  out = g_new (double, MAX (*n, 1));
  adj_tensor_data_read_parts (data, out);
  return out;
}

static void
compare_with_float64 (const OracleCase *c,
                      const AdjValue *single,
                      const AdjValue *wide,
                      double reduction,
                      GString *why)
{
  gint64 n = 0, n_wide = 0;
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;

  if (single->kind == ADJ_VALUE_TUPLE || single->kind == ADJ_VALUE_LIST)
    {
      for (guint i = 0; i < single->n; i++)
        compare_with_float64 (c, &single->items[i], &wide->items[i], reduction, why);
      return;
    }
  x = read_doubles (single, &n);
  if (x == NULL)
    return;
  y = read_doubles (wide, &n_wide);
  g_assert_cmpint (n, ==, n_wide);
  for (gint64 i = 0; i < n; i++)
    if (!isfinite (x[i])) /* out of the range of a float */
      y[i] = x[i];
  close_enough (x, y, n, band_of (c, adj_tensor_get_meta (single->tensor)->dtype, reduction), why);
}

/* Whether @op draws from uninitialised tensors: its numbers depend on dtype and memory layout,
 * which differ in float64. */
static gboolean
is_drawn (const AdjOp *op)
{
  return (op->flags & ADJ_OP_RANDOM) != 0 && op->grad != NULL &&
         strstr (op->grad, ": zeros") != NULL;
}

static void
check_float64 (OracleCase *c, GString *why)
{
  double reduction = 1;
  g_autoptr (AdjContext) cx = new_context (adj_eager_mode_new (), &reduction);
  g_autoptr (AdjContext) cx64 = new_context (adj_eager_mode_new (), &reduction);
  AdjValue single = ADJ_NONE, wide = ADJ_NONE;

  if (c->needs_cuda || c->op->band == ADJ_BAND_EXACT || is_drawn (c->op) ||
      adj_schema_mutates (adj_op_get_schema (c->op)))
    return;
  if (!call_case (cx, c, &single, why))
    return;
  for (guint i = 0; i < c->n_args; i++)
    promote (&c->args[i]);
  for (guint i = 0; i < c->n_kwargs; i++)
    promote (&c->kwargs[i]);
  adj_context_push_mode (cx64, adj_float64_mode_new ());
  if (call_case (cx64, c, &wide, why))
    compare_with_float64 (c, &single, &wide, reduction, why);
}

typedef struct
{
  CaseCheck check;
  GHashTable *seen; /* (nullable): operators that were called */
  guint n_cases;
  guint n_bad;
} Sweep;

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  g_autoptr (GString) why = g_string_new (NULL);

  if (sweep->seen != NULL)
    g_hash_table_add (sweep->seen, (gpointer) c->op);
  sweep->check (c, why);
  sweep->n_cases++;
  if (strstr (why->str, "needs LAPACK") != NULL)
    {
      g_test_message ("skipped without LAPACK: %s", c->target);
      return;
    }
  if (why->len == 0)
    return;
  g_test_message ("%s:%u, %s: %s", c->file, c->line, c->target, why->str);
  sweep->n_bad++;
}

static void
check_cases (CaseCheck check, GHashTable *seen)
{
  Sweep sweep = { .check = check, .seen = seen };

  oracle_foreach (check_case, &sweep);
  if (seen != NULL)
    g_test_message ("%u operators, %u cases", g_hash_table_size (seen), sweep.n_cases);
  g_assert_cmpuint (sweep.n_cases, >, 7000);
  g_assert_cmpuint (sweep.n_bad, ==, 0);
}

static void
agrees_with_pytorch (void)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (NULL, NULL);
  guint n_missing = 0;

  check_cases (check_eager, seen);
  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const char *target = adj_op_get_schema (op)->target;
      const AdjOpFlags no_values =
          ADJ_OP_NO_COMPARE | ADJ_OP_METADATA | ADJ_OP_COMPOSITE | ADJ_OP_EFFECT;
      gboolean expected = adj_op_get_base (op) == NULL && (op->flags & no_values) == 0;

      /* Others are tested by known numbers: operators of GPUs in tests/call/test-philox.c,
       * operators new in 2.15 in tests/interpreter/test-offload.c. */
      if (g_str_has_prefix (target, "torch.ops.rngprims.") ||
          g_str_has_prefix (target, "torch.ops.ao."))
        continue;
      if (!expected || g_hash_table_contains (seen, op))
        continue;
      g_test_message ("make-oracle.py has no case of %s", target);
      n_missing++;
    }
  g_assert_cmpuint (n_missing, ==, 0);
}

static void
fake_agrees_with_eager (void)
{
  check_cases (check_fake, NULL);
}

static void
float32_within_its_band (void)
{
  check_cases (check_float64, NULL);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ops/oracle/agrees-with-pytorch", agrees_with_pytorch);
  g_test_add_func ("/ops/oracle/fake-agrees-with-eager", fake_agrees_with_eager);
  g_test_add_func ("/ops/oracle/float32-within-its-band", float32_within_its_band);

  return g_test_run ();
}
