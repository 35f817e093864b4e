/* SPDX-License-Identifier: MIT */
/* The classes of captures/stack.cpp and the operator on one of them, as a plugin brings them. */

#include "objects/stack-classes.h"

#include <wrappers/adj-wrappers.h>

/* (transfer full) */
static gboolean
give (AdjTensor *tensor, AdjValue *result)
{
  *result = tensor != NULL ? ADJ_TENSOR (adj_keep (tensor)) : ADJ_NONE;
  return tensor != NULL;
}

/* -- a stack of tensors -- */

typedef struct
{
  AdjObject parent;
  GArray *items; /* AdjValue, as stored; the top comes last */
  gint64 limit;
} Stack;

/* (nullable): the item that lies @depth below the top; %NULL with the context in error. */
static const AdjValue *
get_item (Stack *self, AdjContext *cx, gint64 depth)
{
  if (depth >= 0 && depth < (gint64) self->items->len)
    return &g_array_index (self->items, AdjValue, self->items->len - 1 - (guint) depth);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "nothing lies %" G_GINT64_FORMAT " below the top", depth);
  return NULL;
}

static gboolean
give_item (AdjContext *cx, const AdjValue *item, AdjValue *result)
{
  return item != NULL && give (adj_object_load (cx, item), result);
}

static gboolean
push (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  AdjValue item = adj_object_store (args[0].tensor);

  g_array_append_val (((Stack *) object)->items, item);
  return TRUE;
}

static gboolean
pop (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Stack *self = (Stack *) object;

  if (!give_item (cx, get_item (self, cx, 0), result))
    return FALSE;
  g_array_set_size (self->items, self->items->len - 1);
  return TRUE;
}

static gboolean
peek (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return give_item (cx, get_item ((Stack *) object, cx, args[0].integer), result);
}

static gboolean
swap (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Stack *self = (Stack *) object;
  const gint64 one = args[0].integer, other = args[1].integer, n = self->items->len;
  AdjValue *items = (gpointer) self->items->data, held;

  if (one < 0 || other < 0 || one >= n || other >= n)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "there are no two such tensors");
      return FALSE;
    }
  held = items[one];
  items[one] = items[other];
  items[other] = held;
  return TRUE;
}

static gboolean
give_all (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Stack *self = (Stack *) object;
  g_autoptr (GArray) all = adj_value_array_new ();

  for (guint i = 0; i < self->items->len; i++)
    {
      AdjValue item;

      if (!give_item (cx, &g_array_index (self->items, AdjValue, i), &item))
        return FALSE;
      g_array_append_val (all, item);
    }
  *result = adj_value_array_end (all, ADJ_VALUE_LIST);
  return TRUE;
}

static gboolean
is_full (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  const Stack *self = (const Stack *) object;

  *result = ADJ_BOOL (self->items->len >= self->limit);
  return TRUE;
}

static gboolean
peek_and_depth (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Stack *self = (Stack *) object;
  AdjValue both[2] = { ADJ_NONE, ADJ_INT (self->items->len) };

  if (!give_item (cx, get_item (self, cx, 0), &both[0]))
    return FALSE;
  *result = adj_value_new_items (ADJ_VALUE_TUPLE, both, 2);
  return TRUE;
}

static gboolean
stack_flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  const Stack *self = (const Stack *) object;
  g_autoptr (GArray) items = adj_value_array_new ();

  for (guint i = 0; i < self->items->len; i++)
    {
      AdjValue item = adj_value_copy (&g_array_index (self->items, AdjValue, i));

      g_array_append_val (items, item);
    }
  *state = adj_object_state_new ("items", adj_value_array_end (items, ADJ_VALUE_LIST), "limit",
                                 ADJ_INT (self->limit), NULL);
  return TRUE;
}

