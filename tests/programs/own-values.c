/* SPDX-License-Identifier: MIT */
/* A plugin that provides what the captures of tests/objects use: a value class, a reference
 * class, and operators on their objects.  It has no program to run. */

#include <adjoint-extend.h>

typedef struct
{
  AdjObject parent;
  double number;
} Number;

static double
get_number (const AdjValue *value)
{
  return ((Number *) adj_object_from_opaque (value->object))->number;
}

/* -- Shift: a value, that stands in the calls -- */

static gboolean
shift_flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("factor", ADJ_FLOAT (((const Number *) object)->number), NULL);
  return TRUE;
}

static gboolean
shift_unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  const AdjValue *factor = adj_object_state_get (state, "factor");

  ((Number *) object)->number = factor != NULL ? factor->number : 0;
  return TRUE;
}

static char *
shift_write (const AdjObject *object)
{
  return g_strdup_printf ("Shift(%.1f)", ((const Number *) object)->number);
}

static gboolean
shift_read (const AdjValue *args, const AdjValue *kwargs, AdjValue *state, GError **error)
{
  const AdjValue *factor = args->n == 1     ? &args->items[0]
                           : kwargs->n == 2 ? &kwargs->items[1]
                                            : &ADJ_NONE;

  if (factor->kind == ADJ_VALUE_FLOAT)
    *state = adj_object_state_new ("factor", *factor, NULL);
  else
    g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "a shift takes one float");
  return factor->kind == ADJ_VALUE_FLOAT;
}

static const AdjObjectClass shift_class = {
  .name = "__main__.Shift",
  .help = "What is added",
  .size = sizeof (Number),
  .flatten = shift_flatten,
  .unflatten = shift_unflatten,
  .fake = &shift_class,
  .write = shift_write,
  .read = shift_read,
};

/* -- Box: a reference, of which a file has the state -- */

typedef struct
{
  Number number;
  AdjValue state; /* (owned) */
} Box;

static gboolean
box_flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_value_copy (&((const Box *) object)->state);
  return TRUE;
}

static gboolean
box_unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  Box *self = (Box *) object;
  const AdjValue *weight = adj_object_state_get (state, "weight");

  if (weight == NULL || weight->kind != ADJ_VALUE_FLOAT)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "a box has a weight");
      return FALSE;
    }
  self->number.number = weight->number;
  self->state = adj_value_copy (state);
  return TRUE;
}

static void
box_finalize (AdjObject *object)
{
  adj_value_clear (&((Box *) object)->state);
}

static const AdjObjectClass box_class = {
  .name = "__main__.Box",
  .help = "A weight with a name",
  .size = sizeof (Box),
  .flatten = box_flatten,
  .unflatten = box_unflatten,
  .finalize = box_finalize,
  .fake = &box_class,
};

/* -- the operators, of contiguous tensors -- */

static gboolean
same_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 0);

  adj_op_call_add (call, meta->dtype, &meta->shape);
  return TRUE;
}

static gboolean
run (AdjOpCall *call, double factor, double summand)
{
  g_autoptr (AdjTensorData) x = adj_tensor_snapshot (call->args[0].tensor);
  gboolean wide = adj_tensor_data_get_meta (x)->dtype == ADJ_DTYPE_F64;
  gpointer out = adj_storage_write (adj_tensor_get_storage (call->results[0].tensor));

  for (gint64 i = 0; i < adj_tensor_data_get_numel (x); i++)
    {
      double y = adj_tensor_data_get_double (x, i) * factor + summand;

      if (wide)
        ((double *) out)[i] = y;
      else
        ((float *) out)[i] = (float) y;
    }
  return TRUE;
}

static gboolean
shift_kernel (AdjOpCall *call)
{
  return run (call, 1, get_number (&call->args[1]));
}

static gboolean
scale_kernel (AdjOpCall *call)
{
  return run (call, get_number (&call->args[1]), 0);
}

static const AdjOp shift_record = {
  .schema = "mine::shift(Tensor x, __main__.Shift by) -> Tensor",
  .meta = same_meta,
  .kernel = shift_kernel,
  .grad = "x: g",
};

static const AdjOp scale_record = {
  .schema = "mine::scale(Tensor x, __main__.Box box) -> Tensor",
  .meta = same_meta,
  .kernel = scale_kernel,
};

static const AdjObjectClass *const classes[] = { &shift_class, &box_class };
static const AdjOp *const operators[] = { &shift_record, &scale_record };

ADJ_PUBLIC const AdjProgram *own_values (void);
const AdjProgram *
own_values (void)
{
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "own-values",
    .summary = "Classes and operators that files name",
    .classes = classes,
    .n_classes = G_N_ELEMENTS (classes),
    .operators = operators,
    .n_operators = G_N_ELEMENTS (operators),
  };

  return &program;
}

/* A class with the name of a built-in one, and an operator with an invalid schema. */
ADJ_PUBLIC const AdjProgram *taken_name (void);
const AdjProgram *
taken_name (void)
{
  static const AdjObjectClass counter = {
    .name = "Adjoint::Counter",
    .help = "Another counter",
    .size = sizeof (Number),
    .flatten = shift_flatten,
    .unflatten = shift_unflatten,
    .fake = &counter,
  };
  static const AdjObjectClass *const taken[] = { &counter };
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "taken-name",
    .summary = "A class by the name of another",
    .classes = taken,
    .n_classes = 1,
  };

  return &program;
}

ADJ_PUBLIC const AdjProgram *bad_operator (void);
const AdjProgram *
bad_operator (void)
{
  static const AdjOp record = { .schema = "mine::bad(Tensor x -> Tensor", .meta = same_meta };
  static const AdjOp *const bad[] = { &record };
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "bad-operator",
    .summary = "An operator without a schema",
    .operators = bad,
    .n_operators = 1,
  };

  return &program;
}
