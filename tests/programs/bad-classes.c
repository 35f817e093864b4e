/* SPDX-License-Identifier: MIT */
/* A plugin whose object classes are each wrong in one way. */

#include <adjoint.h>
#include <string.h>

typedef struct
{
  AdjObject parent;
  gint64 count;
} Tally;

static gint64 n_traced; /* state outside of the objects of a class */

/* -- what the classes have in common -- */

static gboolean
add (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  ((Tally *) object)->count++;
  *result = ADJ_TENSOR (adj_keep (args[0].tensor));
  return TRUE;
}

static gboolean
flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("count", ADJ_INT (((const Tally *) object)->count), NULL);
  return TRUE;
}

static gboolean
unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  const AdjValue *count = adj_object_state_get (state, "count");

  ((Tally *) object)->count = count != NULL ? count->integer : 0;
  return TRUE;
}

static const AdjMethod add_method = { .schema = "add(Tensor x) -> Tensor", .call = add };

/* -- the programs -- */

static gboolean
call (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  AdjValue added;

  if (!adj_object_call (cx, adj_object_from_opaque (args[0].object), "add", &args[1], 1, NULL,
                        &added))
    return FALSE;
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_TENSOR (adj_keep (added.tensor)), 1);
  return TRUE;
}

static gboolean
take_inputs (AdjContext *cx, const AdjObjectClass *klass, AdjProgramInputs *in)
{
  const float numbers[] = { 1, 2 };
  const gint64 n = 2;
  AdjObject *object = adj_object_new_in (cx, klass, NULL);

  if (object == NULL)
    return FALSE;
  in->args[in->n_args++] = ADJ_OBJECT (object);
  in->args[in->n_args++] = ADJ_TENSOR (adj_from_array (cx, ADJ_DTYPE_F32, &n, 1, numbers));
  return !adj_context_has_error (cx);
}

