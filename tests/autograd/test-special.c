/* SPDX-License-Identifier: MIT */
/* Operators and gradients at special points, against PyTorch. */

#include <math.h>
#include <string.h>

#include "autograd/case.h"
#include "call/adj-mode.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"

/* Operators and their gradients at zeros, ties, infinities and NaN, against PyTorch's
 * (data/special, written by make-special.py): NaN and infinities at the same elements, the other
 * elements within a tolerance.  data/special-known.txt lists each deviation with its reason; a
 * listed deviation must exist. */

typedef struct
{
  char *const *words; /* target, dtype, points, what; "*" is any */
  gboolean seen;
} Known;

typedef struct
{
  GArray *known; /* Known */
  GHashTable *operators;
  guint n_cases, n_gradients, n_signs, n_known, n_bad;
} Sweep;

static gboolean
is_known (Sweep *sweep, const char *const *words)
{
  gboolean found = FALSE;

  for (guint i = 0; i < sweep->known->len; i++)
    {
      Known *known = &g_array_index (sweep->known, Known, i);
      gboolean same = TRUE;

      for (guint j = 0; same && j < 4; j++)
        same = g_pattern_match_simple (known->words[j], words[j]);
      known->seen |= same;
      found |= same;
    }
  return found;
}

static void
report (Sweep *sweep, const OracleCase *c, AdjDType dtype, const char *what, const char *why)
{
  const char *words[] = { c->target + strlen ("torch.ops."), adj_dtype_info (dtype)->code,
                          c->points, what };

  if (is_known (sweep, words))
    {
      sweep->n_known++;
      return;
    }
  sweep->n_bad++;
  g_test_message ("%s:%u: %s %s %s %s: %s", c->file, c->line, words[0], words[1], words[2],
                  words[3], why);
}

/* -- comparing -- */

static double
unit_of (AdjDType dtype)
{
  switch ((guint) dtype)
    {
    case ADJ_DTYPE_F64:
      return 0x1p-53;
    case ADJ_DTYPE_F32:
      return 0x1p-24;
    case ADJ_DTYPE_F16:
      return 0x1p-11;
    case ADJ_DTYPE_BF16:
      return 0x1p-8;
    default:
      return 0;
    }
}

/* Half the smallest denormal of @dtype: the error of rounding to it. */
static double
smallest_of (AdjDType dtype)
{
  switch ((guint) dtype)
    {
    case ADJ_DTYPE_F64:
      return 0x1p-1074;
    case ADJ_DTYPE_F16:
      return 0x1p-24;
    case ADJ_DTYPE_BF16:
      return 0x1p-133;
    default:
      return 0x1p-149;
    }
}

/* The tolerance for smooth functions and sums; 16-bit results are rounded once. */
static double
band_of (AdjDType dtype)
{
  return (dtype == ADJ_DTYPE_F64 || dtype == ADJ_DTYPE_F32 ? 32 : 8) * unit_of (dtype);
}

