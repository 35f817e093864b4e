/* SPDX-License-Identifier: MIT */
/* The error of gradients in 32 and 16 bits, compared with PyTorch's. */

#include <math.h>
#include <string.h>

#include "autograd/case.h"
#include "call/adj-mode.h"
#include "ops/adj-op-table.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "support/tape.h"

/* Gradients in 32 and 16 bits against float64 gradients at the same numbers: the relative L2
 * error is at most three times PyTorch's (data/precision.txt, written by make-precision.py) plus
 * the tolerance of one smooth operator, which is far below the slack of the comparator's rule. */

/* -- what PyTorch reached -- */

typedef struct
{
  char *key;    /* "torch.ops.aten.add.Tensor:12:f16" */
  GStrv errors; /* "self:3.5e-08" */
} Line;

static void
line_free (gpointer data)
{
  Line *line = data;

  g_free (line->key);
  g_strfreev (line->errors);
  g_free (line);
}

/* Returns the lines by key. */
static GHashTable *
read_lines (void)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "autograd", "data", "precision.txt", NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_auto (GStrv) rows = g_strsplit (text, "\n", -1);
  GHashTable *table = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, line_free);

  g_assert_cmpstr (rows[0], ==, ORACLE_MADE_BY);
  for (guint i = 1; rows[i] != NULL && *rows[i] != '\0'; i++)
    {
      g_auto (GStrv) words = g_strsplit (rows[i], " ", -1);
      Line *line = g_new0 (Line, 1);

      line->key = g_strdup_printf ("%s:%s:%s", words[0], words[1], words[2]);
      line->errors = g_strdupv (words + 3);
      g_hash_table_insert (table, line->key, line);
    }
  return table;
}

/* The error for the @index-th tensor of argument @name; NAN: none. */
static double
peer_error (const Line *line, const char *name, guint index)
{
  for (guint i = 0; line->errors[i] != NULL; i++)
    if (g_str_has_prefix (line->errors[i], name) && line->errors[i][strlen (name)] == ':' &&
        index-- == 0)
      return g_ascii_isdigit (line->errors[i][strlen (name) + 1])
                 ? g_ascii_strtod (line->errors[i] + strlen (name) + 1, NULL)
                 : NAN;
  return NAN;
}

/* -- one run -- */

typedef struct
{
  AdjContext *cx;
  OracleCase *c;
  const AdjRule *rule;
  AdjDType dtype, main; /* @main: dtype of the first floating-point tensor */
  gboolean wide;        /* arguments rounded to @dtype, computation in float64 */
  GArray *args;         /* of guint: index of the argument of each floating-point tensor */
  guint next;           /* next entry of @args */
  GPtrArray *leaves;    /* of AdjTensor, owned: tensors whose gradient is computed */
} Run;

static gboolean
count_leaf (const AdjValue *value, gpointer data)
{
  Run *run = data;

  if (case_is_floating (value))
    {
      if (run->args->len == 0)
        run->main = adj_tensor_get_meta (value->tensor)->dtype;
      g_array_append_val (run->args, run->next);
    }
  return TRUE;
}

static gboolean
place_leaf (const AdjValue *value, AdjValue *out, gpointer data)
{
  Run *run = data;
  g_autoptr (AdjTensor) rounded = NULL;
  AdjTensor *leaf;

  if (!case_is_floating (value))
    {
      *out = value->kind == ADJ_VALUE_DTYPE && value->dtype == run->main ? ADJ_DTYPE (run->dtype)
                                                                         : adj_value_copy (value);
      return TRUE;
    }
  rounded = case_cast (value->tensor, run->dtype);
  leaf = run->wide ? case_cast (rounded, ADJ_DTYPE_F64) : adj_tensor_ref (rounded);
  *out = ADJ_TENSOR (leaf);
  if (!case_has_gradient (run->rule, g_array_index (run->args, guint, run->next++)))
    return TRUE;
  adj_tensor_set_requires_grad (run->cx, leaf, TRUE);
  g_ptr_array_add (run->leaves, adj_tensor_ref (leaf));
  return TRUE;
}

/* The gradients of the leaves as arrays of numbers; %NULL where there is none. */
static GPtrArray *
differentiate (Run *run)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) cotangents = g_ptr_array_new ();
  g_autofree AdjTensor **grads = NULL;
  GPtrArray *out;
  AdjValue written = ADJ_NONE, result = ADJ_NONE;
  gboolean done;

  run->next = 0;
  adj_generator_seed (adj_context_get_generator (run->cx), 1);
  done = case_call (run->cx, run->c, place_leaf, run, &written, &result);
  if (done)
    case_collect_roots (run->cx, &result, run->dtype, roots, cotangents);
  grads = g_new0 (AdjTensor *, run->leaves->len + 1);
  if (done && roots->len > 0)
    done = adj_grad (run->cx,
                     &(AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                                      (AdjTensor *const *) cotangents->pdata, roots->len },
                     (AdjTensor *const *) run->leaves->pdata, run->leaves->len,
                     ADJ_BACKWARD_ALLOW_UNUSED, grads);
  adj_value_clear (&written);
  if (!done)
    return NULL;
  out = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint i = 0; i < run->leaves->len; i++)
    {
      GArray *numbers = g_array_new (FALSE, FALSE, sizeof (double));
      g_autofree double *read = NULL;
      gint64 n = 0;

      if (grads[i] != NULL)
        read = case_read (grads[i], &n);
      g_array_append_vals (numbers, read, (guint) n);
      g_ptr_array_add (out, numbers);
    }
  return out;
}

