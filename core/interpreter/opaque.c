/* SPDX-License-Identifier: MIT */

/* Nodes that were not understood, and nodes that depend on them, have no value. */

#include <string.h>

#include "analysis/adj-aliases.h"
#include "analysis/adj-node-call.h"
#include "base/adj-lexer.h"
#include "call/adj-op.h"
#include "interpreter/adj-interpreter.h"
#include "ir/adj-graph-analysis-internal.h"
#include "ir/adj-graph.h"
#include "ir/adj-target-internal.h"

#define NONE G_MAXUINT32

typedef struct
{
  const AdjGraph *graph;
  AdjNodeId *depends; /* by node: the node without value that it depends on, or ADJ_NO_NODE */
  const AdjAlias *aliases;
  guint32 *written; /* by first node that may share memory: the node without value that writes it,
                       or NONE */
  guint32 drawn;    /* the node without value that would have drawn random numbers first, or NONE:
                       later ones differ */
  guint32 set;      /* the node without value that would have changed settings first, or NONE */
  guint32 returns;  /* the node without value that may have returned first, or NONE */
} Search;

/* -- Statements ---- */

static gboolean
is_punct (const AdjToken *token, const char *text)
{
  return token->kind == ADJ_TOKEN_PUNCT && adj_token_is (token, text);
}

/* `x.add_(…)`, `x += …`, `x[…] = …`, `x.data = …`, `out=x` */
static gboolean
may_write (const char *text, const AdjToken *before, const AdjToken *token)
{
  guint n = before->length;

  if (is_punct (token, "("))
    return before->kind == ADJ_TOKEN_NAME && n > 1 && before->text[n - 1] == '_' &&
           before->text[n - 2] != '_';
  if (is_punct (token, "="))
    return is_punct (before, "]") ||
           (before->kind == ADJ_TOKEN_NAME &&
            (adj_token_is (before, "out") || (before->text > text && before->text[-1] == '.')));

  return token->kind == ADJ_TOKEN_PUNCT && token->length > 1 &&
         token->text[token->length - 1] == '=' && !strchr ("=!<>:", token->text[0]);
}

static gboolean
has_word (const char *text, const char *const *words)
{
  for (; *words != NULL; words++)
    if (strstr (text, *words) != NULL)
      return TRUE;

  return FALSE;
}

static gboolean
may_draw (const char *text)
{
  static const char *const words[] = { "rand",    "dropout",  "bernoulli",   "normal",
                                       "poisson", "uniform",  "multinomial", "geometric",
                                       "cauchy",  "binomial", "exponential", "rrelu",
                                       NULL };

  return has_word (text, words);
}

/* Autocast, grad mode, states of generators; not regions, which restore the settings. */
static gboolean
may_set (const char *text)
{
  static const char *const words[] = { "autocast",  "set_grad",       "grad_mode",
                                       "_no_grad",  "inference_mode", "manual_seed",
                                       "rng_state", "set_default",    NULL };

  return !g_str_has_prefix (text, "with ") && strstr (text, "wrap_with_") == NULL &&
         has_word (text, words);
}

/* The side effects that a node may have. */
typedef struct
{
  gboolean writes;
  gboolean draws;
  gboolean sets;
  gboolean returns;
} Effects;

static void
look_through (const char *text, Effects *effects)
{
  AdjToken before = { .kind = ADJ_TOKEN_END }, token;
  AdjLexer lexer;

  adj_lexer_init (&lexer, text, strlen (text), 1);
  for (token = adj_lexer_next (&lexer); token.kind != ADJ_TOKEN_END;
       token = adj_lexer_next (&lexer))
    {
      effects->writes |= may_write (text, &before, &token);
      effects->returns |= token.kind == ADJ_TOKEN_NAME && adj_token_is (&token, "return");
      before = token;
    }
}

/* -- Nodes ---- */

/* PyTorch's texts of objects, <function f at 0x…>, count as known. */
static gboolean
is_known (const AdjValue *leaf, gpointer data)
{
  return leaf->kind != ADJ_VALUE_RAW || g_str_has_prefix (leaf->text, "<");
}

/* A subgraph that @node reads and whose result has no value. */
static AdjGraph *
find_opaque_graph (const AdjGraph *graph, const AdjNode *node)
{
  AdjGraph *read =
      node->opcode == ADJ_OPCODE_GET_ATTR ? adj_graph_find_subgraph (graph, node->target) : NULL;

  return read != NULL && !adj_graph_check_understood (read, NULL) ? read : NULL;
}

/* Arguments of higher-order operators are checked by these: a policy may be any object. */
static gboolean
has_unread (const AdjNode *node)
{
  return node->opcode != ADJ_OPCODE_PLACEHOLDER &&
         !g_str_has_prefix (node->target, "torch.ops.higher_order.") &&
         (!adj_value_foreach (&node->args, is_known, NULL) ||
          !adj_value_foreach (&node->kwargs, is_known, NULL));
}

