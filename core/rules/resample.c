/* SPDX-License-Identifier: MIT */

/* Resampling as PyTorch traces it: operators compute positions in the input, and elements there are
 * interpolated. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

#define MOST_AXES 3
#define N_CUBIC 4

typedef struct
{
  AdjRuleCall *call;
  AdjContext *cx;
  AdjTensor *input;
  guint n;                 /* number of axes */
  const AdjValue *sizes;   /* requested sizes, by axis */
  const AdjValue *factors; /* (nullable) */
  gboolean align;
} Resample;

static AdjTensor *
binary (Resample *r, AdjOpId op, AdjTensor *a, AdjValue b)
{
  return a != NULL ? ADJ_APPLY (r->cx, op, ADJ_TENSOR (a), b) : NULL;
}

static AdjTensor *
clamped (Resample *r, AdjTensor *x, AdjValue low, AdjValue high)
{
  return x != NULL ? ADJ_APPLY (r->cx, ADJ_OP_clamp, ADJ_TENSOR (x), low, high) : NULL;
}

static AdjTensor *
cast (Resample *r, AdjTensor *x, AdjDType dtype)
{
  return binary (r, ADJ_OP_to_dtype, x, ADJ_DTYPE (dtype));
}

static AdjSize
input_size (const Resample *r, guint axis)
{
  return adj_tensor_get_meta (r->input)->shape.size[2 + axis];
}

static double
as_double (const Resample *r, AdjSize size)
{
  gint64 hint = 1;

  adj_size_get_hint (adj_context_get_symbols (r->cx), size, &hint);
  return (double) hint;
}

static AdjSize
wanted_size (const Resample *r, guint axis)
{
  AdjSize size = ADJ_SIZE (1);

  adj_value_get_size (&r->sizes->items[axis], &size);
  return size;
}

/* @a / @b */
static AdjValue
quotient (Resample *r, AdjSize a, AdjSize b)
{
  AdjSymbols *symbols = adj_context_get_symbols (r->cx);
  AdjValue sizes[] = { adj_value_from_size (a), adj_value_from_size (b) };
  g_autoptr (GString) text = NULL;

  if (adj_size_is_int (a) && adj_size_is_int (b))
    return ADJ_FLOAT ((double) a.word / (double) b.word);
  text = g_string_new ("IntTrueDiv(");
  adj_size_print (symbols, a, text);
  g_string_append (text, ", ");
  adj_size_print (symbols, b, text);
  g_string_append_c (text, ')');
  return rule_float_of_sizes (r->call, "operator.truediv", sizes, 2, text->str);
}

static double
factor_of (const Resample *r, guint axis)
{
  return r->factors != NULL ? rule_number_of (&r->factors->items[axis], 0) : 0;
}

/* The vector 0, 1, … of the output size, in @dtype. */
static AdjTensor *
count_to (Resample *r, guint axis, AdjDType dtype)
{
  AdjValue words[] = {
    { .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" },
    { .kind = ADJ_VALUE_DEVICE, .device = adj_tensor_get_meta (r->input)->device },
    { .kind = ADJ_VALUE_STRING, .n = 10, .text = "pin_memory" },
    ADJ_BOOL (FALSE),
    { .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" },
    ADJ_DTYPE (dtype),
  };
  guint n_words = dtype != ADJ_DTYPE_NONE ? 6 : 4;
  AdjValue result;

  if (!adj_call (r->cx, adj_op (ADJ_OP_arange),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &r->sizes->items[axis] },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = n_words, .items = words }, &result))
    return NULL;
  return result.tensor;
}

/* The input elements at @places, one index per axis. */
static AdjTensor *
elements_at (Resample *r, AdjTensor *const *places)
{
  AdjValue items[2 + MOST_AXES] = { ADJ_NONE, ADJ_NONE };

  for (guint i = 0; i < r->n; i++)
    {
      if (places[i] == NULL)
        return NULL;
      items[2 + i] = ADJ_TENSOR (places[i]);
    }
  return ADJ_APPLY (r->cx, ADJ_OP__unsafe_index_Tensor, ADJ_TENSOR (r->input),
                    ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2 + r->n, .items = items }));
}