#define BAD_PROGRAM(id, text)                                                                      \
  static const AdjObjectClass *const id##_classes[] = { &id##_class };                             \
  static gboolean id##_inputs (AdjContext *cx, AdjProgramInputs *in)                               \
  {                                                                                                \
    return take_inputs (cx, &id##_class, in);                                                      \
  }                                                                                                \
  ADJ_PUBLIC const AdjProgram *id (void);                                                          \
  const AdjProgram *id (void)                                                                      \
  {                                                                                                \
    static const AdjProgram program = {                                                            \
      .abi = ADJ_PROGRAM_ABI,                                                                      \
      .name = #id,                                                                                 \
      .summary = text,                                                                             \
      .call = call,                                                                                \
      .inputs = id##_inputs,                                                                       \
      .classes = id##_classes,                                                                     \
      .n_classes = 1,                                                                              \
    };                                                                                             \
    return &program;                                                                               \
  }

/* -- a fake class without the method -- */

static const AdjObjectClass empty_class = {
  .name = "bad::Empty",
  .size = sizeof (Tally),
  .flatten = flatten,
  .unflatten = unflatten,
};

static const AdjObjectClass no_method_class = {
  .name = "bad::NoMethod",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &empty_class,
};

BAD_PROGRAM (no_method, "The fake class lacks the method")

/* -- a fake class without a method that nothing calls -- */

static const AdjMethod both_methods[] = {
  { .schema = "add(Tensor x) -> Tensor", .call = add },
  { .schema = "reset(Tensor x) -> Tensor", .call = add },
};

static const AdjObjectClass add_class = {
  .name = "bad::Add",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
};

static const AdjObjectClass unused_method_class = {
  .name = "bad::UnusedMethod",
  .size = sizeof (Tally),
  .methods = both_methods,
  .n_methods = G_N_ELEMENTS (both_methods),
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &add_class,
};

BAD_PROGRAM (unused_method, "The fake class lacks a method that is not called")

/* -- no fake class at all -- */

static const AdjObjectClass no_fake_class = {
  .name = "bad::NoFake",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
};

BAD_PROGRAM (no_fake, "There is no fake class")

/* -- a schema that cannot be read -- */

static const AdjMethod wrong_method = { .schema = "add(Tensor x -> Tensor", .call = add };

static const AdjObjectClass wrong_schema_class = {
  .name = "bad::WrongSchema",
  .size = sizeof (Tally),
  .methods = &wrong_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &wrong_schema_class,
};

BAD_PROGRAM (wrong_schema, "The schema of the method cannot be read")

/* -- a result that the schema does not have -- */

static gboolean
count (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = ADJ_INT (1);
  return TRUE;
}

static const AdjMethod lying_method = { .schema = "add(Tensor x) -> Tensor", .call = count };

static const AdjObjectClass wrong_result_class = {
  .name = "bad::WrongResult",
  .size = sizeof (Tally),
  .methods = &lying_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &wrong_result_class,
};

BAD_PROGRAM (wrong_result, "The method gives what its schema does not say")

/* -- a state that is another one after a round trip -- */

static gboolean
unflatten_one_more (AdjObject *object, const AdjValue *state, GError **error)
{
  return unflatten (object, state, error) && ++((Tally *) object)->count > 0;
}

static const AdjObjectClass no_round_trip_class = {
  .name = "bad::NoRoundTrip",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten_one_more,
  .fake = &no_round_trip_class,
};

BAD_PROGRAM (no_round_trip, "The flattened state makes another object")

/* -- a state that is no tuple of pairs -- */

static gboolean
flatten_to_list (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = ADJ_INT (((const Tally *) object)->count);
  return TRUE;
}

static const AdjObjectClass no_pairs_class = {
  .name = "bad::NoPairs",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten_to_list,
  .unflatten = unflatten,
  .fake = &no_pairs_class,
};

BAD_PROGRAM (no_pairs, "The flattened state has no names")

/* -- a tuple of something else -- */

static gboolean
flatten_to_numbers (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_value_new_items (ADJ_VALUE_TUPLE, &ADJ_INT (((const Tally *) object)->count), 1);
  return TRUE;
}

static const AdjObjectClass no_tuples_class = {
  .name = "bad::NoTuples",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten_to_numbers,
  .unflatten = unflatten,
  .fake = &no_tuples_class,
};

BAD_PROGRAM (no_tuples, "The flattened state is a tuple of numbers")

static gboolean
flatten_without_names (const AdjObject *object, AdjValue *state, GError **error)
{
  const AdjValue pair = adj_value_new_items (
      ADJ_VALUE_TUPLE, (AdjValue[]){ ADJ_INT (0), ADJ_INT (((const Tally *) object)->count) }, 2);

  *state = adj_value_new_items (ADJ_VALUE_TUPLE, &pair, 1);
  return TRUE;
}

static const AdjObjectClass no_names_class = {
  .name = "bad::NoNames",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten_without_names,
  .unflatten = unflatten,
  .fake = &no_names_class,
};

BAD_PROGRAM (no_names, "The flattened state has numbers for names")

/* -- a state with what is no plain value -- */

static gboolean
flatten_to_dtype (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("count", ADJ_DTYPE (ADJ_DTYPE_F32), NULL);
  return TRUE;
}

static const AdjObjectClass no_values_class = {
  .name = "bad::NoValues",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten_to_dtype,
  .unflatten = unflatten,
  .fake = &no_values_class,
};

BAD_PROGRAM (no_values, "The flattened state has what is no value")

/* -- records that are no classes -- */

static const AdjObjectClass no_unflatten_class = {
  .name = "bad::NoUnflatten",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
};

BAD_PROGRAM (no_unflatten, "Nothing makes an object of a state")

static const AdjObjectClass no_namespace_class = {
  .name = "NoNamespace",
  .size = sizeof (Tally),
  .methods = &add_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
};

BAD_PROGRAM (no_namespace, "The name has no namespace")

/* -- a method that fails -- */

static gboolean
fail (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "the tally is full");
  return FALSE;
}

static const AdjMethod failing_method = { .schema = "add(Tensor x) -> Tensor", .call = fail };

static const AdjObjectClass throws_class = {
  .name = "bad::Throws",
  .size = sizeof (Tally),
  .methods = &failing_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &throws_class,
};

BAD_PROGRAM (throws, "The method fails")

/* -- a method that fails and says nothing -- */

static gboolean
fail_silently (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return FALSE;
}

static const AdjMethod silent_method = { .schema = "add(Tensor x) -> Tensor",
                                         .call = fail_silently };

static const AdjObjectClass fails_silently_class = {
  .name = "bad::FailsSilently",
  .size = sizeof (Tally),
  .methods = &silent_method,
  .n_methods = 1,
  .flatten = flatten,
  .unflatten = unflatten,
  .fake = &fails_silently_class,
};

BAD_PROGRAM (fails_silently, "The method fails without an error")

/* -- a state that all objects share, fake ones too -- */

static gboolean
add_to_all (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  n_traced++;
  return add (object, cx, args, result);
}

static gboolean
flatten_shared (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_object_state_new ("count", ADJ_INT (n_traced), NULL);
  return TRUE;
}

static const AdjMethod shared_method = { .schema = "add(Tensor x) -> Tensor", .call = add_to_all };

static const AdjObjectClass changes_class = {
  .name = "bad::Changes",
  .size = sizeof (Tally),
  .methods = &shared_method,
  .n_methods = 1,
  .flatten = flatten_shared,
  .unflatten = unflatten,
  .fake = &changes_class,
};

BAD_PROGRAM (changes, "A trace changes the real object")