/* (transfer full) (nullable): a description of the first deviation. */
static char *
compare (Sweep *sweep, AdjDType dtype, const double *got, const double *expected, gint64 n)
{
  double difference = 0, norm = 0, least = 4 * smallest_of (dtype) * sqrt ((double) n);

  for (gint64 i = 0; i < n; i++)
    {
      if (isnan (got[i]) && isnan (expected[i]))
        continue;
      if (!isfinite (got[i]) || !isfinite (expected[i]))
        {
          if (got[i] == expected[i])
            continue;
          return g_strdup_printf ("element %" G_GINT64_FORMAT " is %.9g, not %.9g", i, got[i],
                                  expected[i]);
        }
      sweep->n_signs +=
          got[i] == 0 && expected[i] == 0 && signbit (got[i]) != signbit (expected[i]);
      difference += (got[i] - expected[i]) * (got[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
  if (sqrt (difference) <= band_of (dtype) * sqrt (norm) + least)
    return NULL;
  return g_strdup_printf ("relative error %.3g, %.1f units", sqrt (difference / norm),
                          sqrt (difference / norm) / unit_of (dtype));
}

static void
check_value (Sweep *sweep,
             const OracleCase *c,
             AdjDType dtype,
             AdjTensor *got,
             const char *line,
             const char *what)
{
  g_autofree char *copy = g_strdup (line);
  OracleReader r = { .text = copy };
  gboolean wanted = strtok_r (r.text, " ", &r.text)[0] == 't';
  AdjTensorMeta meta;
  g_autoptr (GBytes) bytes = NULL;
  g_autoptr (AdjTensorData) data = NULL;
  g_autofree double *x = NULL;
  g_autofree double *y = NULL;
  g_autofree char *why = NULL;
  gint64 n = 0;

  if (!wanted || got == NULL)
    {
      if (wanted != (got != NULL))
        report (sweep, c, dtype, what, wanted ? "there is none" : "there should be none");
      return;
    }
  bytes = oracle_read_tensor (&r, &meta);
  adj_shape_init (&meta.shape, NULL, meta.shape.rank, meta.shape.size);
  data = adj_tensor_data_new (&meta, bytes, NULL);
  x = case_read (got, &n);
  if (n != adj_tensor_data_get_numel (data) || adj_tensor_get_meta (got)->dtype != meta.dtype)
    {
      report (sweep, c, dtype, what, "another dtype or size");
      return;
    }
  y = g_new (double, n + 1);
  adj_tensor_data_read_doubles (data, y);
  why = compare (sweep, meta.dtype, x, y, n);
  if (why != NULL)
    report (sweep, c, dtype, what, why);
}

/* -- one case -- */

typedef struct
{
  AdjContext *cx;
  gboolean differentiates;
  GPtrArray *leaves; /* (owned): the floating tensors of the arguments */
} Run;

static gboolean
place_leaf (const AdjValue *value, AdjValue *out, gpointer data)
{
  Run *run = data;

  *out = adj_value_copy (value);
  if (!case_is_floating (value))
    return TRUE;
  if (run->differentiates)
    adj_tensor_set_requires_grad (run->cx, value->tensor, TRUE);
  g_ptr_array_add (run->leaves, adj_tensor_ref (value->tensor));
  return TRUE;
}

/* Sets the fourth of every five elements to 0. */
static AdjTensor *
with_zeros (AdjContext *cx, AdjTensor *tensor)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);
  gsize width = adj_dtype_info (meta->dtype)->n_bytes;
  g_autoptr (AdjTensorData) data = adj_tensor_snapshot (tensor);
  g_autoptr (AdjTensorData) changed = NULL;
  g_autoptr (GBytes) bytes = NULL;
  gsize size;
  const guint8 *old = g_bytes_get_data (adj_tensor_data_get_bytes (data), &size);
  guint8 *new = g_memdup2 (old, MAX (size, 1));

  for (gsize i = 3 * width; i + width <= size; i += 5 * width)
    memset (new + i, 0, width);
  bytes = g_bytes_new_take (new, size);
  changed = adj_tensor_data_new (meta, bytes, NULL);
  return adj_scope_add (cx, adj_tensor_new_from_data (changed));
}

static void
check_gradients (
    Sweep *sweep, const OracleCase *c, Run *run, AdjDType dtype, const AdjValue *result)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) cotangents = g_ptr_array_new ();
  g_autofree AdjTensor **grads = g_new0 (AdjTensor *, run->leaves->len + 1);
  g_autoptr (GError) error = NULL;

  case_collect_roots (run->cx, result, dtype, roots, cotangents);
  for (guint i = 0; i < cotangents->len; i++)
    cotangents->pdata[i] = with_zeros (run->cx, cotangents->pdata[i]);
  g_assert_cmpuint (c->gradients->len, ==, run->leaves->len);
  if (roots->len > 0 &&
      !adj_grad (run->cx,
                 &(AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                                  (AdjTensor *const *) cotangents->pdata, roots->len },
                 (AdjTensor *const *) run->leaves->pdata, run->leaves->len,
                 ADJ_BACKWARD_ALLOW_UNUSED, grads))
    {
      adj_context_take_error (run->cx, &error);
      report (sweep, c, dtype, "backward", error->message);
      return;
    }
  for (guint i = 0; i < run->leaves->len; i++)
    {
      g_autofree char *what = g_strdup_printf ("gradient%u", i);

      sweep->n_gradients++;
      check_value (sweep, c, dtype, grads[i], c->gradients->pdata[i], what);
    }
}