static AdjTensor *
in_format_of_input (Resample *r, AdjTensor *image)
{
  AdjMemoryFormat format = adj_shape_suggest_format (&adj_tensor_get_meta (r->input)->shape,
                                                     adj_context_get_symbols (r->cx));
  AdjValue words[] = { { .kind = ADJ_VALUE_STRING, .n = 13, .text = "memory_format" },
                       { .kind = ADJ_VALUE_MEMORY_FORMAT, .format = format } };
  AdjValue result;

  if (image == NULL ||
      !adj_call (r->cx, adj_op (ADJ_OP_contiguous),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (image) },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 2, .items = words }, &result))
    return NULL;
  return result.tensor;
}

/* -- the nearest element -- */

static AdjTensor *
nearest (Resample *r, double offset)
{
  AdjTensor *places[MOST_AXES] = { NULL };
  AdjTensor *image;

  for (guint i = 0; i < r->n; i++)
    {
      double size = as_double (r, input_size (r, i));
      AdjValue ratio = r->factors != NULL ? ADJ_FLOAT (size / (size * factor_of (r, i)))
                                          : quotient (r, input_size (r, i), wanted_size (r, i));
      AdjTensor *at = count_to (r, i, ADJ_DTYPE_F32);

      at = binary (r, ADJ_OP_add_Tensor, at, ADJ_FLOAT (offset));
      at = cast (r, binary (r, ADJ_OP_mul_Tensor, at, ratio), ADJ_DTYPE_I64);
      for (guint k = i + 1; k < r->n; k++)
        at = binary (r, ADJ_OP_unsqueeze, at, ADJ_INT (-1));
      places[i] = at;
    }
  image = elements_at (r, places);
  return r->n == 2 ? in_format_of_input (r, image) : image;
}

/* -- blends -- */

/* Input elements per output element. */
static AdjValue
ratio_of (Resample *r, guint axis)
{
  AdjSymbols *symbols = adj_context_get_symbols (r->cx);
  AdjSize size = input_size (r, axis), wanted = wanted_size (r, axis), one = ADJ_SIZE (1);
  double factor = factor_of (r, axis);

  if (r->align)
    return adj_size_test (symbols, ADJ_SIZE_GT, wanted, one)
               ? quotient (r, adj_size_sub (symbols, size, one),
                           adj_size_sub (symbols, wanted, one))
               : ADJ_INT (0);
  return factor > 0 ? ADJ_FLOAT (1 / factor) : quotient (r, size, wanted);
}

/* Input coordinates of the output elements @at. */
static AdjTensor *
source_of (Resample *r, guint axis, AdjTensor *at)
{
  AdjValue ratio = ratio_of (r, axis);

  if (r->align)
    return binary (r, ADJ_OP_mul_Tensor, at, ratio);
  at = binary (r, ADJ_OP_add_Tensor, at, ADJ_FLOAT (0.5));
  return binary (r, ADJ_OP_sub_Tensor, binary (r, ADJ_OP_mul_Tensor, at, ratio), ADJ_FLOAT (0.5));
}

static AdjValue
last_element (Resample *r, guint axis)
{
  return adj_value_from_size (
      adj_size_sub (adj_context_get_symbols (r->cx), input_size (r, axis), ADJ_SIZE (1)));
}

typedef struct
{
  AdjTensor *at, *sides[2]; /* coordinates, and indices of the elements on both sides */
} Between;

static Between
find_between (Resample *r, guint axis, AdjDType dtype)
{
  AdjTensor *at = cast (r, count_to (r, axis, ADJ_DTYPE_NONE), dtype);
  AdjValue sizes[MOST_AXES] = { r->sizes->items[axis], ADJ_INT (1), ADJ_INT (1) };
  Between between;

  at = clamped (r, source_of (r, axis, at), ADJ_FLOAT (0), ADJ_NONE);
  between.at = binary (r, ADJ_OP_view, at,
                       (AdjValue){ .kind = ADJ_VALUE_LIST, .n = r->n - axis, .items = sizes });
  between.sides[0] = cast (r, between.at, ADJ_DTYPE_I64);
  between.sides[1] = clamped (r, binary (r, ADJ_OP_add_Tensor, between.sides[0], ADJ_INT (1)),
                              ADJ_NONE, last_element (r, axis));
  return between;
}

