/* SPDX-License-Identifier: MIT */
/* The node of an operator in PyTorch's form: one call, with the values that PyTorch's node saves
 * (compiled_autograd/SPEC.md §4.6). */

#include "autograd/op-node-private.h"
#include "tensor/adj-dtype-internal.h"

/* -- what is kept for it -- */

static gboolean
asks_for_shape (AdjKept what)
{
  return what != ADJ_KEPT_ITSELF && what != ADJ_KEPT_DTYPE && what != ADJ_KEPT_LENGTH &&
         what != ADJ_KEPT_LAYOUT && what != ADJ_KEPT_RETAIN;
}

/* (nullable): entry of the rule for argument @arg; @first (out): its first edge. */
static const AdjRuleEntry *
find_entry (const OpNode *op_node, guint arg, guint *index, guint *first)
{
  *first = 0;
  for (*index = 0; *index < op_node->rule->n_entries; (*index)++)
    {
      if (op_node->rule->entries[*index].arg == arg)
        return &op_node->rule->entries[*index];
      *first += op_node_count_edges (op_node, *index);
    }
  return NULL;
}

/* (nullable): metadata of the gradient of argument @arg, or of its item @item. */
static const AdjTensorMeta *
find_edge_meta (const OpNode *op_node, guint arg, guint item)
{
  const AdjGradNode *node = &op_node->parent;
  guint index, first;

  if (find_entry (op_node, arg, &index, &first) == NULL ||
      item >= op_node_count_edges (op_node, index) || node->edges[first + item].node == NULL)
    return NULL;
  return &node->edges[first + item].node->inputs[node->edges[first + item].input];
}

static gboolean
is_missing (const OpNode *op_node, const AdjOpCall *call, const AdjNodeAttribute *attribute)
{
  const guint arg = (guint) attribute->arg;

  if (attribute->arg < 0 || op_node->args[arg].kind != ADJ_VALUE_NONE ||
      call->args[arg].kind == ADJ_VALUE_NONE)
    return FALSE;
  if (attribute->what == ADJ_KEPT_ITSELF)
    return call->schema->arguments[arg].type.kind != ADJ_TYPE_KIND_TENSOR;
  return attribute->what != ADJ_KEPT_LENGTH && find_edge_meta (op_node, arg, 0) == NULL;
}

/* Keeps the metadata of an argument, or only its dtype if the attribute needs no shape. */
static void
keep (OpNode *op_node, const AdjOpCall *call, const AdjNodeAttribute *attribute)
{
  const AdjValue *arg = &call->args[attribute->arg];
  AdjValue *kept = &op_node->kept[attribute->arg];

  if (arg->kind == ADJ_VALUE_TENSOR && !asks_for_shape (attribute->what))
    {
      if (kept->kind == ADJ_VALUE_NONE)
        *kept = ADJ_DTYPE (adj_tensor_get_meta (arg->tensor)->dtype);
      return;
    }
  if (kept->kind != ADJ_VALUE_NONE && kept->kind != ADJ_VALUE_DTYPE)
    return;
  adj_value_map (arg, op_node_describe_leaf, NULL, kept);
}

void
op_node_keep_for_form (OpNode *op_node, const AdjOpCall *call)
{
  const AdjNodeForm *form = op_node->rule != NULL ? adj_node_form_find (op_node->op) : NULL;

  for (guint i = 0; form != NULL && i < form->n_attributes; i++)
    {
      if (!is_missing (op_node, call, &form->attributes[i]))
        continue;
      if (op_node->kept == NULL)
        op_node->kept = g_new0 (AdjValue, call->schema->n_arguments + 1);
      keep (op_node, call, &form->attributes[i]);
    }
}

void
op_node_use_form (OpNode *op_node, const AdjOpCall *call)
{
  const AdjNodeForm *form =
      adj_context_get_release (call->cx) != NULL ? adj_node_form_find (op_node->op) : NULL;
  guint64 args = 0, results = 0;

  for (guint i = 0; i < op_node->rule->n_entries; i++)
    {
      args |= op_node->rule->entries[i].use.args;
      results |= op_node->rule->entries[i].use.results;
    }
  for (guint i = 0; form != NULL && i < form->n_attributes; i++)
    {
      const AdjNodeAttribute *attribute = &form->attributes[i];

      if (attribute->what != ADJ_KEPT_ITSELF)
        continue;
      if (attribute->result >= 0 && attribute->result < 63)
        op_node->use.results |= ~results & (G_GUINT64_CONSTANT (1) << attribute->result);
      else if (attribute->arg >= 0 && attribute->arg < 63 &&
               call->args[attribute->arg].kind == ADJ_VALUE_TENSOR)
        op_node->use.args |= ~args & (G_GUINT64_CONSTANT (1) << attribute->arg);
    }
}

