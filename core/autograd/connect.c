/* SPDX-License-Identifier: MIT */
/* Makes existing tensors the results of an operation with a given backward. */

#include "autograd/adj-autograd-internal.h"
#include "autograd/autograd-private.h"
#include "call/adj-context-internal.h"

typedef struct
{
  AdjGradNode parent;
  AdjCustomGrad custom;
  gboolean (*visit) (gpointer data, GradVisitor *visitor); /* (nullable) */
} CustomNode;

static gboolean
custom_apply (AdjGradNode *node,
              AdjContext *cx,
              AdjTensor *const *grads,
              const gboolean *needed,
              AdjTensor **out)
{
  const AdjCustomGrad *custom = &((CustomNode *) node)->custom;
  g_autofree AdjTensor **inputs = g_new0 (AdjTensor *, node->n_edges + 1);

  if (!custom->backward (cx, grads, node->n_inputs, inputs, node->n_edges, custom->data))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s failed", node->name);
      return FALSE;
    }
  for (guint i = 0; i < node->n_edges; i++)
    if (needed[i])
      out[i] = adj_keep (inputs[i]);
  return TRUE;
}

static void
custom_finalize (AdjGradNode *node)
{
  const AdjCustomGrad *custom = &((CustomNode *) node)->custom;

  if (custom->destroy != NULL)
    custom->destroy (custom->data);
}

static gboolean
custom_visit (AdjGradNode *node, GradVisitor *visitor)
{
  const CustomNode *self = (const CustomNode *) node;

  return self->visit (self->custom.data, visitor);
}

static gconstpointer
custom_get_kind (const AdjGradNode *node)
{
  return ((const CustomNode *) node)->custom.backward;
}

static const GradNodeClass custom_class = {
  .apply = custom_apply,
  .get_kind = custom_get_kind,
  .finalize = custom_finalize,
};

static const GradNodeClass open_class = {
  .apply = custom_apply,
  .visit = custom_visit,
  .get_kind = custom_get_kind,
  .finalize = custom_finalize,
};

/* Edges to @inputs, then those of @like (nullable): (transfer full). */
static GradEdge *
make_edges (AdjContext *cx,
            AdjTensor *const *inputs,
            guint n_inputs,
            const AdjGradNode *like,
            gboolean *found)
{
  guint n_like = like != NULL ? like->n_edges : 0;
  GradEdge *edges = g_new0 (GradEdge, n_inputs + n_like + 1);

  *found = FALSE;
  for (guint i = 0; i < n_inputs && adj_context_get_grad_enabled (cx); i++)
    {
      edges[i] = variable_get_edge (cx, inputs[i]);
      *found |= edges[i].node != NULL;
    }
  for (guint i = 0; i < n_like; i++)
    if (like->edges[i].node != NULL)
      {
        edges[n_inputs + i].node = adj_grad_node_ref (like->edges[i].node);
        edges[n_inputs + i].input = like->edges[i].input;
        *found = TRUE;
      }
  return edges;
}

/* @visit: (nullable): the backward can be captured operator by operator. */
static gboolean
connect (AdjContext *cx,
         const AdjCustomGrad *custom,
         gboolean (*visit) (gpointer data, GradVisitor *visitor),
         AdjTensor *const *inputs,
         guint n_inputs,
         const AdjGradNode *like,
         AdjTensor *const *outputs,
         guint n_outputs)
{
  g_autofree GradEdge *edges = NULL;
  Autograd *autograd = autograd_get (cx);
  AdjGradNode *node;
  gboolean found;

  if (autograd == NULL)
    {
      if (custom->destroy != NULL)
        custom->destroy (custom->data);
      return FALSE;
    }
  node = grad_node_new (autograd, visit != NULL ? &open_class : &custom_class, sizeof (CustomNode),
                        g_strdup (custom->name));
  adj_context_set_sequence (cx, (gint64) node->sequence);
  ((CustomNode *) node)->custom = *custom;
  ((CustomNode *) node)->visit = visit;
  grad_node_set_place (node, adj_context_get_place (cx));
  edges = make_edges (cx, inputs, n_inputs, like, &found);
  grad_node_set_edges (node, edges, n_inputs + (like != NULL ? like->n_edges : 0));
  grad_node_set_inputs (node, n_outputs);
  for (guint i = 0; i < n_outputs && found; i++)
    if (adj_dtype_is_differentiable (adj_tensor_get_meta (outputs[i])->dtype))
      variable_set_history (outputs[i], node, i);
  adj_grad_node_unref (node);
  return !adj_context_has_error (cx);
}

gboolean
adj_autograd_connect (AdjContext *cx,
                      const AdjCustomGrad *custom,
                      AdjTensor *const *inputs,
                      guint n_inputs,
                      AdjTensor *const *outputs,
                      guint n_outputs)
{
  g_return_val_if_fail (cx != NULL && custom != NULL && custom->backward != NULL, FALSE);

  return connect (cx, custom, NULL, inputs, n_inputs, NULL, outputs, n_outputs);
}

gboolean
autograd_connect_open (AdjContext *cx,
                       const AdjCustomGrad *custom,
                       gboolean (*visit) (gpointer data, GradVisitor *visitor),
                       AdjTensor *const *inputs,
                       guint n_inputs,
                       AdjTensor *const *outputs,
                       guint n_outputs)
{
  return connect (cx, custom, visit, inputs, n_inputs, NULL, outputs, n_outputs);
}

gboolean
adj_autograd_connect_backward (AdjContext *cx,
                               const AdjCustomGrad *custom,
                               AdjTensor *const *inputs,
                               guint n_inputs,
                               AdjTensor *const *outputs,
                               guint n_outputs)
{
  Autograd *autograd;

  g_return_val_if_fail (cx != NULL && custom != NULL && custom->backward != NULL, FALSE);

  autograd = autograd_find (cx);
  return connect (cx, custom, NULL, inputs, n_inputs,
                  autograd != NULL ? engine_get_node (autograd) : NULL, outputs, n_outputs);
}
