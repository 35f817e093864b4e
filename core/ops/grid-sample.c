/* SPDX-License-Identifier: MIT */
/* grid_sampler in two and three dimensions, and its backward. */

#include <math.h>

#include "ops/spatial-private.h"
#include "ops/table-private.h"

/* The value at a position is, along each axis, a weighted sum of a few elements, its taps; weights
 * and their derivatives depend on the position between them.  Sums are in f64, positions in the
 * precision of the dtype, as in PyTorch. */

#define MOST_TAPS 4

enum
{
  BLEND,
  NEAREST,
  CUBIC
};

enum
{
  ZEROS,
  BORDER,
  MIRRORS
};

typedef struct
{
  gint64 mode, padding;
  gboolean align;
  gboolean narrow; /* positions are f32 */
  guint n;         /* number of axes */
  gint64 size[OP_MAX_AXES];
} Sampler;

typedef struct
{
  gint64 at;            /* -1: outside, where the input is 0 */
  double weight, slope; /* derivative of the weight by the grid coordinate */
} Tap;

/* The taps of one position, by axis. */
typedef struct
{
  guint n_taps; /* along each axis */
  Tap taps[OP_MAX_AXES][MOST_TAPS];
} Place;

/* -- shapes -- */

static gboolean
check_sampler (const AdjOpCall *call, guint first)
{
  const AdjTensorMeta *input = adj_op_call_meta (call, first);
  const AdjTensorMeta *grid = adj_op_call_meta (call, first + 1);
  AdjSymbols *symbols = op_symbols (call);
  guint n = op_n_axes (call), rank = n + 2;
  gint64 mode = adj_op_call_int (call, first + 2, 0),
         padding = adj_op_call_int (call, first + 3, 0);

  if (adj_context_has_error (call->cx))
    return FALSE;
  if (input->shape.rank != rank || grid->shape.rank != rank ||
      !adj_size_is (symbols, grid->shape.size[n + 1], n) ||
      !adj_size_test (symbols, ADJ_SIZE_EQ, input->shape.size[0], grid->shape.size[0]))
    {
      g_autofree char *a = op_sizes_text (call, &input->shape);
      g_autofree char *b = op_sizes_text (call, &grid->shape);

      return adj_op_call_fail (call, "a grid of %s does not fit an input of %s", b, a);
    }
  if (!adj_dtype_is_floating (input->dtype) || input->dtype != grid->dtype)
    return adj_op_call_fail (call, "needs floating point of one dtype, not %s and %s",
                             adj_dtype_info (input->dtype)->torch_name,
                             adj_dtype_info (grid->dtype)->torch_name);
  if (mode < BLEND || mode > (n == 2 ? CUBIC : NEAREST) || padding < ZEROS || padding > MIRRORS)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no such mode");
  for (guint i = 2; i < rank; i++)
    if (adj_size_is (symbols, input->shape.size[i], 0))
      return adj_op_call_fail (call, "dimension %u of the input has no elements", i);
  return TRUE;
}

/* The sizes of the result: channels of the input at the positions of the grid. */
static void
sampled_sizes (const AdjOpCall *call, guint first, AdjSize *sizes)
{
  const AdjShape *input = &adj_op_call_meta (call, first)->shape;
  const AdjShape *grid = &adj_op_call_meta (call, first + 1)->shape;

  sizes[0] = input->size[0];
  sizes[1] = input->size[1];
  for (guint i = 0; i < op_n_axes (call); i++)
    sizes[2 + i] = grid->size[1 + i];
}

static gboolean
sampler_meta (AdjOpCall *call)
{
  AdjSize sizes[OP_MAX_AXES + 2];

  if (!check_sampler (call, 0))
    return FALSE;
  sampled_sizes (call, 0, sizes);
  op_add_contiguous (call, adj_op_call_meta (call, 0)->dtype, op_n_axes (call) + 2, sizes);
  return TRUE;
}