/* (nullable): %NULL with @error set when the case does not run. */
static GPtrArray *
run_in (const Run *like, gboolean wide, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GPtrArray) leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  Run run = *like;
  GPtrArray *out;

  run.cx = cx;
  run.wide = wide;
  run.leaves = leaves;
  if (wide)
    adj_context_push_mode (cx, adj_float64_mode_new ());
  adj_context_push_mode (cx, adj_autograd_mode_new ());
  out = differentiate (&run);
  if (out == NULL)
    adj_context_take_error (cx, error);
  return out;
}

/* -- judging -- */

typedef struct
{
  AdjDType dtype;
  const char *name;
  double unit;
  GHashTable *seen; /* operators that were tested */
  guint n_cases, n_gradients, n_without_peer, n_bad;
  double worst; /* in units, over gradients that PyTorch has too */
} Precision;

typedef struct
{
  GHashTable *lines;
  GHashTable *elsewhere; /* operators that cannot run here */
  guint n_lines;         /* lines that belong to a case */
  Precision of[3];
} Sweep;

/* NAN when either side is not finite. */
static double
relative_error (const GArray *got, const GArray *exact)
{
  double difference = 0, norm = 0;

  for (guint i = 0; i < exact->len; i++)
    {
      double x = g_array_index (got, double, i), y = g_array_index (exact, double, i);

      if (!isfinite (x) || !isfinite (y))
        return NAN;
      difference += (x - y) * (x - y);
      norm += y * y;
    }
  return difference == 0 ? 0 : norm == 0 ? 1 : sqrt (difference / norm);
}

static gboolean
is_bad (const Precision *p, double error, double peer)
{
  if (isnan (peer)) /* PyTorch does not compute it, or its result is not finite */
    return error > 64 * p->unit;
  return error > 3 * peer + 8 * p->unit;
}

static void
judge (Precision *p,
       const OracleCase *c,
       const Line *line,
       const Run *run,
       GPtrArray *got,
       GPtrArray *exact)
{
  const AdjSchema *schema = adj_op_get_schema (c->op);
  guint leaf = 0, before = 0;

  for (guint i = 0; i < run->args->len; i++)
    {
      guint arg = g_array_index (run->args, guint, i);
      const GArray *numbers, *wide;
      double error, peer;

      before = i > 0 && g_array_index (run->args, guint, i - 1) == arg ? before + 1 : 0;
      if (!case_has_gradient (run->rule, arg))
        continue;
      numbers = got->pdata[leaf];
      wide = exact->pdata[leaf++];
      g_assert_cmpuint (numbers->len, ==, wide->len);
      error = relative_error (numbers, wide);
      peer = peer_error (line, schema->arguments[arg].name, before);
      p->n_gradients++;
      p->n_without_peer += isnan (peer);
      if (!isnan (error) && peer <= 4 * p->unit)
        p->worst = fmax (p->worst, error / p->unit);
      if (isnan (error) ? !isnan (peer) : is_bad (p, error, peer))
        {
          p->n_bad++;
          g_test_message ("%s:%u, %s in %s: the gradient of %s is off by %.3g, PyTorch's by %.3g",
                          c->file, c->line, c->target, p->name, schema->arguments[arg].name, error,
                          peer);
        }
    }
}

