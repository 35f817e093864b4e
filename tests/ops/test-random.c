/* SPDX-License-Identifier: MIT */
/* Random arguments: no operator accesses memory out of bounds. */

#include <string.h>

#include "call/adj-context.h"
#include "call/adj-mode.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "rules/adj-operators.h"
#include "support/adj-test.h"
#include "tensor/adj-tensor-internal.h"

/* Calls every operator with arguments chosen by type only: most calls are refused, none may
 * access memory out of bounds (sanitizers detect it), and a call without values must give the
 * same result as with values. */

typedef struct
{
  GRand *rand;
  AdjTensor *tensors[64]; /* tensors of the arguments, freed after the call */
  guint n_tensors;
  guint rank; /* rank of most tensors of this call */
  gint64 size[5];
  AdjDType dtype;
} Random;

static gboolean
chance (Random *r, guint percent)
{
  return (guint) g_rand_int_range (r->rand, 0, 100) < percent;
}

static gint64
random_int (Random *r)
{
  static const gint64 odd[] = { 0, 7, -100, G_MAXINT64, G_MININT64, G_MININT64 + 1, 1ll << 45 };

  if (chance (r, 90))
    return g_rand_int_range (r->rand, -2, 4);
  return odd[g_rand_int_range (r->rand, 0, G_N_ELEMENTS (odd))];
}

static void
fill_with_small_integers (Random *r, AdjTensor *tensor)
{
  const AdjTensorMeta *meta = adj_tensor_get_meta (tensor);
  AdjStorage *storage = adj_tensor_get_storage (tensor);
  gsize n = adj_storage_get_n_bytes (storage);

  if (meta->dtype == ADJ_DTYPE_I64)
    for (gsize i = 0; i < n / 8; i++)
      ((gint64 *) adj_storage_write (storage))[i] = g_rand_int_range (r->rand, -1, 4);
  else if (meta->dtype == ADJ_DTYPE_F32)
    for (gsize i = 0; i < n / 4; i++)
      ((float *) adj_storage_write (storage))[i] = (float) g_rand_double_range (r->rand, -2, 2);
  else
    for (gsize i = 0; i < n; i++)
      ((guint8 *) adj_storage_write (storage))[i] = (guint8) g_rand_int_range (r->rand, 0, 2);
}

static AdjValue
random_tensor (Random *r)
{
  static const AdjDType dtypes[] = { ADJ_DTYPE_F32, ADJ_DTYPE_F64,  ADJ_DTYPE_I64, ADJ_DTYPE_I32,
                                     ADJ_DTYPE_U8,  ADJ_DTYPE_BOOL, ADJ_DTYPE_F16, ADJ_DTYPE_C64 };
  AdjTensorMeta meta = { .dtype = r->dtype, .device = ADJ_CPU, .has_strides = TRUE };
  guint rank = chance (r, 75) ? r->rank : (guint) g_rand_int_range (r->rand, 0, 6);
  gint64 sizes[5];
  AdjTensor *tensor;

  if (chance (r, 35))
    meta.dtype = dtypes[g_rand_int_range (r->rand, 0, G_N_ELEMENTS (dtypes))];
  for (guint i = 0; i < rank; i++)
    sizes[i] = chance (r, 85) ? r->size[i] : g_rand_int_range (r->rand, 0, 4);
  adj_shape_init_ints (&meta.shape, rank, sizes);
  tensor = adj_tensor_new_empty (&meta, NULL, FALSE);
  fill_with_small_integers (r, tensor);
  if (rank >= 2 && chance (r, 30)) /* transposed */
    {
      AdjSize size = meta.shape.size[0], stride = meta.shape.stride[0];

      meta.shape.size[0] = meta.shape.size[1];
      meta.shape.stride[0] = meta.shape.stride[1];
      meta.shape.size[1] = size;
      meta.shape.stride[1] = stride;
      adj_tensor_set (tensor, &meta, NULL);
    }
  g_assert_cmpuint (r->n_tensors, <, G_N_ELEMENTS (r->tensors));
  r->tensors[r->n_tensors++] = tensor;
  return ADJ_TENSOR (tensor);
}

static AdjValue
random_number (Random *r)
{
  if (chance (r, 30))
    return ADJ_FLOAT (g_rand_double_range (r->rand, -3, 3));
  return chance (r, 15) ? ADJ_BOOL (chance (r, 50)) : ADJ_INT (random_int (r));
}

