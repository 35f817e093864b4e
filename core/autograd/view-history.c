/* SPDX-License-Identifier: MIT */
/* Views under autograd: their base and chain of view operations, and their history, which is
 * recreated when the base was written. */

#include "autograd/autograd-private.h"
#include "call/adj-op.h"
#include "ops/adj-op-id.h"
#include "rules/adj-gradient.h"

/* -- becoming a view -- */

static ViewCreation
creation_of (AdjContext *cx, const AdjOpCall *call, const Variable *source)
{
  ViewCreation creation = VIEW_DEFAULT;

  if (!adj_context_get_grad_enabled (cx))
    creation = VIEW_NO_GRAD;
  else if (call->returns_list)
    creation = VIEW_MULTI_OUTPUT;
  return creation == VIEW_DEFAULT && source != NULL ? source->creation : creation;
}

/* (transfer full) (nullable): one as_strided from the storage, which is right whatever happened to
 * the base; %NULL if the base does not start at the beginning of the storage. */
static AdjViewChain *
chain_by_geometry (AdjTensor *view, AdjTensor *base)
{
  const AdjShape *shape = &adj_tensor_get_meta (view)->shape;
  const AdjShape *from = &adj_tensor_get_meta (base)->shape;
  AdjArena *arena;
  AdjViewChain *chain;

  if (!adj_size_is_int (from->offset) || from->offset.word != 0)
    return NULL;
  arena = adj_arena_new ();
  chain = adj_view_chain_append (
      NULL, adj_op (ADJ_OP_as_strided),
      (const AdjValue[]){ ADJ_NONE, adj_rule_list_sizes (arena, shape->size, shape->rank),
                          adj_rule_list_sizes (arena, shape->stride, shape->rank),
                          adj_value_from_size (shape->offset) },
      0);
  adj_arena_free (arena);
  return chain;
}

/* (transfer full) (nullable): the chain of views from the base to @view, result @part of @call. */
static AdjViewChain *
chain_of (const AdjOpCall *call, guint part, const Variable *source, const Variable *view)
{
  AdjViewChain *chain;

  if (!adj_op_is_view (call->op) || (source != NULL && source->chain == NULL))
    return NULL;
  chain = adj_view_chain_append (source != NULL ? source->chain : NULL, call->op, call->args, part);
  if (adj_view_chain_has_late_as_strided (chain))
    {
      adj_view_chain_unref (chain);
      chain = chain_by_geometry (view->tensor, view->base);
    }
  return chain;
}

/* Operators that return an alias without declaring it, such as _unsafe_view, make no views for
 * autograd. */
void
variable_mark_views (const AdjOpCall *call)
{
  if ((call->op->flags & ADJ_OP_NO_GRADIENT) != 0 || !adj_schema_is_view (call->schema))
    return;
  for (guint i = 0; i < call->n_results; i++)
    {
      const AdjOpResult *result = &call->results[i];
      const AdjType *type = &call->schema->returns[call->returns_list ? 0 : i].type;
      AdjTensor *shown;
      const Variable *source;
      Variable *view;

      if (result->tensor == NULL || result->alias_of < 0 || type->written)
        continue;
      shown = call->args[result->alias_of].tensor;
      source = variable_find (shown);
      view = variable_get (result->tensor);
      if (source != NULL && source->base == NULL)
        source = NULL;
      view->base = adj_tensor_ref (source != NULL ? source->base : shown);
      view->chain = chain_of (call, i, source, view);
      view->creation = creation_of (call->cx, call, source);
      view->version = adj_tensor_get_version (result->tensor);
      view->base_turns = source != NULL ? source->base_turns : variable_get (shown)->turns;
    }
}

