/* SPDX-License-Identifier: MIT */
/* Object classes that wrap a number, and operators on them. */

#include "objects/number-classes.h"

#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "objects/adj-extensions-internal.h"
#include "ops/adj-op-table.h"
#include "ops/kernel-private.h"
#include "support/adj-test.h"

typedef struct
{
  AdjObject parent;
  double number;
} Number;

double
number_read (const AdjValue *value)
{
  return ((Number *) adj_object_from_opaque (value->object))->number;
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("number", ADJ_FLOAT (((const Number *) object)->number), NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  const AdjValue *number = adj_object_state_get (state, "number");

  ((Number *) object)->number = number != NULL ? number->number : 0;
  return TRUE;
}

static gboolean
add (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  ((Number *) object)->number += 1;
  *result = ADJ_NONE;
  return TRUE;
}

static const AdjMethod counter_methods[] = {
  { .schema = "add() -> ()", .help = "counts one more", .call = add },
};

const AdjObjectClass number_counter = {
  .name = "__main__.Counter",
  .help = "A number that operators change",
  .size = sizeof (Number),
  .methods = counter_methods,
  .n_methods = G_N_ELEMENTS (counter_methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &number_counter,
};

const AdjObjectClass number_scale = {
  .name = "__main__.Scale",
  .help = "A factor",
  .size = sizeof (Number),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &number_scale,
};

/* -- values: objects that stand in the calls -- */

static char *
write_shift (const AdjObject *object)
{
  char number[G_ASCII_DTOSTR_BUF_SIZE];

  g_ascii_formatd (number, sizeof number, "%.1f", ((const Number *) object)->number);
  return g_strdup_printf ("Shift(%s)", number);
}

static gboolean
read_shift (const AdjValue *args, const AdjValue *kwargs, AdjValue *state, GError **error)
{
  if (args->n == 1 && args->items[0].kind == ADJ_VALUE_FLOAT && kwargs->n == 0)
    *state = adj_object_state_new ("number", args->items[0], NULL);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "a shift takes one float");
  return state->kind != ADJ_VALUE_NONE;
}

const AdjObjectClass number_shift = {
  .name = "__main__.Shift",
  .help = "A summand",
  .size = sizeof (Number),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &number_shift,
  .write = write_shift,
  .read = read_shift,
};

/* -- an enumeration -- */

static const char *const speeds[] = { "FAST", "SLOW" };

static char *
write_speed (const AdjObject *object)
{
  return g_strdup_printf ("Speed.%s", speeds[(guint) ((const Number *) object)->number - 1]);
}

static gboolean
read_speed (const AdjValue *args, const AdjValue *kwargs, AdjValue *state, GError **error)
{
  for (guint i = 0; args->n == 1 && args->items[0].kind == ADJ_VALUE_STRING && i < 2; i++)
    if (g_str_equal (args->items[0].text, speeds[i]))
      *state = adj_object_state_new ("number", ADJ_FLOAT (i + 1), NULL);
  if (state->kind == ADJ_VALUE_NONE)
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "there is no such speed");
  return state->kind != ADJ_VALUE_NONE;
}

const AdjObjectClass number_speed = {
  .name = "__main__.Speed",
  .help = "How fast",
  .size = sizeof (Number),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &number_speed,
  .write = write_speed,
  .read = read_speed,
};

AdjValue
number_new_in (AdjContext *cx, const AdjObjectClass *klass, double number)
{
  g_auto (AdjValue) state = adj_object_state_new ("number", ADJ_FLOAT (number), NULL);
  AdjObject *object = adj_object_new_in (cx, klass, &state);

  g_assert_nonnull (object);
  return ADJ_OBJECT (object);
}

/* -- the operators -- */

static gboolean
same_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, call->args[0].kind != ADJ_VALUE_TENSOR);

  adj_op_call_add (call, meta->dtype, &meta->shape);
  return TRUE;
}

static gboolean
run_kernel (AdjOpCall *call, AdjTensor *tensor, double factor, double summand)
{
  g_autoptr (AdjTensorData) x = adj_tensor_snapshot (tensor);
  AdjKView out;

  if (!op_output (call, 0, &out))
    return FALSE;
  for (gint64 i = 0; i < adj_tensor_data_get_numel (x); i++)
    {
      double y = adj_tensor_data_get_double (x, i) * factor + summand;

      if (call->results[0].meta.dtype == ADJ_DTYPE_F64)
        ((double *) out.data)[i] = y;
      else
        ((float *) out.data)[i] = (float) y;
    }
  return TRUE;
}

static gboolean
add_kernel (AdjOpCall *call)
{
  return run_kernel (call, call->args[0].tensor, 1, number_read (&call->args[1]));
}

static gboolean
scale_kernel (AdjOpCall *call)
{
  return run_kernel (call, call->args[0].tensor, number_read (&call->args[1]), 0);
}

static gboolean
bump_kernel (AdjOpCall *call)
{
  Number *counter = (Number *) adj_object_from_opaque (call->args[0].object);

  counter->number += 1;
  return run_kernel (call, call->args[1].tensor, 1, counter->number);
}

const AdjOp number_op_count = {
  .schema = "mine::count(Tensor x, __main__.Counter counter) -> Tensor",
  .meta = same_meta,
  .kernel = add_kernel,
  .grad = "x: g",
};

const AdjOp number_op_scale = {
  .schema = "mine::scale(Tensor x, __main__.Scale by) -> Tensor",
  .meta = same_meta,
  .kernel = scale_kernel,
  .grad = "x: mine.scale(g, by)",
};

const AdjOp number_op_shift = {
  .schema = "mine::shift(Tensor x, __main__.Shift by) -> Tensor",
  .meta = same_meta,
  .kernel = add_kernel,
  .grad = "x: clone(g)",
};

const AdjOp number_op_slow = {
  .schema = "mine::slow(Tensor x, __main__.Speed by) -> Tensor",
  .meta = same_meta,
  .kernel = scale_kernel,
  .grad = "x: mine.slow(g, by)",
};

const AdjOp number_op_bump = {
  .schema = "mine::bump(__main__.Counter counter, Tensor x) -> Tensor",
  .meta = same_meta,
  .kernel = bump_kernel,
  .flags = ADJ_OP_EFFECT | ADJ_OP_TOKEN,
};

/* -- all of them -- */

AdjExtensions *
number_extensions_new (void)
{
  static const AdjObjectClass *const classes[] = { &number_counter, &number_scale, &number_shift,
                                                   &number_speed };
  static const AdjOp *const ops[] = { &number_op_count, &number_op_scale, &number_op_shift,
                                      &number_op_slow, &number_op_bump };
  AdjExtensions *extensions = adj_extensions_new ();

  for (guint i = 0; i < G_N_ELEMENTS (classes); i++)
    g_assert_true (adj_extensions_add_class (extensions, classes[i], NULL, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (ops); i++)
    g_assert_true (adj_extensions_add_op (extensions, ops[i], NULL));
  return extensions;
}

AdjGraph *
number_read_graph (const AdjExtensions *extensions, const char *name)
{
  g_autofree char *path = g_test_build_filename (G_TEST_DIST, "objects", "captures", name, NULL);
  g_autofree char *text = adj_test_read_file (path, NULL);
  g_autoptr (AdjExtender) extender = adj_extender_new (extensions, NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjGraph) graph = adj_graph_parse (text, -1, adj_op_find, NULL, &error);
  AdjGraph *extended;

  g_assert_no_error (error);
  extended = adj_extender_take_graph (extender, graph, &error);
  g_assert_no_error (error);
  return extended;
}
