/* SPDX-License-Identifier: MIT */
/* Custom functions: operations whose forward and backward the caller defines. */

#include "autograd/adj-autograd-internal.h"
#include "autograd/adj-custom.h"
#include "autograd/autograd-private.h"
#include "call/adj-context-internal.h"
#include "ops/adj-op-id.h"
#include "rules/adj-gradient.h"

struct _AdjCustomCall
{
  AdjGradNode parent; /* the node, when one of the inputs requires a gradient */
  const AdjCustomClass *custom;
  AdjContext *cx; /* while a function of @custom runs */
  gpointer data;
  GDestroyNotify destroy;
  AdjTensor *const *given; /* (nullable): replace the saved tensors while @cx is set */
  gboolean recorded;
  gboolean keeps_undefined;
  gboolean released;
  guint n_inputs;
  AdjTensorMeta *inputs; /* dtype NONE: no tensor */
  gboolean *needs;       /* by input */
  GPtrArray *kept;       /* (nullable): of tensors, owned: until the outputs are known */
  GArray *places;        /* by tensor passed to save: index in @saved, -1: it was %NULL */
  GPtrArray *saved;      /* of Saved */
  GPtrArray *dirty;
  GPtrArray *non_differentiable;
};

static gboolean
contains (const GPtrArray *list, gconstpointer item)
{
  return g_ptr_array_find ((GPtrArray *) list, item, NULL);
}

/* (transfer container) (nullable) */
static AdjTensor **
materialize (const AdjCustomCall *call, AdjTensor *const *grads)
{
  const AdjGradNode *node = &call->parent;
  AdjTensor **defined = g_new0 (AdjTensor *, node->n_inputs + 1);

  for (guint i = 0; i < node->n_inputs; i++)
    {
      defined[i] = grads[i];
      if (grads[i] == NULL && !call->keeps_undefined && node->inputs[i].dtype != ADJ_DTYPE_NONE)
        defined[i] = adj_gradient_make_zeros (call->cx, &node->inputs[i]);
    }
  return defined;
}

static gboolean
check_returned (AdjCustomCall *call, AdjTensor *const *returned)
{
  for (guint i = 0; i < call->n_inputs; i++)
    if (returned[i] != NULL && !call->needs[i] && call->parent.edges[i].input == G_MAXUINT)
      {
        adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                          "function %s returned a gradient different than None at position %u, but "
                          "the corresponding forward input was not a Variable",
                          call->parent.name, i + 1);
        return FALSE;
      }
  return TRUE;
}

/* The backward of the gradients of a once_differentiable function: fails. */
static gboolean
refuse_backward (AdjContext *cx,
                 AdjTensor *const *grads,
                 guint n_grads,
                 AdjTensor **grad_inputs,
                 guint n_inputs,
                 gpointer data)
{
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "trying to differentiate twice a function that was marked with "
                    "@once_differentiable");
  return FALSE;
}

static gboolean
run_backward (AdjCustomCall *call, AdjTensor *const *grads, AdjTensor **returned)
{
  static const AdjCustomGrad refusal = { .name = "Error", .backward = refuse_backward };
  AdjContext *cx = call->cx;
  const gboolean once = call->custom->once_differentiable;
  gboolean enabled = adj_context_get_grad_enabled (cx);
  gboolean done;

  if (once)
    adj_context_set_grad_enabled (cx, FALSE);
  done = call->custom->backward (call, grads, call->parent.n_inputs, returned, call->n_inputs);
  adj_context_set_grad_enabled (cx, enabled);
  for (guint i = 0; done && once && enabled && i < call->n_inputs; i++)
    if (returned[i] != NULL)
      done = adj_autograd_connect (cx, &refusal, grads, call->parent.n_inputs, &returned[i], 1);
  return done;
}

static gboolean
call_apply (AdjGradNode *node,
            AdjContext *cx,
            AdjTensor *const *grads,
            const gboolean *needed,
            AdjTensor **out)
{
  AdjCustomCall *call = (AdjCustomCall *) node;
  AdjContext *outer = call->cx;
  g_autofree AdjTensor **returned = g_new0 (AdjTensor *, call->n_inputs + 1);
  g_autofree AdjTensor **defined = NULL;
  gboolean done;

  call->cx = cx;
  for (guint i = 0; i < node->n_edges; i++)
    call->needs[i] = needed[i];
  defined = materialize (call, grads);
  done = !adj_context_has_error (cx) && run_backward (call, defined, returned) &&
         check_returned (call, returned);
  call->cx = outer;
  if (!done)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s failed", node->name);
  /* Gradients that are not needed are returned as well, for the post hooks of the node. */
  for (guint i = 0; i < node->n_edges && done; i++)
    out[i] = adj_keep (returned[i]);
  return done;
}