/* After t_() and the like. */
void
variable_turn (const AdjOpCall *call, gboolean recorded)
{
  Variable *variable = variable_get (call->args[0].tensor);
  const AdjOp *op = adj_op_get_base (call->op);

  variable->turns++;
  if (variable->base == NULL)
    return;
  if (op != NULL && adj_op_is_view (op) && variable->chain != NULL)
    {
      AdjViewChain *chain = adj_view_chain_append (variable->chain, op, call->args, 0);

      if (adj_view_chain_has_late_as_strided (chain))
        {
          adj_view_chain_unref (chain);
          chain = chain_by_geometry (variable->tensor, variable->base);
        }
      adj_view_chain_unref (variable->chain);
      variable->chain = chain;
    }
  else if (call->op == adj_op (ADJ_OP_resize_))
    g_clear_pointer (&variable->chain, adj_view_chain_unref);
  else if (op == NULL) /* set_: it has another storage */
    variable_forget_base (variable);
  if (recorded)
    variable->version = adj_tensor_get_version (variable->tensor);
}

void
variable_forget_base (Variable *variable)
{
  g_clear_pointer (&variable->base, adj_tensor_unref);
  g_clear_pointer (&variable->chain, adj_view_chain_unref);
}

/* -- writing, and what was written -- */

/* (transfer full) */
static char *
explain_creation (const Variable *variable, gboolean indirect)
{
  static const char *const reasons[] = {
    [VIEW_DEFAULT] = "",
    [VIEW_NO_GRAD] =
        "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify "
        "your code by moving both the view and the inplace either both inside the no_grad block "
        "(if you don't want the inplace to be tracked) or both outside (if you want the inplace to "
        "be tracked).",
    [VIEW_MULTI_OUTPUT] =
        "This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace. You should replace the inplace operation "
        "by an out-of-place one.",
    [VIEW_IN_CUSTOM] =
        "This view was created inside a custom Function (or because an input was returned as-is) "
        "and the autograd logic to handle view+inplace would override the custom backward "
        "associated with the custom Function, leading to incorrect gradients. This behavior is "
        "forbidden. You can fix this by cloning the output of the custom Function.",
  };
  GString *text = g_string_new (NULL);

  if (variable->node != NULL)
    g_string_append_printf (text, "Output %u of %s is a view and ", variable->output,
                            variable->node->name);
  else
    g_string_append (text, variable->creation == VIEW_NO_GRAD
                               ? "A view was created in no_grad mode and "
                               : "A view was created and ");
  g_string_append (text, indirect ? "its base or another view of its base has been modified inplace"
                                  : "is being modified inplace");
  if (variable->node == NULL && variable->creation == VIEW_NO_GRAD)
    g_string_append (text, " with grad mode enabled");
  g_string_append_printf (text, ". %s", reasons[variable->creation]);
  return g_string_free (text, FALSE);
}

char *
variable_why_not_write (const AdjTensor *tensor)
{
  const Variable *variable = variable_find (tensor);
  const Variable *base;
  gboolean requires_grad = adj_tensor_get_requires_grad (tensor);

  if (variable == NULL)
    return NULL;
  if (variable->base != NULL)
    {
      base = variable_find (variable->base);
      if (variable->creation != VIEW_DEFAULT)
        return explain_creation (variable, FALSE);
      if (requires_grad && (base == NULL || base->node == NULL))
        return g_strdup ("a view of a leaf Variable that requires grad is being used in an "
                         "in-place operation.");
    }
  if (variable->node == NULL && requires_grad)
    return g_strdup ("a leaf Variable that requires grad is being used in an in-place operation.");
  return NULL;
}

/* Recreates the chain after the base was changed by t_() or the like. */
static gboolean
renew_chain (AdjContext *cx, Variable *variable)
{
  const guint turns = variable_get (variable->base)->turns;

  if (variable->chain != NULL && variable->base_turns == turns)
    return TRUE;
  adj_view_chain_unref (variable->chain);
  variable->chain = chain_by_geometry (variable->tensor, variable->base);
  variable->base_turns = turns;
  if (variable->chain == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                      "how this view is made from its base is not known; the gradient of writing "
                      "in place needs it");
  return variable->chain != NULL;
}

