/* SPDX-License-Identifier: MIT */
/* Calls of higher-order operators through the modes, and functions shared by their implementations.
 */

#include "call/adj-higher-order.h"

#include <string.h>

#include "call/adj-context-internal.h"
#include "call/adj-mode.h"

gboolean
adj_higher_fail (const AdjHigherCall *call, AdjError code, const char *format, ...)
{
  const char *dot = strrchr (call->op->target, '.');
  g_autofree char *message = NULL;
  va_list list;

  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (call->cx, ADJ_ERROR, code, "%s: %s", dot + 1, message);
  return FALSE;
}

/* -- passing through the modes -- */

static gboolean
call_mode (AdjMode *mode, AdjHigherCall *call)
{
  while (mode != NULL && mode->klass->higher == NULL)
    mode = mode->below;
  if (mode == NULL)
    return adj_higher_fail (call, ADJ_ERROR_UNSUPPORTED, "no mode is left to run it");
  return mode->klass->higher (mode, call) && !adj_context_has_error (call->cx);
}

gboolean
adj_mode_call_higher_below (AdjMode *mode, AdjHigherCall *call)
{
  return call_mode (mode->below, call);
}

static gboolean
is_container (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_LIST || value->kind == ADJ_VALUE_TUPLE;
}

static gboolean
check_args (const AdjHigherCall *call)
{
  const AdjHigherOp *op = call->op;

  if (call->n_args < op->n_args)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "takes %u arguments, %u are given", op->n_args,
                            call->n_args);
  for (guint i = 0; i < op->n_groups; i++)
    {
      const AdjValue *group = &call->args[op->groups[i]];

      if (!is_container (group))
        return adj_higher_fail (call, ADJ_ERROR_SHAPE, "argument %u must be a list or a tuple",
                                op->groups[i]);
    }
  return op->check == NULL || op->check (call);
}

/* Gathers the last group of arguments into a tuple; PyTorch 2.15 passes its items one by one.
 * @gathered: room for @call->op->n_args */
static void
gather_spread (AdjHigherCall *call, AdjValue *gathered)
{
  guint last = call->op->n_args - 1;

  if (call->n_args < last || (call->n_args == last + 1 && is_container (&call->args[last])))
    return;
  memcpy (gathered, call->args, last * sizeof *gathered);
  gathered[last] = (AdjValue){ .kind = ADJ_VALUE_TUPLE,
                               .n = call->n_args - last,
                               .items = (AdjValue *) call->args + last };
  call->args = gathered;
  call->n_args = last + 1;
}

/* Makes a list in the last argument a tuple; @changed: room for all arguments. */
static void
end_in_tuple (AdjHigherCall *call, AdjValue *changed)
{
  if (call->n_args == 0 || !is_container (&call->args[call->n_args - 1]))
    return;
  memcpy (changed, call->args, call->n_args * sizeof *changed);
  changed[call->n_args - 1].kind = ADJ_VALUE_TUPLE;
  call->args = changed;
}

gboolean
adj_call_higher (AdjContext *cx,
                 const AdjHigherOp *op,
                 const AdjValue *args,
                 guint n_args,
                 AdjFunction *const *bodies,
                 AdjValue *result)
{
  AdjHigherCall call = { .cx = cx, .op = op, .args = args, .n_args = n_args };
  g_autofree AdjValue *gathered = NULL;
  gboolean done;

  g_return_val_if_fail (cx != NULL && op != NULL && result != NULL, FALSE);

  *result = ADJ_NONE;
  for (guint i = 0; i < op->n_bodies; i++)
    call.bodies[i] = bodies[i];
  gathered = g_new0 (AdjValue, MAX (op->n_args, n_args));
  if (op->is_spread)
    gather_spread (&call, gathered);
  else if (op->ends_in_tuple)
    end_in_tuple (&call, gathered);
  done = adj_context_may_go_on (cx) && check_args (&call);
  if (done && op->is_decided != NULL && op->is_decided (&call))
    done = op->run (&call);
  else
    done = done && call_mode (adj_context_get_entry (cx), &call);
  if (done)
    *result = call.result;
  else
    adj_value_clear (&call.result);
  return done;
}

/* -- functions -- */