static gboolean
call_apply_to (AdjGradNode *node,
               AdjContext *cx,
               AdjTensor *const *saved,
               AdjTensor *const *grads,
               const gboolean *needed,
               AdjTensor **out)
{
  AdjCustomCall *call = (AdjCustomCall *) node;
  gboolean done;

  call->given = saved;
  done = call_apply (node, cx, grads, needed, out);
  call->given = NULL;
  return done;
}

static gboolean
call_visit (AdjGradNode *node, GradVisitor *visitor)
{
  AdjCustomCall *call = (AdjCustomCall *) node;

  if (call->released)
    return FALSE;
  visitor->leaf (visitor, "materialize_grads", &ADJ_BOOL (!call->keeps_undefined), FALSE);
  for (guint i = 0; i < node->n_inputs; i++)
    visitor->meta (visitor, "output", &node->inputs[i]);
  for (guint i = 0; i < call->n_inputs; i++)
    if (call->inputs[i].dtype != ADJ_DTYPE_NONE)
      visitor->meta (visitor, "input", &call->inputs[i]);
  for (guint i = 0; i < call->saved->len; i++)
    visitor->saved (visitor, "saved", node, g_ptr_array_index (call->saved, i));
  return TRUE;
}

static const AdjTensorMeta *
call_get_argument (const AdjGradNode *node, guint edge)
{
  const AdjTensorMeta *meta = &((const AdjCustomCall *) node)->inputs[edge];

  return meta->dtype != ADJ_DTYPE_NONE ? meta : NULL;
}

static gconstpointer
call_get_kind (const AdjGradNode *node)
{
  return ((const AdjCustomCall *) node)->custom;
}

static void
call_release (AdjGradNode *node)
{
  AdjCustomCall *call = (AdjCustomCall *) node;

  call->released |= call->saved->len > 0;
  g_ptr_array_set_size (call->saved, 0);
}

static void
call_finalize (AdjGradNode *node)
{
  AdjCustomCall *call = (AdjCustomCall *) node;

  if (call->destroy != NULL)
    call->destroy (call->data);
  g_free (call->inputs);
  g_free (call->needs);
  g_clear_pointer (&call->kept, g_ptr_array_unref);
  g_array_unref (call->places);
  g_ptr_array_unref (call->saved);
  g_ptr_array_unref (call->dirty);
  g_ptr_array_unref (call->non_differentiable);
}

static GPtrArray *
call_get_saved (AdjGradNode *node)
{
  return ((AdjCustomCall *) node)->saved;
}

static const GradNodeClass call_class = {
  .apply = call_apply,
  .apply_to = call_apply_to,
  .visit = call_visit,
  .get_argument = call_get_argument,
  .get_kind = call_get_kind,
  .release = call_release,
  .get_saved = call_get_saved,
  .finalize = call_finalize,
};

static AdjCustomCall *
call_new (AdjContext *cx, Autograd *autograd, const AdjCustomClass *custom, guint n_inputs)
{
  char *name = g_strdup_printf ("%sBackward", custom->name);
  AdjCustomCall *call =
      (AdjCustomCall *) grad_node_new (autograd, &call_class, sizeof (AdjCustomCall), name);

  adj_context_set_sequence (cx, (gint64) call->parent.sequence);
  grad_node_set_place (&call->parent, adj_context_get_place (cx));
  call->custom = custom;
  call->n_inputs = n_inputs;
  call->inputs = g_new0 (AdjTensorMeta, n_inputs + 1);
  call->needs = g_new0 (gboolean, n_inputs + 1);
  call->places = g_array_new (FALSE, FALSE, sizeof (gint));
  call->saved = saved_list_new ();
  call->dirty = g_ptr_array_new ();
  call->non_differentiable = g_ptr_array_new ();
  return call;
}

