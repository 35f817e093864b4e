/* SPDX-License-Identifier: MIT */
/* Evaluates the terms of a rule through the context: each at most once, and only if needed. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/rule-private.h"

/* The most arguments that a call in a rule has. */
#define MAX_ARGS 24

/* The gradient of result @index: zeros when it is undefined, one that is expanded where @spread. */
static AdjTensor *
get_grad (AdjRuleCall *call, guint index, gboolean spread)
{
  const AdjRuleGrads *grads = call->grads;
  const AdjTensorMeta *meta;
  AdjValue sizes, args[2], kwargs[6], result;

  if (index >= grads->n_grads)
    return NULL;
  if (grads->grads[index] != NULL)
    return grads->grads[index];
  meta = &grads->outputs[index];
  sizes = adj_rule_list_sizes (call->arena, meta->shape.size, meta->shape.rank);
  args[0] = spread ? (AdjValue){ .kind = ADJ_VALUE_LIST } : sizes;
  kwargs[0] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 5, .text = "dtype" };
  kwargs[1] = ADJ_DTYPE (meta->dtype);
  kwargs[2] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 6, .text = "layout" };
  kwargs[3] = (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = ADJ_LAYOUT_STRIDED };
  kwargs[4] = (AdjValue){ .kind = ADJ_VALUE_STRING, .n = 6, .text = "device" };
  kwargs[5] = (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = meta->device };
  if (!adj_call (call->cx, adj_op (ADJ_OP_zeros),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 1, .items = args },
                 &(AdjValue){ .kind = ADJ_VALUE_DICT, .n = 6, .items = kwargs }, &result))
    return NULL;
  args[0] = result;
  args[1] = sizes;
  if (spread &&
      !adj_call (call->cx, adj_op (ADJ_OP_expand),
                 &(AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 2, .items = args }, NULL, &result))
    return NULL;
  return result.tensor;
}

/* -- terms -- */

static gboolean rule_eval (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out);

static gboolean
eval_args (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  g_assert (term->n_args <= MAX_ARGS);
  for (guint i = 0; i < term->n_args; i++)
    if (!rule_eval (call, term->args[i], &out[i]))
      return FALSE;
  return TRUE;
}

static gboolean
eval_constant (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = term->value;
  return TRUE;
}

static gboolean
eval_arg (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = call->args[term->index];
  return TRUE;
}

static gboolean
eval_result (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = call->grads->results[term->index];
  return TRUE;
}

static gboolean
eval_binding (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = call->bindings[term->index];
  return TRUE;
}

static gboolean
eval_grad (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = ADJ_TENSOR (get_grad (call, term->index, FALSE));
  return out->tensor != NULL;
}

static gboolean
eval_grads (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = call->grads->n_grads };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (out->n, 1));
  for (guint i = 0; i < out->n; i++)
    {
      /* of a result that cannot have one */
      if (call->grads->outputs[i].dtype == ADJ_DTYPE_NONE)
        continue;
      out->items[i] = ADJ_TENSOR (get_grad (call, i, term->index != 0));
      if (out->items[i].tensor == NULL)
        return FALSE;
    }
  return TRUE;
}

static gboolean
eval_output_mask (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = call->rule->n_entries };
  out->items = adj_arena_new0 (call->arena, AdjValue, out->n);
  for (guint i = 0; i < out->n; i++)
    out->items[i] = ADJ_BOOL (call->grads->needed[i]);
  return TRUE;
}

static gboolean
eval_local (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = call->locals[term->index];
  return TRUE;
}

static gboolean
is_undefined (const AdjRuleCall *call, const AdjRuleTerm *term)
{
  return term->kind == RULE_GRAD && call->grads->grads[term->index] == NULL;
}

/* Whether operands are evaluated from the last one on, as compiled PyTorch C++ does. */
static gboolean
goes_from_last (const AdjRuleCall *call, const AdjRuleTerm *term)
{
  return call->rule->kind == ADJ_RULE_FORWARD ||
         (call->grads != NULL &&
          (term->op == adj_op (ADJ_OP_mul_Tensor) || term->op == adj_op (ADJ_OP_div_Tensor)));
}

