/* SPDX-License-Identifier: MIT */

/* The Fourier transforms of torch.fft, by PyTorch's steps: cast to a suitable dtype, resize, then
 * one or two of the transforms that are operators. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

typedef struct
{
  AdjRuleCall *call;
  AdjSymbols *symbols;
  const char *kind; /* "rfft", "ihfftn" */
  gboolean several; /* the kind ends in "n" */
  AdjTensor *x;
  guint n;
  guint dim[ADJ_MAX_RANK];
  AdjSize size[ADJ_MAX_RANK];  /* of the signal */
  AdjSize taken[ADJ_MAX_RANK]; /* the number of elements of @x that are used */
  AdjValue norm;
} Fourier;

static gboolean
is_kind (const Fourier *f, const char *name)
{
  gsize length = strlen (name);

  return strncmp (f->kind, name, length) == 0 &&
         (f->kind[length] == '\0' || (f->kind[length] == 'n' && f->kind[length + 1] == '\0'));
}

static gboolean
is_forward (const Fourier *f)
{
  return f->kind[0] != 'i';
}

/* Whether the input has half of the last dimension and the result is real. */
static gboolean
gives_real (const Fourier *f)
{
  return is_kind (f, "irfft") || is_kind (f, "hfft");
}

static gboolean
needs_real (const Fourier *f)
{
  return is_kind (f, "rfft") || is_kind (f, "ihfft");
}

static gboolean
is_complex (const AdjTensor *tensor)
{
  AdjDType dtype = adj_tensor_get_meta (tensor)->dtype;

  return adj_dtype_get_real (dtype) != dtype;
}

/* -- arguments -- */

static gboolean
read_norm (Fourier *f, const AdjValue *value)
{
  const char *norm = value->kind == ADJ_VALUE_STRING ? value->text : "backward";
  gboolean forward = is_forward (f);

  if (strcmp (norm, "ortho") == 0)
    f->norm = ADJ_INT (1);
  else if (strcmp (norm, "forward") == 0)
    f->norm = ADJ_INT (forward ? 2 : 0);
  else if (strcmp (norm, "backward") == 0)
    f->norm = ADJ_INT (forward ? 0 : 2);
  else
    return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "Invalid normalization mode: \"%s\"", norm);
  return TRUE;
}

static gboolean
read_dims (Fourier *f, const AdjValue *dims, guint n_sizes)
{
  guint rank = adj_tensor_get_rank (f->x);
  AdjSize given[ADJ_MAX_RANK];

  f->n = rule_sizes_of (dims, given);
  if (dims->kind == ADJ_VALUE_INT)
    {
      given[0] = ADJ_SIZE (dims->integer);
      f->n = 1;
    }
  else if (dims->kind == ADJ_VALUE_NONE)
    {
      f->n = n_sizes > 0 ? n_sizes : rank;
      for (guint i = 0; i < f->n; i++)
        given[i] = ADJ_SIZE ((gint64) i - f->n);
    }
  for (guint i = 0; i < f->n; i++)
    {
      if (given[i].word < -(gint64) rank || given[i].word >= (gint64) rank)
        return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "names a dimension that is not there");
      f->dim[i] = rule_wrap_dim (given[i].word, rank);
      for (guint k = 0; k < i; k++)
        if (f->dim[k] == f->dim[i])
          return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "FFT dims must be unique");
    }
  return f->n > 0 || rule_call_fail (f->call, ADJ_ERROR_SHAPE, "must transform at least one axis");
}

/* Reads the requested sizes; the default is those of the input. */
static gboolean
read_sizes (Fourier *f, const AdjValue *sizes, const AdjValue *dims)
{
  const AdjShape *shape = &adj_tensor_get_meta (f->x)->shape;
  AdjSize given[ADJ_MAX_RANK];
  guint n = rule_sizes_of (sizes, given);

  if (adj_value_get_size (sizes, &given[0]))
    n = 1;
  if (!read_dims (f, dims, n))
    return FALSE;
  if (n > 0 && n != f->n)
    return rule_call_fail (f->call, ADJ_ERROR_SHAPE,
                           "When given, dim and shape arguments must have the same length");
  for (guint i = 0; i < f->n; i++)
    {
      AdjSize there = shape->size[f->dim[i]];
      gboolean whole = n == 0 || adj_size_is (f->symbols, given[i], -1);

      f->taken[i] = f->size[i] = whole ? there : given[i];
      if (!gives_real (f) || i + 1 < f->n)
        continue;
      if (whole)
        f->size[i] =
            adj_size_mul (f->symbols, ADJ_SIZE (2), adj_size_sub (f->symbols, there, ADJ_SIZE (1)));
      else
        f->taken[i] = adj_size_add (
            f->symbols, adj_size_floordiv (f->symbols, given[i], ADJ_SIZE (2)), ADJ_SIZE (1));
    }
  for (guint i = 0; i < f->n; i++)
    if (adj_size_test (f->symbols, ADJ_SIZE_LT, f->size[i], ADJ_SIZE (1)))
      return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "Invalid number of data points specified");
  return TRUE;
}

/* -- steps -- */

/* Takes the result of a step; %FALSE if that step failed. */
static gboolean
take (Fourier *f, AdjTensor *result)
{
  f->x = result;
  return result != NULL;
}

static AdjDType
promoted (const Fourier *f, gboolean complex)
{
  AdjDType dtype = adj_tensor_get_meta (f->x)->dtype;

  if (!adj_dtype_is_differentiable (dtype))
    dtype = adj_context_get_default_dtype (f->call->cx);
  if (!complex || adj_dtype_get_real (dtype) != dtype)
    return dtype;
  return dtype == ADJ_DTYPE_F64 ? ADJ_DTYPE_C128 : ADJ_DTYPE_C64;
}