/* Sets the edges to the inputs; a non-tensor gets an edge without a node. */
static void
connect_inputs (AdjCustomCall *call, AdjTensor *const *inputs)
{
  g_autofree GradEdge *edges = g_new0 (GradEdge, call->n_inputs + 1);

  for (guint i = 0; i < call->n_inputs; i++)
    {
      call->inputs[i].dtype = ADJ_DTYPE_NONE;
      if (inputs[i] != NULL)
        call->inputs[i] = *adj_tensor_get_meta (inputs[i]);
      if (inputs[i] == NULL)
        edges[i].input = G_MAXUINT;
      else if (adj_context_get_grad_enabled (call->cx))
        edges[i] = variable_get_edge (call->cx, inputs[i]);
      call->needs[i] = edges[i].node != NULL;
      call->recorded |= edges[i].node != NULL;
    }
  grad_node_set_edges (&call->parent, edges, call->n_inputs);
}

static guint
find_one (const AdjTensor *tensor, AdjTensor *const *list, guint n)
{
  guint i = 0;

  while (i < n && list[i] != tensor)
    i++;
  return i;
}

static gboolean
is_one_of (AdjTensor *tensor, AdjTensor *const *list, guint n)
{
  return find_one (tensor, list, n) < n;
}

static gboolean
check_dirty (AdjCustomCall *call, AdjTensor *const *outputs, guint n_outputs)
{
  for (guint i = 0; i < call->dirty->len; i++)
    {
      AdjTensor *tensor = g_ptr_array_index (call->dirty, i);
      g_autofree char *reason = NULL;

      if (!is_one_of (tensor, outputs, n_outputs))
        {
          adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                            "%s: Some elements marked as dirty during the forward method were not "
                            "returned as output. The inputs that are modified inplace must all be "
                            "outputs of the Function.",
                            call->parent.name);
          return FALSE;
        }
      reason = call->recorded ? variable_why_not_write (tensor) : NULL;
      if (reason != NULL)
        {
          adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: %s", call->parent.name,
                            reason);
          return FALSE;
        }
      adj_tensor_bump_version (tensor);
    }
  return TRUE;
}

