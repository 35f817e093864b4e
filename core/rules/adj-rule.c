/* SPDX-License-Identifier: MIT */
/* The rules of each operator, parsed from its record at first use, and the rules that differ by
 * release. */

#include "rules/adj-rule.h"

#include "ops/adj-op-id.h"
#include "ops/adj-op-table.h"
#include "ops/adj-ops.h"
#include "rules/adj-own-op.h"
#include "rules/rule-private.h"

/* The parsed rules of one operator, made at first use. */
typedef struct _Rules Rules;

struct _Rules
{
  const AdjRule *rules[ADJ_N_RULE_KINDS]; /* (nullable) */
  const char *release;                    /* (nullable): "2.15"; %NULL: those of the record */
  Rules *next;                            /* rules of another release that differ */
  AdjArena *arena;                        /* arena of all of it; never freed for the table */
};

/* Rules that differ from the records. */
static const struct
{
  const char *release;
  AdjOpId op;
  AdjRuleKind kind;
  const char *text;
} releases[] = {
#define GRADIENT(release, id, text) { release, ADJ_OP_##id, ADJ_RULE_GRAD, text },
#define DECOMPOSITION(release, id, text) { release, ADJ_OP_##id, ADJ_RULE_DECOMPOSE, text },
#include "ops/releases.inc"
};

static const struct
{
  AdjOpId op;
  const char *text;
} forward[] = {
#define FORWARD(id, text) { ADJ_OP_##id, text },
#include "ops/forward.inc"
};

/* %FALSE with ADJ_ERROR_PARSE. */
static gboolean
try_rule (Rules *rules, const AdjOp *op, AdjRuleKind kind, const char *text, GError **error)
{
  if (text == NULL)
    return TRUE;
  rules->rules[kind] = rule_lower (rules->arena, op, kind, text, error);
  return rules->rules[kind] != NULL;
}

/* For the table, whose rules must be valid. */
static void
add_rule (Rules *rules, const AdjOp *op, AdjRuleKind kind, const char *text)
{
  g_autoptr (GError) error = NULL;

  if (!try_rule (rules, op, kind, text, &error))
    g_error ("%s", error->message);
}

/* Maps bits of the element operator's arguments to bits of the list operator's. */
static guint64
move_bits (guint64 bits, const gint8 *from, guint n)
{
  const guint64 one = 1;
  guint64 moved = 0;

  for (guint i = 0; i < n; i++)
    if (((bits >> i) & 1) != 0 && from[i] >= 0)
      moved |= one << from[i];
  return moved;
}

static const Rules *get_rules (const AdjOp *op);

/* The rules of a list operator, from those of its element operator. */
static void
add_each (Rules *rules, const AdjOp *op)
{
  const gint8 *from = NULL;
  const AdjOp *element = adj_op_get_base (op) == NULL ? adj_op_get_element (op, &from) : NULL;
  const AdjRule *each = element != NULL ? get_rules (element)->rules[ADJ_RULE_GRAD] : NULL;
  const AdjSchema *schema = adj_op_get_schema (op);
  AdjRule *rule;
  AdjRuleEntry *entries;
  guint n;

  if (each == NULL || (op->flags & ADJ_OP_NO_DERIVATIVE) != 0)
    return;
  n = each->schema->n_arguments;
  rule = adj_arena_new0 (rules->arena, AdjRule, 1);
  *rule = (AdjRule){ ADJ_RULE_GRAD,
                     schema,
                     each->n_entries,
                     NULL,
                     G_MAXUINT64,
                     0,
                     rule_sort_by_name (rules->arena, schema->arguments, schema->n_arguments),
                     rule_sort_by_name (rules->arena, schema->returns, schema->n_returns) };
  rule->entries = entries = adj_arena_new0 (rules->arena, AdjRuleEntry, each->n_entries);
  for (guint i = 0; i < each->n_entries; i++)
    {
      const AdjRuleEntry *of_one = &each->entries[i];
      AdjRuleTerm *term = adj_arena_new0 (rules->arena, AdjRuleTerm, 1);
      guint arg = (guint) from[of_one->arg];

      *term = (AdjRuleTerm){ .kind = RULE_EACH, .index = i, .op = op, .each = each };
      entries[i] = (AdjRuleEntry){
        .arg = arg,
        .term = term,
        .use = { .args = move_bits (of_one->use.args, from, n),
                 .described_args = move_bits (of_one->use.described_args, from, n) | 1u << arg,
                 .results = of_one->use.results != 0 ? G_MAXUINT64 : 0,
                 .described_results = of_one->use.described_results != 0 ? G_MAXUINT64 : 0 },
      };
    }
  rules->rules[ADJ_RULE_GRAD] = rule;
}