/* -- whether there is a form -- */

static gboolean
holds_saved (const AdjValue *value)
{
  gboolean any = value->kind == ADJ_VALUE_NODE;

  for (guint i = 0; adj_value_is_container (value) && i < value->n && !any; i++)
    any = holds_saved (&value->items[i]);
  return any;
}

static gboolean
has_attribute (const AdjNodeForm *form, gint arg, gint result)
{
  for (guint i = 0; i < form->n_attributes; i++)
    if (form->attributes[i].what == ADJ_KEPT_ITSELF && form->attributes[i].arg == arg &&
        form->attributes[i].result == result)
      return TRUE;
  return FALSE;
}

static gboolean
is_described (const AdjNodeForm *form, guint arg)
{
  for (guint i = 0; i < form->n_attributes; i++)
    if (form->attributes[i].arg == (gint) arg)
      return TRUE;
  return FALSE;
}

static const AdjShape *
shape_of (const OpNode *op_node, guint arg)
{
  const AdjValue *value = &op_node->args[arg];

  if (value->kind == ADJ_VALUE_META)
    return &value->meta->shape;
  return value->kind == ADJ_VALUE_NODE
             ? &saved_get_meta (g_ptr_array_index (op_node->saved, value->node.index))->shape
             : NULL;
}

/* Whether argument @arg has the same sizes as the one that PyTorch takes them from. */
static gboolean
is_alike (const AdjNodeForm *form, const OpNode *op_node, guint arg)
{
  const AdjShape *one = shape_of (op_node, arg), *other;

  if (form->alike != (gint) arg)
    return FALSE;
  other = shape_of (op_node, form->as);
  return one != NULL && other != NULL && adj_shape_same_sizes (one, other, NULL);
}

/* Whether the rule reads metadata of a tensor (META) in @value. */
static gboolean
holds_looks (const AdjValue *value)
{
  gboolean any = value->kind == ADJ_VALUE_META;

  for (guint i = 0; adj_value_is_container (value) && i < value->n && !any; i++)
    any = holds_looks (&value->items[i]);
  return any;
}

static gboolean
has_input (const AdjNodeForm *form, guint arg)
{
  for (guint i = 0; i < form->n_inputs; i++)
    if (form->inputs[i] == arg)
      return TRUE;
  return FALSE;
}

/* Whether PyTorch's node saves every tensor that ours does, and has all of our edges. */
static gboolean
covers (const AdjNodeForm *form, const OpNode *op_node)
{
  for (guint i = 0; i < adj_op_get_schema (op_node->op)->n_arguments; i++)
    if ((holds_saved (&op_node->args[i]) && !has_attribute (form, (gint) i, -1)) ||
        (holds_looks (&op_node->args[i]) && !is_described (form, i) &&
         !is_alike (form, op_node, i)))
      return FALSE;
  for (guint i = 0; i < op_node->n_results; i++)
    if (holds_saved (&op_node->results[i]) && !has_attribute (form, -1, (gint) i))
      return FALSE;
  for (guint i = 0; i < op_node->rule->n_entries; i++)
    if (!has_input (form, op_node->rule->entries[i].arg))
      return FALSE;
  return TRUE;
}

const AdjNodeForm *
grad_node_get_form (const AdjGradNode *node)
{
  const OpNode *op_node = (const OpNode *) node;
  const AdjNodeForm *form;

  if (node->klass != &op_node_class || op_node->rule == NULL)
    return NULL;
  form = adj_node_form_find (op_node->op);
  return form != NULL && covers (form, op_node) ? form : NULL;
}

guint
grad_node_get_form_edges (const AdjGradNode *node, guint input, guint *first)
{
  const OpNode *op_node = (const OpNode *) node;
  const AdjNodeForm *form = adj_node_form_find (op_node->op);
  guint index;

  return find_entry (op_node, form->inputs[input], &index, first) != NULL
             ? op_node_count_edges (op_node, index)
             : 0;
}

