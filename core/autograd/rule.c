/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "autograd/rule-term-private.h"
#include "ir/adj-target.h"

/* Lowering: the text of a rule becomes terms whose names are resolved. */

typedef struct
{
  AdjArena *arena;
  GHashTable *rules; /* of records that have one */
} Table;

typedef struct
{
  AdjArena *arena;
  const AdjSchema *schema;
  GArray *entries;
  GPtrArray *shared; /* expressions of calls whose results are picked apart */
  RuleUse use;
  guint64 grads;
  const char *locals[8];
  guint n_locals;
} Lowering;

static RuleTerm *lower (Lowering *l, const AdjExpr *expr, gboolean described);

static RuleTerm *
new_term (Lowering *l, RuleKind kind, const AdjExpr *expr)
{
  RuleTerm *term = adj_arena_new0 (l->arena, RuleTerm, 1);

  term->kind = kind;
  term->expr = expr;
  return term;
}

static void
lower_args (Lowering *l, RuleTerm *term, const AdjExpr *expr, guint32 described)
{
  term->n_args = expr->n_args;
  term->args = adj_arena_new0 (l->arena, const RuleTerm *, MAX (expr->n_args, 1));
  term->arg_names = expr->arg_names;
  for (guint i = 0; i < expr->n_args; i++)
    term->args[i] = lower (l, expr->args[i], ((described >> i) & 1) != 0);
}

/* -- names -- */

/* "result", "result1", "g2": the number after the stem; 0 without one, -1 when it is none. */
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

static RuleTerm *
lower_constant (Lowering *l, const AdjExpr *expr, AdjValue value)
{
  RuleTerm *term = new_term (l, RULE_CONSTANT, expr);

  term->value = value;
  return term;
}

static RuleTerm *
lower_indexed (Lowering *l, const AdjExpr *expr, RuleKind kind, guint index)
{
  RuleTerm *term = new_term (l, kind, expr);

  term->index = index;
  return term;
}

static RuleTerm *
lower_name (Lowering *l, const AdjExpr *expr, gboolean described)
{
  const guint64 one = 1;
  const char *name = expr->name;
  gint number;

  for (guint i = 0; i < l->n_locals; i++)
    if (strcmp (l->locals[i], name) == 0)
      return lower_indexed (l, expr, RULE_LOCAL, i);
  for (guint i = 0; i < l->schema->n_arguments; i++)
    if (strcmp (l->schema->arguments[i].name, name) == 0)
      {
        *(described ? &l->use.described_args : &l->use.args) |= one << i;
        return lower_indexed (l, expr, RULE_ARG, i);
      }
  if (strcmp (name, "grads") == 0)
    {
      l->grads = G_MAXUINT64;
      return new_term (l, RULE_GRADS, expr);
    }
  if (strcmp (name, "output_mask") == 0)
    return new_term (l, RULE_OUTPUT_MASK, expr);
  if ((number = numbered (name, "g")) >= 0)
    {
      l->grads |= one << number;
      return lower_indexed (l, expr, RULE_GRAD, (guint) number);
    }
  if ((number = numbered (name, "result")) >= 0)
    {
      *(described ? &l->use.described_results : &l->use.results) |= one << number;
      return lower_indexed (l, expr, RULE_RESULT, (guint) number);
    }
  if (strcmp (name, "True") == 0 || strcmp (name, "False") == 0)
    return lower_constant (l, expr, ADJ_BOOL (name[0] == 'T'));
  if (strcmp (name, "None") == 0)
    return lower_constant (l, expr, ADJ_NONE);
  g_error ("%s: the gradient rule names '%s'", l->schema->text, name);
}

/* -- calls and operators -- */

/* "mul.Tensor", "t", "prims.iota". */
static const AdjOp *
find_operator (const char *name)
{
  gboolean prims = g_str_has_prefix (name, "prims.");
  const char *packet = prims ? name + strlen ("prims.") : name;
  g_autofree char *target = g_strdup_printf ("torch.ops.%s.%s%s", prims ? "prims" : "aten", packet,
                                             strchr (packet, '.') != NULL ? "" : ".default");

  return adj_op_find (target);
}

