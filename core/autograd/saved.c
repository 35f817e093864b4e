/* SPDX-License-Identifier: MIT */
/* Tensors that nodes keep for the backward, with their versions checked and saved-tensor hooks
 * applied. */

#include "autograd/autograd-private.h"
#include "autograd/transform-private.h"
#include "call/adj-context-internal.h"
#include "ops/adj-op-id.h"
#include "trace/adj-composite-internal.h"

struct _Saved
{
  guint ref_count;
  guint32 version;     /* of @tensor when it was saved */
  AdjTensor *tensor;   /* (owned) (nullable): %NULL when packed by hooks, or stale */
  AdjTensor *stand_in; /* (unowned) (nullable): replaces it in unpacking for now */
  SavedHooks *hooks;   /* (owned) (nullable) */
  char *stale;         /* (owned) (nullable): description of @tensor and of how it was modified */
  SavedKind kind;
  guint index; /* of the argument or result */
  gboolean has_history;
  Variable *watched;   /* (nullable): its savers list has this */
  gpointer packed;     /* with hooks: the packed value */
  AdjTensorMeta *meta; /* (owned) (nullable): with hooks, metadata of the tensor */
  GradEdge edge;       /* (owned): with hooks: the edge for the gradient of the argument */
};

struct _SavedHooks
{
  guint ref_count;
  AdjSavedHooks hooks;
};

static SavedHooks *
saved_hooks_new (const AdjSavedHooks *hooks)
{
  SavedHooks *entry = g_new0 (SavedHooks, 1);

  entry->ref_count = 1;
  entry->hooks = *hooks;
  return entry;
}

static SavedHooks *
saved_hooks_ref (SavedHooks *hooks)
{
  hooks->ref_count++;
  return hooks;
}

void
saved_hooks_unref (SavedHooks *hooks)
{
  if (hooks == NULL || --hooks->ref_count > 0)
    return;
  if (hooks->hooks.destroy != NULL)
    hooks->hooks.destroy (hooks->hooks.data);
  g_free (hooks);
}

gboolean
adj_autograd_push_saved_hooks (AdjContext *cx, const AdjSavedHooks *hooks)
{
  Autograd *autograd;
  SavedHooks *entry = NULL;

  g_return_val_if_fail (cx != NULL, FALSE);
  g_return_val_if_fail (hooks == NULL || (hooks->pack != NULL && hooks->unpack != NULL), FALSE);

  if (hooks != NULL)
    entry = saved_hooks_new (hooks);
  autograd = autograd_find (cx);
  if (autograd == NULL)
    saved_hooks_unref (entry);
  else
    g_ptr_array_add (autograd->saved_hooks, entry);
  return autograd != NULL;
}

void
adj_autograd_pop_saved_hooks (AdjContext *cx)
{
  Autograd *autograd;

  g_return_if_fail (cx != NULL);

  autograd = autograd_find (cx);
  g_return_if_fail (autograd != NULL && autograd->saved_hooks->len > 0);

  saved_hooks_unref (
      g_ptr_array_steal_index (autograd->saved_hooks, autograd->saved_hooks->len - 1));
}

/* (nullable): the innermost hooks. */
static SavedHooks *
current_hooks (const Autograd *autograd)
{
  const GPtrArray *stack = autograd->saved_hooks;

  return stack->len > 0 && !autograd->packs ? g_ptr_array_index (stack, stack->len - 1) : NULL;
}

/* @tensor without history.  A tensor of a torch.func level is detached in that level only; the
 * tensor that it wraps keeps its history in the levels below. */
static AdjTensor *
cut (AdjContext *cx, AdjTensor *tensor)
{
  gboolean before;

  if (level_untrack (tensor) != tensor)
    return adj_composite_alias (cx, tensor, tensor);
  before = adj_context_set_keeping (cx, TRUE);
  tensor = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
  adj_context_set_keeping (cx, before);
  return tensor;
}

/* Detaches @tensor, twice if PyTorch's traces do so. */
static AdjTensor *
detach (AdjContext *cx, const Autograd *autograd, AdjTensor *tensor)
{
  tensor = cut (cx, tensor);
  if (tensor != NULL && (autograd->flags & ADJ_AUTOGRAD_TWO_DETACHES) != 0)
    tensor = cut (cx, tensor);
  return tensor;
}