/* -- what it keeps, in PyTorch's order -- */

typedef struct
{
  OpNode *op_node;
  GradVisitor *visitor;
  const char *name;
  guint arg;
  const AdjArgument *argument; /* (nullable): of a result */
} FormVisit;

static void
visit_list (const FormVisit *visit, AdjValueKind kind, guint n)
{
  AdjValue list = { .kind = kind, .n = n };

  visit->visitor->leaf (visit->visitor, visit->name, &list, FALSE);
}

static void
visit_int (const FormVisit *visit, gint64 number)
{
  visit->visitor->leaf (visit->visitor, visit->name, &ADJ_INT (number), FALSE);
}

static void
visit_size (const FormVisit *visit, AdjSize size)
{
  AdjValue value = adj_value_from_size (size);

  visit->visitor->size (visit->visitor, visit->name, &value);
}

static void
visit_sizes (const FormVisit *visit, const AdjSize *sizes, guint n)
{
  visit_list (visit, ADJ_VALUE_LIST, n);
  for (guint i = 0; i < n; i++)
    visit_size (visit, sizes[i]);
}

static void
visit_dtype (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_int (visit, adj_dtype_get_scalar_type (meta->dtype));
}

static void
visit_shape (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_sizes (visit, meta->shape.size, meta->shape.rank);
}

static void
visit_first_size (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_size (visit, meta->shape.rank > 0 ? meta->shape.size[0] : ADJ_SIZE (1));
}

static void
visit_size_from_end (const FormVisit *visit, const AdjShape *shape, guint back)
{
  visit_size (visit, shape->rank >= back ? shape->size[shape->rank - back] : ADJ_SIZE (1));
}

static void
visit_last_size (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_size_from_end (visit, &meta->shape, 1);
}

static void
visit_second_last_size (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_size_from_end (visit, &meta->shape, 2);
}

static void
visit_third_last_size (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_size_from_end (visit, &meta->shape, 3);
}

/* PyTorch saves strides only of tensors that require a gradient. */
static void
visit_strides (const FormVisit *visit, const AdjTensorMeta *meta)
{
  const gboolean there = find_edge_meta (visit->op_node, visit->arg, 0) != NULL;

  visit_sizes (visit, meta->shape.stride, there ? meta->shape.rank : 0);
}

/* TensorOptions; requires_grad, memory format and pinned memory are absent, since no rule reads
 * them. */
static void
visit_options (const FormVisit *visit, const AdjTensorMeta *meta)
{
  AdjValue device = { .kind = ADJ_VALUE_DEVICE, .device = meta->device };

  visit_list (visit, ADJ_VALUE_TUPLE, 6);
  for (guint i = 0; i < 2; i++)
    visit->visitor->leaf (visit->visitor, visit->name, &(AdjValue){ .kind = ADJ_VALUE_NONE },
                          FALSE);
  visit->visitor->leaf (visit->visitor, visit->name, &device, FALSE);
  visit_dtype (visit, meta);
  visit_int (visit, 0);
  visit->visitor->leaf (visit->visitor, visit->name, &(AdjValue){ .kind = ADJ_VALUE_NONE }, FALSE);
}

static void
visit_info (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_list (visit, ADJ_VALUE_TUPLE, 2);
  visit_shape (visit, meta);
  visit_options (visit, meta);
}

static void
visit_geometry (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_list (visit, ADJ_VALUE_TUPLE, 3);
  visit_shape (visit, meta);
  visit_sizes (visit, meta->shape.stride, meta->shape.rank);
  visit_size (visit, meta->shape.offset);
}

static void
visit_layout (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_int (visit, 0);
}

static void
visit_rank (const FormVisit *visit, const AdjTensorMeta *meta)
{
  visit_int (visit, meta->shape.rank);
}

static void
visit_numel (const FormVisit *visit, const AdjTensorMeta *meta)
{
  AdjSize numel = ADJ_SIZE (1);

  for (guint i = 0; i < meta->shape.rank; i++)
    numel = adj_size_mul (adj_context_get_symbols (visit->visitor->cx), numel, meta->shape.size[i]);
  visit_size (visit, numel);
}

