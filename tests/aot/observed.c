/* SPDX-License-Identifier: MIT */
/* Records everything a caller can observe of a call (results, arguments, shared memory, strides,
 * gradients) and compares two records. */

#include "aot/observed.h"

#include <string.h>

#include "autograd/adj-autograd.h"
#include "call/adj-mode.h"
#include "interpreter/adj-numeric-internal.h"
#include "interpreter/adj-numeric.h"
#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "rules/adj-apply.h"
#include "rules/adj-operators.h"
#include "support/programs.h"
#include "trace/adj-composite.h"

/* Number of terms assumed for the rounding error of a sum when one side has no error at all. */
#define SUM_LENGTH 512

static void
init (Observed *observed, guint n, gboolean float64)
{
  *observed = (Observed){ .cx = adj_context_new (), .n_inputs = n };
  if (float64)
    adj_context_push_mode (observed->cx, adj_float64_mode_new ());
  adj_context_push_mode (observed->cx, adj_composite_mode_new ());
  adj_context_push_mode (observed->cx, adj_autograd_mode_new ());
  observed->inputs = g_new0 (AdjValue, n + 1);
  observed->leaves = g_new0 (AdjTensor *, n + 1);
  observed->grads = g_new0 (AdjTensor *, n + 1);
}

void
observed_init (Observed *observed, guint n)
{
  init (observed, n, FALSE);
}

void
observed_init_float64 (Observed *observed, guint n)
{
  init (observed, n, TRUE);
}

static void
free_tensors (AdjTensor **tensors, guint n)
{
  for (guint i = 0; i < n; i++)
    if (tensors[i] != NULL)
      adj_tensor_unref (tensors[i]);
  g_free (tensors);
}

void
observed_clear (Observed *observed)
{
  if (observed->cx == NULL)
    return;
  adj_value_clear (&observed->result);
  for (guint i = 0; i < observed->n_inputs; i++)
    adj_value_clear (&observed->inputs[i]);
  g_free (observed->inputs);
  free_tensors (observed->leaves, observed->n_inputs);
  free_tensors (observed->grads, observed->n_inputs);
  g_clear_pointer (&observed->cx, adj_context_free);
  g_clear_error (&observed->error);
}

guint
observed_count_tensors (const Observed *observed)
{
  return observed->result.n + observed->n_inputs;
}

/* Counts through results, then inputs; %NULL for a value that is not a tensor. */
static AdjTensor *
get_tensor (const Observed *observed, guint index)
{
  const AdjValue *value = index < observed->result.n
                              ? &observed->result.items[index]
                              : &observed->inputs[index - observed->result.n];

  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

/* -- the call -- */

/* Makes a tangent whose values depend on the element and on @index, so that different roots get
 * different ones. */
static AdjTensor *
make_tangent (AdjContext *cx, const AdjTensor *root, guint index)
{
  AdjTensorMeta meta = *adj_tensor_get_meta (root);
  AdjTensor *tangent, *numbers;
  gint64 numel;

  if (adj_composite_get_class (root) != NULL)
    return ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR ((AdjTensor *) root));
  meta.requires_grad = FALSE;
  adj_shape_init (&meta.shape, NULL, meta.shape.rank, meta.shape.size);
  tangent = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  numel = adj_shape_numel (&meta.shape, NULL).word;
  meta.dtype = ADJ_DTYPE_F64;
  numbers = adj_scope_add (cx, adj_tensor_new_empty (&meta, NULL, FALSE));
  for (gint64 i = 0; i < numel; i++)
    ((double *) adj_storage_write (adj_tensor_get_storage (numbers)))[i] =
        (double) ((i * 2 + index) % 5 + 1);
  return ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (tangent), ADJ_TENSOR (numbers));
}

/* Forces the regeneration of the history of a view whose base was written. */
static void
refresh (AdjContext *cx, AdjTensor *tensor)
{
  adj_grad_node_unref (adj_tensor_get_grad_edge (cx, tensor, NULL));
  adj_context_take_error (cx, NULL);
}