static gboolean
pack (Saved *saved, AdjContext *cx, Autograd *autograd, SavedHooks *hooks, AdjTensor *tensor)
{
  AdjTensor *plain = ADJ_APPLY (cx, ADJ_OP_detach, ADJ_TENSOR (tensor));
  guint32 version;

  if (plain == NULL)
    return FALSE;
  version = adj_tensor_get_version (plain);
  autograd->packs = TRUE;
  saved->packed = hooks->hooks.pack (cx, plain, hooks->hooks.data);
  autograd->packs = FALSE;
  saved->hooks = saved_hooks_ref (hooks);
  saved->meta = g_memdup2 (adj_tensor_get_meta (tensor), sizeof *saved->meta);
  saved->meta->storage = -1;
  if (!adj_context_has_error (cx) && adj_tensor_get_version (plain) != version)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "A saved tensor pack hook is modifying its input in place. Tensors provided "
                      "as input to pack hook can not be modified by in-place operations");
  return !adj_context_has_error (cx);
}

/* Watches writes through the base.  Not needed for a leaf that requires a gradient: recorded writes
 * to it are refused. */
static void
watch (Saved *saved)
{
  const Variable *variable = variable_find (saved->tensor);
  AdjTensor *root = variable != NULL && variable->base != NULL ? variable->base : saved->tensor;

  variable = variable_find (root);
  if (variable != NULL && variable->node == NULL && variable->requires_grad)
    return;
  saved->watched = variable_get (root);
  if (saved->watched->savers == NULL)
    saved->watched->savers = g_ptr_array_new ();
  g_ptr_array_add (saved->watched->savers, saved);
}

gboolean
saved_add (GPtrArray *list, AdjContext *cx, AdjTensor *tensor, guint index, SavedKind kind)
{
  Autograd *autograd = autograd_find (cx);
  SavedHooks *hooks = current_hooks (autograd);
  Saved *saved = g_new0 (Saved, 1);
  gboolean enabled;
  gboolean done = TRUE;

  g_ptr_array_add (list, saved);
  saved->ref_count = 1;
  saved->index = index;
  saved->kind = kind;
  if (kind != SAVED_RESULT)
    {
      const Variable *variable = variable_find (tensor);

      saved->has_history = variable != NULL && variable->node != NULL;
      if (hooks != NULL)
        saved->edge = variable_get_edge (cx, tensor);
    }
  enabled = adj_context_set_grad_enabled (cx, FALSE);
  adj_scope_begin (cx);
  if (hooks != NULL)
    done = pack (saved, cx, autograd, hooks, tensor);
  else
    {
      saved->tensor = adj_keep (kind == SAVED_RESULT ? detach (cx, autograd, tensor) : tensor);
      done = saved->tensor != NULL;
    }
  adj_scope_end (cx);
  adj_context_set_grad_enabled (cx, enabled);
  if (saved->tensor != NULL)
    saved->version = adj_tensor_get_version (saved->tensor);
  if (saved->tensor != NULL && kind != SAVED_RESULT)
    watch (saved);
  return done;
}

/* Releases the tensor, but not its packed form. */
static void
drop_tensor (Saved *saved)
{
  if (saved->watched != NULL)
    g_ptr_array_remove_fast (saved->watched->savers, saved);
  saved->watched = NULL;
  g_clear_pointer (&saved->tensor, adj_tensor_unref);
}

void
saved_prefetch (const Saved *saved, guint step)
{
  if (step == 0)
    __builtin_prefetch (saved);
  else if (saved->tensor != NULL)
    adj_tensor_prefetch (saved->tensor, step - 1);
}

Saved *
saved_ref (Saved *saved)
{
  saved->ref_count++;
  return saved;
}

void
saved_unref (Saved *saved)
{
  if (--saved->ref_count > 0)
    return;
  drop_tensor (saved);
  if (saved->packed != NULL && saved->hooks->hooks.free_packed != NULL)
    saved->hooks->hooks.free_packed (saved->packed);
  saved_hooks_unref (saved->hooks);
  adj_grad_node_unref (saved->edge.node);
  g_free (saved->meta);
  g_free (saved->stale);
  g_free (saved);
}

/* -- hooks of one saved tensor -- */

static GPtrArray *
get_saved (const AdjGradNode *node)
{
  return node->klass->get_saved != NULL ? node->klass->get_saved ((AdjGradNode *) node) : NULL;
}

guint
adj_grad_node_get_n_saved (const AdjGradNode *node)
{
  const GPtrArray *list;

  g_return_val_if_fail (node != NULL, 0);

  list = get_saved (node);
  return list != NULL ? list->len : 0;
}