static AdjValue
random_element (Random *r, const AdjType *type)
{
  static const char *const strings[] = { "none", "tanh", "floor", "trunc", "sum" };
  static const AdjDType dtypes[] = { ADJ_DTYPE_F32, ADJ_DTYPE_F64, ADJ_DTYPE_I64, ADJ_DTYPE_BOOL,
                                     ADJ_DTYPE_BF16 };
  const char *text = strings[g_rand_int_range (r->rand, 0, G_N_ELEMENTS (strings))];
  AdjDType dtype = dtypes[g_rand_int_range (r->rand, 0, G_N_ELEMENTS (dtypes))];

  if (type->kind == ADJ_TYPE_KIND_TENSOR)
    return chance (r, 92) || type->is_list ? random_tensor (r) : random_number (r);
  if (type->kind == ADJ_TYPE_KIND_SCALAR || type->kind == ADJ_TYPE_KIND_FLOAT)
    return random_number (r);
  if (type->kind == ADJ_TYPE_KIND_INT || type->kind == ADJ_TYPE_KIND_SYMINT)
    return ADJ_INT (random_int (r));
  if (type->kind == ADJ_TYPE_KIND_BOOL)
    return ADJ_BOOL (chance (r, 50));
  if (type->kind == ADJ_TYPE_KIND_STR)
    return (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (text), .text = text };
  if (type->kind == ADJ_TYPE_KIND_SCALAR_TYPE)
    return ADJ_DTYPE (dtype);
  if (type->kind == ADJ_TYPE_KIND_DEVICE)
    return (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = ADJ_CPU };
  if (type->kind == ADJ_TYPE_KIND_MEMORY_FORMAT)
    return (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT,
                       .format =
                           (AdjMemoryFormat) g_rand_int_range (r->rand, 0, ADJ_N_MEMORY_FORMATS) };
  return ADJ_NONE;
}

/* The usual dtype of tensors with this parameter name, else @otherwise. */
static AdjDType
usual_dtype (const char *name, AdjDType otherwise)
{
  if (g_str_has_prefix (name, "ind") || g_str_equal (name, "target"))
    return ADJ_DTYPE_I64;
  return g_str_equal (name, "mask") ? ADJ_DTYPE_BOOL : otherwise;
}

/* Whether the list argument holds sizes, which may repeat those of the call's tensors. */
static gboolean
may_repeat_sizes (Random *r, const AdjArgument *argument, guint n)
{
  return n <= r->rank && strstr (argument->name, "size") != NULL && chance (r, 50);
}

/* @items: space for the entries of a list. */
static AdjValue
random_argument (Random *r, const AdjArgument *argument, AdjValue *items)
{
  const AdjType *type = &argument->type;
  guint n = chance (r, 80) ? r->rank : (guint) g_rand_int_range (r->rand, 0, 5);
  gboolean repeats;

  if (type->optional && chance (r, 50))
    return ADJ_NONE;
  if (argument->has_default && chance (r, 40))
    return argument->default_value;
  if (!type->is_list)
    return random_element (r, type);
  if (type->kind == ADJ_TYPE_KIND_BOOL)
    n = 3;
  else if (type->list_size > 1 && chance (r, 70))
    n = (guint) type->list_size;
  repeats = may_repeat_sizes (r, argument, n);
  for (guint i = 0; i < n; i++)
    if (repeats)
      items[i] = ADJ_INT (r->size[r->rank - n + i]);
    else
      items[i] = type->element_optional && chance (r, 40) ? ADJ_NONE : random_element (r, type);
  return (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n, .items = items };
}

static void
print_value (AdjContext *cx, const AdjValue *value, GString *out)
{
  if (adj_value_is_container (value))
    for (guint i = 0; i < value->n; i++)
      print_value (cx, &value->items[i], out);
  else if (value->kind == ADJ_VALUE_TENSOR)
    {
      adj_tensor_meta_print (adj_tensor_get_meta (value->tensor), adj_context_get_symbols (cx),
                             out);
      g_string_append_c (out, ' ');
    }
}

/* Describes the result or the error. */
static char *
describe (AdjContext *cx, gboolean done, const AdjValue *result)
{
  g_autoptr (GError) error = NULL;
  GString *out = g_string_new (NULL);

  if (done)
    print_value (cx, result, out);
  else if (adj_context_take_error (cx, &error))
    g_string_append (out, g_error_matches (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED) ? "unsupported"
                                                                                    : "refused");
  return g_string_free (out, FALSE);
}

/* Geometry and storage of a tensor, saved before an operator that changes them. */
typedef struct
{
  AdjTensorMeta meta;
  AdjStorage *storage;
} Shown;

static void
remember (const Random *r, Shown *shown)
{
  for (guint i = 0; i < r->n_tensors; i++)
    shown[i] = (Shown){ *adj_tensor_get_meta (r->tensors[i]),
                        adj_storage_ref (adj_tensor_get_storage (r->tensors[i])) };
}

static void
restore (const Random *r, Shown *shown)
{
  for (guint i = 0; i < r->n_tensors; i++)
    {
      adj_tensor_set (r->tensors[i], &shown[i].meta, shown[i].storage);
      adj_storage_unref (shown[i].storage);
    }
}