static RuleTerm *
lower_call (Lowering *l, const AdjExpr *expr)
{
  const RuleBuiltin *builtin = rule_builtin_find (expr->name);
  RuleTerm *term = new_term (l, builtin != NULL ? RULE_BUILTIN : RULE_OP, expr);

  term->builtin = builtin;
  if (builtin == NULL)
    term->op = find_operator (expr->name);
  if (builtin == NULL && term->op == NULL)
    g_error ("%s: the gradient rule calls '%s'", l->schema->text, expr->name);
  lower_args (l, term, expr, builtin != NULL ? rule_builtin_describes (builtin) : 0);
  return term;
}

/* x[i]: equal x of one rule are made once. */
static RuleTerm *
lower_item (Lowering *l, const AdjExpr *expr)
{
  RuleTerm *term = new_term (l, RULE_ITEM, expr);

  lower_args (l, term, expr, 0);
  while (term->index < l->shared->len &&
         !adj_expr_equal (g_ptr_array_index (l->shared, term->index), expr->args[0]))
    term->index++;
  if (term->index == l->shared->len)
    g_ptr_array_add (l->shared, (gpointer) expr->args[0]);
  return term;
}

static RuleTerm *
lower_operator (Lowering *l, const AdjExpr *expr)
{
  static const struct
  {
    const char *symbol;
    RuleKind kind;
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
  RuleTerm *term = new_term (l, RULE_N_KINDS, expr);

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
    g_error ("%s: a gradient rule cannot compute '%s'", l->schema->text, expr->name);
  return term;
}

static RuleTerm *
lower_let (Lowering *l, const AdjExpr *expr)
{
  RuleTerm *term = new_term (l, RULE_LET, expr);
  guint outer = l->n_locals;

  term->index = outer;
  term->n_args = expr->n_args;
  term->args = adj_arena_new0 (l->arena, const RuleTerm *, expr->n_args);
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

static RuleTerm *
lower (Lowering *l, const AdjExpr *expr, gboolean described)
{
  RuleTerm *term;

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

/* -- the table -- */

static gboolean
lower_entry (const char *name, const AdjExpr *expr, gpointer data, GError **error)
{
  Lowering *l = data;
  RuleEntry entry = { .arg = 0 };

  while (entry.arg < l->schema->n_arguments &&
         strcmp (l->schema->arguments[entry.arg].name, name) != 0)
    entry.arg++;
  if (entry.arg == l->schema->n_arguments)
    g_error ("%s: a gradient of '%s', which is no argument", l->schema->text, name);
  l->use = (RuleUse){ 0 };
  entry.term = lower (l, expr, FALSE);
  entry.use = l->use;
  g_array_append_val (l->entries, entry);
  return TRUE;
}

static void
add_rule (Table *table, const AdjOp *op)
{
  GradRule *rule = adj_arena_new0 (table->arena, GradRule, 1);
  Lowering l = { .arena = table->arena, .schema = adj_op_get_schema (op) };
  GError *error = NULL;

  l.entries = g_array_new (FALSE, TRUE, sizeof (RuleEntry));
  l.shared = g_ptr_array_new ();
  if (!adj_rules_parse (table->arena, op->grad, lower_entry, &l, &error))
    g_error ("%s: %s", op->schema, error->message);
  rule->schema = l.schema;
  rule->n_entries = l.entries->len;
  rule->entries =
      adj_arena_memdup (table->arena, l.entries->data, l.entries->len * sizeof (RuleEntry));
  rule->grads = l.grads;
  rule->n_shared = l.shared->len;
  g_hash_table_insert (table->rules, (gpointer) op, rule);
  g_array_unref (l.entries);
  g_ptr_array_unref (l.shared);
}

static Table *
make_table (void)
{
  Table *table = g_new0 (Table, 1);

  table->arena = adj_arena_new ();
  table->rules = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < adj_ops_get_n (); i++)
    if (adj_ops_get (i)->grad != NULL)
      add_rule (table, adj_ops_get (i));
  return table;
}

/* An out= twin. */
static gboolean
writes_out (const AdjSchema *schema)
{
  return schema->n_arguments > 0 && schema->arguments[schema->n_arguments - 1].type.written &&
         schema->arguments[schema->n_arguments - 1].keyword_only;
}

const GradRule *
grad_rule_find (const AdjOp *op)
{
  static gsize once;
  const Table *table;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, GPOINTER_TO_SIZE (make_table ()));
  table = GSIZE_TO_POINTER (once);
  if (op->grad == NULL && adj_op_get_base (op) != NULL && !writes_out (adj_op_get_schema (op)))
    op = adj_op_get_base (op);
  return g_hash_table_lookup (table->rules, op);
}