static void (*const of_meta[ADJ_N_KEPT]) (const FormVisit *visit, const AdjTensorMeta *meta) = {
  [ADJ_KEPT_DTYPE] = visit_dtype,
  [ADJ_KEPT_SIZES] = visit_shape,
  [ADJ_KEPT_FIRST_SIZE] = visit_first_size,
  [ADJ_KEPT_STRIDES] = visit_strides,
  [ADJ_KEPT_OPTIONS] = visit_options,
  [ADJ_KEPT_INFO] = visit_info,
  [ADJ_KEPT_GEOMETRY] = visit_geometry,
  [ADJ_KEPT_ITEM_SIZES] = visit_shape,
  [ADJ_KEPT_ITEM_DTYPES] = visit_dtype,
  [ADJ_KEPT_LAYOUT] = visit_layout,
  [ADJ_KEPT_NUMEL] = visit_numel,
  [ADJ_KEPT_RANK] = visit_rank,
  [ADJ_KEPT_LAST_SIZE] = visit_last_size,
  [ADJ_KEPT_SECOND_LAST_SIZE] = visit_second_last_size,
  [ADJ_KEPT_THIRD_LAST_SIZE] = visit_third_last_size,
};

/* A number in the place of a tensor has the dtype of its kind. */
static AdjDType
dtype_of_number (const AdjValue *number)
{
  static const AdjDType dtypes[ADJ_N_VALUE_KINDS] = {
    [ADJ_VALUE_BOOL] = ADJ_DTYPE_BOOL,    [ADJ_VALUE_INT] = ADJ_DTYPE_I64,
    [ADJ_VALUE_SIZE] = ADJ_DTYPE_I64,     [ADJ_VALUE_FLOAT] = ADJ_DTYPE_F64,
    [ADJ_VALUE_COMPLEX] = ADJ_DTYPE_C128,
  };

  return dtypes[number->kind];
}

/* Finds metadata for @value, or for the argument's edge @item; %FALSE: none. */
static gboolean
find_meta (const FormVisit *visit, const AdjValue *value, guint item, AdjTensorMeta *out)
{
  const AdjTensorMeta *edge = find_edge_meta (visit->op_node, visit->arg, item);

  if (value->kind == ADJ_VALUE_NODE)
    *out = *saved_get_meta (g_ptr_array_index (visit->op_node->saved, value->node.index));
  else if (value->kind == ADJ_VALUE_META)
    *out = *value->meta;
  else if (edge != NULL)
    *out = *edge;
  else
    {
      *out = (AdjTensorMeta){ .storage = -1 };
      out->dtype = value->kind == ADJ_VALUE_DTYPE ? value->dtype : dtype_of_number (value);
      return value->kind != ADJ_VALUE_NONE;
    }
  return TRUE;
}

static void visit_itself (const FormVisit *visit, AdjValue *value);

static void
visit_nothing (const FormVisit *visit, gboolean is_tensor)
{
  visit->visitor->leaf (visit->visitor, visit->name, &(AdjValue){ .kind = ADJ_VALUE_NONE },
                        is_tensor);
}

/* A single number stands for a list of fixed length with equal items. */
static gboolean
visit_repeated (const FormVisit *visit, AdjValue *value)
{
  const AdjType *type = visit->argument != NULL ? &visit->argument->type : NULL;
  FormVisit item = *visit;
  AdjArgument one;

  if (type == NULL || !type->is_list || type->list_size < 1 || value->kind != ADJ_VALUE_INT)
    return FALSE;
  one = *visit->argument;
  one.type.is_list = FALSE;
  item.argument = &one;
  visit_list (visit, ADJ_VALUE_LIST, (guint) type->list_size);
  for (gint i = 0; i < type->list_size; i++)
    visit_itself (&item, value);
  return TRUE;
}

static void
visit_items_of (const FormVisit *visit, AdjValue *value)
{
  FormVisit item = *visit;
  AdjArgument one = { NULL };

  if (visit->argument != NULL)
    {
      one = *visit->argument;
      one.type.is_list = FALSE;
      item.argument = &one;
    }
  for (guint i = 0; adj_value_is_container (value) && i < value->n; i++)
    visit_itself (&item, &value->items[i]);
}