/* Whether @rule calls @name. */
static gboolean
calls (const char *rule, const char *name)
{
  gsize n = strlen (name);

  for (const char *at = strstr (rule, name); at != NULL; at = strstr (at + 1, name))
    if (at[n] == '(' && (at == rule || !(g_ascii_isalnum (at[-1]) || at[-1] == '_')))
      return TRUE;
  return FALSE;
}

/* Whether @rule (nullable) calls an operator whose strides in PyTorch's traces differ. */
static gboolean
calls_other_strides (const char *rule)
{
  for (guint i = 0; rule != NULL && i < adj_ops_get_n (); i++)
    {
      const AdjSchema *schema = adj_op_get_schema (adj_ops_get (i));
      g_autofree char *full = g_strdup_printf ("%s.%s", schema->name, schema->overload);

      if (adj_ops_get (i)->traced != NULL && (calls (rule, schema->name) || calls (rule, full)))
        return TRUE;
    }
  return FALSE;
}

/* Whether the strides of @op in PyTorch's traces differ; Fourier transforms are composed of
 * operators for which they do. */
static gboolean
has_other_strides (const AdjOp *op)
{
  return op->traced != NULL || calls_other_strides (op->decompose) ||
         g_str_has_prefix (adj_op_get_schema (op)->name, "fft_");
}

/* Returns whether the call worked. */
static gboolean
try_call (const AdjOp *op, Random *r)
{
  const AdjSchema *schema = adj_op_get_schema (op);
  AdjValue bound[ADJ_MAX_ARGUMENTS];
  AdjValue items[ADJ_MAX_ARGUMENTS][5];
  AdjValue pairs[2 * ADJ_MAX_ARGUMENTS];
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .n = 2 * schema->n_arguments, .items = pairs };
  g_autoptr (AdjContext) eager = adj_context_new ();
  g_autoptr (AdjContext) fake = adj_context_new_empty (NULL);
  g_autofree char *with = NULL;
  g_autofree char *without = NULL;
  Shown shown[G_N_ELEMENTS (r->tensors)];
  AdjDType dtype = r->dtype;
  AdjValue result;
  gboolean done;

  g_assert_cmpuint (schema->n_arguments, <=, G_N_ELEMENTS (items));
  for (guint i = 0; i < schema->n_arguments; i++)
    {
      const char *name = schema->arguments[i].name;

      r->dtype = usual_dtype (name, dtype);
      bound[i] = random_argument (r, &schema->arguments[i], items[i]);
      r->dtype = dtype;
      pairs[2 * i] =
          (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (name), .text = name };
      pairs[2 * i + 1] = bound[i];
    }
  adj_context_push_mode (fake, adj_fake_mode_new ());
  remember (r, shown);
  done = adj_call (fake, op, NULL, &kwargs, &result);
  without = describe (fake, done, &result);
  restore (r, shown);
  done = adj_call (eager, op, NULL, &kwargs, &result);
  with = describe (eager, done, &result);
  /* With values, a call may still be refused for its values, for memory or for lack of a kernel;
   * without values, for sizes that depend on values.  Strides that differ by design are compared
   * in test-oracle.c. */
  if (done && !has_other_strides (op) && !g_str_equal (without, "unsupported") &&
      !g_str_equal (with, without))
    g_error ("%s gives %s with values, %s without", schema->text, with, without);
  for (guint i = 0; i < r->n_tensors; i++)
    adj_tensor_unref (r->tensors[i]);
  r->n_tensors = 0;
  return done;
}

#define N_TRIES 40

static void
any_arguments (void)
{
  Random r = { .rand = g_rand_new_with_seed (g_test_rand_int ()) };
  guint n_never = 0, n_operators = 0, n_calls = 0;

  for (guint i = 0; i < adj_ops_get_n (); i++)
    {
      guint n_done = 0;

      n_operators++;
      for (guint k = 0; k < N_TRIES || (n_done == 0 && k < 10 * N_TRIES); k++)
        {
          r.rank = (guint) g_rand_int_range (r.rand, 0, 6);
          r.dtype = chance (&r, 70) ? ADJ_DTYPE_F32 : ADJ_DTYPE_I64;
          for (guint d = 0; d < G_N_ELEMENTS (r.size); d++)
            r.size[d] = chance (&r, 60) ? 2 : g_rand_int_range (r.rand, 0, 4);
          n_done += try_call (adj_ops_get (i), &r);
        }
      n_calls += n_done;
      if (n_done == 0 && adj_op_get_base (adj_ops_get (i)) == NULL)
        {
          g_test_message ("never ran: %s", adj_ops_get (i)->schema);
          n_never++;
        }
    }
  g_rand_free (r.rand);
  g_test_message ("%u operators, %u calls of which the fake result is the real one", n_operators,
                  n_calls);
  /* Some operators need arguments too specific to be found at random. */
  g_assert_cmpuint (n_never, <, ADJ_N_OPS / 8);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);

  g_test_add_func ("/ops/random/any-arguments", any_arguments);

  return g_test_run ();
}