GArray *
adj_higher_list_inputs (const AdjHigherCall *call)
{
  g_autoptr (GArray) inputs = adj_value_array_new ();

  if (call->op->list_inputs != NULL)
    return call->op->list_inputs (call, inputs) ? g_steal_pointer (&inputs) : NULL;
  for (guint i = 0; i < call->op->n_groups; i++)
    {
      const AdjValue *group = &call->args[call->op->groups[i]];

      for (guint k = 0; k < group->n; k++)
        {
          AdjValue copy = adj_value_copy (&group->items[k]);

          g_array_append_val (inputs, copy);
        }
    }
  return g_steal_pointer (&inputs);
}

gboolean
adj_higher_call_body (
    AdjHigherCall *call, guint body, const AdjValue *inputs, guint n_inputs, AdjValue *out)
{
  const AdjPlace place = *adj_context_get_place (call->cx);
  gboolean done = adj_function_call (call->bodies[body], call->cx, inputs, n_inputs, out);

  adj_context_set_place (call->cx, &place);
  return done;
}

/* -- comparing results -- */

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  g_array_append_val ((GArray *) data, *leaf);
  return TRUE;
}

static gboolean
same_tensors (AdjSymbols *symbols,
              const AdjTensorMeta *a,
              const AdjTensorMeta *b,
              gboolean compare_strides)
{
  gboolean same = a->dtype == b->dtype && adj_device_equal (a->device, b->device) &&
                  adj_shape_same_sizes (&a->shape, &b->shape, symbols);

  for (guint i = 0; same && compare_strides && i < a->shape.rank; i++)
    same = adj_size_is (symbols, a->shape.size[i], 1) ||
           adj_size_test (symbols, ADJ_SIZE_EQ, a->shape.stride[i], b->shape.stride[i]);
  return same;
}

static void
print_leaf (AdjSymbols *symbols, const AdjValue *leaf, GString *out)
{
  if (leaf->kind == ADJ_VALUE_TENSOR)
    adj_tensor_meta_print (adj_tensor_get_meta (leaf->tensor), symbols, out);
  else if (leaf->kind == ADJ_VALUE_INT)
    g_string_append_printf (out, "%" G_GINT64_FORMAT, leaf->integer);
  else
    g_string_append (out, adj_value_kind_name (leaf->kind));
}

gboolean
adj_higher_check_same (const AdjHigherCall *call,
                       const char *name_a,
                       const AdjValue *a,
                       const char *name_b,
                       const AdjValue *b,
                       AdjHigherSame same)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  g_autoptr (GArray) leaves_a = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  g_autoptr (GArray) leaves_b = g_array_new (FALSE, FALSE, sizeof (AdjValue));

  adj_value_foreach (a, append_leaf, leaves_a);
  adj_value_foreach (b, append_leaf, leaves_b);
  if (leaves_a->len != leaves_b->len)
    return adj_higher_fail (call, ADJ_ERROR_SHAPE, "%s gives %u values, %s %u", name_a,
                            leaves_a->len, name_b, leaves_b->len);
  for (guint i = 0; i < leaves_a->len; i++)
    {
      const AdjValue *one = &g_array_index (leaves_a, AdjValue, i);
      const AdjValue *other = &g_array_index (leaves_b, AdjValue, i);
      gboolean tensors = one->kind == ADJ_VALUE_TENSOR && other->kind == ADJ_VALUE_TENSOR;
      g_autoptr (GString) text = NULL;

      if (tensors ? same_tensors (symbols, adj_tensor_get_meta (one->tensor),
                                  adj_tensor_get_meta (other->tensor),
                                  (same & ADJ_SAME_BUT_STRIDES) == 0)
                  : adj_value_equal (one, other))
        continue;
      if ((same & ADJ_SAME_OR_NONE) != 0 &&
          (one->kind == ADJ_VALUE_NONE || other->kind == ADJ_VALUE_NONE))
        continue;
      text = g_string_new (NULL);
      g_string_append_printf (text, "value %u of %s is ", i, name_a);
      print_leaf (symbols, one, text);
      g_string_append_printf (text, ", of %s ", name_b);
      print_leaf (symbols, other, text);
      return adj_higher_fail (call, ADJ_ERROR_SHAPE, "%s", text->str);
    }
  return TRUE;
}