/* Excludes arguments that are leaves: they have no history, and would only change the order of
 * sums. */
static gboolean
is_root (const Observed *observed, guint index)
{
  AdjTensor *tensor = get_tensor (observed, index);

  if (tensor != NULL)
    refresh (observed->cx, tensor);
  return tensor != NULL && adj_tensor_get_requires_grad (tensor) &&
         (index < observed->result.n || adj_tensor_get_grad_node (tensor) != NULL);
}

static gboolean
differentiate (Observed *observed)
{
  guint n = observed_count_tensors (observed);
  g_autofree AdjTensor **roots = g_new0 (AdjTensor *, n + 1);
  g_autofree AdjTensor **tangents = g_new0 (AdjTensor *, n + 1);
  g_autofree AdjTensor **leaves = g_new0 (AdjTensor *, observed->n_inputs + 1);
  g_autofree AdjTensor **found = g_new0 (AdjTensor *, observed->n_inputs + 1);
  AdjGradRoots from = { .tensors = roots, .grads = tangents };
  guint n_leaves = 0;

  for (guint i = 0; i < n; i++)
    if (is_root (observed, i))
      {
        roots[from.n] = get_tensor (observed, i);
        tangents[from.n] = make_tangent (observed->cx, roots[from.n], i);
        if (tangents[from.n++] == NULL)
          return FALSE;
      }
  for (guint i = 0; i < observed->n_inputs; i++)
    if (observed->leaves[i] != NULL)
      leaves[n_leaves++] = observed->leaves[i];
  if (from.n == 0 || n_leaves == 0)
    return TRUE;
  if (!adj_grad (observed->cx, &from, leaves, n_leaves, ADJ_BACKWARD_ALLOW_UNUSED, found))
    return FALSE;
  n_leaves = 0;
  for (guint i = 0; i < observed->n_inputs; i++)
    if (observed->leaves[i] != NULL)
      observed->grads[i] = adj_keep (found[n_leaves++]);
  return TRUE;
}

static gboolean
write_late (Observed *observed, gint late)
{
  AdjTensor *tensor = late >= 0 ? get_tensor (observed, (guint) late) : NULL;

  AdjValue args[] = { ADJ_TENSOR (tensor), ADJ_INT (2) };
  AdjValue result;

  return tensor == NULL ||
         adj_call (observed->cx, adj_op_find ("torch.ops.aten.mul_.Tensor"),
                   &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args }, NULL, &result);
}

void
observed_call (Observed *observed, AdjFunction *function, gint late)
{
  gboolean done = adj_function_call (function, observed->cx, observed->inputs, observed->n_inputs,
                                     &observed->result);

  if (done && observed->result.kind == ADJ_VALUE_TENSOR)
    observed->result = adj_value_new_items (ADJ_VALUE_TUPLE, &observed->result, 1);
  if (done && write_late (observed, late))
    differentiate (observed);
  adj_context_take_error (observed->cx, &observed->error);
}

/* -- comparison -- */

static gboolean
same_strides (const AdjTensor *a, const AdjTensor *b, const char *what, GString *why)
{
  const AdjShape *x = &adj_tensor_get_meta (a)->shape, *y = &adj_tensor_get_meta (b)->shape;

  if (adj_shape_numel (x, NULL).word == 0)
    return TRUE;
  for (guint i = 0; i < x->rank; i++)
    if (x->size[i].word > 1 && x->stride[i].word != y->stride[i].word)
      {
        g_string_append_printf (why, "%s has stride %d of dimension %u, and %d\n", what,
                                (gint) x->stride[i].word, i, (gint) y->stride[i].word);
        return FALSE;
      }
  return TRUE;
}

/* Whether neither value is much farther from @truth than the other (interpreter/SPEC.md §4)
 * beyond what the order of a sum explains.  If one side has no error, the other may have the
 * error of a sum of SUM_LENGTH products. */