/* a + (b − a) · share */
static AdjTensor *
blend (Resample *r, AdjTensor *a, AdjTensor *b, AdjTensor *share)
{
  AdjTensor *apart = binary (r, ADJ_OP_sub_Tensor, b, ADJ_TENSOR (a));

  return binary (r, ADJ_OP_add_Tensor, a,
                 ADJ_TENSOR (binary (r, ADJ_OP_mul_Tensor, apart, ADJ_TENSOR (share))));
}

static AdjTensor *
linear (Resample *r)
{
  AdjDType dtype = adj_tensor_get_meta (r->input)->dtype;
  Between between[MOST_AXES];
  AdjTensor *corners[1 << MOST_AXES] = { NULL };

  for (guint i = 0; i < r->n; i++)
    between[i] = find_between (r, i, dtype);
  for (guint k = 0; k < 1u << r->n; k++)
    {
      AdjTensor *places[MOST_AXES] = { NULL };

      for (guint i = 0; i < r->n; i++)
        places[i] = between[i].sides[(k >> (r->n - 1 - i)) & 1];
      corners[k] = elements_at (r, places);
    }
  for (guint i = r->n; i-- > 0;)
    {
      AdjTensor *part =
          binary (r, ADJ_OP_sub_Tensor, between[i].at, ADJ_TENSOR (between[i].sides[0]));

      part = clamped (r, part, ADJ_FLOAT (0), ADJ_FLOAT (1));
      for (guint k = 0; k < 1u << i && !adj_context_has_error (r->cx); k++)
        corners[k] = blend (r, corners[2 * k], corners[2 * k + 1], part);
    }
  return in_format_of_input (r, corners[0]);
}

/* -- cubic blends, by Keys' kernel with the free number −¾ -- */

/* @a and @b concatenated. */
static AdjTensor *
pair (Resample *r, AdjTensor *a, AdjTensor *b)
{
  AdjValue items[] = { ADJ_TENSOR (a), ADJ_TENSOR (b) };

  if (a == NULL || b == NULL)
    return NULL;
  return ADJ_APPLY (r->cx, ADJ_OP_stack,
                    ((AdjValue){ .kind = ADJ_VALUE_LIST, .n = 2, .items = items }));
}

static gboolean
parts_of (Resample *r, AdjTensor *both, AdjTensor **a, AdjTensor **b)
{
  AdjValue result;

  if (both == NULL ||
      !adj_call (r->cx, adj_op (ADJ_OP_unbind_int),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = &ADJ_TENSOR (both) }, NULL,
                 &result))
    return FALSE;
  *a = result.items[0].tensor;
  *b = result.items[1].tensor;
  return TRUE;
}

/* (−¾ x + 3¾) x − 6) x + 3: the weight at a distance above one. */
static AdjTensor *
far_weight (Resample *r, AdjTensor *x)
{
  AdjTensor *y = binary (r, ADJ_OP_mul_Tensor, x, ADJ_FLOAT (-0.75));

  y = binary (r, ADJ_OP_sub_Tensor, y, ADJ_FLOAT (-3.75));
  y = binary (r, ADJ_OP_mul_Tensor, y, ADJ_TENSOR (x));
  y = binary (r, ADJ_OP_add_Tensor, y, ADJ_FLOAT (-6));
  y = binary (r, ADJ_OP_mul_Tensor, y, ADJ_TENSOR (x));
  return binary (r, ADJ_OP_sub_Tensor, y, ADJ_FLOAT (-3));
}

/* (1¼ x − 2¼) x² + 1: the weight at a distance up to one. */
static AdjTensor *
near_weight (Resample *r, AdjTensor *x)
{
  AdjTensor *y = binary (r, ADJ_OP_mul_Tensor, x, ADJ_FLOAT (1.25));

  y = binary (r, ADJ_OP_sub_Tensor, y, ADJ_FLOAT (2.25));
  y = binary (r, ADJ_OP_mul_Tensor, y, ADJ_TENSOR (x));
  y = binary (r, ADJ_OP_mul_Tensor, y, ADJ_TENSOR (x));
  return binary (r, ADJ_OP_add_Tensor, y, ADJ_INT (1));
}