static void
check_results (Sweep *sweep, const OracleCase *c, AdjDType dtype, const AdjValue *result)
{
  gboolean list = adj_value_is_container (result);

  for (guint i = 0; i < c->results->len; i++)
    {
      const AdjValue *value = !list ? result : i < result->n ? &result->items[i] : &ADJ_NONE;
      g_autofree char *what = g_strdup_printf ("result%u", i);

      if (((char *) c->results->pdata[i])[0] == 't' || value->kind == ADJ_VALUE_TENSOR)
        check_value (sweep, c, dtype, value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL,
                     c->results->pdata[i], what);
    }
}

static void
check_case (OracleCase *c, gpointer data)
{
  Sweep *sweep = data;
  g_autoptr (AdjContext) cx = adj_context_new ();
  g_autoptr (GPtrArray) leaves = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  Run run = { cx, c->gradients->len > 0, leaves };
  AdjValue written = ADJ_NONE, result = ADJ_NONE;
  g_autoptr (GError) error = NULL;
  gboolean done;
  AdjDType dtype;

  if ((c->op->flags & ADJ_OP_NO_COMPARE) != 0)
    return;
  if (run.differentiates)
    adj_context_push_mode (cx, adj_autograd_mode_new ());
  sweep->n_cases++;
  g_hash_table_add (sweep->operators, (gpointer) c->op);
  done = case_call (cx, c, place_leaf, &run, &written, &result);
  dtype = adj_tensor_get_meta (leaves->pdata[0])->dtype;
  if (!done)
    {
      adj_context_take_error (cx, &error);
      report (sweep, c, dtype, "call", error->message);
      return;
    }
  check_results (sweep, c, dtype, &result);
  if (run.differentiates)
    check_gradients (sweep, c, &run, dtype, &result);
}

/* -- what is known to differ -- */

static GPtrArray *
read_known (GArray *known)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "autograd", "data", "special-known.txt", NULL);
  GPtrArray *lines = g_ptr_array_new_with_free_func ((GDestroyNotify) g_strfreev);
  g_autofree char *text = NULL;
  g_auto (GStrv) rows = NULL;
  g_autoptr (GError) error = NULL;

  g_file_get_contents (path, &text, NULL, &error);
  g_assert_no_error (error);
  rows = g_strsplit (text, "\n", -1);
  for (guint i = 0; rows[i] != NULL; i++)
    {
      char **words = g_strsplit (rows[i], " ", 5);
      Known one = { words, FALSE };

      g_ptr_array_add (lines, words);
      if (rows[i][0] == '\0' || rows[i][0] == '#')
        continue;
      g_assert_cmpuint (g_strv_length (words), ==, 5); /* the last word is the reason */
      g_array_append_val (known, one);
    }
  return lines;
}

static void
agree_with_pytorch (void)
{
  g_autoptr (GArray) known = g_array_new (FALSE, FALSE, sizeof (Known));
  g_autoptr (GPtrArray) lines = read_known (known);
  g_autoptr (GHashTable) operators = g_hash_table_new (NULL, NULL);
  Sweep sweep = { .known = known, .operators = operators };

  oracle_foreach_in_folder ("autograd/data/special", check_case, &sweep);
  g_test_message ("%u operators, %u cases, %u gradients; %u differ as listed, %u do not agree; %u "
                  "zeros of the other sign",
                  g_hash_table_size (operators), sweep.n_cases, sweep.n_gradients, sweep.n_known,
                  sweep.n_bad, sweep.n_signs);
  for (guint i = 0; i < known->len; i++)
    if (!g_array_index (known, Known, i).seen)
      {
        g_test_message (
            "special-known.txt: nothing differs as '%s %s %s %s' says",
            g_array_index (known, Known, i).words[0], g_array_index (known, Known, i).words[1],
            g_array_index (known, Known, i).words[2], g_array_index (known, Known, i).words[3]);
        sweep.n_bad++;
      }
  g_assert_cmpuint (sweep.n_cases, >, 8000);
  g_assert_cmpuint (sweep.n_bad, ==, 0);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/autograd/special/agree-with-pytorch", agree_with_pytorch);

  return g_test_run ();
}
