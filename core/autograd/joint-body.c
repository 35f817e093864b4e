/* SPDX-License-Identifier: MIT */
/* The function of a higher-order operator with its gradients, traced as one function of inputs and
 * tangents, which the operator's backward calls. */

#include "autograd/higher-private.h"

#include "call/adj-context-internal.h"
#include "ops/adj-op-id.h"

typedef struct
{
  AdjFunction parent;
  AdjFunction *body; /* (unowned) */
  const JointShape *shape;
  const gboolean *zeros; /* (nullable): by input, whether an undefined gradient is zeros */
} JointBody;

typedef struct
{
  GPtrArray *roots, *grads;
  const AdjValue *tangents;
  guint next;
} Roots;

/* Every floating output has a tangent; those that depend on an input are roots. */
static gboolean
add_root (const AdjValue *leaf, gpointer data)
{
  Roots *roots = data;
  const AdjValue *tangent;

  if (!joint_has_tangent (leaf))
    return TRUE;
  tangent = &roots->tangents[roots->next++];
  if (adj_tensor_get_requires_grad (leaf->tensor))
    {
      g_ptr_array_add (roots->roots, leaf->tensor);
      g_ptr_array_add (roots->grads, tangent->tensor);
    }
  return TRUE;
}

static gboolean
differentiate (const JointBody *self,
               AdjContext *cx,
               const AdjValue *inputs,
               const AdjValue *tangents,
               const AdjValue *outs,
               AdjTensor **grads)
{
  g_autoptr (GPtrArray) roots = g_ptr_array_new ();
  g_autoptr (GPtrArray) root_grads = g_ptr_array_new ();
  g_autoptr (GPtrArray) leaves = g_ptr_array_new ();
  g_autofree AdjTensor **found = NULL;
  AdjGradRoots request;
  guint next = 0;

  adj_value_foreach (outs, add_root, &(Roots){ roots, root_grads, tangents, 0 });
  for (guint i = 0; i < self->shape->n_inputs; i++)
    if (self->shape->needs[i])
      g_ptr_array_add (leaves, inputs[i].tensor);
  found = g_new0 (AdjTensor *, leaves->len + 1);
  request = (AdjGradRoots){ (AdjTensor *const *) roots->pdata,
                            (AdjTensor *const *) root_grads->pdata, roots->len };
  if (roots->len > 0 && leaves->len > 0 &&
      !adj_grad (cx, &request, (AdjTensor *const *) leaves->pdata, leaves->len,
                 ADJ_BACKWARD_ALLOW_UNUSED, found))
    return FALSE;
  for (guint i = 0; i < self->shape->n_inputs; i++)
    {
      if (self->shape->needs[i])
        grads[i] = found[next++];
      if (grads[i] == NULL && self->zeros != NULL && self->zeros[i])
        grads[i] = ADJ_APPLY (cx, ADJ_OP_zeros_like, inputs[i]);
    }
  return !adj_context_has_error (cx);
}

typedef struct
{
  AdjContext *cx;
  const AdjValue *args;
  guint n_args;
} Cloning;

/* Clones results that share memory with an argument: the operator must return new tensors. */
static gboolean
clone_alias (const AdjValue *leaf, AdjValue *out, gpointer data)
{
  const Cloning *cloning = data;
  AdjTensor *tensor = leaf->kind == ADJ_VALUE_TENSOR ? leaf->tensor : NULL;

  for (guint i = 0; i < cloning->n_args && tensor != NULL; i++)
    if (cloning->args[i].kind == ADJ_VALUE_TENSOR &&
        adj_tensor_get_storage (cloning->args[i].tensor) == adj_tensor_get_storage (tensor))
      {
        tensor = ADJ_APPLY (cloning->cx, ADJ_OP_clone, *leaf);
        break;
      }
  *out = tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : adj_value_copy (leaf);
  return !adj_context_has_error (cloning->cx);
}

static gboolean
append_leaf (const AdjValue *leaf, gpointer data)
{
  g_array_append_val ((GArray *) data, *leaf);
  return TRUE;
}

/* Collects the gradients of all inputs, then the outputs @outs where they are wanted. */
static gboolean
collect (const JointBody *self,
         const Cloning *cloning,
         AdjTensor *const *grads,
         const AdjValue *outs,
         AdjValue *result)
{
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  AdjValue list = { .kind = ADJ_VALUE_LIST };

  for (guint i = 0; i < self->shape->n_inputs; i++)
    {
      AdjValue grad = grads[i] != NULL ? ADJ_TENSOR (grads[i]) : ADJ_NONE;

      g_array_append_val (all, grad);
    }
  if (self->shape->gives_outputs)
    adj_value_foreach (outs, append_leaf, all);
  list.n = all->len;
  list.items = (gpointer) all->data;
  return adj_value_map (&list, clone_alias, (gpointer) cloning, result);
}

static gboolean
run (const JointBody *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  const JointShape *shape = self->shape;
  g_autofree AdjValue *inputs = g_new0 (AdjValue, shape->n_inputs + 1);
  g_autofree AdjTensor **grads = g_new0 (AdjTensor *, shape->n_inputs + 1);
  g_auto (AdjValue) outs = ADJ_NONE;

  for (guint i = 0; i < shape->n_inputs; i++)
    {
      inputs[i] = args[i < shape->first_tangent ? i : i + shape->n_tangents];
      if (shape->needs[i] && !adj_tensor_set_requires_grad (cx, inputs[i].tensor, TRUE))
        return FALSE;
    }
  if (!adj_function_call (self->body, cx, inputs, shape->n_inputs, &outs) ||
      !differentiate (self, cx, inputs, args + shape->first_tangent, &outs, grads))
    return FALSE;
  adj_context_set_grad_enabled (cx, FALSE);
  return collect (self, &(Cloning){ cx, args, n_args }, grads, &outs, result);
}

static gboolean
joint_body_call (
    AdjFunction *function, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *result)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, TRUE);
  gboolean done;

  adj_context_push_mode (cx, adj_autograd_mode_new ());
  done = run ((const JointBody *) function, cx, args, n_args, result);
  adj_context_pop_mode (cx);
  adj_context_set_grad_enabled (cx, enabled);
  return done;
}

static const AdjFunctionClass joint_body_class = { .name = "joint body", .call = joint_body_call };

gboolean
joint_has_tangent (const AdjValue *leaf)
{
  return leaf->kind == ADJ_VALUE_TENSOR &&
         adj_dtype_is_differentiable (adj_tensor_get_meta (leaf->tensor)->dtype);
}

AdjGraph *
joint_body_trace (AdjContext *cx,
                  AdjFunction *body,
                  const JointShape *shape,
                  const gboolean *zeros,
                  const AdjValue *examples)
{
  JointBody *joint = (JointBody *) adj_function_new (&joint_body_class, sizeof *joint);
  g_autoptr (AdjFunction) function = &joint->parent;
  AdjTraceOptions options = { .symbols = adj_context_get_symbols (cx),
                              .unbacked = adj_context_get_unbacked (cx) };
  g_autoptr (GError) error = NULL;
  AdjGraph *graph;

  joint->body = body;
  joint->shape = shape;
  joint->zeros = zeros;
  graph = adj_trace (function, examples, shape->n_inputs + shape->n_tangents, &options, &error);
  if (graph == NULL)
    adj_context_fail (cx, error->domain, error->code, "%s", error->message);
  return graph;
}