static void
check_in (Sweep *sweep, Precision *p, OracleCase *c, const Line *line)
{
  g_autoptr (GArray) args = g_array_new (FALSE, FALSE, sizeof (guint));
  Run run = {
    .c = c, .rule = adj_rule_find (c->op, ADJ_RULE_GRAD, NULL), .dtype = p->dtype, .args = args
  };
  g_autoptr (GPtrArray) got = NULL;
  g_autoptr (GPtrArray) exact = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < adj_op_get_schema (c->op)->n_arguments; i++)
    {
      run.next = i;
      if (case_argument (c, i) != NULL)
        adj_value_foreach (case_argument (c, i), count_leaf, &run);
    }
  got = run_in (&run, FALSE, &error);
  if (got == NULL)
    {
      /* A rule may refuse a form that has no gradient. */
      gboolean refused = g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED) &&
                         strstr (error->message, "the gradient of ") != NULL;

      p->n_bad += line->errors[0] != NULL && !refused;
      if (line->errors[0] != NULL)
        g_test_message ("%s:%u, %s in %s: %s", c->file, c->line, c->target, p->name,
                        error->message);
      return;
    }
  exact = run_in (&run, TRUE, &error);
  g_assert_no_error (error);
  p->n_cases++;
  g_hash_table_add (p->seen, (gpointer) c->op);
  judge (p, c, line, &run, got, exact);
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;

  if (c->needs_cuda)
    g_hash_table_add (sweep->elsewhere, (gpointer) c->op);
  for (guint i = 0; i < G_N_ELEMENTS (sweep->of); i++)
    {
      g_autofree char *key = g_strdup_printf ("%s:%u:%s", c->target, c->line, sweep->of[i].name);
      const Line *line = g_hash_table_lookup (sweep->lines, key);

      sweep->n_lines += line != NULL;
      if (line != NULL && adj_rule_find (c->op, ADJ_RULE_GRAD, NULL) != NULL)
        check_in (sweep, &sweep->of[i], c, line);
    }
}

/* Operators without a line: the file covers real numbers, and these take or return only complex
 * ones. Of the last two PyTorch has no gradient with respect to the reflectors. */
static const char *const unmeasured[] = {
  "torch.ops.aten._conj.default",
  "torch.ops.aten._conj_physical.default",
  "torch.ops.aten._fft_c2c.default",
  "torch.ops.aten._fft_c2r.default",
  "torch.ops.aten._fft_r2c.default",
  "torch.ops.aten.complex.default",
  "torch.ops.aten.linalg_eig.default",
  "torch.ops.aten.polar.default",
  "torch.ops.aten.view_as_complex.default",
  "torch.ops.aten.view_as_real.default",
  "torch.ops.aten.linalg_householder_product.default",
  "torch.ops.aten.ormqr.default",
};

/* Factorizations refuse 16-bit numbers, in PyTorch too. */
static gboolean
is_unmeasured (const Precision *p, const AdjOp *op)
{
  const char *target = adj_op_get_schema (op)->target;

  if (op->band == ADJ_BAND_LINALG && p->dtype != ADJ_DTYPE_F32)
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS (unmeasured); i++)
    if (g_str_equal (target, unmeasured[i]))
      return TRUE;
  return FALSE;
}

/* Counts operators with a gradient that no line of the file names. */
static guint
count_untested (const Sweep *sweep, const Precision *p)
{
  guint n = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      const AdjOp *op = adj_ops_get (i);
      const char *target = adj_op_get_schema (op)->target;

      if (adj_rule_find (op, ADJ_RULE_GRAD, NULL) == NULL || g_hash_table_contains (p->seen, op) ||
          is_unmeasured (p, op) || g_hash_table_contains (sweep->elsewhere, op) ||
          (adj_op_get_base (op) != NULL && adj_op_get_schema (op)->n_returns > 0))
        continue;
      g_test_message ("%s: nothing tests the gradient of %s", p->name, target);
      n++;
    }
  return n;
}

static void
is_as_good_as_pytorchs (void)
{
  g_autoptr (GHashTable) lines = read_lines ();
  g_autoptr (GHashTable) elsewhere = g_hash_table_new (NULL, NULL);
  Sweep sweep = { lines,
                  elsewhere,
                  0,
                  { { .dtype = ADJ_DTYPE_F32, .name = "f32", .unit = 0x1p-24 },
                    { .dtype = ADJ_DTYPE_BF16, .name = "bf16", .unit = 0x1p-8 },
                    { .dtype = ADJ_DTYPE_F16, .name = "f16", .unit = 0x1p-11 } } };

  for (guint i = 0; i < G_N_ELEMENTS (sweep.of); i++)
    sweep.of[i].seen = g_hash_table_new (NULL, NULL);
  oracle_foreach (check_case, &sweep);
  g_assert_cmpuint (sweep.n_lines, ==, g_hash_table_size (lines)); /* every line has its case */
  for (guint i = 0; i < G_N_ELEMENTS (sweep.of); i++)
    {
      Precision *p = &sweep.of[i];

      g_test_message ("%s: %u operators, %u cases, %u gradients, %u without a number of PyTorch's; "
                      "at most %.2f units off where PyTorch is within 4",
                      p->name, g_hash_table_size (p->seen), p->n_cases, p->n_gradients,
                      p->n_without_peer, p->worst);
    }
  for (guint i = 0; i < G_N_ELEMENTS (sweep.of); i++)
    {
      g_assert_cmpuint (count_untested (&sweep, &sweep.of[i]), ==, 0);
      g_assert_cmpuint (sweep.of[i].n_bad, ==, 0);
      g_assert_cmpuint (sweep.of[i].n_cases, >, 1500);
      g_hash_table_unref (sweep.of[i].seen);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/precision/is-as-good-as-pytorchs", is_as_good_as_pytorchs);

  return g_test_run ();
}
