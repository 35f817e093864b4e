/* SPDX-License-Identifier: MIT */
/* One call of an operator: typed access to arguments by position, results, reports of mismatches.
 */

#include "call/adj-op.h"

#include <string.h>

#include "call/adj-context.h"
#include "call/adj-op-internal.h"
#include "call/adj-schema-internal.h"
#include "tensor/adj-dtype-internal.h"

const AdjSchema *
adj_op_get_schema (const AdjOp *op)
{
  return op->parsed;
}

/* -- results -- */

AdjOpResult *
adj_op_call_add (AdjOpCall *call, AdjDType dtype, const AdjShape *shape)
{
  AdjOpResult *result;

  if (call->n_results == call->n_allocated)
    {
      call->n_allocated = MAX (1, 2 * call->n_allocated);
      call->results = g_renew (AdjOpResult, call->results, call->n_allocated);
    }
  result = &call->results[call->n_results++];
  result->meta.dtype = dtype;
  result->meta.device = adj_op_call_device (call);
  result->meta.layout = ADJ_LAYOUT_STRIDED;
  result->meta.has_strides = TRUE;
  result->meta.requires_grad = FALSE;
  result->meta.conjugate = FALSE;
  result->meta.storage = -1;
  result->meta.shape = *shape;
  result->alias_of = -1;
  result->is_none = FALSE;
  result->plain = ADJ_NONE;
  result->tensor = NULL;
  return result;
}

AdjOpResult *
adj_op_call_add_view (AdjOpCall *call, guint arg, const AdjShape *shape)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, arg);
  AdjOpResult *result = adj_op_call_add (call, meta->dtype, shape);

  result->meta.device = meta->device;
  result->meta.storage = meta->storage;
  result->meta.conjugate = meta->conjugate;
  result->alias_of = (gint) arg;
  return result;
}

AdjOpResult *
adj_op_call_add_none (AdjOpCall *call)
{
  const AdjShape empty = { .rank = 0 };
  AdjOpResult *result = adj_op_call_add (call, ADJ_DTYPE_NONE, &empty);

  result->is_none = TRUE;
  return result;
}

AdjOpResult *
adj_op_call_add_size (AdjOpCall *call, AdjSize size)
{
  AdjOpResult *result = adj_op_call_add_none (call);

  result->plain = adj_value_from_size (size);
  return result;
}

void
adj_op_call_clear (AdjOpCall *call)
{
  for (guint i = 0; i < call->n_results; i++)
    g_clear_pointer (&call->results[i].tensor, adj_tensor_unref);
  g_clear_pointer (&call->results, g_free);
  call->n_results = 0;
  call->n_allocated = 0;
}

static gboolean
check_defined (const AdjOpCall *call)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    {
      const AdjType *type = &call->schema->arguments[i].type;

      if (type->kind == ADJ_TYPE_KIND_TENSOR && !type->optional && !type->is_list &&
          call->args[i].kind == ADJ_VALUE_NONE)
        return adj_op_call_fail (call, "argument '%s' must be Tensor, not None",
                                 call->schema->arguments[i].name);
    }
  return TRUE;
}

gboolean
adj_op_call_infer (AdjOpCall *call)
{
  if ((call->op->flags & ADJ_OP_UNDEFINED) == 0 && !check_defined (call))
    return FALSE;
  if (call->op->meta == NULL)
    return adj_op_call_fail_as (call, ADJ_ERROR_UNSUPPORTED, "has no shape rule");
  return call->op->meta (call) && !adj_context_has_error (call->cx);
}

/* -- arguments -- */

guint
adj_op_call_find (const AdjOpCall *call, const char *name)
{
  gint arg = adj_schema_find_argument (call->schema, name);

  if (arg < 0)
    g_error ("%s has no argument '%s'", call->schema->text, name);
  return (guint) arg;
}

static const AdjValue *
get (const AdjOpCall *call, guint arg)
{
  g_assert (arg < call->schema->n_arguments);

  return &call->args[arg];
}

static void
mismatch (const AdjOpCall *call, guint arg, const char *wanted)
{
  adj_op_call_fail (call, "argument '%s' must be %s, not %s", call->schema->arguments[arg].name,
                    wanted, adj_value_kind_name (get (call, arg)->kind));
}

AdjTensor *
adj_op_call_tensor (const AdjOpCall *call, guint arg)
{
  const AdjValue *value = get (call, arg);

  if (value->kind == ADJ_VALUE_TENSOR && value->tensor != NULL)
    return value->tensor;
  mismatch (call, arg, "a tensor");
  return NULL;
}

AdjTensor *
adj_op_call_tensor_or_null (const AdjOpCall *call, guint arg)
{
  const AdjValue *value = get (call, arg);

  return value->kind == ADJ_VALUE_NONE ? NULL : adj_op_call_tensor (call, arg);
}