static gboolean
are_as_near (AdjTensor *a, AdjTensor *b, AdjTensor *truth, const char *what, GString *why)
{
  g_autoptr (AdjTensorData) x = adj_tensor_snapshot (a);
  g_autoptr (AdjTensorData) y = adj_tensor_snapshot (b);
  g_autoptr (AdjTensorData) t = adj_tensor_snapshot (truth);
  AdjTensorDifference of_a, of_b;
  double ratio, slack;

  adj_tensor_compare (x, t, &of_a);
  adj_tensor_compare (y, t, &of_b);
  ratio = of_a.n < 1000 ? 3 : 2;
  slack = adj_band_limit (ADJ_BAND_PRODUCT, adj_tensor_get_meta (a)->dtype, SUM_LENGTH);
  if (of_a.same_shape && of_b.same_shape && of_a.n_class_mismatch + of_b.n_class_mismatch == 0 &&
      of_a.rel_l2 <= ratio * of_b.rel_l2 + slack && of_b.rel_l2 <= ratio * of_a.rel_l2 + slack)
    return TRUE;
  g_string_append_printf (why, "%s is %g from the float64 run, and %g\n", what, of_a.rel_l2,
                          of_b.rel_l2);
  return FALSE;
}

static gboolean
same_numbers (const Observed *observed,
              AdjTensor *a,
              AdjTensor *b,
              AdjTensor *truth,
              const char *what,
              GString *why)
{
  AdjDType dtype = adj_tensor_get_meta (a)->dtype;

  return truth != NULL && adj_dtype_is_floating (dtype) && dtype == adj_tensor_get_meta (b)->dtype
             ? are_as_near (a, b, truth, what, why)
             : program_same_values (observed->cx, a, b, what, why);
}

/* Compares composite tensors part by part. */
static gboolean
same_values (const Observed *observed,
             AdjTensor *a,
             AdjTensor *b,
             AdjTensor *truth,
             const char *what,
             GString *why)
{
  const AdjCompositeClass *klass = adj_composite_get_class (a);

  if (klass != adj_composite_get_class (b))
    {
      g_string_append_printf (why, "%s is of two classes\n", what);
      return FALSE;
    }
  for (guint i = 0; klass != NULL && i < klass->n_inner; i++)
    if (!same_values (observed, adj_composite_get_inner (a, i), adj_composite_get_inner (b, i),
                      truth != NULL ? adj_composite_get_inner (truth, i) : NULL, what, why))
      return FALSE;
  return klass != NULL || same_numbers (observed, a, b, truth, what, why);
}

static gboolean
same_tensor (const Observed *observed,
             AdjTensor *a,
             AdjTensor *b,
             AdjTensor *truth,
             const char *what,
             GString *why)
{
  if (a == NULL && b == NULL)
    return TRUE;
  if (a == NULL || b == NULL)
    {
      g_string_append_printf (why, "%s is a tensor in one of them\n", what);
      return FALSE;
    }
  if (adj_tensor_get_requires_grad (a) != adj_tensor_get_requires_grad (b))
    {
      g_string_append_printf (why, "%s requires grad: %d, and %d\n", what,
                              adj_tensor_get_requires_grad (a), adj_tensor_get_requires_grad (b));
      return FALSE;
    }
  return same_values (observed, a, b, truth, what, why) && same_strides (a, b, what, why);
}

/* Whether the same pairs of tensors are identical and the same pairs share memory. */
static gboolean
same_aliases (const Observed *a, const Observed *b, guint index, GString *why)
{
  for (guint i = 0; i < index; i++)
    {
      AdjTensor *x = get_tensor (a, i), *y = get_tensor (b, i);
      AdjTensor *u = get_tensor (a, index), *v = get_tensor (b, index);
      gboolean shares;

      if (x == NULL || u == NULL)
        continue;
      shares = adj_tensor_get_storage (x) == adj_tensor_get_storage (u);
      if (shares == (adj_tensor_get_storage (y) == adj_tensor_get_storage (v)) &&
          (x == u) == (y == v))
        continue;
      g_string_append_printf (why, "tensors %u and %u share memory: %d, and %d; are one: %d, %d\n",
                              i, index, shares, !shares, x == u, y == v);
      return FALSE;
    }
  return TRUE;
}