static gboolean
sampler_backward_meta (AdjOpCall *call)
{
  const AdjTensorMeta *grad = adj_op_call_meta (call, 0);
  const AdjTensorMeta *input = adj_op_call_meta (call, 1), *grid = adj_op_call_meta (call, 2);
  AdjSize sizes[OP_MAX_AXES + 2];
  AdjShape wanted;

  if (!check_sampler (call, 1))
    return FALSE;
  sampled_sizes (call, 1, sizes);
  adj_shape_init (&wanted, op_symbols (call), op_n_axes (call) + 2, sizes);
  if (!adj_shape_same_sizes (&wanted, &grad->shape, op_symbols (call)) ||
      grad->dtype != input->dtype)
    return adj_op_call_fail (call, "the gradient has not the sizes and dtype of the result");
  if (op_wants (call, 6, 0))
    op_add_contiguous (call, input->dtype, input->shape.rank, input->shape.size);
  else
    adj_op_call_add_none (call);
  op_add_contiguous (call, grid->dtype, grid->shape.rank, grid->shape.size);
  return TRUE;
}

/* -- places -- */

static double
narrowed (const Sampler *sampler, double x)
{
  return sampler->narrow ? (double) (float) x : x;
}

/* Converts grid coordinate @x to elements; @slope: its derivative. */
static double
in_elements (const Sampler *sampler, gint64 size, double x, double *slope)
{
  *slope = (double) (sampler->align ? size - 1 : size) / 2;
  if (sampler->align)
    return narrowed (sampler,
                     narrowed (sampler, narrowed (sampler, x + 1) / 2) * (double) (size - 1));
  return narrowed (
      sampler,
      narrowed (sampler, narrowed (sampler, narrowed (sampler, x + 1) * (double) size) - 1) / 2);
}

static double
clipped (double x, gint64 size, double *slope)
{
  if (x > 0 && x < (double) (size - 1))
    return x;
  *slope = 0;
  return x > 0 ? (double) (size - 1) : 0;
}

/* @x reflected at the corners, or half an element further out. */
static double
mirrored (const Sampler *sampler, double x, gint64 size, double *slope)
{
  double low = sampler->align ? 0 : -0.5;
  double width = sampler->align ? (double) (size - 1) : (double) size;
  double from = x - low, rest;

  if (width == 0)
    {
      *slope = 0;
      return 0;
    }
  if (from < 0)
    *slope = -*slope;
  rest = fmod (fabs (from), width);
  if (fmod (floor (fabs (from) / width), 2) == 0)
    return narrowed (sampler, rest + low);
  *slope = -*slope;
  return narrowed (sampler, width - rest + low);
}

/* Applies padding_mode to a coordinate in elements. */
static double
padded (const Sampler *sampler, double x, gint64 size, double *slope)
{
  if (sampler->padding == MIRRORS)
    x = mirrored (sampler, x, size, slope);
  if (sampler->padding != ZEROS)
    x = clipped (x, size, slope);
  /* outside of any input */
  return fabs (x) <= G_MAXINT32 ? x : -100;
}

static gint64
element_at (double x, gint64 size)
{
  return x >= 0 && x < (double) size ? (gint64) x : -1;
}

/* Keys' cubic kernel with parameter −¾ at distance @x, and its derivative. */
static double
keys (double x, double *slope)
{
  const double a = -0.75;

  if (x <= 1)
    {
      *slope = (3 * (a + 2) * x - 2 * (a + 3)) * x;
      return ((a + 2) * x - (a + 3)) * x * x + 1;
    }
  *slope = (3 * a * x - 10 * a) * x + 8 * a;
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}

static guint
find_cubic (const Sampler *sampler, gint64 size, double x, Tap *taps)
{
  double scale, low, part;

  x = in_elements (sampler, size, x, &scale);
  low = floor (x);
  part = x - low;
  for (guint k = 0; k < 4; k++)
    {
      double distance = k < 2 ? part + 1 - k : k - 1 - part, ignored = 0, slope;

      taps[k].weight = keys (distance, &slope);
      taps[k].slope = (k < 2 ? slope : -slope) * scale;
      taps[k].at = element_at (rint (padded (sampler, low - 1 + k, size, &ignored)), size);
    }
  return 4;
}

