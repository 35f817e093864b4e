/* SPDX-License-Identifier: MIT */
/* Objects that a captured graph calls: the hooks of this backward, and backwards called as a whole.
 * They are inputs of the graph, so that other hooks need no new graph. */

#include "compiled_autograd/compiled-private.h"
#include "rules/adj-gradient.h"

typedef struct _Object Object;

struct _Object
{
  AdjOpaque parent;
  ObjectKind kind;
  AdjGradNode *node; /* (owned) */
  AdjHook *hook;     /* (owned) (nullable) */
  AdjTensor *tensor; /* (owned) (nullable): of a RETAINER */
  Saved *saved;      /* (owned) (nullable): of an UNPACK, until it is called */
  gboolean once;     /* saved values are released after the call */
  Object *next;      /* (unowned) (nullable): the hook of the same list that is called next */
  gboolean follows;  /* it is the @next of another hook */
  gboolean removed;  /* it was removed before its list ran */
};

/* Calls the object with @args, which a graph may have computed in any way. */
typedef gboolean (*ObjectCall) (
    Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out);

static AdjTensor *
get_tensor (const AdjValue *value)
{
  return value->kind == ADJ_VALUE_TENSOR ? value->tensor : NULL;
}

static AdjValue
new_value (AdjTensor *tensor)
{
  return tensor != NULL ? ADJ_TENSOR (adj_tensor_ref (tensor)) : ADJ_NONE;
}

/* (transfer container): the tensors of a list, %NULL for None. */
static AdjTensor **
list_tensors (const AdjValue *list)
{
  AdjTensor **tensors = g_new0 (AdjTensor *, list->n + 1);

  for (guint i = 0; i < list->n; i++)
    tensors[i] = get_tensor (&list->items[i]);
  return tensors;
}

static AdjValue
new_tuple (AdjTensor *const *tensors, guint n)
{
  AdjValue tuple = { .kind = ADJ_VALUE_TUPLE, .n = n, .items = g_new0 (AdjValue, n + 1) };

  for (guint i = 0; i < n; i++)
    tuple.items[i] = new_value (tensors[i]);
  return tuple;
}

static gboolean
call_tensor_hook (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjTensor *grad = get_tensor (&args[0]);
  AdjTensor *new = ((AdjTensorHookFunc) self->hook->func) (cx, grad, self->hook->data);

  if (!node_check_replacement (cx, self->hook, grad, new))
    return FALSE;
  *out = new_value (new != NULL ? new : grad);
  return TRUE;
}

static gboolean
call_retainer (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjTensor *grad = get_tensor (&args[0]);

  *out = new_value (grad);
  return grad == NULL || node_retain (cx, self->tensor, grad);
}

static gboolean
call_node_hook (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  const AdjValue none = { .kind = ADJ_VALUE_LIST };
  const AdjValue *results = n_args > 1 ? &args[1] : &none;
  g_autofree AdjTensor **before = list_tensors (&args[0]);
  g_autofree AdjTensor **shown = list_tensors (&args[0]);
  g_autofree AdjTensor **given = list_tensors (results);

  ((AdjNodeHookFunc) self->hook->func) (cx, shown, args[0].n, n_args > 1 ? given : NULL, results->n,
                                        self->hook->data);
  for (guint i = 0; i < args[0].n; i++)
    if (!node_check_replacement (cx, self->hook, before[i], shown[i]))
      return FALSE;
  *out = new_tuple (shown, args[0].n);
  return !adj_context_has_error (cx);
}

static gboolean
call_leaf_hook (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  *out = ADJ_NONE;
  return leaf_was_missed (args[0].tensor) || leaf_run_hook (cx, self->hook, args[0].tensor);
}

/* Fails if the unpacked tensor does not have the metadata of the packed one, for which the capture
 * was made. */
static gboolean
check_unpacked (const Object *self, AdjContext *cx, const AdjTensor *tensor)
{
  const AdjTensorMeta *packed = saved_get_packed (self->saved);
  const AdjTensorMeta *now = adj_tensor_get_meta (tensor);
  AdjSymbols *symbols = adj_context_get_symbols (cx);
  g_autoptr (GString) text = NULL;

  if (packed->dtype == now->dtype && adj_shape_same_sizes (&packed->shape, &now->shape, symbols))
    return TRUE;
  text = g_string_new ("it was ");
  adj_tensor_meta_print (packed, symbols, text);
  g_string_append (text, ", is ");
  adj_tensor_meta_print (now, symbols, text);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                    "%s: an unpack hook has changed the size or type of a saved tensor: %s; the "
                    "backward was captured for what was packed",
                    self->node->name, text->str);
  return FALSE;
}