/* An output that is an unchanged input becomes a view of itself. */
static gboolean
take_outputs (AdjCustomCall *call, AdjTensor *const *inputs, AdjTensor **outputs, guint n_outputs)
{
  AdjGradNode *node = &call->parent;

  grad_node_set_inputs (node, n_outputs);
  for (guint i = 0; i < n_outputs; i++)
    {
      gboolean dirty = outputs[i] != NULL && contains (call->dirty, outputs[i]);
      gboolean fixed = outputs[i] != NULL && contains (call->non_differentiable, outputs[i]);

      node->inputs[i].dtype = ADJ_DTYPE_NONE;
      if (outputs[i] == NULL)
        continue;
      if (!dirty && is_one_of (outputs[i], inputs, call->n_inputs))
        {
          outputs[i] = ADJ_APPLY (call->cx, ADJ_OP_alias, ADJ_TENSOR (outputs[i]));
          if (outputs[i] == NULL)
            return FALSE;
          variable_get (outputs[i])->creation = VIEW_IN_CUSTOM;
        }
      node->inputs[i] = *adj_tensor_get_meta (outputs[i]);
      if (fixed || !adj_dtype_is_differentiable (node->inputs[i].dtype))
        continue;
      if (!dirty)
        variable_set_history (outputs[i], node, i);
      else if (!variable_rebase_history (call->cx, outputs[i], node, i,
                                         find_one (outputs[i], inputs, call->n_inputs)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
save_kept (AdjCustomCall *call, AdjTensor *const *outputs, guint n_outputs)
{
  for (guint i = 0; call->kept != NULL && i < call->kept->len; i++)
    {
      AdjTensor *tensor = g_ptr_array_index (call->kept, i);
      gint place = tensor != NULL ? (gint) call->saved->len : -1;
      SavedKind kind = SAVED_ARGUMENT;
      guint index = i;

      g_array_append_val (call->places, place);
      if (tensor == NULL)
        continue;
      for (guint k = 0; k < n_outputs; k++)
        if (outputs[k] == tensor)
          {
            const Variable *variable = variable_find (tensor);

            kind = variable != NULL && variable->node == &call->parent ? SAVED_RESULT : SAVED_AS_IS;
            index = k;
          }
      if (!saved_add (call->saved, call->cx, tensor, index, kind))
        return FALSE;
    }
  g_clear_pointer (&call->kept, g_ptr_array_unref);
  return TRUE;
}

static gboolean
run_forward (AdjCustomCall *call, AdjTensor *const *inputs, AdjTensor **outputs, guint n_outputs)
{
  gboolean enabled = adj_context_set_grad_enabled (call->cx, FALSE);
  gboolean done = call->custom->forward (call, inputs, call->n_inputs, outputs, n_outputs);

  adj_context_set_grad_enabled (call->cx, enabled);
  if (!done)
    adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s failed in forward",
                      call->custom->name);
  return done && !adj_context_has_error (call->cx);
}

gboolean
adj_custom_apply (AdjContext *cx,
                  const AdjCustomClass *klass,
                  gpointer data,
                  GDestroyNotify destroy,
                  AdjTensor *const *inputs,
                  guint n_inputs,
                  AdjTensor **outputs,
                  guint n_outputs)
{
  AdjCustomCall *call;
  Autograd *autograd;
  gboolean done;

  g_return_val_if_fail (cx != NULL && klass != NULL, FALSE);
  g_return_val_if_fail (klass->forward != NULL && klass->backward != NULL, FALSE);

  for (guint i = 0; i < n_outputs; i++)
    outputs[i] = NULL;
  autograd = autograd_get (cx);
  if (autograd == NULL)
    {
      if (destroy != NULL)
        destroy (data);
      return FALSE;
    }
  call = call_new (cx, autograd, klass, n_inputs);
  call->cx = cx;
  call->data = data;
  call->destroy = destroy;
  connect_inputs (call, inputs);
  done = !adj_context_has_error (cx) && run_forward (call, inputs, outputs, n_outputs) &&
         check_dirty (call, outputs, n_outputs);
  if (done && call->recorded)
    done = take_outputs (call, inputs, outputs, n_outputs) && save_kept (call, outputs, n_outputs);
  call->cx = NULL;
  adj_grad_node_unref (&call->parent);
  return done && !adj_context_has_error (cx);
}

AdjContext *
adj_custom_call_get_context (AdjCustomCall *call)
{
  g_return_val_if_fail (call != NULL, NULL);

  return call->cx;
}

gpointer
adj_custom_call_get_data (AdjCustomCall *call)
{
  g_return_val_if_fail (call != NULL, NULL);

  return call->data;
}

gboolean
adj_custom_call_needs_input_grad (const AdjCustomCall *call, guint input)
{
  g_return_val_if_fail (call != NULL && input < call->n_inputs, FALSE);

  return call->needs[input];
}

static void
unref_or_null (gpointer tensor)
{
  if (tensor != NULL)
    adj_tensor_unref (tensor);
}

void
adj_custom_call_save (AdjCustomCall *call, AdjTensor *const *tensors, guint n)
{
  g_return_if_fail (call != NULL);

  g_clear_pointer (&call->kept, g_ptr_array_unref);
  call->kept = g_ptr_array_new_with_free_func (unref_or_null);
  for (guint i = 0; i < n; i++)
    g_ptr_array_add (call->kept, adj_keep (tensors[i]));
}

void
adj_custom_call_mark_dirty (AdjCustomCall *call, AdjTensor *tensor)
{
  g_return_if_fail (call != NULL && tensor != NULL);

  g_ptr_array_add (call->dirty, tensor);
}

void
adj_custom_call_mark_non_differentiable (AdjCustomCall *call, AdjTensor *tensor)
{
  g_return_if_fail (call != NULL && tensor != NULL);

  g_ptr_array_add (call->non_differentiable, tensor);
}

void
adj_custom_call_set_materialize_grads (AdjCustomCall *call, gboolean value)
{
  g_return_if_fail (call != NULL);

  call->keeps_undefined = !value;
}

AdjTensor *
adj_custom_call_get_saved (AdjCustomCall *call, guint index)
{
  gint place;

  g_return_val_if_fail (call != NULL && call->cx != NULL, NULL);
  g_return_val_if_fail (index < call->places->len, NULL);

  place = g_array_index (call->places, gint, index);
  if (place < 0)
    return NULL;
  if (call->given != NULL)
    return call->given[place];
  if (call->released)
    {
      saved_fail_released (call->cx, &call->parent);
      return NULL;
    }
  return saved_unpack (g_ptr_array_index (call->saved, place), call->cx, &call->parent, NULL);
}

gboolean
adj_grad_node_is_custom (const AdjGradNode *node)
{
  g_return_val_if_fail (node != NULL, FALSE);

  return node->klass == &call_class;
}
