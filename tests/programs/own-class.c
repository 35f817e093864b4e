/* SPDX-License-Identifier: MIT */
/* A plugin with its own object class and a program that calls its methods. */

#include <adjoint.h>
#include <wrappers/adj-wrappers.h>

typedef struct
{
  AdjObject parent;
  AdjValue sum; /* (owned): sum of all added tensors, or NONE */
  gint64 count;
} Mean;

static gboolean
add (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Mean *self = (Mean *) object;
  AdjTensor *sum = args[0].tensor;

  if (self->sum.kind != ADJ_VALUE_NONE)
    sum = adj_add (cx, adj_object_load (cx, &self->sum), sum);
  if (sum == NULL)
    return FALSE;
  adj_value_clear (&self->sum);
  self->sum = adj_object_store (sum);
  self->count++;
  return TRUE;
}

static gboolean
get_mean (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Mean *self = (Mean *) object;
  AdjTensor *mean = NULL;

  if (self->sum.kind == ADJ_VALUE_NONE)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "nothing was added");
  else
    mean = adj_div_scalar (cx, adj_object_load (cx, &self->sum), ADJ_INT (self->count));
  *result = mean != NULL ? ADJ_TENSOR (adj_keep (mean)) : ADJ_NONE;
  return mean != NULL;
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const Mean *self = (const Mean *) object;

  *state = adj_object_state_new ("sum", adj_value_copy (&self->sum), "count", ADJ_INT (self->count),
                                 NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  Mean *self = (Mean *) object;
  const AdjValue *sum = adj_object_state_get (state, "sum");
  const AdjValue *count = adj_object_state_get (state, "count");

  self->sum = sum != NULL ? adj_value_copy (sum) : ADJ_NONE;
  self->count = count != NULL ? count->integer : 0;
  return TRUE;
}

static void
finalize (AdjObject *object)
{
  adj_value_clear (&((Mean *) object)->sum);
}

static const AdjMethod methods[] = {
  { .schema = "add(Tensor x) -> ()", .help = "one more", .call = add },
  { .schema = "mean() -> Tensor", .help = "of all that was added", .call = get_mean },
};

static const AdjObjectClass mean_class = {
  .name = "own::Mean",
  .help = "The mean of tensors",
  .size = sizeof (Mean),
  .methods = methods,
  .n_methods = G_N_ELEMENTS (methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .finalize = finalize,
  .fake = &mean_class,
};

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjObject *mean = adj_object_from_opaque (args[0].object);
  AdjValue first = ADJ_TENSOR (adj_sin (cx, args[1].tensor));
  AdjValue second = ADJ_TENSOR (adj_cos (cx, args[1].tensor));
  AdjValue none, of_both;

  if (!adj_object_call (cx, mean, "add", &first, 1, NULL, &none) ||
      !adj_object_call (cx, mean, "add", &second, 1, NULL, &none) ||
      !adj_object_call (cx, mean, "mean", NULL, 0, NULL, &of_both))
    return FALSE;
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (of_both.tensor)), 1);
  return TRUE;
}

static gboolean
take_inputs (AdjContext *cx, AdjProgramInputs *in)
{
  const float numbers[] = { 0, 0.5, -1 };
  const gint64 n = 3;
  AdjObject *mean = adj_object_new_in (cx, &mean_class, NULL);

  if (mean == NULL)
    return FALSE;
  in->args[in->n_args++] = ADJ_OBJECT (mean);
  in->args[in->n_args++] = ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, &n, 1, numbers));
  return !adj_context_has_error (cx);
}

ADJ_PUBLIC const AdjProgram *own_class (void);
const AdjProgram *
own_class (void)
{
  static const AdjObjectClass *const classes[] = { &mean_class };
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "own-class",
    .summary = "A class of objects that a plugin brings",
    .call = call,
    .inputs = take_inputs,
    .classes = classes,
    .n_classes = 1,
  };

  return &program;
}
