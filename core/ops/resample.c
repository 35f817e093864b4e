/* SPDX-License-Identifier: MIT */
/* Upsampling of images, nearest to bicubic, and its backward. */

#include <math.h>
#include <string.h>

#include "adj-kernel-resample.h"
#include "call/adj-schema-internal.h"
#include "ops/spatial-private.h"
#include "ops/table-private.h"

static gboolean
check_image (const AdjOpCall *call, const AdjTensorMeta *meta)
{
  guint rank = op_n_axes (call) + 2;

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (meta->shape.rank != rank)
    return adj_op_call_fail (call, "the image has rank %u, not %u", meta->shape.rank, rank);
  if (!adj_dtype_is_floating (meta->dtype))
    return adj_op_call_fail (call, "needs floating point, not %s",
                             adj_dtype_info (meta->dtype)->torch_name);
  return TRUE;
}

/* The sizes of argument 0 with the last ones replaced by @wanted. */
static void
image_sizes (const AdjOpCall *call, const AdjSize *wanted, AdjSize *sizes)
{
  memcpy (sizes, adj_op_call_meta (call, 0)->shape.size, 2 * sizeof *sizes);
  memcpy (sizes + 2, wanted, op_n_axes (call) * sizeof *sizes);
}

/* Adds a result of the sizes @wanted, otherwise like argument 0. */
static gboolean
add_image (AdjOpCall *call, const AdjSize *wanted, gboolean channels_last)
{
  const AdjTensorMeta *image = adj_op_call_meta (call, 0);
  AdjSize sizes[OP_MAX_AXES + 2];

  image_sizes (call, wanted, sizes);
  for (guint i = 2; i < image->shape.rank; i++)
    if (!adj_size_test (op_symbols (call), ADJ_SIZE_GT, sizes[i], ADJ_SIZE (0)) ||
        !adj_size_test (op_symbols (call), ADJ_SIZE_GT, image->shape.size[i], ADJ_SIZE (0)))
      return adj_op_call_fail (call, "an image has no rows or columns");
  op_add_format (call, image->dtype, image->shape.rank, sizes, channels_last);
  return TRUE;
}

/* Argument @arg, output_size, into @out. */
static gboolean
read_output (const AdjOpCall *call, guint arg, AdjSize *out)
{
  guint given = adj_op_call_sizes (call, arg, out), n = op_n_axes (call);

  if (given != 1 && given != n)
    return adj_op_call_fail (call, "output_size has %u entries for %u dimensions", given, n);
  for (guint i = given; i < n; i++)
    out[i] = out[0];
  return TRUE;
}

static gboolean
upsample_meta (AdjOpCall *call)
{
  AdjSize wanted[ADJ_MAX_RANK];

  return check_image (call, adj_op_call_meta (call, 0)) && read_output (call, 1, wanted) &&
         add_image (call, wanted, op_is_channels_last (call, 0));
}

/* -- .vec: sizes or factors -- */

/* Reads scale factors into @out; %FALSE if there are none. */
static gboolean
read_factors (const AdjOpCall *call, double *out)
{
  const AdjValue *list = &call->args[adj_op_call_find (call, "scale_factors")];
  guint n = op_n_axes (call);

  if (!adj_value_is_container (list) || list->n != n)
    return FALSE;
  for (guint i = 0; i < n; i++)
    out[i] = list->items[i].kind == ADJ_VALUE_FLOAT ? list->items[i].number
                                                    : (double) list->items[i].integer;
  return TRUE;
}

static gboolean
vec_meta (AdjOpCall *call)
{
  const AdjTensorMeta *image = adj_op_call_meta (call, 0);
  AdjSize wanted[OP_MAX_AXES];
  double factors[OP_MAX_AXES];

  if (call->args[1].kind != ADJ_VALUE_NONE)
    return upsample_meta (call);
  if (!check_image (call, image))
    return FALSE;
  if (!read_factors (call, factors))
    return adj_op_call_fail (call, "needs output_size or %u scale_factors", op_n_axes (call));
  for (guint i = 0; i < op_n_axes (call); i++)
    {
      AdjSize size = image->shape.size[2 + i];
      double out = adj_size_is_int (size) ? floor ((double) size.word * factors[i]) : NAN;

      if (!(out >= 1 && out <= G_MAXINT32))
        return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "cannot scale a size by %g here",
                                    factors[i]);
      wanted[i] = ADJ_SIZE ((gint64) out);
    }
  return add_image (call, wanted, op_is_channels_last (call, 0));
}

/* -- kernels -- */

static AdjKResampleMode
mode_of (const char *name)
{
  if (strstr (name, "nearest_exact") != NULL)
    return ADJ_K_RESAMPLE_NEAREST_EXACT;
  if (strstr (name, "nearest") != NULL)
    return ADJ_K_RESAMPLE_NEAREST;
  return strstr (name, "cubic") != NULL ? ADJ_K_RESAMPLE_CUBIC : ADJ_K_RESAMPLE_LINEAR;
}