gboolean
variable_refresh (AdjContext *cx, AdjTensor *tensor)
{
  Variable *variable = variable_find (tensor);
  const Variable *made;
  AdjTensor *view;
  gboolean enabled;

  if (variable == NULL || variable->base == NULL ||
      (variable->node == NULL && !adj_tensor_get_requires_grad (variable->base)) ||
      variable->version == adj_tensor_get_version (tensor))
    return TRUE;
  if (variable->creation != VIEW_DEFAULT)
    {
      g_autofree char *reason = explain_creation (variable, TRUE);

      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s", reason);
      return FALSE;
    }
  if (!renew_chain (cx, variable))
    return FALSE;

  adj_scope_begin (cx);
  enabled = adj_context_set_grad_enabled (cx, TRUE);
  view = adj_view_chain_replay (variable->chain, cx, variable->base);
  adj_context_set_grad_enabled (cx, enabled);
  made = view != NULL ? variable_find (view) : NULL;
  if (made != NULL && made->node != NULL)
    variable_set_history (tensor, made->node, made->output);
  variable->version = adj_tensor_get_version (tensor);
  adj_scope_end (cx);
  return view != NULL;
}

/* -- the gradient of writing through a view -- */

/* The node after a write through a view: takes the gradient of the base and passes the part that
 * the view shows through @inner, the node of the operation. */
typedef struct
{
  AdjGradNode parent;
  AdjViewChain *chain; /* (owned) */
  AdjGradNode *inner;  /* (owned) */
  guint input;         /* of @inner: the result that was written into the view */
  guint self;          /* the edge to the written tensor; @inner may have none */
} CopySlices;

/* @grad with the layout of the base, so that the chain of views applies to it; @copies: a copy even
 * if the layout is right, since it will be written. */
static AdjTensor *
lay_out_like (AdjContext *cx, AdjTensor *grad, const AdjShape *base, gboolean copies)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *shape = &adj_tensor_get_meta (grad)->shape;
  AdjArena *arena;
  AdjTensor *copy;
  gboolean same = !copies;

  for (guint i = 0; same && i < base->rank; i++)
    same = adj_size_test (symbols, ADJ_SIZE_EQ, shape->stride[i], base->stride[i]);
  if (same && adj_size_is (symbols, shape->offset, 0))
    return grad;
  arena = adj_arena_new ();
  copy = ADJ_APPLY (cx, ADJ_OP_new_empty_strided, ADJ_TENSOR (grad),
                    adj_rule_list_sizes (arena, base->size, base->rank),
                    adj_rule_list_sizes (arena, base->stride, base->rank));
  adj_arena_free (arena);
  return copy != NULL ? ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (copy), ADJ_TENSOR (grad)) : NULL;
}

static gboolean
apply_inner (
    CopySlices *copy, AdjContext *cx, AdjTensor *part, const gboolean *needed, AdjTensor **out)
{
  g_autofree AdjTensor **grads = g_new0 (AdjTensor *, copy->inner->n_inputs + 1);

  grads[copy->input] = part;
  return copy->inner->klass->apply (copy->inner, cx, grads, needed, out) &&
         !adj_context_has_error (cx);
}

/* Fails for a part in which elements overlap, as after expand: it cannot be written. */
static gboolean
check_part (AdjContext *cx, const AdjGradNode *node, AdjTensor *part)
{
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  const AdjShape *shape = &adj_tensor_get_meta (part)->shape;

  for (guint i = 0; i < shape->rank; i++)
    if (adj_size_is (symbols, shape->stride[i], 0) && !adj_size_is (symbols, shape->size[i], 1))
      {
        adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                          "%s: unsupported operation: more than one element of the written-to "
                          "tensor refers to a single memory location. Please clone() the tensor "
                          "before performing the operation.",
                          node->name);
        return FALSE;
      }
  return TRUE;
}

/* Drops gradients in @out that are not needed: a backward may return more. */
static void
drop_unneeded (const AdjGradNode *node, const gboolean *needed, AdjTensor **out)
{
  for (guint i = 0; i < node->n_edges; i++)
    if (!needed[i])
      g_clear_pointer (&out[i], adj_tensor_unref);
}