const AdjTensorMeta *
adj_op_call_meta (const AdjOpCall *call, guint arg)
{
  static const AdjTensorMeta neutral = {
    .dtype = ADJ_DTYPE_F32,
    .device = { ADJ_DEVICE_CPU, -1 },
    .has_strides = TRUE,
    .storage = -1,
  };
  AdjTensor *tensor = adj_op_call_tensor (call, arg);

  return tensor != NULL ? adj_tensor_get_meta (tensor) : &neutral;
}

/* Whether the first tensor decides the device of the call (call/SPEC.md §4.3). */
static gboolean
follows_self (const AdjSchema *schema)
{
  static const char *const stems[] = { "index",    "_index", "_unsafe_index", "copy",
                                       "_to_copy", "set_",   "wait_tensor" };

  for (guint i = 0; i < G_N_ELEMENTS (stems); i++)
    if (g_str_has_prefix (schema->name, stems[i]))
      return TRUE;
  return FALSE;
}

static gboolean
same_device (AdjDevice a, AdjDevice b)
{
  return a.type == b.type && (a.index == b.index || a.index < 0 || b.index < 0);
}

typedef struct
{
  const AdjOpCall *call;
  AdjDevice device; /* ADJ_DEVICE_NONE: none yet */
  gboolean weak;    /* of a 0-d tensor on the CPU */
} CommonDevice;

/* %FALSE: the call has failed. */
static gboolean
fold_device (CommonDevice *common, const AdjValue *value)
{
  const AdjTensorMeta *meta;
  gboolean weak;

  if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      if (!fold_device (common, &value->items[i]))
        return FALSE;
  if (value->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  meta = adj_tensor_get_meta (value->tensor);
  weak = meta->shape.rank == 0 && meta->device.type == ADJ_DEVICE_CPU;
  if (common->device.type == ADJ_N_DEVICE_TYPES || (common->weak && !weak))
    {
      common->device = meta->device;
      common->weak = weak;
      return TRUE;
    }
  if (!weak && !same_device (common->device, meta->device) && !follows_self (common->call->schema))
    {
      g_autoptr (GString) text = g_string_new (NULL);

      adj_device_print (common->device, text);
      g_string_append (text, ", ");
      adj_device_print (meta->device, text);
      return adj_op_call_fail (common->call, "found two different devices %s", text->str);
    }
  return TRUE;
}

AdjDevice
adj_op_call_device (const AdjOpCall *call)
{
  CommonDevice common = { call, ADJ_DEVICE_NONE, FALSE };

  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!fold_device (&common, &call->args[i]))
      break;
  return common.device.type == ADJ_N_DEVICE_TYPES ? ADJ_CPU : common.device;
}

AdjSize
adj_op_call_size (const AdjOpCall *call, guint arg, AdjSize if_none)
{
  const AdjValue *value = get (call, arg);
  AdjSize size = ADJ_SIZE (0);

  if (value->kind == ADJ_VALUE_NONE)
    return if_none;
  if (value->kind == ADJ_VALUE_BOOL)
    return ADJ_SIZE (value->boolean);
  if (!adj_value_get_size (value, &size) ||
      (value->kind == ADJ_VALUE_INT && !adj_size_is_int (size)))
    {
      mismatch (call, arg, "a size");
      return ADJ_SIZE (0);
    }
  return size;
}

gint64
adj_op_call_int (const AdjOpCall *call, guint arg, gint64 if_none)
{
  gint64 value = 0;
  AdjSize size;

  if (get (call, arg)->kind == ADJ_VALUE_INT)
    return get (call, arg)->integer;
  if (get (call, arg)->kind == ADJ_VALUE_NONE)
    return if_none;
  size = adj_op_call_size (call, arg, ADJ_SIZE (0));
  if (!adj_size_get_hint (adj_context_get_symbols (call->cx), size, &value))
    mismatch (call, arg, "a known integer");
  return value;
}

double
adj_op_call_double (const AdjOpCall *call, guint arg, double if_none)
{
  const AdjValue *value = get (call, arg);

  if (value->kind == ADJ_VALUE_FLOAT)
    return value->number;
  if (value->kind == ADJ_VALUE_NONE)
    return if_none;
  return (double) adj_op_call_int (call, arg, 0);
}

gboolean
adj_op_call_bool (const AdjOpCall *call, guint arg)
{
  const AdjValue *value = get (call, arg);

  return value->kind != ADJ_VALUE_NONE && adj_op_call_int (call, arg, 0) != 0;
}

AdjDType
adj_op_number_dtype (const AdjValue *number)
{
  return number->kind == ADJ_VALUE_FLOAT  ? ADJ_DTYPE_F64
         : number->kind == ADJ_VALUE_BOOL ? ADJ_DTYPE_BOOL
         : number->kind == ADJ_VALUE_INT  ? ADJ_DTYPE_I64
                                          : ADJ_DTYPE_NONE;
}