static Rules *
rules_new (AdjArena *arena, const char *release)
{
  Rules *rules = adj_arena_new0 (arena, Rules, 1);

  rules->arena = arena;
  rules->release = release;
  return rules;
}

static void
add_releases (Rules *rules, const AdjOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (releases); i++)
    {
      Rules *of_release = rules->next;

      if (adj_op (releases[i].op) != op)
        continue;
      while (of_release != NULL && !g_str_equal (of_release->release, releases[i].release))
        of_release = of_release->next;
      if (of_release == NULL)
        {
          of_release = rules_new (rules->arena, releases[i].release);
          of_release->next = rules->next;
          rules->next = of_release;
        }
      add_rule (of_release, op, releases[i].kind, releases[i].text);
    }
}

/* For an operator of the table, whose rules are never freed. */
static Rules *
make_rules (const AdjOp *op)
{
  static AdjArena *arena; /* under the lock of get_rules() */
  Rules *rules;

  if (arena == NULL)
    arena = adj_arena_new ();
  rules = rules_new (arena, NULL);
  add_rule (rules, op, ADJ_RULE_GRAD, op->grad);
  add_rule (rules, op, ADJ_RULE_DECOMPOSE, op->decompose);
  add_rule (rules, op, ADJ_RULE_INVERSE, op->inverse);
  for (guint i = 0; i < G_N_ELEMENTS (forward); i++)
    if (adj_op (forward[i].op) == op)
      add_rule (rules, op, ADJ_RULE_FORWARD, forward[i].text);
  add_each (rules, op);
  add_releases (rules, op);
  return rules;
}

/* An out= variant. */
static gboolean
writes_out (const AdjSchema *schema)
{
  return schema->n_arguments > 0 && schema->arguments[schema->n_arguments - 1].type.written &&
         schema->arguments[schema->n_arguments - 1].keyword_only;
}

static const Rules *
get_rules (const AdjOp *op)
{
  static GRecMutex lock; /* recursive: the rules of a list operator need those of its element */
  const Rules *rules = adj_op_get_rules (op);

  if (rules != NULL)
    return rules;
  g_rec_mutex_lock (&lock);
  rules = adj_op_get_rules (op);
  if (rules == NULL)
    {
      rules = make_rules (op);
      adj_op_set_rules ((AdjOp *) op, (gpointer) rules, NULL);
    }
  g_rec_mutex_unlock (&lock);
  return rules;
}

/* The record whose gradient rule @op uses. */
static const AdjOp *
differentiated (const AdjOp *op)
{
  const AdjOp *base = adj_op_get_base (op);

  return op->grad == NULL && base != NULL && !writes_out (adj_op_get_schema (op)) ? base : op;
}

const AdjRule *
adj_rule_find (const AdjOp *op, AdjRuleKind kind, const char *release)
{
  const Rules *rules = get_rules (kind == ADJ_RULE_GRAD ? differentiated (op) : op);

  for (const Rules *other = rules->next; other != NULL && release != NULL; other = other->next)
    if (g_str_equal (other->release, release) && other->rules[kind] != NULL)
      return other->rules[kind];
  return rules->rules[kind];
}

static void
foreach_op (const AdjRuleTerm *term, void (*func) (const AdjOp *op, gpointer data), gpointer data)
{
  if (term->op != NULL)
    func (term->op, data);
  if (term->each != NULL)
    foreach_op (term->each->entries[term->index].term, func, data);
  for (guint i = 0; i < term->n_args; i++)
    foreach_op (term->args[i], func, data);
}

void
adj_rule_foreach_op (const AdjRule *rule,
                     void (*func) (const AdjOp *op, gpointer data),
                     gpointer data)
{
  for (guint i = 0; i < rule->n_entries; i++)
    if (rule->entries[i].term != NULL)
      foreach_op (rule->entries[i].term, func, data);
}

/* -- operators of a program -- */

static void
free_rules (gpointer rules)
{
  adj_arena_free (((Rules *) rules)->arena);
}

AdjOp *
adj_op_new (const AdjOp *record, GError **error)
{
  AdjOp *op = adj_op_new_own (record, error);
  Rules *rules;

  if (op == NULL)
    return NULL;
  rules = rules_new (adj_arena_new (), NULL);
  adj_op_set_rules (op, rules, free_rules);
  if (try_rule (rules, op, ADJ_RULE_GRAD, op->grad, error) &&
      try_rule (rules, op, ADJ_RULE_DECOMPOSE, op->decompose, error) &&
      try_rule (rules, op, ADJ_RULE_INVERSE, op->inverse, error))
    return op;
  adj_op_free (op);
  return NULL;
}

void
adj_op_free (AdjOp *op)
{
  if (op != NULL)
    adj_op_free_own (op);
}