static gboolean
stack_unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  Stack *self = (Stack *) object;
  const AdjValue *items = adj_object_state_get (state, "items");
  const AdjValue *limit = adj_object_state_get (state, "limit");

  self->items = adj_value_array_new ();
  if (items == NULL || items->kind != ADJ_VALUE_LIST || limit == NULL ||
      limit->kind != ADJ_VALUE_INT)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "a stack has items and a limit");
      return FALSE;
    }
  for (guint i = 0; i < items->n; i++)
    {
      AdjValue item = adj_value_copy (&items->items[i]);

      g_array_append_val (self->items, item);
    }
  self->limit = limit->integer;
  return TRUE;
}

/* As captures/stack.cpp pickles it: items, limit. */
static gboolean
stack_restore (const AdjValue *pickled, AdjValue *state, GError **error)
{
  if (pickled->kind != ADJ_VALUE_TUPLE || pickled->n != 2)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "a stack pickles items and a limit");
      return FALSE;
    }
  *state = adj_object_state_new ("items", adj_value_copy (&pickled->items[0]), "limit",
                                 adj_value_copy (&pickled->items[1]), NULL);
  return TRUE;
}

static void
stack_finalize (AdjObject *object)
{
  g_clear_pointer (&((Stack *) object)->items, g_array_unref);
}

static const AdjMethod stack_methods[] = {
  { .schema = "push(Tensor x) -> ()", .help = "puts one on top", .call = push },
  { .schema = "pop() -> Tensor", .help = "takes the top", .call = pop },
  { .schema = "peek(int depth) -> Tensor", .help = "one below the top", .call = peek },
  { .schema = "swap(int one, int other) -> ()", .help = "exchanges two", .call = swap },
  { .schema = "all() -> Tensor[]", .help = "all of them, the top last", .call = give_all },
  { .schema = "full() -> bool", .help = "whether the limit is reached", .call = is_full },
  { .schema = "peek_and_depth() -> (Tensor, int)",
    .help = "the top, and how many there are",
    .call = peek_and_depth },
};

static const AdjObjectClass stack_class = {
  .name = "unseen::Stack",
  .help = "A stack of tensors",
  .size = sizeof (Stack),
  .methods = stack_methods,
  .n_methods = G_N_ELEMENTS (stack_methods),
  .flatten = stack_flatten,
  .unflatten = stack_unflatten,
  .restore = stack_restore,
  .finalize = stack_finalize,
  .fake = &stack_class,
};

/* -- averages that forget: a row for each -- */

typedef struct
{
  AdjObject parent;
  AdjValue state; /* (owned): as flattened: sums, counts, decay, name */
} Average;

static const AdjValue *
get_entry (const AdjObject *object, const char *name)
{
  return adj_object_state_get (&((const Average *) object)->state, name);
}

/* (nullable): @rows with row @row times @decay plus @more. */
static AdjTensor *
decay_row (AdjContext *cx, AdjTensor *rows, gint64 row, double decay, AdjTensor *more)
{
  AdjTensor *old = rows != NULL ? adj_select (cx, rows, 0, row) : NULL;
  AdjTensor *now = old != NULL ? adj_mul_scalar (cx, old, ADJ_FLOAT (decay)) : NULL;

  now = now == NULL    ? NULL
        : more != NULL ? adj_add (cx, now, more)
                       : adj_add_scalar (cx, now, ADJ_INT (1), ADJ_INT (1));
  return now != NULL ? adj_select_scatter (cx, rows, now, 0, row) : NULL;
}

static gboolean
update (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  Average *self = (Average *) object;
  const double decay = get_entry (object, "decay")->number;
  const gint64 row = args[0].integer;
  AdjTensor *sums =
      decay_row (cx, adj_object_load (cx, get_entry (object, "sums")), row, decay, args[1].tensor);
  AdjTensor *counts =
      decay_row (cx, adj_object_load (cx, get_entry (object, "counts")), row, decay, NULL);
  AdjValue state;

  if (sums == NULL || counts == NULL)
    return FALSE;
  state = adj_object_state_new ("sums", adj_object_store (sums), "counts",
                                adj_object_store (counts), "decay", ADJ_FLOAT (decay), "name",
                                adj_value_copy (get_entry (object, "name")), NULL);
  adj_value_clear (&self->state);
  self->state = state;
  return TRUE;
}