/* The weights of the four elements around a coordinate that is @part beyond the second one. */
static gboolean
weigh (Resample *r, AdjTensor *part, AdjTensor **weights)
{
  AdjTensor *back = binary (r, ADJ_OP_rsub_Scalar, part, ADJ_FLOAT (1));
  AdjTensor *near = pair (r, part, back), *far;

  back = binary (r, ADJ_OP_add_Tensor, part, ADJ_FLOAT (1));
  far = pair (r, back, binary (r, ADJ_OP_rsub_Scalar, part, ADJ_FLOAT (2)));
  far = far_weight (r, far);
  near = near_weight (r, near);
  return parts_of (r, far, &weights[0], &weights[3]) &&
         parts_of (r, near, &weights[1], &weights[2]);
}

/* Elements @at − 1 … @at + 2. */
static void
neighbours (Resample *r, AdjTensor *at, AdjTensor **out)
{
  out[0] = binary (r, ADJ_OP_sub_Tensor, at, ADJ_INT (1));
  out[1] = at;
  out[2] = binary (r, ADJ_OP_add_Tensor, at, ADJ_INT (1));
  out[3] = binary (r, ADJ_OP_add_Tensor, at, ADJ_INT (2));
}

static AdjTensor *
weighted_sum (Resample *r, AdjTensor *const *x, AdjTensor *const *weights)
{
  AdjTensor *sum = binary (r, ADJ_OP_mul_Tensor, x[0], ADJ_TENSOR (weights[0]));

  for (guint i = 1; i < N_CUBIC && sum != NULL; i++)
    sum = binary (r, ADJ_OP_add_Tensor, sum,
                  ADJ_TENSOR (binary (r, ADJ_OP_mul_Tensor, x[i], ADJ_TENSOR (weights[i]))));
  return sum;
}

/* Interpolates along the rows @down. */
static AdjTensor *
blend_rows (Resample *r, AdjTensor *down, AdjTensor *const *across, AdjTensor *const *weights)
{
  AdjTensor *x[N_CUBIC];

  for (guint i = 0; i < N_CUBIC; i++)
    {
      AdjTensor *places[] = { clamped (r, down, ADJ_INT (0), last_element (r, 0)), NULL };

      places[1] = clamped (r, across[i], ADJ_INT (0), last_element (r, 1));
      x[i] = elements_at (r, places);
    }
  return weighted_sum (r, x, weights);
}

static AdjTensor *
cubic (Resample *r)
{
  AdjDType dtype = adj_tensor_get_meta (r->input)->dtype;
  AdjTensor *at[2], *low[2], *part[2], *places[2][N_CUBIC], *weights[2][N_CUBIC], *rows[N_CUBIC];

  for (guint i = 0; i < 2; i++)
    at[i] = cast (r, count_to (r, i, ADJ_DTYPE_NONE), dtype);
  /* PyTorch's order: columns first, and from here on rows first. */
  at[1] = source_of (r, 1, at[1]);
  at[0] = binary (r, ADJ_OP_unsqueeze, source_of (r, 0, at[0]), ADJ_INT (-1));
  for (guint i = 2; i-- > 0;)
    low[i] = at[i] != NULL ? ADJ_APPLY (r->cx, ADJ_OP_floor, ADJ_TENSOR (at[i])) : NULL;
  for (guint i = 0; i < 2; i++)
    part[i] = clamped (r, binary (r, ADJ_OP_sub_Tensor, at[i], ADJ_TENSOR (low[i])), ADJ_FLOAT (0),
                       ADJ_FLOAT (1));
  for (guint i = 2; i-- > 0;)
    low[i] = cast (r, low[i], ADJ_DTYPE_I64);
  for (guint i = 0; i < 2; i++)
    neighbours (r, low[i], places[i]);
  for (guint i = 2; i-- > 0;)
    if (!weigh (r, part[i], weights[i]))
      return NULL;
  for (guint i = 0; i < N_CUBIC; i++)
    rows[i] = blend_rows (r, places[0][i], places[1], weights[1]);
  return in_format_of_input (r, weighted_sum (r, rows, weights[0]));
}

static AdjTensor *
resample (Resample *r, const char *mode)
{
  if (g_str_equal (mode, "nearest"))
    return nearest (r, 0);
  if (g_str_equal (mode, "nearest-exact"))
    return nearest (r, 0.5);
  if (g_str_equal (mode, "bicubic"))
    return cubic (r);
  return linear (r);
}

