/* SPDX-License-Identifier: MIT */
/* What kernels of operators share: views of arguments and results, temporaries, messages. */

#include <math.h>
#include <string.h>

#include "call/adj-op-internal.h"
#include "ops/kernel-private.h"
#include "tensor/adj-shape-internal.h"
#include "tensor/adj-storage-internal.h"
#include "tensor/adj-tensor-internal.h"

G_STATIC_ASSERT ((gint) ADJ_DTYPE_BOOL == (gint) ADJ_K_BOOL);
G_STATIC_ASSERT ((gint) ADJ_DTYPE_I64 == (gint) ADJ_K_I64);
G_STATIC_ASSERT ((gint) ADJ_DTYPE_F64 == (gint) ADJ_K_F64);
G_STATIC_ASSERT (ADJ_MAX_RANK <= ADJ_K_MAX_RANK);

gboolean
op_is_complex (AdjDType dtype)
{
  return dtype < ADJ_N_DTYPES && adj_dtype_info (dtype)->category == ADJ_CATEGORY_COMPLEX;
}

/* One part of complex numbers is a view of every other real number. */
static gboolean
fill_view (const AdjOpCall *call, AdjDType dtype, const AdjShape *shape, AdjKView *out)
{
  gint64 step = call->part != ADJ_PART_NONE && op_is_complex (dtype) ? 2 : 1;

  if (step == 2)
    dtype = adj_dtype_get_real (dtype);
  if ((gint) dtype >= (gint) ADJ_K_N)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "cannot compute with dtype %s",
                                dtype < ADJ_N_DTYPES ? adj_dtype_info (dtype)->torch_name : "none");

  out->type = (AdjKType) dtype;
  out->rank = (gint) shape->rank;
  for (guint i = 0; i < shape->rank; i++)
    {
      if (!adj_size_is_int (shape->size[i]) || !adj_size_is_int (shape->stride[i]))
        return adj_op_call_fail (call, "a size is symbolic while running");
      out->size[i] = shape->size[i].word;
      out->stride[i] = step * shape->stride[i].word;
    }
  return TRUE;
}

/* The imaginary part of real numbers. */
static gboolean
view_zeros (const AdjOpCall *call, AdjKView *out)
{
  static const double zero = 0;

  for (gint i = 0; i < out->rank; i++)
    out->stride[i] = 0;
  out->data = (gpointer) op_constant (op_queue (call), &zero, sizeof zero);
  return TRUE;
}

static gboolean
is_imaginary (const AdjOpCall *call, AdjDType dtype)
{
  return call->part == ADJ_PART_IMAGINARY && op_is_complex (dtype);
}

static gboolean
view_storage (const AdjOpCall *call,
              AdjTensor *tensor,
              const AdjTensorMeta *meta,
              gboolean write,
              AdjKView *out)
{
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  char *bytes;

  if (adj_storage_is_fake (storage))
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "a tensor has no values");
  if (!fill_view (call, meta->dtype, &meta->shape, out))
    return FALSE;
  if (adj_op_extent (meta) > adj_storage_get_n_bytes (storage))
    return adj_op_call_fail (call, "a tensor reaches outside its storage");
  if (call->part == ADJ_PART_IMAGINARY && !write && adj_dtype_is_floating (meta->dtype))
    return view_zeros (call, out);
  bytes = write ? adj_storage_write (storage) : (char *) adj_storage_read (storage);
  out->data = bytes;
  if (bytes != NULL)
    out->data = bytes + (gsize) meta->shape.offset.word * adj_dtype_info (meta->dtype)->n_bytes +
                (is_imaginary (call, meta->dtype) ? adj_k_type_get_size (out->type) : 0);
  return TRUE;
}

gboolean
op_view (const AdjOpCall *call, AdjTensor *tensor, const AdjTensorMeta *meta, AdjKView *out)
{
  return view_storage (call, tensor, meta, FALSE, out);
}