/* An undefined gradient becomes zeros, or None if the operator accepts that. */
static gboolean
eval_op_args (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  const AdjSchema *schema = adj_op_get_schema (term->op);
  const gboolean from_last = goes_from_last (call, term);

  g_assert (term->n_args <= MAX_ARGS);
  for (guint k = 0; k < term->n_args; k++)
    {
      const guint i = from_last ? term->n_args - 1 - k : k;
      const gboolean named = term->arg_names != NULL && term->arg_names[i] != NULL;

      out[i] = ADJ_NONE;
      if (!named && schema->arguments[i].type.optional && is_undefined (call, term->args[i]))
        continue;
      if (!rule_eval (call, term->args[i], &out[i]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
eval_op (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjValue values[MAX_ARGS];
  AdjValue names[2 * MAX_ARGS];
  AdjValue args = { .kind = ADJ_VALUE_TUPLE, .items = values };
  AdjValue kwargs = { .kind = ADJ_VALUE_DICT, .items = names };

  if (!eval_op_args (call, term, values))
    return FALSE;
  if (call->rule->kind == ADJ_RULE_FORWARD &&
      rule_apply_to_zeros (call, term->op, values, term->n_args, out))
    return !adj_context_has_error (call->cx);
  for (guint i = 0; i < term->n_args; i++)
    {
      const char *name = term->arg_names != NULL ? term->arg_names[i] : NULL;

      if (name == NULL)
        {
          args.n++;
          continue;
        }
      names[kwargs.n++] =
          (AdjValue){ .kind = ADJ_VALUE_STRING, .n = (guint) strlen (name), .text = name };
      names[kwargs.n++] = values[i];
    }
  return adj_call (call->cx, term->op, &args, &kwargs, out);
}

static gboolean
eval_builtin (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjValue args[MAX_ARGS];

  for (guint i = 0; i < term->n_args; i++)
    {
      const AdjRuleTerm *arg = term->args[i];

      /* builtins get NONE for an undefined gradient */
      args[i] = ADJ_NONE;
      if (is_undefined (call, arg))
        continue;
      if (!rule_eval (call, arg, &args[i]))
        return FALSE;
    }
  return term->builtin->func (call, args, term->n_args, out) && !adj_context_has_error (call->cx);
}

static gboolean
eval_list (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = term->n_args };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (term->n_args, 1));
  return eval_args (call, term, out->items);
}

/* -- numbers -- */

static gboolean
not_a_number (AdjRuleCall *call, const AdjRuleTerm *term)
{
  g_autoptr (GString) text = g_string_new (NULL);

  adj_expr_print (term->expr, text);
  return rule_call_fail (call, ADJ_ERROR_UNSUPPORTED, "cannot compute %s", text->str);
}

static gboolean
as_double (AdjRuleCall *call, const AdjValue *value, double *out)
{
  AdjSize size;
  gint64 hint;

  if (value->kind == ADJ_VALUE_FLOAT)
    *out = value->number;
  else if (value->kind == ADJ_VALUE_BOOL)
    *out = value->boolean;
  else if (adj_value_get_size (value, &size) &&
           adj_size_get_hint (adj_context_get_symbols (call->cx), size, &hint))
    *out = (double) hint;
  else
    return FALSE;
  return TRUE;
}

static double
apply_double (AdjSizeOp op, double a, double b)
{
  const double results[ADJ_N_SIZE_OPS] = {
    [ADJ_SIZE_ADD] = a + b, [ADJ_SIZE_SUB] = a - b,
    [ADJ_SIZE_MUL] = a * b, [ADJ_SIZE_EQ] = a == b,
    [ADJ_SIZE_NE] = a != b, [ADJ_SIZE_LT] = a<b, [ADJ_SIZE_LE] = a <= b, [ADJ_SIZE_GT] = a> b,
    [ADJ_SIZE_GE] = a >= b,
  };

  return results[op];
}

static gboolean
is_comparison (AdjSizeOp op)
{
  return op >= ADJ_SIZE_EQ && op <= ADJ_SIZE_GE;
}

static gboolean
is_equality (AdjSizeOp op)
{
  return op == ADJ_SIZE_EQ || op == ADJ_SIZE_NE;
}

/* Whether @value can only be compared for equality. */
static gboolean
is_word (const AdjValue *value)
{
  const guint32 words = 1u << ADJ_VALUE_NONE | 1u << ADJ_VALUE_STRING | 1u << ADJ_VALUE_DTYPE |
                        1u << ADJ_VALUE_DEVICE | 1u << ADJ_VALUE_LAYOUT |
                        1u << ADJ_VALUE_MEMORY_FORMAT;

  return ((words >> value->kind) & 1) != 0;
}

static gboolean
eval_binary (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  AdjValue args[2];
  AdjSize sizes[2];
  double a, b;

  if (!eval_args (call, term, args))
    return FALSE;
  if (is_word (&args[0]) || is_word (&args[1]) ||
      (is_equality (term->binary) &&
       (args[0].kind == ADJ_VALUE_COMPLEX || args[1].kind == ADJ_VALUE_COMPLEX)))
    {
      *out = ADJ_BOOL (adj_value_equal (&args[0], &args[1]) == (term->binary == ADJ_SIZE_EQ));
      return TRUE;
    }
  if (adj_value_get_size (&args[0], &sizes[0]) && adj_value_get_size (&args[1], &sizes[1]))
    {
      if (is_comparison (term->binary))
        *out = ADJ_BOOL (adj_size_test (symbols, term->binary, sizes[0], sizes[1]));
      else
        *out = adj_value_from_size (adj_size_apply (symbols, term->binary, sizes[0], sizes[1]));
      return TRUE;
    }
  if (!as_double (call, &args[0], &a) || !as_double (call, &args[1], &b))
    return not_a_number (call, term);
  *out = is_comparison (term->binary) ? ADJ_BOOL (apply_double (term->binary, a, b) != 0)
                                      : ADJ_FLOAT (apply_double (term->binary, a, b));
  return TRUE;
}

static gboolean
eval_divide (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjValue args[2];
  double a, b;

  if (!eval_args (call, term, args))
    return FALSE;
  if (!as_double (call, &args[0], &a) || !as_double (call, &args[1], &b))
    return not_a_number (call, term);
  *out = ADJ_FLOAT (a / b);
  return TRUE;
}

static gboolean
eval_negate (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjValue value;
  double number;

  if (!rule_eval (call, term->args[0], &value))
    return FALSE;
  if (value.kind == ADJ_VALUE_INT && value.integer != G_MININT64)
    *out = ADJ_INT (-value.integer);
  else if (as_double (call, &value, &number))
    *out = ADJ_FLOAT (-number);
  else
    return not_a_number (call, term);
  return TRUE;
}

static gboolean
eval_condition (AdjRuleCall *call, const AdjRuleTerm *term, gboolean *out)
{
  AdjValue value;
  double number = 0;

  if (!rule_eval (call, term, &value))
    return FALSE;
  if (value.kind != ADJ_VALUE_NONE && !as_double (call, &value, &number))
    return not_a_number (call, term);
  *out = number != 0;
  return TRUE;
}

static gboolean
eval_not (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  gboolean condition = FALSE;

  if (!eval_condition (call, term->args[0], &condition))
    return FALSE;
  *out = ADJ_BOOL (!condition);
  return TRUE;
}

/* and, or: the second operand is evaluated only if it decides. */
static gboolean
eval_and_or (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  gboolean condition = FALSE;

  if (!eval_condition (call, term->args[0], &condition))
    return FALSE;
  if (condition == (term->kind == RULE_AND) && !eval_condition (call, term->args[1], &condition))
    return FALSE;
  *out = ADJ_BOOL (condition);
  return TRUE;
}

static gboolean
eval_choice (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  gboolean condition = FALSE;

  return eval_condition (call, term->args[0], &condition) &&
         rule_eval (call, term->args[condition ? 1 : 2], out);
}

static gboolean
eval_item (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  AdjValue *whole = &call->shared[term->index];
  AdjValue index;

  if (whole->kind == ADJ_VALUE_NONE && !rule_eval (call, term->args[0], whole))
    return FALSE;
  if (!rule_eval (call, term->args[1], &index))
    return FALSE;
  if (!adj_value_is_container (whole) || index.kind != ADJ_VALUE_INT || index.integer < 0 ||
      index.integer >= whole->n)
    return not_a_number (call, term);
  *out = whole->items[index.integer];
  return TRUE;
}

static gboolean
eval_let (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  for (guint i = 0; i + 1 < term->n_args; i++)
    {
      AdjValue value; /* nested let expressions may use the same slot */

      if (!rule_eval (call, term->args[i], &value))
        return FALSE;
      call->locals[term->index + i] = value;
    }
  return rule_eval (call, term->args[term->n_args - 1], out);
}

/* The gradient for elements @i of the lists; NONE when undefined. */
static gboolean
eval_element (AdjRuleCall *call, const AdjRuleTerm *term, guint i, AdjValue *out)
{
  const AdjRuleGrads *grads = call->grads;
  const AdjRuleEntry *entry = &term->each->entries[term->index];
  AdjValue args[ADJ_MAX_ARGUMENTS];
  gboolean needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  const AdjRuleGrads of_one = { &grads->results[i], &grads->outputs[i], &grads->grads[i], 1,
                                needed };
  AdjRuleCall one = { .cx = call->cx, .rule = term->each, .args = args, .grads = &of_one };
  gboolean done;

  *out = ADJ_NONE;
  if (grads->grads[i] == NULL)
    return TRUE;
  adj_op_take_element (term->op, call->args, i, args);
  needed[term->index] = TRUE;
  adj_rule_call_init (&one);
  done = rule_eval (&one, entry->term, out);
  adj_rule_call_clear (&one);
  return done;
}

/* Adds the gradient of an argument that all elements share. */
static gboolean
add_element (AdjRuleCall *call, const AdjValue *shared, const AdjValue *value, AdjValue *out)
{
  const AdjTensorMeta *meta =
      shared->kind == ADJ_VALUE_TENSOR ? adj_tensor_get_meta (shared->tensor) : shared->meta;
  AdjTensor *sum;

  if (value->kind != ADJ_VALUE_TENSOR)
    return TRUE;
  sum = adj_apply_sum_to (call->cx, value->tensor, &meta->shape);
  if (sum != NULL && out->kind == ADJ_VALUE_TENSOR)
    sum = ADJ_APPLY (call->cx, ADJ_OP_add_Tensor, *out, ADJ_TENSOR (sum));
  *out = ADJ_TENSOR (sum);
  return sum != NULL;
}

static gboolean
eval_each (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  guint n = call->grads->n_grads, arg;
  const gint8 *from = NULL;

  *out = ADJ_NONE;
  adj_op_get_element (term->op, &from);
  arg = (guint) from[term->each->entries[term->index].arg];
  if (!call->rule->schema->arguments[arg].type.is_list)
    {
      for (guint i = 0; i < n; i++)
        {
          AdjValue value;

          if (!eval_element (call, term, i, &value) ||
              !add_element (call, &call->args[arg], &value, out))
            return FALSE;
        }
      return TRUE;
    }
  *out = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = n };
  out->items = adj_arena_new0 (call->arena, AdjValue, MAX (n, 1));
  for (guint i = 0; i < n; i++)
    if (!eval_element (call, term, i, &out->items[i]))
      return FALSE;
  return TRUE;
}

static gboolean (*const evaluators[RULE_N_KINDS]) (AdjRuleCall *call,
                                                   const AdjRuleTerm *term,
                                                   AdjValue *out) = {
  [RULE_CONSTANT] = eval_constant,
  [RULE_ARG] = eval_arg,
  [RULE_RESULT] = eval_result,
  [RULE_GRAD] = eval_grad,
  [RULE_BINDING] = eval_binding,
  [RULE_GRADS] = eval_grads,
  [RULE_OUTPUT_MASK] = eval_output_mask,
  [RULE_LOCAL] = eval_local,
  [RULE_OP] = eval_op,
  [RULE_BUILTIN] = eval_builtin,
  [RULE_LIST] = eval_list,
  [RULE_NEGATE] = eval_negate,
  [RULE_NOT] = eval_not,
  [RULE_AND] = eval_and_or,
  [RULE_OR] = eval_and_or,
  [RULE_BINARY] = eval_binary,
  [RULE_DIVIDE] = eval_divide,
  [RULE_CHOICE] = eval_choice,
  [RULE_ITEM] = eval_item,
  [RULE_LET] = eval_let,
  [RULE_EACH] = eval_each,
};

static gboolean
rule_eval (AdjRuleCall *call, const AdjRuleTerm *term, AdjValue *out)
{
  *out = ADJ_NONE;
  return evaluators[term->kind](call, term, out);
}

gboolean
adj_rule_call_eval (AdjRuleCall *call, guint entry, AdjValue *out)
{
  g_return_val_if_fail (entry < call->rule->n_entries, FALSE);

  return rule_eval (call, call->rule->entries[entry].term, out);
}

/* The entry not in @done whose argument's name comes first. */
static guint
find_next (const AdjRule *rule, guint64 done)
{
  guint next = rule->n_entries;

  for (guint i = 0; i < rule->n_entries; i++)
    if (((done >> i) & 1) == 0 &&
        (next == rule->n_entries ||
         strcmp (rule->schema->arguments[rule->entries[i].arg].name,
                 rule->schema->arguments[rule->entries[next].arg].name) < 0))
      next = i;
  return next;
}

gboolean
adj_rule_call_eval_needed (AdjRuleCall *call, AdjValue *out)
{
  const guint n = call->rule->n_entries;
  guint64 done = 0;

  for (guint i = 0; i < n; i++)
    out[i] = ADJ_NONE;
  for (guint k = 0; k < n; k++)
    {
      guint i = find_next (call->rule, done);

      done |= (guint64) 1 << i;
      if (call->grads->needed[i] && !adj_rule_call_eval (call, i, &out[i]))
        return FALSE;
    }
  return TRUE;
}
