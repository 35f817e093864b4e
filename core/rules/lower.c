/* SPDX-License-Identifier: MIT */
/* Lowers the text of a rule to terms with resolved names, and finds what each entry reads. */

#include <math.h>
#include <string.h>

#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"
#include "ops/adj-packet.h"
#include "rules/rule-private.h"

typedef struct
{
  AdjArena *arena;
  AdjRuleKind kind;
  const AdjOp *op;
  const AdjSchema *schema; /* of the operator */
  GArray *entries;
  GPtrArray *shared; /* calls of which single results are used */
  AdjRuleUse use;
  guint64 grads;
  const char *locals[ADJ_RULE_MAX_LOCALS];
  guint n_locals;
  GError *error; /* (owned) (nullable): the first one */
} Lowering;

static void fail (Lowering *l, const char *format, ...) G_GNUC_PRINTF (2, 3);

/* Fails the rule; lowering may go on, but its result is discarded. */
static void
fail (Lowering *l, const char *format, ...)
{
  g_autofree char *message = NULL;
  va_list list;

  if (l->error != NULL)
    return;
  va_start (list, format);
  message = g_strdup_vprintf (format, list);
  va_end (list);
  l->error = g_error_new (ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", l->schema->text, message);
}

static AdjRuleTerm *lower (Lowering *l, const AdjExpr *expr, gboolean described);

static AdjRuleTerm *
new_term (Lowering *l, RuleTermKind kind, const AdjExpr *expr)
{
  AdjRuleTerm *term = adj_arena_new0 (l->arena, AdjRuleTerm, 1);

  term->kind = kind;
  term->expr = expr;
  return term;
}

static void
lower_args (Lowering *l, AdjRuleTerm *term, const AdjExpr *expr, guint32 described)
{
  term->n_args = expr->n_args;
  term->args = adj_arena_new0 (l->arena, const AdjRuleTerm *, MAX (expr->n_args, 1));
  term->arg_names = expr->arg_names;
  for (guint i = 0; i < expr->n_args; i++)
    term->args[i] = lower (l, expr->args[i], ((described >> i) & 1) != 0);
}

/* -- names -- */

/* "result", "result1", "g2": the number after the stem; 0 without one, -1 if @name has another
 * form. */
static gint
numbered (const char *name, const char *stem)
{
  const char *digits = name + strlen (stem);

  if (!g_str_has_prefix (name, stem) || strlen (digits) > 1)
    return -1;
  if (*digits == '\0')
    return 0;
  return g_ascii_isdigit (*digits) ? *digits - '0' : -1;
}

static AdjRuleTerm *
lower_constant (Lowering *l, const AdjExpr *expr, AdjValue value)
{
  AdjRuleTerm *term = new_term (l, RULE_CONSTANT, expr);

  term->value = value;
  return term;
}

static AdjRuleTerm *
lower_indexed (Lowering *l, const AdjExpr *expr, RuleTermKind kind, guint index)
{
  AdjRuleTerm *term = new_term (l, kind, expr);

  term->index = index;
  return term;
}

/* Lowers names of gradient rules. */
static AdjRuleTerm *
lower_grad_name (Lowering *l, const AdjExpr *expr)
{
  const guint64 one = 1;
  const char *name = expr->name;
  gint number;

  if (strcmp (name, "grads") == 0 || strcmp (name, "spread_grads") == 0)
    {
      l->grads = G_MAXUINT64;
      return lower_indexed (l, expr, RULE_GRADS, strcmp (name, "spread_grads") == 0);
    }
  if (strcmp (name, "output_mask") == 0)
    return new_term (l, RULE_OUTPUT_MASK, expr);
  if ((number = numbered (name, "g")) >= 0)
    {
      l->grads |= one << number;
      return lower_indexed (l, expr, RULE_GRAD, (guint) number);
    }
  return NULL;
}

/* `self_t` in a forward rule: the tangent of self. */
static AdjRuleTerm *
lower_tangent (Lowering *l, const AdjExpr *expr)
{
  const gsize n = strlen (expr->name);

  for (guint i = 0; n > 2 && strcmp (expr->name + n - 2, "_t") == 0 && i < l->schema->n_arguments;
       i++)
    if (strlen (l->schema->arguments[i].name) == n - 2 &&
        strncmp (l->schema->arguments[i].name, expr->name, n - 2) == 0)
      return lower_indexed (l, expr, RULE_BINDING, i);
  return NULL;
}

static AdjRuleTerm *
lower_result (Lowering *l, const AdjExpr *expr, gboolean described)
{
  const guint64 one = 1;
  const gint number = numbered (expr->name, "result");

  if (number < 0)
    return NULL;
  *(described ? &l->use.described_results : &l->use.results) |= one << number;
  return lower_indexed (l, expr, RULE_RESULT, (guint) number);
}

/* Lowers names of rules of one kind; %NULL: not such a name. */
static AdjRuleTerm *
lower_name_of_kind (Lowering *l, const AdjExpr *expr, gboolean described)
{
  AdjRuleTerm *term = NULL;

  if (l->kind == ADJ_RULE_GRAD)
    term = lower_grad_name (l, expr);
  if (l->kind == ADJ_RULE_FORWARD)
    term = lower_tangent (l, expr);
  if (term == NULL && (l->kind == ADJ_RULE_GRAD || l->kind == ADJ_RULE_FORWARD))
    term = lower_result (l, expr, described);
  return term;
}

static AdjRuleTerm *
lower_name (Lowering *l, const AdjExpr *expr, gboolean described)
{
  static const char *const bindings[ADJ_N_RULE_KINDS][3] = {
    [ADJ_RULE_INVERSE] = { "base", "mutated", "part" },
  };
  const guint64 one = 1;
  const char *name = expr->name;
  AdjRuleTerm *term;
  AdjDevice device;

  for (guint i = 0; i < l->n_locals; i++)
    if (strcmp (l->locals[i], name) == 0)
      return lower_indexed (l, expr, RULE_LOCAL, i);
  for (guint i = 0; i < l->schema->n_arguments; i++)
    if (strcmp (l->schema->arguments[i].name, name) == 0)
      {
        *(described ? &l->use.described_args : &l->use.args) |= one << i;
        return lower_indexed (l, expr, RULE_ARG, i);
      }
  for (guint i = 0; i < G_N_ELEMENTS (*bindings) && bindings[l->kind][i] != NULL; i++)
    if (strcmp (bindings[l->kind][i], name) == 0)
      return lower_indexed (l, expr, RULE_BINDING, i);
  term = lower_name_of_kind (l, expr, described);
  if (term != NULL)
    return term;
  if (strcmp (name, "True") == 0 || strcmp (name, "False") == 0)
    return lower_constant (l, expr, ADJ_BOOL (name[0] == 'T'));
  if (strcmp (name, "None") == 0)
    return lower_constant (l, expr, ADJ_NONE);
  if (strcmp (name, "inf") == 0)
    return lower_constant (l, expr, ADJ_FLOAT (INFINITY));
  if (strcmp (name, "nan") == 0)
    return lower_constant (l, expr, ADJ_FLOAT (NAN));
  if (adj_dtype_from_torch_name (name) != ADJ_DTYPE_NONE)
    return lower_constant (l, expr, ADJ_DTYPE (adj_dtype_from_torch_name (name)));
  if (adj_device_parse (name, -1, &device))
    return lower_constant (l, expr, (AdjValue){ .kind = ADJ_VALUE_DEVICE, .device = device });
  if (adj_layout_from_name (name) != ADJ_N_LAYOUTS)
    return lower_constant (
        l, expr, (AdjValue){ .kind = ADJ_VALUE_LAYOUT, .layout = adj_layout_from_name (name) });
  if (adj_memory_format_from_name (name) != ADJ_N_MEMORY_FORMATS)
    return lower_constant (l, expr,
                           (AdjValue){ .kind = ADJ_VALUE_MEMORY_FORMAT,
                                       .format = adj_memory_format_from_name (name) });
  fail (l, "the %s names '%s'", rule_kind_noun (l->kind), name);
  return lower_constant (l, expr, ADJ_NONE);
}

/* -- calls and operators -- */

/* Whether the operator of @schema is "mine.scale". */
static gboolean
is_called (const AdjSchema *schema, const char *name)
{
  g_autofree char *target = g_strdup_printf ("torch.ops.%s.default", name);

  return strcmp (schema->target, target) == 0;
}

/* "mul.Tensor", "t", "prims.iota"; for an operator of a program also itself. */
static const AdjOp *
find_operator (const Lowering *l, const char *name)
{
  gboolean prims = g_str_has_prefix (name, "prims.");
  const char *packet = prims ? name + strlen ("prims.") : name;
  g_autofree char *target = g_strdup_printf ("torch.ops.%s.%s%s", prims ? "prims" : "aten", packet,
                                             strchr (packet, '.') != NULL ? "" : ".default");

  return is_called (l->schema, name) ? l->op : adj_op_find (target);
}

static AdjRuleTerm *
lower_call (Lowering *l, const AdjExpr *expr)
{
  const RuleBuiltin *builtin = rule_builtin_find (expr->name);
  AdjRuleTerm *term = new_term (l, builtin != NULL ? RULE_BUILTIN : RULE_OP, expr);

  term->builtin = builtin;
  if (builtin == NULL)
    term->op = find_operator (l, expr->name);
  if (builtin == NULL && term->op == NULL)
    fail (l, "the %s calls '%s'", rule_kind_noun (l->kind), expr->name);
  lower_args (l, term, expr, builtin != NULL ? rule_builtin_describes (builtin) : 0);
  return term;
}

/* x[i]: equal calls x in one rule share one evaluation. */
static AdjRuleTerm *
lower_item (Lowering *l, const AdjExpr *expr)
{
  AdjRuleTerm *term = new_term (l, RULE_ITEM, expr);

  lower_args (l, term, expr, 0);
  while (term->index < l->shared->len &&
         !adj_expr_equal (g_ptr_array_index (l->shared, term->index), expr->args[0]))
    term->index++;
  if (term->index == l->shared->len)
    g_ptr_array_add (l->shared, (gpointer) expr->args[0]);
  return term;
}

static AdjRuleTerm *
lower_operator (Lowering *l, const AdjExpr *expr)
{
  static const struct
  {
    const char *symbol;
    RuleTermKind kind;
    AdjSizeOp op;
  } operators[] = {
    { "+", RULE_BINARY, ADJ_SIZE_ADD },
    { "-", RULE_BINARY, ADJ_SIZE_SUB },
    { "*", RULE_BINARY, ADJ_SIZE_MUL },
    { "//", RULE_BINARY, ADJ_SIZE_FLOORDIV },
    { "==", RULE_BINARY, ADJ_SIZE_EQ },
    { "!=", RULE_BINARY, ADJ_SIZE_NE },
    { "<", RULE_BINARY, ADJ_SIZE_LT },
    { "<=", RULE_BINARY, ADJ_SIZE_LE },
    { ">", RULE_BINARY, ADJ_SIZE_GT },
    { ">=", RULE_BINARY, ADJ_SIZE_GE },
    { "/", RULE_DIVIDE, 0 },
    { "and", RULE_AND, 0 },
    { "or", RULE_OR, 0 },
  };
  AdjRuleTerm *term = new_term (l, RULE_N_KINDS, expr);

  lower_args (l, term, expr, 0);
  for (guint i = 0; expr->n_args == 2 && i < G_N_ELEMENTS (operators); i++)
    if (strcmp (operators[i].symbol, expr->name) == 0)
      {
        term->kind = operators[i].kind;
        term->binary = operators[i].op;
      }
  if (expr->n_args == 1 && strcmp (expr->name, "-") == 0)
    term->kind = RULE_NEGATE;
  if (expr->n_args == 1 && strcmp (expr->name, "not") == 0)
    term->kind = RULE_NOT;
  if (term->kind == RULE_N_KINDS)
    fail (l, "the %s cannot compute '%s'", rule_kind_noun (l->kind), expr->name);
  return term;
}

static AdjRuleTerm *
lower_let (Lowering *l, const AdjExpr *expr)
{
  AdjRuleTerm *term = new_term (l, RULE_LET, expr);
  guint outer = l->n_locals;

  term->index = outer;
  term->n_args = expr->n_args;
  term->args = adj_arena_new0 (l->arena, const AdjRuleTerm *, expr->n_args);
  for (guint i = 0; i < expr->n_args; i++)
    {
      term->args[i] = lower (l, expr->args[i], FALSE);
      if (i + 1 == expr->n_args)
        break;
      g_assert (l->n_locals < G_N_ELEMENTS (l->locals));
      l->locals[l->n_locals++] = expr->arg_names[i];
    }
  l->n_locals = outer;
  return term;
}

static AdjRuleTerm *
lower (Lowering *l, const AdjExpr *expr, gboolean described)
{
  AdjRuleTerm *term;

  switch (expr->kind)
    {
    case ADJ_EXPR_INT:
      return lower_constant (l, expr, ADJ_INT (expr->int_value));
    case ADJ_EXPR_FLOAT:
      return lower_constant (l, expr, ADJ_FLOAT (expr->float_value));
    case ADJ_EXPR_STRING:
      return lower_constant (l, expr,
                             (AdjValue){ .kind = ADJ_VALUE_STRING,
                                         .n = (guint) strlen (expr->name),
                                         .text = expr->name });
    case ADJ_EXPR_NAME:
      return lower_name (l, expr, described);
    case ADJ_EXPR_UNARY:
    case ADJ_EXPR_BINARY:
      return lower_operator (l, expr);
    case ADJ_EXPR_CALL:
      return lower_call (l, expr);
    case ADJ_EXPR_INDEX:
      return lower_item (l, expr);
    case ADJ_EXPR_LET:
      return lower_let (l, expr);
    case ADJ_EXPR_CHOICE:
    case ADJ_EXPR_LIST:
    case ADJ_EXPR_TUPLE:
    default:
      term = new_term (l, expr->kind == ADJ_EXPR_CHOICE ? RULE_CHOICE : RULE_LIST, expr);
      lower_args (l, term, expr, 0);
      return term;
    }
}

/* -- entries -- */

static void
add_entry (Lowering *l, guint arg, const AdjExpr *expr)
{
  AdjRuleEntry entry = { .arg = arg };

  l->use = (AdjRuleUse){ 0 };
  entry.term = lower (l, expr, FALSE);
  entry.use = l->use;
  g_array_append_val (l->entries, entry);
}

static gboolean
add_grad_entry (const char *name, const AdjExpr *expr, gpointer data, GError **error)
{
  Lowering *l = data;
  guint arg = 0;

  while (arg < l->schema->n_arguments && strcmp (l->schema->arguments[arg].name, name) != 0)
    arg++;
  if (arg == l->schema->n_arguments)
    fail (l, "a gradient of '%s', which is no argument", name);
  /* A rule that refuses must be reached whatever results have a gradient. */
  if (expr->kind == ADJ_EXPR_CALL && strcmp (expr->name, "refuse") == 0)
    l->grads = G_MAXUINT64;
  add_entry (l, arg, expr);
  return TRUE;
}

static void
add_entries (Lowering *l, const char *text)
{
  const AdjExpr *expr;
  GError *error = NULL;

  if (l->kind == ADJ_RULE_GRAD)
    adj_rules_parse (l->arena, text, add_grad_entry, l, &error);
  else if ((expr = adj_expr_parse (l->arena, text, -1, &error)) != NULL)
    add_entry (l, 0, expr);
  if (error != NULL)
    fail (l, "%s", error->message);
  g_clear_error (&error);
}

gboolean
rule_refuses (const AdjRule *rule)
{
  for (guint i = 0; i < rule->n_entries; i++)
    {
      const AdjRuleTerm *term = rule->entries[i].term;

      if (term->builtin != NULL && strcmp (term->builtin->name, "refuse") == 0)
        return TRUE;
    }
  return FALSE;
}

const guint8 *
rule_sort_by_name (AdjArena *arena, const AdjArgument *arguments, guint n)
{
  guint8 *order = adj_arena_new0 (arena, guint8, MAX (n, 1));

  for (guint i = 0; i < n; i++)
    {
      guint at = i;

      for (; at > 0 && g_strcmp0 (arguments[order[at - 1]].name, arguments[i].name) > 0; at--)
        order[at] = order[at - 1];
      order[at] = (guint8) i;
    }
  return order;
}

AdjRule *
rule_lower (AdjArena *arena, const AdjOp *op, AdjRuleKind kind, const char *text, GError **error)
{
  Lowering l = { .arena = arena, .kind = kind, .op = op, .schema = adj_op_get_schema (op) };
  AdjRule *rule = adj_arena_new0 (arena, AdjRule, 1);

  l.entries = g_array_new (FALSE, TRUE, sizeof (AdjRuleEntry));
  l.shared = g_ptr_array_new ();
  add_entries (&l, text);
  rule->kind = kind;
  rule->schema = l.schema;
  rule->n_entries = l.entries->len;
  rule->entries = adj_arena_memdup (arena, l.entries->data, l.entries->len * sizeof (AdjRuleEntry));
  rule->grads = l.grads;
  rule->n_shared = l.shared->len;
  rule->by_name = rule_sort_by_name (arena, l.schema->arguments, l.schema->n_arguments);
  rule->results_by_name = rule_sort_by_name (arena, l.schema->returns, l.schema->n_returns);
  g_array_unref (l.entries);
  g_ptr_array_unref (l.shared);
  if (l.error == NULL)
    return rule;
  g_propagate_error (error, l.error);
  return NULL;
}