/* @base with the part replaced by @changed, the gradient of the operation's input. */
static AdjTensor *
put_back (const CopySlices *copy,
          AdjContext *cx,
          AdjTensor *base,
          AdjTensor *part,
          AdjTensor *changed,
          gboolean copies)
{
  const AdjGradNode *node = &copy->parent;

  if (changed == NULL)
    changed = ADJ_APPLY (cx, ADJ_OP_zeros_like, ADJ_TENSOR (part));
  else
    changed =
        adj_gradient_validate (cx, node->name, copy->self, changed, adj_tensor_get_meta (part));
  if (changed == NULL)
    return NULL;
  if (!copies)
    return adj_view_chain_invert (copy->chain, cx, base, changed);
  return ADJ_APPLY (cx, ADJ_OP_copy_, ADJ_TENSOR (part), ADJ_TENSOR (changed)) != NULL ? base
                                                                                       : NULL;
}

/* (nullable): the part of @base that was written. */
static AdjTensor *
take_part (const CopySlices *copy, AdjContext *cx, AdjTensor *base, gboolean strided)
{
  const AdjShape *view = &copy->inner->inputs[copy->input].shape;
  AdjArena *arena;
  AdjTensor *part;

  if (!strided)
    return adj_view_chain_replay (copy->chain, cx, base);
  arena = adj_arena_new ();
  part = ADJ_APPLY (cx, ADJ_OP_as_strided, ADJ_TENSOR (base),
                    adj_rule_list_sizes (arena, view->size, view->rank),
                    adj_rule_list_sizes (arena, view->stride, view->rank),
                    adj_value_from_size (adj_size_sub (adj_context_get_symbols (cx), view->offset,
                                                       copy->parent.inputs[0].shape.offset)));
  adj_arena_free (arena);
  return part;
}

static gboolean
copy_slices_apply (AdjGradNode *node,
                   AdjContext *cx,
                   AdjTensor *const *grads,
                   const gboolean *needed,
                   AdjTensor **out)
{
  CopySlices *copy = (CopySlices *) node;
  const AdjAutogradFlags flags = autograd_flags (cx);
  const gboolean copies = (flags & ADJ_AUTOGRAD_COPY_WRITTEN) != 0;
  AdjTensor *base, *part, *shown, *whole;

  if (grads[0] == NULL)
    return TRUE;
  base = lay_out_like (cx, grads[0], &node->inputs[0].shape, copies);
  part =
      base != NULL ? take_part (copy, cx, base, (flags & ADJ_AUTOGRAD_STRIDED_WRITTEN) != 0) : NULL;
  if (part == NULL || !check_part (cx, node, part))
    return FALSE;
  shown = copies ? adj_apply_clone_contiguous (cx, part) : part;
  if (shown == NULL || !apply_inner (copy, cx, shown, needed, out))
    return FALSE;
  drop_unneeded (node, needed, out);
  if (!needed[copy->self])
    return TRUE;
  whole = put_back (copy, cx, base, part, out[copy->self], copies);
  if (out[copy->self] != NULL)
    adj_tensor_unref (out[copy->self]);
  out[copy->self] = adj_keep (whole);
  return whole != NULL;
}

static void
copy_slices_release (AdjGradNode *node)
{
  AdjGradNode *inner = ((CopySlices *) node)->inner;

  if (inner->klass->release != NULL)
    inner->klass->release (inner);
}

static void
copy_slices_finalize (AdjGradNode *node)
{
  CopySlices *copy = (CopySlices *) node;

  adj_view_chain_unref (copy->chain);
  adj_grad_node_unref (copy->inner);
}

static void
visit_chain (const AdjViewChain *chain, GradVisitor *visitor)
{
  for (; chain != NULL; chain = adj_view_chain_get_parent (chain))
    {
      const AdjSchema *schema = adj_op_get_schema (adj_view_chain_get_op (chain));
      AdjValue part = ADJ_INT (adj_view_chain_get_part (chain));

      visitor->leaf (visitor, schema->target, &part, FALSE);
      for (guint i = 0; i < schema->n_arguments; i++)
        {
          AdjValue arg = *adj_view_chain_get_arg (chain, i);

          visitor->leaf (visitor, schema->arguments[i].name, &arg, FALSE);
          for (guint k = 0; adj_value_is_container (&arg) && k < arg.n; k++)
            visitor->leaf (visitor, schema->arguments[i].name, &arg.items[k], FALSE);
        }
    }
}