static gboolean
get_mean (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  AdjTensor *sums = adj_object_load (cx, get_entry (object, "sums"));
  AdjTensor *counts = adj_object_load (cx, get_entry (object, "counts"));

  sums = sums != NULL ? adj_select (cx, sums, 0, args[0].integer) : NULL;
  counts = counts != NULL ? adj_select (cx, counts, 0, args[0].integer) : NULL;
  return sums != NULL && counts != NULL && give (adj_div (cx, sums, counts), result);
}

static gboolean
maybe (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  return args[0].integer == 0 || give (adj_object_load (cx, get_entry (object, "sums")), result);
}

static gboolean
get_decay (AdjObject *object, AdjContext *cx, const AdjValue *args, AdjValue *result)
{
  *result = *get_entry (object, "decay");
  return TRUE;
}

static gboolean
average_flatten (const AdjObject *object, AdjValue *state, GError **error)
{
  *state = adj_value_copy (&((const Average *) object)->state);
  return TRUE;
}

static gboolean
average_unflatten (AdjObject *object, const AdjValue *state, GError **error)
{
  static const char *const names[] = { "sums", "counts", "decay", "name" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    if (adj_object_state_get (state, names[i]) == NULL)
      {
        g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "an average has %s", names[i]);
        return FALSE;
      }
  ((Average *) object)->state = adj_value_copy (state);
  return TRUE;
}

static void
average_finalize (AdjObject *object)
{
  adj_value_clear (&((Average *) object)->state);
}

static const AdjMethod average_methods[] = {
  { .schema = "update(int row, Tensor x) -> ()", .help = "one more", .call = update },
  { .schema = "mean(int row) -> Tensor", .help = "of a row", .call = get_mean },
  { .schema = "maybe(bool give) -> Tensor?", .help = "the sums, or nothing", .call = maybe },
  { .schema = "decay() -> float", .help = "how fast it forgets", .call = get_decay },
};

static const AdjObjectClass average_class = {
  .name = "unseen::Average",
  .help = "Averages that forget",
  .size = sizeof (Average),
  .methods = average_methods,
  .n_methods = G_N_ELEMENTS (average_methods),
  .flatten = average_flatten,
  .unflatten = average_unflatten,
  .finalize = average_finalize,
  .fake = &average_class,
};

/* -- an operator on a stack -- */

static gboolean
add_top_meta (AdjOpCall *call)
{
  const AdjTensorMeta *meta = adj_op_call_meta (call, 1);

  adj_op_call_add (call, meta->dtype, &meta->shape);
  return TRUE;
}

/* Of contiguous tensors. */
static gboolean
add_top_kernel (AdjOpCall *call)
{
  Stack *stack = (Stack *) adj_object_from_opaque (call->args[0].object);
  const AdjValue *top = get_item (stack, call->cx, 0);
  g_autoptr (AdjTensorData) x = adj_tensor_snapshot (call->args[1].tensor);
  float *out = adj_storage_write (adj_tensor_get_storage (call->results[0].tensor));

  for (gint64 i = 0; top != NULL && i < adj_tensor_data_get_numel (x); i++)
    out[i] =
        (float) (adj_tensor_data_get_double (x, i) + adj_tensor_data_get_double (top->data, i));
  return top != NULL;
}

static const AdjOp add_top_record = {
  .schema = "unseen::add_top(__torch__.torch.classes.unseen.Stack stack, Tensor x) -> Tensor",
  .meta = add_top_meta,
  .kernel = add_top_kernel,
};

const AdjProgram *
stack_classes (void)
{
  static const AdjObjectClass *const classes[] = { &stack_class, &average_class };
  static const AdjOp *const operators[] = { &add_top_record };
  static const AdjProgram program = {
    .abi = ADJ_PROGRAM_ABI,
    .name = "stack-classes",
    .summary = "A stack, averages, and an operator",
    .classes = classes,
    .n_classes = G_N_ELEMENTS (classes),
    .operators = operators,
    .n_operators = G_N_ELEMENTS (operators),
  };

  return &program;
}