gboolean
op_input (const AdjOpCall *call, guint arg, AdjKView *out)
{
  AdjTensor *tensor = adj_op_call_tensor (call, arg);

  return tensor != NULL && op_view (call, tensor, adj_tensor_get_meta (tensor), out);
}

double
op_number (const AdjOpCall *call, guint arg, double if_none)
{
  const AdjValue *value = &call->args[arg];
  gboolean imaginary = call->part == ADJ_PART_IMAGINARY;

  if (value->kind == ADJ_VALUE_COMPLEX && call->part != ADJ_PART_NONE)
    return value->items[imaginary ? 1 : 0].number;
  return imaginary ? 0 : adj_op_call_double (call, arg, if_none);
}

/* A number as a tensor without dimensions. */
static gboolean
view_number (const AdjOpCall *call, guint arg, AdjKView *out, gpointer number)
{
  const AdjValue *value = &call->args[arg];
  gboolean is_float = value->kind == ADJ_VALUE_FLOAT || call->part != ADJ_PART_NONE;

  *out = (AdjKView){ .data = number, .type = is_float ? ADJ_K_F64 : ADJ_K_I64 };
  if (is_float)
    *(double *) number = op_number (call, arg, 0);
  else
    *(gint64 *) number = adj_op_call_int (call, arg, 0);
  out->data = (gpointer) op_constant (op_queue (call), number, 8);
  return !adj_context_has_error (call->cx);
}

gboolean
op_input_as (const AdjOpCall *call, guint arg, const AdjShape *to, AdjKView *out, gpointer number)
{
  AdjTensorMeta meta;
  AdjTensor *tensor;

  if (call->args[arg].kind != ADJ_VALUE_TENSOR)
    {
      if (!view_number (call, arg, out, number))
        return FALSE;
      out->rank = (gint) to->rank;
      for (guint i = 0; i < to->rank; i++)
        {
          out->size[i] = to->size[i].word;
          out->stride[i] = 0;
        }
      return TRUE;
    }
  tensor = call->args[arg].tensor;
  meta = *adj_tensor_get_meta (tensor);
  if (!adj_shape_expand (&adj_tensor_get_meta (tensor)->shape, op_symbols (call), to, &meta.shape))
    return adj_op_call_fail (call, "argument '%s' does not broadcast",
                             call->schema->arguments[arg].name);
  return op_view (call, tensor, &meta, out);
}

gboolean
op_input_or_null (const AdjOpCall *call, guint arg, AdjKView *out, const AdjKView **pointer)
{
  *pointer = NULL;
  if (call->args[arg].kind == ADJ_VALUE_NONE)
    return TRUE;
  *pointer = out;
  return op_input (call, arg, out);
}

gboolean
op_output (const AdjOpCall *call, guint result, AdjKView *out)
{
  AdjTensor *tensor = call->results[result].tensor;

  g_assert (tensor != NULL);

  return view_storage (call, tensor, adj_tensor_get_meta (tensor), TRUE, out);
}

static void
clear (AdjKQueue *queue, gpointer bytes, gsize n)
{
  const AdjKView view = {
    .data = bytes, .type = ADJ_K_U8, .rank = 1, .size = { (gint64) n }, .stride = { 1 }
  };

  adj_q_fill_i64 (queue, &view, 0);
}

void
op_clear (const AdjOpCall *call, guint result)
{
  AdjStorage *storage = adj_tensor_get_storage (call->results[result].tensor);

  if (call->part == ADJ_PART_IMAGINARY)
    return; /* with the real parts */
  clear (op_queue (call), adj_storage_write (storage), adj_storage_get_n_bytes (storage));
}

const void *
op_constant (AdjKQueue *queue, const void *bytes, gsize size)
{
  return queue->device != NULL ? queue->device->constant (queue, bytes, size) : bytes;
}