static guint
find_blend (const Sampler *sampler, gint64 size, double x, Tap *taps)
{
  double slope, low;

  x = in_elements (sampler, size, x, &slope);
  x = padded (sampler, x, size, &slope);
  low = floor (x);
  taps[0] = (Tap){ element_at (low, size), low + 1 - x, -slope };
  taps[1] = (Tap){ element_at (low + 1, size), x - low, slope };
  return 2;
}

static guint
find_nearest (const Sampler *sampler, gint64 size, double x, Tap *taps)
{
  double slope;

  x = in_elements (sampler, size, x, &slope);
  taps[0] = (Tap){ element_at (rint (padded (sampler, x, size, &slope)), size), 1, 0 };
  return 1;
}

/* @coordinates: those of the last axis first. */
static Place
find_place (const Sampler *sampler, const double *coordinates)
{
  static guint (*const finders[]) (const Sampler *, gint64, double,
                                   Tap *) = { find_blend, find_nearest, find_cubic };
  Place place = { 0 };

  for (guint axis = 0; axis < sampler->n; axis++)
    place.n_taps = finders[sampler->mode](sampler, sampler->size[axis],
                                          coordinates[sampler->n - 1 - axis], place.taps[axis]);
  return place;
}

/* -- sums over taps -- */

/* The product of taps, one of each axis. */
typedef struct
{
  gint64 at; /* -1: outside */
  double weight;
  double slope[OP_MAX_AXES]; /* by axis */
} Corner;

static Corner
corner_of (const Sampler *sampler, const Place *place, guint index)
{
  Corner corner = { .weight = 1 };
  const Tap *taps[OP_MAX_AXES];

  for (guint axis = sampler->n; axis-- > 0;)
    {
      taps[axis] = &place->taps[axis][index % place->n_taps];
      index /= place->n_taps;
    }
  for (guint axis = 0; axis < sampler->n; axis++)
    {
      corner.slope[axis] = 1;
      if (taps[axis]->at < 0)
        corner.at = -1;
      if (corner.at >= 0)
        corner.at = corner.at * sampler->size[axis] + taps[axis]->at;
      corner.weight *= taps[axis]->weight;
      for (guint other = 0; other < sampler->n; other++)
        corner.slope[axis] *= other == axis ? taps[other]->slope : taps[other]->weight;
    }
  return corner;
}

static guint
count_corners (const Sampler *sampler, const Place *place)
{
  guint n = 1;

  for (guint axis = 0; axis < sampler->n; axis++)
    n *= place->n_taps;
  return n;
}

/* Input and grid, dense, and the modes. */
typedef struct
{
  Sampler sampler;
  double *input, *grid;                  /* (owned) */
  gint64 images, channels, area, places; /* @area of an image, @places of the grid */
} Job;

static void
job_clear (Job *job)
{
  g_free (job->input);
  g_free (job->grid);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Job, job_clear)

static gboolean
job_init (Job *job, const AdjOpCall *call, guint first)
{
  AdjKView input, grid;
  guint n = op_n_axes (call);

  if (!op_input (call, first, &input) || !op_input (call, first + 1, &grid))
    return FALSE;
  *job = (Job){
    .sampler = { .mode = adj_op_call_int (call, first + 2, 0),
                 .padding = adj_op_call_int (call, first + 3, 0),
                 .align = adj_op_call_bool (call, first + 4),
                 .narrow = input.type != ADJ_K_F64,
                 .n = n },
    .images = input.size[0],
    .channels = input.size[1],
    .area = 1,
    .places = 1,
  };
  for (guint i = 0; i < n; i++)
    {
      job->sampler.size[i] = input.size[2 + i];
      job->area *= input.size[2 + i];
      job->places *= grid.size[1 + i];
    }
  job->input = op_read_numbers (call, first);
  job->grid = op_read_numbers (call, first + 1);
  return job->input != NULL && job->grid != NULL;
}

/* Samples the channels of @input, an image, at @place. */
static void
sample_place (const Job *job, const Place *place, const double *input, double *result)
{
  for (guint i = 0; i < count_corners (&job->sampler, place); i++)
    {
      Corner corner = corner_of (&job->sampler, place, i);

      for (gint64 c = 0; corner.at >= 0 && c < job->channels; c++)
        result[c * job->places] += corner.weight * input[c * job->area + corner.at];
    }
}

