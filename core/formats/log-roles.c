/* SPDX-License-Identifier: MIT */
/* Which records of TRACE logs carry a graph, and its role. */

#include <string.h>

#include "formats/log-facts-private.h"
#include "formats/log-lines-private.h"
#include "formats/log-roles-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-text.h"
#include "ops/adj-op-table.h"

static const struct
{
  const char *kind; /* of the record, or the name of the artifact */
  const char *role;
} carriers[] = {
  { "dynamo_output_graph", "dynamo" },
  { "aot_joint_graph", "joint" },
  { "aot_forward_graph", "forward" },
  { "aot_backward_graph", "backward" },
  { "aot_inference_graph", "inference" },
  { "compiled_autograd_graph", "compiled_autograd" },
  { "inductor_pre_grad_graph", "pre_grad" },
  { "before_pre_grad_graph", "pre_grad" },
  { "after_pre_grad_graph", "after_pre_grad" },
  { "before_post_grad_graph", "before_post_grad" },
  { "after_post_grad_graph", "post_grad" },
  { "inductor_post_grad_graph", "post_grad" },
  { "before_joint_graph", "before_joint" },
  { "after_joint_graph", "after_joint" },
  { "compiled_autograd_graph_pre_reordering", "compiled_autograd_pre_reordering" },
  { "optimize_ddp_split_graph", "ddp_split" },
};

/* The role of a graph that is known by a key of @record or by the name of its artifact.
 * (nullable) */
static const char *
known_role (const JsonItem *record)
{
  const char *artifact = json_get_text (json_get (record, "artifact"), "name");

  for (guint i = 0; i < G_N_ELEMENTS (carriers); i++)
    if (json_get (record, carriers[i].kind) != NULL ||
        (artifact != NULL && g_str_equal (artifact, carriers[i].kind)))
      return carriers[i].role;
  return NULL;
}

/* Within the line. (nullable) */
static const char *
find_in_line (const char *line, const char *what)
{
  return g_strstr_len (line, (gssize) strcspn (line, "\n"), what);
}

static gboolean
begins_class (const char *line)
{
  return *line != ' ' && find_in_line (line, "class ") != NULL &&
         find_in_line (line, "(torch.nn.Module):") != NULL;
}

const char *
log_next_module (const char *text)
{
  const char *line = text;

  while (line != NULL)
    {
      line += *line == '\n';
      if (begins_class (line) || log_line_begins_nodes (line))
        return line;
      line = strchr (line, '\n');
    }
  return NULL;
}

/* `graph():` with a node in each line, `%x : [num_users=1] = …`. */
static gboolean
has_nodes (const char *payload)
{
  const char *module = log_next_module (payload);

  return module != NULL && log_line_begins_nodes (module) && strstr (module, "users=") != NULL;
}

/* The text of a module of PyTorch, and not JSON that quotes one. */
static gboolean
is_graph (const char *payload)
{
  if (*payload == '{' || *payload == '[')
    return FALSE;
  return (strstr (payload, "(torch.nn.Module):") != NULL &&
          strstr (payload, "def forward(") != NULL) ||
         has_nodes (payload);
}

/* A forward function alone, as generated source is logged.  Other functions have that name too, so
 * the text must parse to its end as a graph. */
static gboolean
is_code (const char *payload)
{
  const char *start = payload + strspn (payload, "\n");
  g_autoptr (AdjGraph) graph = NULL;

  if (!g_str_has_prefix (start, "def forward("))
    return FALSE;
  graph = adj_graph_parse (start, -1, adj_op_find, NULL, NULL);
  for (guint i = 0; graph != NULL && i < adj_graph_get_n_nodes (graph); i++)
    if (adj_graph_get_node (graph, i)->opcode == ADJ_OPCODE_RAW)
      return FALSE;
  return graph != NULL;
}

#define MAX_ROLE 48

char *
log_role_of_name (const char *name)
{
  char *role = g_ascii_strdown (name, MIN (strlen (name), MAX_ROLE));

  for (char *at = role; *at != '\0'; at++)
    if (!g_ascii_isalnum (*at) && *at != '_' && *at != '-')
      *at = '_';
  return role;
}

char *
log_role (const JsonItem *record, const char *payload)
{
  const char *known = known_role (record), *name = log_fact_name (record);

  /* Until 2.4 they were logged under one name. */
  if (known != NULL && strcmp (known, "forward") == 0 &&
      strstr (payload, "class <lambda>(") != NULL)
    return g_strdup ("inference");
  if (known != NULL)
    return g_strdup (known);
  return name != NULL && (is_graph (payload) || is_code (payload)) ? log_role_of_name (name) : NULL;
}

char *
log_module_label (const char *line)
{
  const char *colon = find_in_line (line, ":class ");
  g_autofree char *label = colon != NULL ? g_strndup (line, (gsize) (colon - line)) : NULL;

  return label != NULL && *label != '\0' ? log_role_of_name (label) : NULL;
}