static gboolean
call_unpack (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjTensor *tensor;

  if (self->saved == NULL)
    return saved_fail_released (cx, self->node);
  tensor = saved_unpack (self->saved, cx, self->node, NULL);
  if (tensor == NULL || !check_unpacked (self, cx, tensor))
    return FALSE;
  *out = new_value (tensor);
  if (self->once)
    g_clear_pointer (&self->saved, saved_unref);
  return TRUE;
}

/* Converts the results of a backward to the form that its edges expect. */
static gboolean
validate (const AdjGradNode *node, AdjContext *cx, AdjTensor **grads)
{
  g_autofree char *prefix = g_strdup_printf ("Function %s returned", node->name);

  for (guint i = 0; i < node->n_edges; i++)
    {
      const GradEdge *edge = &node->edges[i];
      AdjTensor *valid;

      if (grads[i] == NULL || edge->node == NULL)
        continue;
      valid = adj_gradient_validate (cx, prefix, i, grads[i], &edge->node->inputs[edge->input]);
      if (valid == NULL)
        return FALSE;
      adj_tensor_ref (valid);
      adj_tensor_unref (grads[i]);
      grads[i] = valid;
    }
  return TRUE;
}

/* (saved, *grads) */
static gboolean
call_backward (Object *self, AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *out)
{
  AdjGradNode *node = self->node;
  const AdjValue rest = { .kind = ADJ_VALUE_LIST, .n = n_args - 1, .items = (AdjValue *) args + 1 };
  g_autofree AdjTensor **saved = list_tensors (&args[0]);
  g_autofree AdjTensor **grads = list_tensors (&rest);
  g_autofree AdjTensor **grad_inputs = g_new0 (AdjTensor *, node->n_edges + 1);
  g_autofree gboolean *needed = g_new0 (gboolean, node->n_edges + 1);
  gboolean done;

  for (guint i = 0; i < node->n_edges; i++)
    needed[i] = node->edges[i].node != NULL && engine_reaches (cx, node->edges[i].node);
  done = node->klass->apply_to != NULL
             ? node->klass->apply_to (node, cx, saved, grads, needed, grad_inputs)
             : node->klass->apply (node, cx, grads, needed, grad_inputs);
  if (done && self->once && node->klass->visit == NULL && node->klass->release != NULL)
    node->klass->release (node);
  done = done && !adj_context_has_error (cx) && validate (node, cx, grad_inputs);
  if (done)
    *out = new_tuple (grad_inputs, node->n_edges);
  for (guint i = 0; i < node->n_edges; i++)
    g_clear_pointer (&grad_inputs[i], adj_tensor_unref);
  return done;
}

static const struct
{
  const char *name; /* the name in PyTorch */
  ObjectCall call;
  gboolean takes_list;
} kinds[N_OBJECT_KINDS] = {
  [OBJECT_TENSOR_PRE_HOOK] = { "tensor_pre_hook", call_tensor_hook, FALSE },
  [OBJECT_RETAINER] = { "cpp_tensor_pre_hook", call_retainer, FALSE },
  [OBJECT_PRE_HOOK] = { "pre_hook", call_node_hook, TRUE },
  [OBJECT_POST_HOOK] = { "post_hook", call_node_hook, TRUE },
  [OBJECT_LEAF_HOOK] = { "post_acc_grad_hook", call_leaf_hook, FALSE },
  [OBJECT_UNPACK] = { "unpack_hook", call_unpack, FALSE },
  [OBJECT_BACKWARD] = { "backward", call_backward, TRUE },
};

const char *
object_kind_get_name (ObjectKind kind)
{
  return kinds[kind].name;
}