static gboolean
copy_slices_visit (AdjGradNode *node, GradVisitor *visitor)
{
  const CopySlices *copy = (const CopySlices *) node;
  AdjGradNode *inner = copy->inner;

  visit_chain (copy->chain, visitor);
  visitor->leaf (visitor, "written result", &ADJ_INT (copy->input), FALSE);
  visitor->leaf (visitor, "edge of what was written", &ADJ_INT (copy->self), FALSE);
  visitor->meta (visitor, "base", &node->inputs[0]);
  for (guint i = 0; i < inner->n_inputs; i++)
    visitor->meta (visitor, inner->name, &inner->inputs[i]);
  return inner->klass->visit (inner, visitor);
}

static gconstpointer
copy_slices_get_kind (const AdjGradNode *node)
{
  const AdjGradNode *inner = ((const CopySlices *) node)->inner;

  return inner->klass->get_kind != NULL ? inner->klass->get_kind (inner) : inner->klass;
}

static const GradNodeClass copy_slices_class = {
  .apply = copy_slices_apply,
  .visit = copy_slices_visit,
  .get_kind = copy_slices_get_kind,
  .release = copy_slices_release,
  .finalize = copy_slices_finalize,
};

/* For an operation that compiled autograd calls as a whole. */
static const GradNodeClass closed_copy_slices_class = {
  .apply = copy_slices_apply,
  .release = copy_slices_release,
  .finalize = copy_slices_finalize,
};

gboolean
grad_node_get_written_view (const AdjGradNode *node, WrittenView *out)
{
  const CopySlices *copy = (const CopySlices *) node;

  if (node->klass != &copy_slices_class || copy->self != 0)
    return FALSE;
  *out = (WrittenView){ copy->inner, copy->input, &node->inputs[0].shape,
                        &copy->inner->inputs[copy->input].shape };
  return TRUE;
}

/* Makes the base of @variable, a view, the result of a write: result @output of @inner was written
 * into the view. */
static gboolean
rebase (AdjContext *cx, Variable *variable, AdjGradNode *inner, guint output, guint self)
{
  const gboolean open = inner->klass->visit != NULL && inner->klass->apply_to == NULL;
  CopySlices *copy;
  g_autofree GradEdge *edges = NULL;

  if (!renew_chain (cx, variable))
    return FALSE;
  copy = (CopySlices *) grad_node_new (autograd_find (cx),
                                       open ? &copy_slices_class : &closed_copy_slices_class,
                                       sizeof (CopySlices), g_strdup ("CopySlices"));
  grad_node_set_place (&copy->parent, adj_context_get_place (cx));
  copy->chain = adj_view_chain_ref (variable->chain);
  copy->inner = adj_grad_node_ref (inner);
  copy->input = output;
  copy->self = self;
  inner->inputs[output] = *adj_tensor_get_meta (variable->tensor);
  edges = g_new0 (GradEdge, inner->n_edges + 1);
  for (guint i = 0; i < inner->n_edges; i++)
    if (i != self && inner->edges[i].node != NULL)
      edges[i] = (GradEdge){ adj_grad_node_ref (inner->edges[i].node), inner->edges[i].input };
  edges[self] = variable_get_edge (cx, variable->base);
  grad_node_set_edges (&copy->parent, edges, MAX (inner->n_edges, self + 1));
  grad_node_set_inputs (&copy->parent, 1);
  variable_set_history (variable->base, &copy->parent, 0);
  adj_grad_node_unref (&copy->parent);
  saved_drop_stale (variable_get (variable->base));
  return variable_refresh (cx, variable->tensor);
}

gboolean
variable_rebase_history (
    AdjContext *cx, AdjTensor *tensor, AdjGradNode *node, guint output, guint self)
{
  Variable *variable = variable_get (tensor);

  if (variable->base != NULL)
    return rebase (cx, variable, node, output, self);
  variable_set_history (tensor, node, output);
  saved_drop_stale (variable);
  return TRUE;
}