static gboolean
sampler_kernel (AdjOpCall *call)
{
  g_auto (Job) job = { 0 };
  g_autofree double *numbers = NULL;
  AdjKView out, dense;

  if (!op_output (call, 0, &out) || !job_init (&job, call, 0))
    return FALSE;
  numbers = op_temporary (op_queue (call), &out, ADJ_K_F64, &dense);
  for (gint64 i = 0; i < job.images * job.places; i++)
    {
      Place place = find_place (&job.sampler, job.grid + i * job.sampler.n);
      gint64 image = i / job.places;

      sample_place (&job, &place, job.input + image * job.channels * job.area,
                    numbers + image * job.channels * job.places + i % job.places);
    }
  adj_k_copy (&out, &dense);
  return TRUE;
}

/* Adds the gradients of @input and of the coordinates of @place. */
static void
spread_place (const Job *job,
              const Place *place,
              const double *input,
              const double *grad,
              double *grad_input,
              double *grad_grid)
{
  guint n = job->sampler.n;

  for (guint i = 0; i < count_corners (&job->sampler, place); i++)
    {
      Corner corner = corner_of (&job->sampler, place, i);

      for (gint64 c = 0; corner.at >= 0 && c < job->channels; c++)
        {
          gint64 at = c * job->area + corner.at;
          double g = grad[c * job->places];

          if (grad_input != NULL)
            grad_input[at] += corner.weight * g;
          for (guint axis = 0; axis < n; axis++)
            grad_grid[n - 1 - axis] += corner.slope[axis] * input[at] * g;
        }
    }
}

static gboolean
sampler_backward_kernel (AdjOpCall *call)
{
  g_auto (Job) job = { 0 };
  g_autofree double *grads = NULL;
  g_autofree double *for_input = NULL;
  g_autofree double *for_grid = NULL;
  AdjKView out_input, out_grid, dense_input, dense_grid;
  const AdjKView *has_input;

  if (!op_output_or_null (call, 0, &out_input, &has_input) || !op_output (call, 1, &out_grid) ||
      !job_init (&job, call, 1) || (grads = op_read_numbers (call, 0)) == NULL)
    return FALSE;
  for_input = has_input != NULL
                  ? op_temporary (op_queue (call), &out_input, ADJ_K_F64, &dense_input)
                  : NULL;
  for_grid = op_temporary (op_queue (call), &out_grid, ADJ_K_F64, &dense_grid);
  for (gint64 i = 0; i < job.images * job.places; i++)
    {
      gint64 image = i / job.places, first = image * job.channels * job.area;
      Place place = find_place (&job.sampler, job.grid + i * job.sampler.n);

      spread_place (&job, &place, job.input + first,
                    grads + image * job.channels * job.places + i % job.places,
                    for_input != NULL ? for_input + first : NULL, for_grid + i * job.sampler.n);
    }
  if (for_input != NULL)
    adj_k_copy (&out_input, &dense_input);
  adj_k_copy (&out_grid, &dense_grid);
  return TRUE;
}

/* -- costs -- */

static double
corners_of (const AdjOpCall *call, guint mode_arg)
{
  static const double taps[] = { 2, 1, 4 };

  return pow (taps[CLAMP (adj_op_call_int (call, mode_arg, 0), 0, 2)], op_n_axes (call));
}

static double
sampler_flops (const AdjOpCall *call)
{
  return 2 * corners_of (call, 2) * op_count (call, &call->results[0].meta.shape);
}

static double
sampler_backward_flops (const AdjOpCall *call)
{
  return 4 * corners_of (call, 3) * op_count (call, &adj_op_call_meta (call, 0)->shape);
}

/* Number of elements of the image used for one position, in all channels. */
static double
sampler_reduction (const AdjOpCall *call)
{
  return corners_of (call, 3) * op_count (call, &adj_op_call_meta (call, 0)->shape) /
         MAX (op_count (call, &call->results[1].meta.shape), 1);
}

/* -- records -- */

#define OP(id, ...) { __VA_ARGS__ },

static const AdjOp ops[] = {
#include "ops/grid-sample.inc"
};

const OpFamily adj_family_grid_sample = { ops, G_N_ELEMENTS (ops) };