/* (nullable): saved tensor @index without hooks; %NULL with the context in error. */
static Saved *
find_plain (AdjContext *cx, AdjGradNode *node, guint index)
{
  const GPtrArray *list = get_saved (node);
  Saved *saved = list != NULL && index < list->len ? g_ptr_array_index (list, index) : NULL;

  if (saved == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "%s: there is no saved tensor %u: it has %u, and none after they have been "
                      "freed",
                      node->name, index, adj_grad_node_get_n_saved (node));
  else if (saved->hooks != NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "%s: Calling register_hooks on a saved tensor whose hooks have already been "
                      "set. Hint: only one pair of hooks is allowed at a time.",
                      node->name);
  else if (saved->tensor == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: saved tensor %u is no longer valid: %s",
                      node->name, index, saved->stale);
  return adj_context_has_error (cx) ? NULL : saved;
}

gboolean
adj_grad_node_set_saved_hooks (AdjContext *cx,
                               AdjGradNode *node,
                               guint index,
                               const AdjSavedHooks *hooks)
{
  Autograd *autograd;
  SavedHooks *entry;
  Saved *saved;
  gboolean enabled, done = FALSE;

  g_return_val_if_fail (cx != NULL && node != NULL && hooks != NULL, FALSE);
  g_return_val_if_fail (hooks->pack != NULL && hooks->unpack != NULL, FALSE);

  entry = saved_hooks_new (hooks);
  autograd = autograd_get (cx);
  saved = autograd != NULL ? find_plain (cx, node, index) : NULL;
  if (saved != NULL)
    {
      if (saved->kind != SAVED_RESULT)
        saved->edge = variable_get_edge (cx, saved->tensor);
      enabled = adj_context_set_grad_enabled (cx, FALSE);
      adj_scope_begin (cx);
      done = pack (saved, cx, autograd, entry, saved->tensor);
      adj_scope_end (cx);
      adj_context_set_grad_enabled (cx, enabled);
      drop_tensor (saved);
    }
  saved_hooks_unref (entry);
  return done;
}

GPtrArray *
saved_list_new (void)
{
  return g_ptr_array_new_with_free_func ((GDestroyNotify) saved_unref);
}

/* -- unpacking -- */

/* "f64[2][1]cpu, which is output 0 of MulBackward, is at version 1". */
static char *
describe (const Saved *saved, const AdjGradNode *maker, guint output)
{
  GString *text = g_string_new (NULL);

  adj_tensor_meta_print (adj_tensor_get_meta (saved->tensor), NULL, text);
  if (maker != NULL)
    g_string_append_printf (text, ", which is output %u of %s,", output, maker->name);
  g_string_append_printf (text, " is at version %u", adj_tensor_get_version (saved->tensor));
  return g_string_free (text, FALSE);
}

static char *
describe_argument (const Saved *saved)
{
  const Variable *variable = variable_find (saved->tensor);

  return describe (saved, variable != NULL ? variable->node : NULL,
                   variable != NULL ? variable->output : 0);
}

void
saved_drop_stale (Variable *variable)
{
  g_autoptr (GPtrArray) dropped =
      g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);

  for (guint i = variable->savers != NULL ? variable->savers->len : 0; i-- > 0;)
    {
      Saved *saved = g_ptr_array_index (variable->savers, i);

      if (saved->version == adj_tensor_get_version (saved->tensor))
        continue;
      saved->stale = describe_argument (saved);
      saved->watched = NULL;
      g_ptr_array_add (dropped, g_steal_pointer (&saved->tensor));
      g_ptr_array_remove_index_fast (variable->savers, i);
    }
}

void
saved_unwatch (Variable *variable)
{
  for (guint i = 0; variable->savers != NULL && i < variable->savers->len; i++)
    ((Saved *) g_ptr_array_index (variable->savers, i))->watched = NULL;
  g_clear_pointer (&variable->savers, g_ptr_array_unref);
}

static gboolean
fail_modified (const Saved *saved, AdjContext *cx, const AdjGradNode *node, const AdjSchema *schema)
{
  g_autofree char *what = NULL;
  g_autoptr (GString) text = g_string_new (NULL);

  if (saved->stale != NULL)
    what = g_strdup (saved->stale);
  else
    what = saved->kind == SAVED_RESULT ? describe (saved, node, saved->index)
                                       : describe_argument (saved);
  if (schema != NULL && saved->kind == SAVED_ARGUMENT)
    g_string_append_printf (text, "argument '%s' of %s, ", schema->arguments[saved->index].name,
                            schema->target);
  else if (schema != NULL)
    g_string_append_printf (text, "result %u of %s, ", saved->index, schema->target);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "%s: one of the variables needed for gradient computation has been modified "
                    "by an inplace operation: %s%s; expected version %u instead",
                    node->name, text->str, what, saved->version);
  return FALSE;
}