gboolean
op_tensor_to_write (const AdjOpCall *call, AdjTensor *tensor, AdjKView *out)
{
  return view_storage (call, tensor, adj_tensor_get_meta (tensor), TRUE, out);
}

gboolean
op_argument_to_write (const AdjOpCall *call, guint arg, AdjKView *out)
{
  AdjTensor *tensor = adj_op_call_tensor (call, arg);

  return tensor != NULL && op_tensor_to_write (call, tensor, out);
}

gboolean
op_needs_cuda (const AdjOpCall *call)
{
  return adj_op_call_fail_as (call, ADJ_ERROR_DEVICE, "needs CUDA: there is no kernel for the CPU");
}

gboolean
op_write_tensor (const AdjOpCall *call, AdjTensor *to, AdjTensor *from)
{
  AdjOpCall part = *call;
  AdjKView in, out;

  if (part.part == ADJ_PART_NONE && op_is_complex (adj_tensor_get_meta (to)->dtype))
    {
      part.part = ADJ_PART_IMAGINARY;
      if (!op_write_tensor (&part, to, from))
        return FALSE;
      part.part = ADJ_PART_REAL;
    }
  if (!op_view (&part, from, adj_tensor_get_meta (from), &in) ||
      !view_storage (&part, to, adj_tensor_get_meta (to), TRUE, &out))
    return FALSE;
  adj_q_copy (op_queue (call), &out, &in);
  return TRUE;
}

gpointer
op_temporary (AdjKQueue *queue, const AdjKView *like, AdjKType type, AdjKView *out)
{
  gsize size = adj_k_type_get_size (type);
  gint64 n = 1;

  *out = *like;
  out->type = type;
  for (gint i = like->rank; i-- > 0;)
    {
      out->stride[i] = n;
      n *= like->size[i];
    }
  if (queue == NULL || queue->device == NULL)
    return out->data = g_malloc0_n ((gsize) MAX (n, 1), size);
  out->data = queue->device->scratch (queue, (gsize) MAX (n, 1) * size);
  clear (queue, out->data, (gsize) n * size);
  return NULL;
}

AdjTensor *
op_temporary_tensor (const AdjOpCall *call, const AdjTensorMeta *meta)
{
  AdjKQueue *queue = op_queue (call);
  gsize n_bytes = adj_op_extent (meta);
  g_autoptr (AdjStorage) storage = NULL;

  if (queue->device == NULL)
    return adj_tensor_new_empty (meta, NULL, FALSE);
  storage = adj_storage_new_lent (queue->device->scratch (queue, n_bytes), n_bytes, meta->device);
  return adj_tensor_new (meta, storage);
}

gboolean
op_check_temporary (const AdjOpCall *call, gint64 n)
{
  return (guint64) n <= adj_op_memory () / 8 ||
         adj_op_call_fail_as (call, ADJ_ERROR_MEMORY,
                              "%" G_GINT64_FORMAT
                              " elements do not fit in memory: at least %" G_GUINT64_FORMAT
                              " bytes",
                              n, 8 * (guint64) n);
}

gboolean
op_no_memory (const AdjOpCall *call)
{
  gsize n_bytes = 0;

  for (guint i = 0; i < call->n_results; i++)
    n_bytes += adj_op_extent (&call->results[i].meta);
  return adj_op_call_fail_as (
      call, ADJ_ERROR_MEMORY,
      "no memory for temporaries beside results of %" G_GSIZE_FORMAT " bytes", n_bytes);
}

gboolean
op_is_fake (const AdjOpCall *call, guint arg)
{
  return adj_storage_is_fake (adj_tensor_get_storage (adj_op_call_tensor (call, arg)));
}

double *
op_read_numbers (const AdjOpCall *call, guint arg)
{
  AdjKView view, dense;
  double *numbers;

  if (!op_input (call, arg, &view) || !op_check_temporary (call, adj_k_view_count (&view)))
    return NULL;
  numbers = op_temporary (NULL, &view, ADJ_K_F64, &dense);
  adj_q_copy (op_queue (call), &dense, &view);
  return numbers;
}