static gboolean
check_arguments (const Object *self, AdjContext *cx, const AdjValue *args, guint n_args)
{
  const gboolean several =
      n_args > 0 && (args[0].kind == ADJ_VALUE_LIST || args[0].kind == ADJ_VALUE_TUPLE);
  gboolean good = n_args > 0 && several == kinds[self->kind].takes_list;

  if (self->kind == OBJECT_UNPACK)
    good = n_args == 0 || (n_args == 1 && args[0].kind == ADJ_VALUE_OPAQUE_OBJECT);
  if (self->kind == OBJECT_LEAF_HOOK)
    good = good && args[0].kind == ADJ_VALUE_TENSOR;
  if (self->kind == OBJECT_POST_HOOK)
    good = good && n_args == 2 && adj_value_is_container (&args[1]);
  if (self->kind == OBJECT_BACKWARD)
    good = good && n_args == 1 + self->node->n_inputs;
  if (!good)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE,
                      "%s: a %s is called with what it does not take", self->node->name,
                      kinds[self->kind].name);
  return good;
}

/* When the first hook of a list is called, fixes which hooks of it are called, as the engine does.
 */
static gboolean
is_removed (Object *self)
{
  for (Object *other = self; other != NULL && !self->follows; other = other->next)
    other->removed = other->hook != NULL && other->hook->removed;
  return self->removed;
}

/* The result of a hook that is not called. */
static AdjValue
leave_alone (const Object *self, const AdjValue *args)
{
  g_autofree AdjTensor **grads = NULL;

  if (self->kind == OBJECT_LEAF_HOOK)
    return ADJ_NONE;
  if (!kinds[self->kind].takes_list)
    return new_value (get_tensor (&args[0]));
  grads = list_tensors (&args[0]);
  return new_tuple (grads, args[0].n);
}

static gboolean
object_call (AdjOpaque *object,
             AdjContext *cx,
             const AdjValue *args,
             guint n_args,
             const AdjValue *kwargs,
             AdjValue *out)
{
  Object *self = (Object *) object;
  const AdjPlace place = *adj_context_get_place (cx);
  AdjPlace inside = self->node->place;
  const AdjGradNode *outer;
  gboolean done;

  *out = ADJ_NONE;
  if (!check_arguments (self, cx, args, n_args))
    return FALSE;
  if (is_removed (self))
    {
      *out = leave_alone (self, args);
      return TRUE;
    }
  inside.running = self->node->sequence + 1;
  adj_context_set_place (cx, &inside);
  outer = engine_enter_node (cx, self->node);
  done = kinds[self->kind].call (self, cx, args, n_args, out);
  engine_enter_node (cx, outer);
  adj_context_set_place (cx, &place);
  return done && !adj_context_has_error (cx);
}

const char *
object_get_name (const AdjOpaque *object)
{
  const Object *self = (const Object *) object;

  return self->hook != NULL ? hook_get_name (self->hook) : self->node->name;
}

static char *
object_describe (const AdjOpaque *object)
{
  return g_strdup_printf ("%s %s", kinds[((const Object *) object)->kind].name,
                          object_get_name (object));
}

static void
object_finalize (AdjOpaque *object)
{
  Object *self = (Object *) object;

  adj_grad_node_unref (self->node);
  adj_hook_unref (self->hook);
  adj_tensor_unref (self->tensor);
  g_clear_pointer (&self->saved, saved_unref);
}

static const AdjOpaqueClass object_class = {
  .name = "function of autograd",
  .call = object_call,
  .describe = object_describe,
  .finalize = object_finalize,
};

AdjOpaque *
object_new (ObjectKind kind, AdjGradNode *node, AdjHook *hook, AdjTensor *tensor)
{
  Object *self = (Object *) adj_opaque_new (&object_class, sizeof (Object));

  self->kind = kind;
  self->node = adj_grad_node_ref (node);
  self->hook = hook != NULL ? adj_hook_ref (hook) : NULL;
  self->tensor = adj_keep (tensor);
  return &self->parent;
}

void
object_set_next (AdjOpaque *object, AdjOpaque *next)
{
  ((Object *) object)->next = (Object *) next;
  ((Object *) next)->follows = TRUE;
}

AdjOpaque *
object_new_backward (AdjGradNode *node, gboolean once)
{
  Object *self = (Object *) object_new (OBJECT_BACKWARD, node, NULL, NULL);

  self->once = once;
  return &self->parent;
}

AdjOpaque *
object_new_unpack (AdjGradNode *node, Saved *saved, gboolean once)
{
  Object *self = (Object *) object_new (OBJECT_UNPACK, node, NULL, NULL);

  self->saved = saved_ref (saved);
  self->once = once;
  return &self->parent;
}