gboolean
adj_op_value_is_true (const AdjValue *value)
{
  return (value->kind == ADJ_VALUE_BOOL && value->boolean) ||
         (value->kind == ADJ_VALUE_INT && value->integer != 0);
}

const char *
adj_op_call_string (const AdjOpCall *call, guint arg, const char *if_none)
{
  const AdjValue *value = get (call, arg);

  if (value->kind == ADJ_VALUE_STRING)
    return value->text;
  if (value->kind != ADJ_VALUE_NONE)
    mismatch (call, arg, "a string");
  return if_none;
}

AdjDType
adj_op_call_dtype (const AdjOpCall *call, guint arg, AdjDType if_none)
{
  const AdjValue *value = get (call, arg);
  AdjDType dtype = if_none;

  if (value->kind == ADJ_VALUE_DTYPE)
    dtype = value->dtype;
  else if (value->kind == ADJ_VALUE_INT)
    dtype = adj_dtype_from_scalar_type (value->integer);
  if (value->kind != ADJ_VALUE_NONE && dtype >= ADJ_N_DTYPES)
    {
      mismatch (call, arg, "a dtype");
      dtype = ADJ_DTYPE_F32;
    }
  return dtype;
}

guint
adj_op_call_sizes (const AdjOpCall *call, guint arg, AdjSize *out)
{
  const AdjValue *value = get (call, arg);
  const AdjValue *items = value;
  guint n = 1;

  if (value->kind == ADJ_VALUE_NONE)
    return 0;
  if (value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE)
    {
      items = value->items;
      n = value->n;
    }
  if (n > ADJ_MAX_RANK)
    {
      adj_op_call_fail (call, "argument '%s' has %u entries; at most %d",
                        call->schema->arguments[arg].name, n, ADJ_MAX_RANK);
      return 0;
    }
  for (guint i = 0; i < n; i++)
    if (!adj_value_get_size (&items[i], &out[i]))
      {
        mismatch (call, arg, "a list of integers");
        out[i] = ADJ_SIZE (0);
      }
  return n;
}

guint32
adj_op_call_dims (const AdjOpCall *call, guint arg, guint rank)
{
  const guint32 all = (1u << rank) - 1;
  AdjSize dims[ADJ_MAX_RANK];
  guint n = adj_op_call_sizes (call, arg, dims);
  guint32 mask = 0;

  for (guint i = 0; i < n; i++)
    {
      gint64 limit = MAX (rank, 1);
      gint64 dim = dims[i].word < 0 ? dims[i].word + limit : dims[i].word;

      if (!adj_size_is_int (dims[i]) || dim < 0 || dim >= limit)
        {
          adj_op_call_fail (call, "dimension %" G_GINT64_FORMAT " of a tensor of rank %u",
                            dims[i].word, rank);
          return all;
        }
      if ((mask & (1u << dim)) != 0)
        {
          adj_op_call_fail (call, "dimension %" G_GINT64_FORMAT " is given twice", dim);
          return all;
        }
      mask |= 1u << dim;
    }
  return n == 0 ? all : mask & all;
}

/* -- failure -- */

#define MOST_DESCRIBED 4

/* "; self: f32[2][1]cpu, other: f32[3][1]cpu": the first of the tensors that the call got. */
static void
describe_tensors (const AdjOpCall *call, GString *out)
{
  guint n = 0;

  for (guint i = 0; i < call->schema->n_arguments && call->args != NULL; i++)
    {
      if (call->args[i].kind != ADJ_VALUE_TENSOR || n == MOST_DESCRIBED)
        continue;
      g_string_append_printf (out, "%s%s: ", n++ == 0 ? "; " : ", ",
                              call->schema->arguments[i].name);
      adj_tensor_meta_print (adj_tensor_get_meta (call->args[i].tensor),
                             adj_context_get_symbols (call->cx), out);
    }
}

static gboolean
fail_message (const AdjOpCall *call, GQuark domain, gint code, const char *message)
{
  g_autoptr (GString) tensors = g_string_new (NULL);

  if (adj_context_has_error (call->cx))
    return FALSE;
  while (call->within != NULL)
    call = call->within;
  describe_tensors (call, tensors);
  adj_context_fail (call->cx, domain, code, "%.*s: %s%s", (int) strcspn (call->schema->text, "("),
                    call->schema->text, message, tensors->str);
  return FALSE;
}

gboolean
adj_op_call_fail (const AdjOpCall *call, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  return fail_message (call, ADJ_ERROR, ADJ_ERROR_SHAPE, message);
}

gboolean
adj_op_call_fail_as (const AdjOpCall *call, AdjError code, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  return fail_message (call, ADJ_ERROR, code, message);
}

gboolean
adj_op_call_fail_with (const AdjOpCall *call, GError *error)
{
  fail_message (call, error->domain, error->code, error->message);
  g_error_free (error);
  return FALSE;
}