static gboolean
check (const Saved *saved, AdjContext *cx, const AdjGradNode *node, const AdjSchema *schema)
{
  const Variable *variable;

  if (saved->stale != NULL || adj_tensor_get_version (saved->tensor) != saved->version)
    return fail_modified (saved, cx, node, schema);
  variable = variable_find (saved->tensor);
  if (saved->has_history && (variable == NULL || variable->node == NULL))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                        "%s: Trying to use a saved tensor that has been detached in-place, i.e. "
                        "with .detach_(). This is not supported, please use out-of-place "
                        ".detach() instead",
                        node->name);
      return FALSE;
    }
  return TRUE;
}

/* Gives @tensor its history back, for a recorded backward or a recomputation. */
static AdjTensor *
rejoin (AdjContext *cx, AdjTensor *tensor, AdjGradNode *node, guint input)
{
  gboolean enabled = adj_context_set_grad_enabled (cx, FALSE);

  tensor = cut (cx, tensor);
  adj_context_set_grad_enabled (cx, enabled);
  if (tensor != NULL)
    {
      const AdjTensorMeta meta = node->inputs[input];

      variable_set_history (tensor, node, input);
      node->inputs[input] = meta; /* a hook may have changed the metadata */
    }
  return tensor;
}

static AdjTensor *
unpack_with_hooks (const Saved *saved, AdjContext *cx, AdjGradNode *node)
{
  AdjTensor *tensor = saved->hooks->hooks.unpack (cx, saved->packed, saved->hooks->hooks.data);

  if (tensor == NULL || adj_context_has_error (cx))
    {
      adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "%s: an unpack hook returned no tensor",
                        node->name);
      return NULL;
    }
  if (saved->kind == SAVED_RESULT)
    return rejoin (cx, tensor, node, saved->index);
  if (saved->edge.node != NULL)
    return rejoin (cx, tensor, saved->edge.node, saved->edge.input);
  return tensor;
}

AdjTensor *
saved_unpack (const Saved *saved, AdjContext *cx, AdjGradNode *node, const AdjSchema *schema)
{
  const Autograd *autograd;
  AdjTensor *tensor = saved->tensor;

  if (saved->stand_in != NULL)
    return saved->stand_in;
  if (saved->hooks != NULL)
    return unpack_with_hooks (saved, cx, node);
  if (!check (saved, cx, node, schema))
    return NULL;
  if (saved->kind != SAVED_RESULT)
    return tensor;
  autograd = autograd_find (cx);
  if ((autograd->flags & ADJ_AUTOGRAD_TWO_DETACHES) != 0)
    tensor = cut (cx, tensor);
  else if (!adj_context_get_grad_enabled (cx) &&
           (autograd->flags & ADJ_AUTOGRAD_DETACH_ON_UNPACK) == 0)
    return tensor;
  return tensor != NULL ? rejoin (cx, tensor, node, saved->index) : NULL;
}

const AdjTensorMeta *
saved_get_meta (const Saved *saved)
{
  static const AdjTensorMeta stale = { .dtype = ADJ_DTYPE_NONE };

  if (saved->meta != NULL)
    return saved->meta;
  return saved->tensor != NULL ? adj_tensor_get_meta (saved->tensor) : &stale;
}

const AdjTensorMeta *
saved_get_packed (const Saved *saved)
{
  return saved->meta;
}

void
saved_stand_in (Saved *saved, AdjTensor *tensor)
{
  saved->stand_in = tensor;
}

gboolean
saved_fail_released (AdjContext *cx, const AdjGradNode *node)
{
  g_autoptr (GString) result = g_string_new (NULL);

  for (guint i = 0; i < node->n_inputs && result->len == 0; i++)
    if (node->inputs[i].dtype < ADJ_N_DTYPES)
      adj_tensor_meta_print (&node->inputs[i], adj_context_get_symbols (cx), result);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "%s: trying to backward through the graph a second time: its saved values "
                    "have been freed; retain the graph to do this; the result was %s",
                    node->name, result->str);
  return FALSE;
}
