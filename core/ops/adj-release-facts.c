/* SPDX-License-Identifier: MIT */
/* Properties of operators that differ by release, other than rules. */

#include "ops/adj-release-facts.h"

#include "call/adj-context.h"
#include "ops/adj-op-id.h"
#include "ops/adj-ops.h"

static const struct
{
  const char *release;
  AdjOpId op;
  AdjReleaseFact fact;
} facts[] = {
#define FACT(release, id, fact) { release, ADJ_OP_##id, ADJ_FACT_##fact },
#include "ops/releases.inc"
};

gboolean
adj_op_release_has (const AdjOpCall *call, AdjReleaseFact fact)
{
  const char *release = adj_context_get_release (call->cx);

  for (guint i = 0; i < G_N_ELEMENTS (facts); i++)
    if (facts[i].fact == fact && call->op == adj_op (facts[i].op) &&
        g_strcmp0 (release, facts[i].release) == 0)
      return TRUE;
  return FALSE;
}

static const struct
{
  const char *release;
  AdjOpId op;
  const char *text;
} expressions[] = {
#define EXPRESSION(release, id, text) { release, ADJ_OP_##id, text },
#include "ops/releases.inc"
};

const char *
adj_op_release_find_expression (const AdjOpCall *call)
{
  const char *release = adj_context_get_release (call->cx);

  for (guint i = 0; i < G_N_ELEMENTS (expressions); i++)
    if (call->op == adj_op (expressions[i].op) && g_strcmp0 (release, expressions[i].release) == 0)
      return expressions[i].text;
  return NULL;
}