double *
op_read_spread (const AdjOpCall *call, guint arg, AdjKView *dense)
{
  AdjKView view;
  double number, *numbers;

  if (!op_input_as (call, arg, &call->results[0].meta.shape, &view, &number) ||
      !op_check_temporary (call, adj_k_view_count (&view)))
    return NULL;
  numbers = op_temporary (NULL, &view, ADJ_K_F64, dense);
  adj_q_copy (op_queue (call), dense, &view);
  return numbers;
}

int
op_compare_numbers (gconstpointer a, gconstpointer b)
{
  double x = *(const double *) a, y = *(const double *) b;

  if (isnan (x) || isnan (y))
    return isnan (x) - isnan (y);
  return (x > y) - (x < y);
}

double
op_count (const AdjOpCall *call, const AdjShape *shape)
{
  gint64 n = 0;

  adj_size_get_hint (op_symbols (call), adj_shape_numel (shape, op_symbols (call)), &n);
  return (double) n;
}

double
op_rounded (AdjKType type, double x)
{
  guint64 narrow = 0;
  AdjKView wide = { .data = &x, .type = ADJ_K_F64 };
  AdjKView view = { .data = &narrow, .type = type };

  adj_k_copy (&view, &wide);
  adj_k_copy (&wide, &view);
  return x;
}

void
op_need_dim (AdjKView *view)
{
  if (view->rank > 0)
    return;
  view->rank = 1;
  view->size[0] = 1;
  view->stride[0] = 1;
}

gboolean
op_bad_index (const AdjOpCall *call, gint64 bad)
{
  return adj_op_call_fail (call, "index %" G_GINT64_FORMAT " is out of range", bad);
}

/* -- for meta functions -- */

char *
op_sizes_text (const AdjOpCall *call, const AdjShape *shape)
{
  GString *text = g_string_new (NULL);

  adj_shape_print_list (op_symbols (call), shape->size, shape->rank, text);
  return g_string_free (text, FALSE);
}

guint
op_dim (const AdjOpCall *call, guint arg, guint rank)
{
  gint64 dim = adj_op_call_int (call, arg, 0);
  gint64 limit = MAX (rank, 1);

  if (dim < -limit || dim >= limit)
    {
      adj_op_call_fail (call, "dimension %" G_GINT64_FORMAT " of a tensor of rank %u", dim, rank);
      return 0;
    }
  return (guint) (dim < 0 ? dim + limit : dim);
}

gboolean
op_check_writable (const AdjOpCall *call, const AdjShape *shape)
{
  return !adj_shape_may_overlap (shape, op_symbols (call)) ||
         adj_op_call_fail (call, "elements of the tensor to write share memory");
}

void
op_lay_out_pointwise (AdjOpCall *call, guint result, const guint *args, guint n)
{
  const AdjShape *operands[4];
  AdjShape shape;

  g_assert (n <= 4);
  for (guint i = 0; i < n; i++)
    operands[i] = &adj_op_call_meta (call, args[i])->shape;
  if (adj_shape_pointwise (&shape, op_symbols (call), operands, n, NULL))
    memcpy (call->results[result].meta.shape.stride, shape.stride, sizeof shape.stride);
}

void
op_pointwise_traced (AdjOpCall *call)
{
  op_lay_out_pointwise (call, 0, (const guint[]){ 0 }, 1);
}

void
op_contiguous_traced (AdjOpCall *call)
{
  AdjShape *shape = &call->results[0].meta.shape;

  adj_shape_init (shape, op_symbols (call), shape->rank, shape->size);
}

AdjOpResult *
op_add_contiguous (AdjOpCall *call, AdjDType dtype, guint rank, const AdjSize *sizes)
{
  AdjShape shape;

  adj_shape_init (&shape, op_symbols (call), rank, sizes);
  return adj_op_call_add (call, dtype, &shape);
}
