/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "adj-kernel-resample.h"
#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* Whether the operator blends: only those have an argument align_corners. */
static gboolean
is_bilinear (const AdjOpCall *call, gboolean *align_corners)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, "align_corners"))
      {
        *align_corners = adj_op_call_bool (call, i);
        return TRUE;
      }
  *align_corners = FALSE;
  return FALSE;
}

static gboolean
check_image (const AdjOpCall *call, const AdjTensorMeta *meta)
{
  if (adj_context_has_error (call->cx))
    return FALSE;
  if (meta->shape.rank != 4)
    return adj_op_call_fail (call, "the image has rank %u, not 4", meta->shape.rank);
  if (!adj_dtype_is_floating (meta->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (meta->dtype)->torch_name);
  return TRUE;
}

/* A result of the rows and columns @plane, everything else as the image of argument 0. */
static gboolean
add_image (AdjOpCall *call, const AdjSize *plane)
{
  const AdjTensorMeta *image = adj_op_call_meta (call, 0);
  AdjSize sizes[4] = { image->shape.size[0], image->shape.size[1], plane[0], plane[1] };

  for (guint i = 2; i < 4; i++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_GT, sizes[i], ADJ_SIZE (0)) ||
        !adj_size_test (op_symbols (call), ADJ_SIZE_GT, image->shape.size[i], ADJ_SIZE (0)))
      return adj_op_call_fail (call, "an image has no rows or columns");
  op_add_format (call, image->dtype, 4, sizes, op_is_channels_last (call, 0));
  return TRUE;
}

static gboolean
upsample_meta (AdjOpCall *call)
{
  AdjSize plane[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, 1, plane);

  if (!check_image (call, adj_op_call_meta (call, 0)))
    return FALSE;
  if (n == 1)
    plane[1] = plane[0];
  else if (n != 2)
    return adj_op_call_fail (call, "output_size has %u entries for 2 dimensions", n);
  return add_image (call, plane);
}

/* -- .vec: sizes or factors -- */

/* The factors into @out; %FALSE when there are none. */
static gboolean
read_factors (const AdjOpCall *call, double *out)
{
  const AdjValue *list = &call->args[adj_op_call_find (call, "scale_factors")];

  if (!adj_value_is_container (list) || list->n != 2)
    return FALSE;
  for (guint i = 0; i < 2; i++)
    out[i] = list->items[i].kind == ADJ_VALUE_FLOAT ? list->items[i].number
                                                    : (double) list->items[i].integer;
  return TRUE;
}

static gboolean
vec_meta (AdjOpCall *call)
{
  const AdjTensorMeta *image = adj_op_call_meta (call, 0);
  AdjSize plane[ADJ_MAX_RANK];
  double factors[2];

  if (call->args[1].kind != ADJ_VALUE_NONE)
    return upsample_meta (call);
  if (!check_image (call, image))
    return FALSE;
  if (!read_factors (call, factors))
    return adj_op_call_fail (call, "needs output_size or two scale_factors");
  for (guint i = 0; i < 2; i++)
    {
      AdjSize size = image->shape.size[2 + i];
      double out = adj_size_is_int (size) ? floor ((double) size.word * factors[i]) : NAN;

      if (!(out >= 1 && out <= G_MAXINT32))
        return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "cannot scale a size by %g here",
                                    factors[i]);
      plane[i] = ADJ_SIZE ((gint64) out);
    }
  return add_image (call, plane);
}

/* -- kernels -- */

static AdjKResample
resample_new (const AdjOpCall *call)
{
  gboolean align_corners;
  AdjKResample resample = { .bilinear = is_bilinear (call, &align_corners) };

  resample.align_corners = align_corners;
  return resample;
}

static gboolean
upsample_kernel (AdjOpCall *call)
{
  guint scales = adj_op_call_find (call, "scales_h");
  AdjKResample resample = resample_new (call);

  for (guint i = 0; i < 2; i++)
    resample.scale[i] = adj_op_call_double (call, scales + i, 0);
  if (!op_input (call, 0, &resample.x) || !op_output (call, 0, &resample.y))
    return FALSE;
  return adj_k_resample (&resample) || op_no_memory (call);
}

static gboolean
vec_kernel (AdjOpCall *call)
{
  AdjKResample resample = resample_new (call);

  read_factors (call, resample.scale);
  if (!op_input (call, 0, &resample.x) || !op_output (call, 0, &resample.y))
    return FALSE;
  return adj_k_resample (&resample) || op_no_memory (call);
}

static gboolean
backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  AdjSize plane[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];
  guint n_plane = adj_op_call_sizes (call, 1, plane);
  guint n = adj_op_call_sizes (call, 2, sizes);
  AdjShape wanted;

  if (!check_image (call, grad))
    return FALSE;
  if (n != 4 || n_plane < 1 || n_plane > 2)
    return adj_op_call_fail (call, "output_size needs 2 and input_size 4 entries");
  wanted.size[0] = sizes[0];
  wanted.size[1] = sizes[1];
  wanted.size[2] = plane[0];
  wanted.size[3] = plane[n_plane - 1];
  adj_shape_init (&wanted, op_symbols (call), 4, wanted.size);
  if (!adj_shape_same_sizes (&wanted, &grad->shape, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, &grad->shape);
      g_autofree char *b = op_sizes_text (call, &wanted);

      return adj_op_call_fail (call, "the gradient is %s, not %s", a, b);
    }
  return add_image (call, &sizes[2]);
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  guint scales = adj_op_call_find (call, "scales_h");
  AdjKResample resample = resample_new (call);

  for (guint i = 0; i < 2; i++)
    resample.scale[i] = adj_op_call_double (call, scales + i, 0);
  if (!op_input (call, 0, &resample.y) || !op_output (call, 0, &resample.x))
    return FALSE;
  return adj_k_resample_backward (&resample) || op_no_memory (call);
}

/* -- costs -- */

static double
blend_flops (const AdjOpCall *call)
{
  return 8 * op_count (call, &call->results[0].meta.shape);
}

static double
backward_flops (const AdjOpCall *call)
{
  return 8 * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* How many places of the output see one element. */
static double
backward_reduction (const AdjOpCall *call)
{
  return 4 * MAX (1, op_count (call, &adj_op_call_meta (call, 0)->shape) /
                         MAX (op_count (call, &call->results[0].meta.shape), 1));
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/resample.inc"
};

const OpFamily adj_family_resample = { ops, G_N_ELEMENTS (ops) };