static Effects
find_effects (const AdjNode *node)
{
  Effects effects = { FALSE, FALSE, FALSE, FALSE };

  if (node->opcode == ADJ_OPCODE_PLACEHOLDER || node->opcode == ADJ_OPCODE_GET_ATTR)
    return effects;
  effects.draws =
      node->op != NULL ? (node->op->flags & ADJ_OP_RANDOM) != 0 : may_draw (node->target);
  effects.sets = may_set (node->target);
  if (node->opcode == ADJ_OPCODE_RAW)
    look_through (node->target, &effects);
  else
    effects.writes = adj_node_may_write (node);
  return effects;
}

static AdjNodeId
find_input (const Search *search, const AdjNode *node)
{
  for (guint i = 0; i < node->n_inputs; i++)
    {
      guint input = node->inputs[i].index;
      guint32 writer = search->written[search->aliases[input].may];

      if (adj_node_id_is_valid (search->depends[input]))
        return search->depends[input];
      if (writer != NONE)
        return (AdjNodeId){ writer };
    }

  return ADJ_NO_NODE;
}

/* Records the effects that @node, which has no value because of @cause, does not have. */
static void
note_effects (Search *search, const AdjNode *node, const Effects *effects, guint cause)
{
  for (guint i = 0; effects->writes && i < node->n_inputs; i++)
    search->written[search->aliases[node->inputs[i].index].may] = cause;
  if (effects->draws && search->drawn == NONE)
    search->drawn = cause;
  if (effects->sets && search->set == NONE)
    search->set = cause;
  if (effects->returns && search->returns == NONE)
    search->returns = cause;
}

static void
search_node (Search *search, guint index)
{
  const AdjNode *node = adj_graph_get_node (search->graph, index);
  Effects effects = find_effects (node);
  AdjNodeId *depends = &search->depends[index];

  *depends = find_input (search, node);
  if (!adj_node_id_is_valid (*depends) && (node->opcode == ADJ_OPCODE_RAW || has_unread (node) ||
                                           find_opaque_graph (search->graph, node) != NULL))
    *depends = (AdjNodeId){ index };
  if (node->opcode == ADJ_OPCODE_OUTPUT && search->returns != NONE)
    *depends = (AdjNodeId){ search->returns };
  if (!adj_node_id_is_valid (*depends) && effects.draws && search->drawn != NONE)
    *depends = (AdjNodeId){ search->drawn };
  if (!adj_node_id_is_valid (*depends) && search->set != NONE &&
      (node->n_inputs > 0 || effects.sets) && node->opcode != ADJ_OPCODE_OUTPUT)
    *depends = (AdjNodeId){ search->set };
  if (adj_node_id_is_valid (*depends))
    note_effects (search, node, &effects, depends->index);
}

static gpointer
find_opaque (const AdjGraph *graph)
{
  guint n = adj_graph_get_n_nodes (graph);
  g_autofree guint32 *written = g_new (guint32, n + 1);
  Search search = {
    graph, g_new0 (AdjNodeId, n + 1), adj_graph_get_aliases (graph), written, NONE, NONE, NONE
  };

  memset (written, 0xff, (n + 1) * sizeof *written);
  for (guint i = 0; i < n; i++)
    search_node (&search, i);

  return search.depends;
}

static const AdjGraphAnalysis opaque_analysis = { find_opaque, g_free };

const AdjNodeId *
adj_graph_find_opaque (const AdjGraph *graph)
{
  return adj_graph_analyse (graph, &opaque_analysis);
}

/* -- Refusal ---- */

static gboolean
find_unread (const AdjValue *leaf, gpointer data)
{
  if (is_known (leaf, NULL))
    return TRUE;

  *(const char **) data = leaf->text;

  return FALSE;
}

gboolean
adj_graph_check_understood (const AdjGraph *graph, GError **error)
{
  const AdjNodeId *depends = adj_graph_find_opaque (graph);
  AdjNodeId id = depends[adj_graph_get_output (graph).index];
  const AdjNode *node;
  const char *unread;
  g_autofree char *place = NULL;

  if (!adj_node_id_is_valid (id))
    return TRUE;

  node = adj_graph_get_node (graph, id.index);
  if (find_opaque_graph (graph, node) != NULL)
    return adj_graph_check_understood (find_opaque_graph (graph, node), error);
  unread = node->target;
  if (node->opcode != ADJ_OPCODE_RAW)
    {
      adj_value_foreach (&node->args, find_unread, &unread);
      adj_value_foreach (&node->kwargs, find_unread, &unread);
    }
  place = node->span.line > 0 ? g_strdup_printf ("%u:%u: ", node->span.line, node->span.column)
                              : g_strdup ("");
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "%s'%s' has no value, and what is returned depends on it: this is not understood: "
               "%.200s",
               place, node->name, unread);
  if (error)
    adj_error_blame_node (*error, node->name, id.index);

  return FALSE;
}