/* Number of roundings in a weight of a cubic interpolation. */
#define CUBIC 4

/* (transfer full) (nullable): perturbations of the weights along @axis in this context. */
static double *
draw_moves (const AdjOpCall *call, const AdjKResample *resample, guint axis)
{
  const AdjPlaceRounding *places = adj_context_get_places (call->cx);
  double step = places->step * (resample->mode == ADJ_K_RESAMPLE_CUBIC ? CUBIC : 1);
  gint64 n = 4 * resample->y.size[resample->y.rank - OP_MAX_AXES + axis];
  g_autoptr (GRand) rand = NULL;
  double *moves;

  if (step == 0)
    return NULL;
  rand = g_rand_new_with_seed (places->seed + axis);
  moves = g_new (double, n);
  for (gint64 i = 0; i < n; i++)
    moves[i] = g_rand_double_range (rand, -step, step);
  return moves;
}

/* x and y are not set. */
static AdjKResample
resample_new (const AdjOpCall *call)
{
  const AdjSchema *schema = call->schema;
  gint scales = adj_schema_find_argument (schema, "scale_factors");
  gint align = adj_schema_find_argument (schema, "align_corners");
  guint n = op_n_axes (call);
  AdjKResample resample = {
    .mode = mode_of (schema->name),
    .n_axes = (int) n,
    .align_corners = align >= 0 && adj_op_call_bool (call, (guint) align),
    .antialias = strstr (schema->name, "_aa") != NULL,
  };

  if (scales >= 0)
    read_factors (call, resample.scale + OP_MAX_AXES - n);
  else
    for (guint i = 0; i < n; i++)
      resample.scale[OP_MAX_AXES - n + i] =
          adj_op_call_double (call, schema->n_arguments - n + i, 0);
  return resample;
}

/* @queued: the kernel for @resample. */
static gboolean
resample_run (const AdjOpCall *call,
              AdjKResample *resample,
              bool (*queued) (AdjKQueue *queue, const AdjKResample *resample))
{
  const AdjPlaceRounding *places = adj_context_get_places (call->cx);
  double *moves[OP_MAX_AXES];
  bool done;

  resample->places = (AdjKPlaces){ .narrow = places->narrow, .fused = places->fused };
  for (guint i = 0; i < OP_MAX_AXES; i++)
    resample->places.moves[i] = moves[i] = draw_moves (call, resample, i);
  done = queued (op_queue (call), resample);
  for (guint i = 0; i < OP_MAX_AXES; i++)
    g_free (moves[i]);
  return done || op_no_memory (call);
}

static gboolean
view_volumes (const AdjOpCall *call, AdjKView *input, AdjKView *output)
{
  if (!op_input (call, 0, input) || !op_output (call, 0, output))
    return FALSE;
  op_make_volume (input, op_n_axes (call));
  op_make_volume (output, op_n_axes (call));
  return TRUE;
}

static gboolean
upsample_kernel (AdjOpCall *call)
{
  AdjKResample resample = resample_new (call);

  if (!view_volumes (call, &resample.x, &resample.y))
    return FALSE;
  return resample_run (call, &resample, adj_q_resample);
}

/* -- gradients -- */

static gboolean
add_gradient (AdjOpCall *call, gboolean channels_last)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  AdjSize output[ADJ_MAX_RANK], sizes[ADJ_MAX_RANK];
  AdjShape wanted;

  if (!check_image (call, grad) || !read_output (call, 1, output))
    return FALSE;
  if (adj_op_call_sizes (call, 2, sizes) != grad->shape.rank)
    return adj_op_call_fail (call, "input_size needs %u entries", grad->shape.rank);
  memcpy (wanted.size, sizes, 2 * sizeof *sizes);
  memcpy (wanted.size + 2, output, op_n_axes (call) * sizeof *sizes);
  adj_shape_init (&wanted, op_symbols (call), grad->shape.rank, wanted.size);
  if (!adj_shape_same_sizes (&wanted, &grad->shape, op_symbols (call)))
    {
      g_autofree char *a = op_sizes_text (call, &grad->shape);
      g_autofree char *b = op_sizes_text (call, &wanted);

      return adj_op_call_fail (call, "the gradient is %s, not %s", a, b);
    }
  return add_image (call, &sizes[2], channels_last);
}

static gboolean
backward_meta (AdjOpCall *call)
{
  return add_gradient (call, op_is_channels_last (call, 0));
}

static gboolean
backward_contiguous_meta (AdjOpCall *call)
{
  return add_gradient (call, FALSE);
}

static gboolean
backward_kernel (AdjOpCall *call)
{
  AdjKResample resample = resample_new (call);

  if (!view_volumes (call, &resample.y, &resample.x))
    return FALSE;
  return resample_run (call, &resample, adj_q_resample_backward);
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

/* Number of elements of the first argument for one of the result, as a bilinear blend takes them.
 */
static double
blend_reduction (const AdjOpCall *call)
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