static void
visit_itself (const FormVisit *visit, AdjValue *value)
{
  const gboolean is_tensor =
      visit->argument == NULL || visit->argument->type.kind == ADJ_TYPE_KIND_TENSOR;
  const gboolean is_size =
      visit->argument != NULL && visit->argument->type.kind == ADJ_TYPE_KIND_SYMINT;
  AdjValue list = *value;

  if (visit_repeated (visit, value))
    return;
  if (value->kind == ADJ_VALUE_TUPLE)
    list.kind = ADJ_VALUE_LIST;
  if (value->kind == ADJ_VALUE_NODE)
    visit->visitor->saved (visit->visitor, visit->name, &visit->op_node->parent,
                           g_ptr_array_index (visit->op_node->saved, value->node.index));
  else if (value->kind == ADJ_VALUE_META)
    visit_nothing (visit, TRUE);
  else if (value->kind == ADJ_VALUE_DTYPE)
    visit_int (visit, adj_dtype_get_scalar_type (value->dtype));
  else if (is_size && (value->kind == ADJ_VALUE_INT || value->kind == ADJ_VALUE_SIZE))
    visit->visitor->size (visit->visitor, visit->name, value);
  else
    visit->visitor->leaf (visit->visitor, visit->name, &list, is_tensor);
  visit_items_of (visit, value);
}

/* Number of tensors in the list at @visit's argument. */
static guint
count_items (const FormVisit *visit)
{
  guint index, first;

  return find_entry (visit->op_node, visit->arg, &index, &first) != NULL
             ? op_node_count_edges (visit->op_node, index)
             : 0;
}

static void
visit_items (const FormVisit *visit, AdjKept what, const AdjValue *value)
{
  guint n = adj_value_is_container (value) ? value->n : count_items (visit);
  AdjTensorMeta meta;

  visit_list (visit, ADJ_VALUE_LIST, n);
  for (guint i = 0; i < n; i++)
    if (find_meta (visit, adj_value_is_container (value) ? &value->items[i] : &ADJ_NONE, i, &meta))
      of_meta[what](visit, &meta);
    else
      visit_nothing (visit, FALSE);
}

/* (transfer none): what the node has saved of argument @arg. */
static AdjValue *
get_arg (OpNode *op_node, guint arg)
{
  if (op_node->args[arg].kind == ADJ_VALUE_NONE && op_node->kept != NULL)
    return &op_node->kept[arg];
  return &op_node->args[arg];
}

static void
visit_attribute (OpNode *op_node, GradVisitor *visitor, const AdjNodeAttribute *attribute)
{
  const AdjSchema *schema = adj_op_get_schema (op_node->op);
  FormVisit visit = { op_node, visitor, attribute->name, (guint) MAX (attribute->arg, 0), NULL };
  AdjValue none = ADJ_NONE;
  AdjValue *value = &none;
  const AdjSize nothing = ADJ_SIZE (0); /* of an absent tensor */
  AdjTensorMeta meta;

  if (attribute->arg >= 0)
    {
      visit.argument = &schema->arguments[attribute->arg];
      value = get_arg (op_node, visit.arg);
    }
  else if (attribute->result >= 0 && (guint) attribute->result < op_node->n_results)
    value = &op_node->results[attribute->result];
  if (attribute->what == ADJ_KEPT_RETAIN)
    visitor->leaf (visitor, attribute->name, &ADJ_BOOL (TRUE), FALSE);
  else if (attribute->what == ADJ_KEPT_ITSELF)
    visit_itself (&visit, value);
  else if (attribute->what == ADJ_KEPT_AS_SIZE)
    visitor->size (visitor, attribute->name, value);
  else if (attribute->what == ADJ_KEPT_LENGTH)
    visit_int (&visit, count_items (&visit));
  else if (attribute->what == ADJ_KEPT_ITEM_SIZES || attribute->what == ADJ_KEPT_ITEM_DTYPES)
    visit_items (&visit, attribute->what, value);
  else if (find_meta (&visit, value, 0, &meta))
    of_meta[attribute->what](&visit, &meta);
  else if (attribute->what == ADJ_KEPT_SIZES)
    visit_sizes (&visit, &nothing, 1);
  else
    visit_nothing (&visit, FALSE);
}

gboolean
grad_node_visit_form (AdjGradNode *node, GradVisitor *visitor)
{
  OpNode *op_node = (OpNode *) node;
  const AdjNodeForm *form = adj_node_form_find (op_node->op);

  if (op_node->released)
    return FALSE;
  for (guint i = 0; i < form->n_attributes; i++)
    visit_attribute (op_node, visitor, &form->attributes[i]);
  return TRUE;
}