/* Maps -0 to 0, because sums come in another order, and an undefined gradient to zeros
 * (aot/SPEC.md §8.4). */
static AdjTensor *
normal_gradient (AdjContext *cx, AdjTensor *gradient, AdjTensor *other)
{
  if (gradient != NULL)
    return ADJ_APPLY (cx, ADJ_OP_add_Tensor, ADJ_TENSOR (gradient), ADJ_INT (0));
  return other != NULL ? ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (other)) : NULL;
}

gboolean
observed_same (const Observed *a, const Observed *b, GString *why)
{
  gboolean same = a->result.n == b->result.n;

  for (guint i = 0; same && i < observed_count_tensors (a); i++)
    {
      gboolean is_result = i < a->result.n;
      g_autofree char *what = g_strdup_printf ("%s %u", is_result ? "output" : "input",
                                               is_result ? i : i - a->result.n);

      same = same_tensor (a, get_tensor (a, i), get_tensor (b, i),
                          a->truth != NULL ? get_tensor (a->truth, i) : NULL, what, why) &&
             same_aliases (a, b, i, why);
    }
  for (guint i = 0; same && i < a->n_inputs; i++)
    {
      g_autofree char *what = g_strdup_printf ("gradient %u", i);
      AdjTensor *x = normal_gradient (a->cx, a->grads[i], b->grads[i]);
      AdjTensor *y = normal_gradient (a->cx, b->grads[i], a->grads[i]);

      AdjTensor *truth =
          a->truth != NULL ? normal_gradient (a->truth->cx, a->truth->grads[i], a->grads[i]) : NULL;

      same = (x == NULL && y == NULL) || same_values (a, x, y, truth, what, why);
    }
  return same;
}

/* -- all calls -- */

/* A write to a returned view of an intermediate with a hook: in eager mode the write removes the
 * hook. */
static gboolean
is_forbidden_write (const GError *error)
{
  return strstr (error->message, "This view was created inside a custom Function") != NULL;
}

typedef struct
{
  ObserveFunc observe;
  gconstpointer data;
  AdjFunction *function, *compiled;
  SameCalls *counts;
} Calls;

/* @n: (out): number of tensors in the call. */
static gboolean
same_call (const Calls *calls, gint late, guint *n, GString *why)
{
  g_auto (Observed) eager = { .cx = NULL };
  g_auto (Observed) other = { .cx = NULL };

  calls->observe (&eager, calls->data);
  observed_call (&eager, calls->function, late);
  *n = observed_count_tensors (&eager);
  if (eager.error != NULL)
    return TRUE;
  calls->counts->n_calls++;
  calls->observe (&other, calls->data);
  observed_call (&other, calls->compiled, late);
  if (other.error != NULL && late >= 0 && is_forbidden_write (other.error))
    {
      calls->counts->n_forbidden++;
      return TRUE;
    }
  if (other.error == NULL && observed_same (&eager, &other, why))
    return TRUE;
  g_string_append_printf (why, "with tensor %d written late%s%s\n", late,
                          other.error != NULL ? ", compiled: " : "",
                          other.error != NULL ? other.error->message : "");
  return FALSE;
}

gboolean
observed_same_calls (ObserveFunc observe,
                     gconstpointer data,
                     AdjFunction *function,
                     AdjFunction *compiled,
                     SameCalls *counts,
                     GString *why)
{
  const Calls calls = { observe, data, function, compiled, counts };
  guint n = 0;

  if (!same_call (&calls, -1, &n, why))
    return FALSE;
  for (gint late = 0; late < (gint) n; late++)
    if (!same_call (&calls, late, &n, why))
      return FALSE;
  return TRUE;
}