/* Operators that are called as one unless a trace records. */
static const struct
{
  const char *mode;
  guint n; /* number of dimensions */
  AdjOpId op;
  gboolean aligns;
} operators[] = {
  { "nearest", 1, ADJ_OP_upsample_nearest1d, FALSE },
  { "nearest", 2, ADJ_OP_upsample_nearest2d, FALSE },
  { "nearest", 3, ADJ_OP_upsample_nearest3d, FALSE },
  { "nearest-exact", 1, ADJ_OP__upsample_nearest_exact1d, FALSE },
  { "nearest-exact", 2, ADJ_OP__upsample_nearest_exact2d, FALSE },
  { "nearest-exact", 3, ADJ_OP__upsample_nearest_exact3d, FALSE },
  { "linear", 1, ADJ_OP_upsample_linear1d, TRUE },
  { "bilinear", 2, ADJ_OP_upsample_bilinear2d, TRUE },
  { "bicubic", 2, ADJ_OP_upsample_bicubic2d, TRUE },
  { "trilinear", 3, ADJ_OP_upsample_trilinear3d, TRUE },
};

static AdjTensor *
call_operator (Resample *r, const char *mode)
{
  AdjValue args[3 + MOST_AXES] = { ADJ_TENSOR (r->input), *r->sizes };
  guint n = 2;

  for (guint i = 0; i < G_N_ELEMENTS (operators); i++)
    {
      if (operators[i].n != r->n || !g_str_equal (operators[i].mode, mode))
        continue;
      if (operators[i].aligns)
        args[n++] = ADJ_BOOL (r->align);
      for (guint k = 0; r->factors != NULL && k < r->n; k++)
        args[n++] = ADJ_FLOAT (rule_number_of (&r->factors->items[k], 1));
      return adj_apply (r->cx, operators[i].op, args, n);
    }
  return NULL;
}

static gboolean
resample_image (AdjRuleCall *call, const AdjValue *args, AdjValue *out)
{
  AdjDType dtype = adj_tensor_get_meta (args[0].tensor)->dtype;
  gboolean widens = dtype == ADJ_DTYPE_F16 || dtype == ADJ_DTYPE_BF16;
  Resample r = {
    .call = call,
    .cx = call->cx,
    .input = args[0].tensor,
    .n = adj_tensor_get_rank (args[0].tensor) - 2,
    .sizes = &args[2],
    .factors = adj_value_is_container (&args[3]) ? &args[3] : NULL,
    .align = args[4].kind == ADJ_VALUE_BOOL && args[4].boolean,
  };
  const char *mode = args[1].kind == ADJ_VALUE_STRING ? args[1].text : "";
  static const char *const modes[] = { "linear", "bilinear", "trilinear" };
  gboolean known = g_str_has_prefix (mode, "nearest") ||
                   (r.n == 2 && g_str_equal (mode, "bicubic")) ||
                   (r.n >= 1 && r.n <= MOST_AXES && g_str_equal (mode, modes[r.n - 1]));

  if (r.n < 1 || r.n > MOST_AXES || !known)
    return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "knows no mode '%s' of %u dimensions", mode,
                           r.n);
  if (!adj_value_is_container (r.sizes) || r.sizes->n != r.n ||
      (r.factors != NULL && r.factors->n != r.n))
    return rule_call_fail (call, ADJ_ERROR_SHAPE, "needs %u sizes or factors", r.n);
  if (rule_records_eagerly (r.cx, r.input))
    return rule_give (out, call_operator (&r, mode));
  if (widens)
    r.input = cast (&r, r.input, ADJ_DTYPE_F32);
  *out = ADJ_TENSOR (r.input != NULL ? resample (&r, mode) : NULL);
  if (widens && out->tensor != NULL)
    out->tensor = cast (&r, out->tensor, dtype);
  return out->tensor != NULL;
}

/* args: an image, a mode, the wanted sizes, factors or NONE, and whether the corners are at the
 * same places */
gboolean
rule_resampled (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  rule_shape_given (call, &args[0]);
  return args[0].kind == ADJ_VALUE_TENSOR && resample_image (call, args, out);
}
