/* SPDX-License-Identifier: MIT */
/* The form of a node: inputs and attributes as indices of arguments and results, made once per
 * operator. */

#include "call/adj-schema-internal.h"
#include "rules/node-op-private.h"

static gboolean
read_input (const AdjSchema *schema, const char *name, guint8 *out)
{
  gint arg = adj_schema_find_argument (schema, name);

  if (arg >= 0)
    *out = (guint8) arg;
  return arg >= 0;
}

/* Operators that have the node of another one; attributes that they have no argument for are None.
 */
static const struct
{
  const char *op, *node;
} stand_ins[] = {
  { "_native_batch_norm_legit.no_stats", "NativeBatchNormBackward0" },
};

/* Numbers that are sizes in the release of these nodes, but not yet in that of the records. */
static const struct
{
  const char *op, *argument;
} sizes[] = {
#define NODE_KEEPS_SIZE(release, operator, argument) { operator, argument },
#include "ops/releases.inc"
};

static gboolean
is_size (const AdjNodeOp *self, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (sizes); i++)
    if (g_str_equal (sizes[i].op, self->op) && g_str_equal (sizes[i].argument, name))
      return TRUE;
  return FALSE;
}

static gboolean
read_attribute (const AdjNodeOp *self,
                const AdjSchema *schema,
                const char *name,
                gboolean stands_in,
                AdjNodeAttribute *out)
{
  if (node_attribute_find (schema, name, out))
    {
      if (is_size (self, name))
        out->what = ADJ_KEPT_AS_SIZE;
      return TRUE;
    }
  *out = (AdjNodeAttribute){ name, -1, -1, ADJ_KEPT_ITSELF };
  return stands_in;
}

/* (transfer full) (nullable): never freed, as the table is not. */
static AdjNodeForm *
form_new (const AdjNodeOp *self, const AdjSchema *schema, gboolean stands_in)
{
  AdjNodeForm *form = g_new0 (AdjNodeForm, 1);
  char **inputs = g_strsplit (self->inputs, " ", -1);
  char **kept = *self->kept != '\0' ? g_strsplit (self->kept, " ", -1) : g_new0 (char *, 1);
  gboolean understood = TRUE;
  guint as;

  form->node_op = self;
  form->target = g_strconcat (NODE_OP_PREFIX, self->name, NULL);
  form->n_inputs = g_strv_length (inputs);
  form->inputs = g_new0 (guint8, form->n_inputs + 1);
  form->n_attributes = g_strv_length (kept);
  form->alike = -1;
  for (guint i = 0; i < schema->n_arguments; i++)
    if (node_op_find_alike (self, schema, i, &as))
      {
        form->alike = (gint) i;
        form->as = as;
      }
  form->attributes = g_new0 (AdjNodeAttribute, form->n_attributes + 1);
  for (guint i = 0; i < form->n_inputs && understood; i++)
    understood = read_input (schema, inputs[i], &form->inputs[i]);
  for (guint i = 0; i < form->n_attributes && understood; i++)
    understood = read_attribute (self, schema, kept[i], stands_in, &form->attributes[i]);
  g_strfreev (inputs);
  if (understood)
    {
      g_free (kept); /* the names are still used */
      return form;
    }
  g_strfreev (kept);
  g_free ((char *) form->target);
  g_free (form->inputs);
  g_free (form->attributes);
  g_free (form);
  return NULL;
}

static void
add_stand_ins (GHashTable *forms)
{
  for (guint i = 0; i < G_N_ELEMENTS (stand_ins); i++)
    {
      g_autofree char *target = g_strconcat (NODE_OP_PREFIX, stand_ins[i].node, NULL);
      g_autofree char *name = g_strconcat ("torch.ops.aten.", stand_ins[i].op, NULL);
      const AdjOp *op = adj_op_find (name);

      g_hash_table_insert (forms, (gpointer) op,
                           form_new (adj_node_op_find (target), adj_op_get_schema (op), TRUE));
    }
}

static GHashTable *
make_forms (void)
{
  GHashTable *forms = g_hash_table_new (NULL, NULL);

  add_stand_ins (forms);
  for (guint i = 0; i < adj_node_ops_get_n (); i++)
    {
      const AdjNodeOp *node_op = adj_node_ops_get (i);
      const AdjOp *op = node_op_find_operator (node_op);
      AdjNodeForm *form = NULL;

      if (op != NULL && !g_hash_table_contains (forms, op))
        form = form_new (node_op, adj_op_get_schema (op), FALSE);
      if (form != NULL)
        g_hash_table_insert (forms, (gpointer) op, form);
    }
  return forms;
}

const AdjNodeForm *
adj_node_form_find (const AdjOp *op)
{
  static gsize once;
  const AdjNodeForm *form;

  if (g_once_init_enter (&once))
    g_once_init_leave (&once, GPOINTER_TO_SIZE (make_forms ()));
  form = g_hash_table_lookup (GSIZE_TO_POINTER (once), op);
  if (form == NULL && adj_op_get_base (op) != NULL)
    form = g_hash_table_lookup (GSIZE_TO_POINTER (once), adj_op_get_base (op));
  return form;
}
