/* SPDX-License-Identifier: MIT */
/* adj_backward() and adj_grad(): check roots, gradients and targets, and hand the request to the
 * engine. */

#include "autograd/autograd-private.h"
#include "ops/adj-op-id.h"
#include "rules/adj-gradient.h"

typedef struct
{
  GArray *roots;    /* of GradEdge, owned */
  GPtrArray *grads; /* by root, owned */
  GArray *targets;  /* of GradTarget; edges owned */
} Request;

static void
clear_edge (gpointer data)
{
  adj_grad_node_unref (((GradEdge *) data)->node);
}

static void
clear_target (gpointer data)
{
  adj_grad_node_unref (((GradTarget *) data)->edge.node);
}

static void
request_init (Request *request)
{
  request->roots = g_array_new (FALSE, FALSE, sizeof (GradEdge));
  g_array_set_clear_func (request->roots, clear_edge);
  request->grads = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  request->targets = g_array_new (FALSE, FALSE, sizeof (GradTarget));
  g_array_set_clear_func (request->targets, clear_target);
}

static void
request_clear (Request *request)
{
  g_array_unref (request->roots);
  g_ptr_array_unref (request->grads);
  g_array_unref (request->targets);
}

/* The gradient of root @i: as given, or 1. */
static AdjTensor *
root_grad (AdjContext *cx, const AdjGradRoots *roots, guint i)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjTensorMeta *meta = adj_tensor_get_meta (roots->tensors[i]);
  AdjTensor *grad = roots->grads != NULL ? roots->grads[i] : NULL;
  g_autoptr (GString) text = NULL;

  if (grad == NULL)
    {
      if (adj_dtype_is_floating (meta->dtype) &&
          adj_size_is (symbols, adj_shape_numel (&meta->shape, symbols), 1))
        return ADJ_APPLY (cx, ADJ_OP_ones_like, ADJ_TENSOR (roots->tensors[i]));
      text = g_string_new (NULL);
      adj_tensor_meta_print (meta, symbols, text);
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "grad can be implicitly created only for scalar outputs, not for %s",
                        text->str);
      return NULL;
    }
  if (!adj_shape_same_sizes (&adj_tensor_get_meta (grad)->shape, &meta->shape, symbols))
    {
      g_autoptr (GString) a = g_string_new (NULL);
      g_autoptr (GString) b = g_string_new (NULL);

      adj_shape_print_list (symbols, adj_tensor_get_meta (grad)->shape.size,
                            adj_tensor_get_rank (grad), a);
      adj_shape_print_list (symbols, meta->shape.size, meta->shape.rank, b);
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "Mismatch in shape: grad_output[%u] has a shape of %s and output[%u] has a "
                        "shape of %s.",
                        i, a->str, i, b->str);
      return NULL;
    }
  return adj_gradient_validate (cx, "backward was given", i, grad, meta);
}

static gboolean
add_roots (AdjContext *cx, Request *request, const AdjGradRoots *roots)
{
  for (guint i = 0; i < roots->n; i++)
    {
      GradEdge edge = variable_get_edge (cx, roots->tensors[i]);
      AdjTensor *grad;

      if (edge.node == NULL)
        {
          adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                            "element %u of tensors does not require grad and does not have a "
                            "grad_fn",
                            i);
          return FALSE;
        }
      g_array_append_val (request->roots, edge);
      grad = root_grad (cx, roots, i);
      if (grad == NULL)
        return FALSE;
      g_ptr_array_add (request->grads, adj_keep (grad));
    }
  return TRUE;
}

static gboolean
add_targets (
    AdjContext *cx, Request *request, AdjTensor *const *inputs, guint n_inputs, gboolean run)
{
  for (guint i = 0; i < n_inputs; i++)
    {
      GradTarget target = { variable_get_edge (cx, inputs[i]), run };

      if (target.edge.node == NULL)
        {
          adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                            "One of the differentiated Tensors does not require grad");
          return FALSE;
        }
      g_array_append_val (request->targets, target);
      if (run && !adj_tensor_retain_grad (cx, inputs[i]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
go (AdjContext *cx,
    Autograd *autograd,
    const Request *request,
    AdjBackwardFlags flags,
    AdjTensor **captured)
{
  const GradRequest task = {
    .flags = flags,
    .roots = (gconstpointer) request->roots->data,
    .grads = (AdjTensor *const *) request->grads->pdata,
    .n_roots = request->roots->len,
    .targets = (gconstpointer) request->targets->data,
    .n_targets = request->targets->len,
    .captured = captured,
  };

  return request->roots->len == 0 || engine_run (cx, autograd, &task);
}

/* Checks the request and runs it; the roots' gradients are kept until the end. */
static gboolean
differentiate (AdjContext *cx,
               const AdjGradRoots *roots,
               AdjTensor *const *inputs,
               guint n_inputs,
               AdjBackwardFlags flags,
               AdjTensor **captured)
{
  Autograd *autograd = autograd_get (cx);
  Request request;
  gboolean enabled, done;

  if (autograd == NULL)
    return FALSE;
  request_init (&request);
  enabled = adj_context_set_grad_enabled (cx, (flags & ADJ_BACKWARD_CREATE_GRAPH) != 0);
  adj_scope_begin (cx);
  done = add_roots (cx, &request, roots);
  adj_scope_end (cx);
  adj_context_set_grad_enabled (cx, enabled);
  done = done && add_targets (cx, &request, inputs, n_inputs, captured == NULL) &&
         go (cx, autograd, &request, flags, captured);
  request_clear (&request);
  return done;
}

gboolean
adj_backward (AdjContext *cx,
              const AdjGradRoots *roots,
              AdjTensor *const *inputs,
              guint n_inputs,
              AdjBackwardFlags flags)
{
  g_return_val_if_fail (cx != NULL && roots != NULL, FALSE);

  if (adj_context_has_error (cx))
    return FALSE;
  if (inputs != NULL && n_inputs == 0)
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "`inputs` argument to `backward()` cannot be empty.");
      return FALSE;
    }
  return differentiate (cx, roots, inputs, n_inputs, flags, NULL);
}

gboolean
adj_tensor_backward (AdjContext *cx, AdjTensor *tensor)
{
  return adj_backward (cx, &(AdjGradRoots){ .tensors = &tensor, .n = 1 }, NULL, 0, 0);
}

gboolean
adj_grad (AdjContext *cx,
          const AdjGradRoots *roots,
          AdjTensor *const *inputs,
          guint n_inputs,
          AdjBackwardFlags flags,
          AdjTensor **grads)
{
  gboolean done;

  g_return_val_if_fail (cx != NULL && roots != NULL && inputs != NULL && grads != NULL, FALSE);

  for (guint i = 0; i < n_inputs; i++)
    grads[i] = NULL;
  if (adj_context_has_error (cx))
    return FALSE;
  done = differentiate (cx, roots, inputs, n_inputs, flags, grads);
  for (guint i = 0; i < n_inputs; i++)
    {
      adj_scope_add (cx, grads[i]);
      if (done && grads[i] == NULL && (flags & ADJ_BACKWARD_ALLOW_UNUSED) == 0)
        {
          adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                            "One of the differentiated Tensors appears to not have been used in "
                            "the graph. Set allow_unused=True if this is the desired behavior.");
          done = FALSE;
        }
    }
  return done;
}