static gboolean
promote (Fourier *f, gboolean complex)
{
  AdjDType from = adj_tensor_get_meta (f->x)->dtype, to = promoted (f, complex);
  AdjValue words[2] = { { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" }, ADJ_DTYPE (to) };
  AdjValue result;

  if (adj_dtype_get_real (from) == ADJ_DTYPE_F16 || from == ADJ_DTYPE_BF16)
    return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "Unsupported dtype %s",
                           adj_dtype_info (from)->torch_name);
  if (from == to)
    return TRUE;
  if (!adj_call (f->call->cx, adj_op (ADJ_OP__to_copy),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (f->x) },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = words }, &result))
    return FALSE;
  return take (f, result.tensor);
}

/* Cuts, or pads with zeros at the end. */
static gboolean
resize (Fourier *f)
{
  AdjSize there[ADJ_MAX_RANK], pads[2 * ADJ_MAX_RANK] = { 0 };
  guint rank = adj_tensor_get_rank (f->x);
  gboolean padded = FALSE;

  memcpy (there, adj_tensor_get_meta (f->x)->shape.size, sizeof there);
  for (guint i = 0; i < f->n; i++)
    {
      guint dim = f->dim[i];

      if (adj_size_test (f->symbols, ADJ_SIZE_LT, there[dim], f->taken[i]))
        {
          padded = TRUE;
          pads[2 * (rank - dim) - 1] = adj_size_sub (f->symbols, f->taken[i], there[dim]);
        }
      else if (adj_size_test (f->symbols, ADJ_SIZE_GT, there[dim], f->taken[i]) &&
               !take (f, ADJ_APPLY (f->call->cx, ADJ_OP_slice_Tensor, ADJ_TENSOR (f->x),
                                    ADJ_INT (dim), ADJ_INT (0), adj_value_from_size (f->taken[i]))))
        return FALSE;
    }
  return !padded || take (f, ADJ_APPLY (f->call->cx, ADJ_OP_constant_pad_nd, ADJ_TENSOR (f->x),
                                        adj_rule_list_sizes (f->call->arena, pads, 2 * rank)));
}

static AdjValue
list_dims (const Fourier *f, guint first, guint n)
{
  AdjSize dims[ADJ_MAX_RANK];

  for (guint i = 0; i < n; i++)
    dims[i] = ADJ_SIZE (f->dim[first + i]);
  return adj_rule_list_sizes (f->call->arena, dims, n);
}

static gboolean
real_to_complex (Fourier *f, guint first, gboolean onesided)
{
  return take (f, ADJ_APPLY (f->call->cx, ADJ_OP__fft_r2c, ADJ_TENSOR (f->x),
                             list_dims (f, first, f->n - first), f->norm, ADJ_BOOL (onesided)));
}

static gboolean
complex_to_real (Fourier *f, guint first)
{
  return take (f, ADJ_APPLY (f->call->cx, ADJ_OP__fft_c2r, ADJ_TENSOR (f->x),
                             list_dims (f, first, f->n - first), f->norm,
                             adj_value_from_size (f->size[f->n - 1])));
}

static gboolean
complex_to_complex (Fourier *f, guint n)
{
  return take (f, ADJ_APPLY (f->call->cx, ADJ_OP__fft_c2c, ADJ_TENSOR (f->x), list_dims (f, 0, n),
                             f->norm, ADJ_BOOL (is_forward (f))));
}

static gboolean
conjugate (Fourier *f, AdjOpId op)
{
  return take (f, adj_apply (f->call->cx, op, &ADJ_TENSOR (f->x), 1));
}

/* -- transforms -- */

static gboolean
to_real (Fourier *f)
{
  if (is_kind (f, "irfft"))
    return complex_to_real (f, 0);
  return (f->n == 1 || complex_to_complex (f, f->n - 1)) && conjugate (f, ADJ_OP_conj) &&
         complex_to_real (f, f->n - 1);
}

static gboolean
from_real (Fourier *f)
{
  if (is_kind (f, "rfft"))
    return real_to_complex (f, 0, TRUE);
  if (!real_to_complex (f, f->n - 1, TRUE))
    return FALSE;
  return f->n == 1 ? conjugate (f, ADJ_OP_conj)
                   : conjugate (f, ADJ_OP_conj_physical) && complex_to_complex (f, f->n - 1);
}

static gboolean
run (Fourier *f)
{
  gboolean real = !f->several && !is_complex (f->x) && !gives_real (f);

  if (needs_real (f) && is_complex (f->x))
    return rule_call_fail (f->call, ADJ_ERROR_SHAPE, "expects a real input tensor, but got %s",
                           adj_dtype_info (adj_tensor_get_meta (f->x)->dtype)->torch_name);
  if (!promote (f, !needs_real (f) && !real) || !resize (f))
    return FALSE;
  if (gives_real (f))
    return to_real (f);
  if (needs_real (f))
    return from_real (f);
  if (!real)
    return complex_to_complex (f, f->n);
  return real_to_complex (f, 0, FALSE) && (is_forward (f) || conjugate (f, ADJ_OP_conj));
}

/* args: x, the transform, sizes, dimensions, norm */
gboolean
rule_fourier (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  Fourier f = { .call = call, .symbols = adj_context_get_symbols (call->cx) };

  rule_shape_given (call, &args[0]);
  if (args[0].kind != ADJ_VALUE_TENSOR)
    return FALSE;
  f.x = args[0].tensor;
  f.kind = args[1].text;
  f.several = g_str_has_suffix (f.kind, "n");
  return read_norm (&f, &args[4]) && read_sizes (&f, &args[2], &args[3]) && run (&f) &&
         rule_give (out, f.x);
}
