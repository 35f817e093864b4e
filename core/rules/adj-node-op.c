/* SPDX-License-Identifier: MIT */
/* Nodes of backwards as PyTorch writes them since 2.7: which operator each is of and what it keeps.
 * One runs by the gradient rule of its operator: attributes of the node become the arguments and
 * results that the rule reads. */

#include "rules/adj-node-op.h"

#include <stdlib.h>
#include <string.h>

#include "ops/adj-op-table.h"
#include "ops/adj-ops.h"
#include "rules/adj-rule.h"
#include "tensor/adj-dtype-internal.h"

#define PREFIX "torch._dynamo.compiled_autograd.ops."

static const AdjNodeOp node_ops[] = {
#define NODE_OP(name, op, inputs, kept) { name, op, inputs, kept },
#include "rules/node-ops.inc"
#undef NODE_OP
};

/* What is known of an argument that is not kept itself. */
typedef struct
{
  gboolean has_any;
  AdjTensorMeta meta;
} Described;

typedef struct
{
  AdjContext *cx;
  const AdjNodeOp *self;
  const AdjRule *rule;
  const AdjSchema *schema;
  AdjArena *arena;
  guint64 kept_args; /* bit i: argument i is an attribute */
  AdjValue args[ADJ_MAX_ARGUMENTS];
  AdjValue results[ADJ_MAX_ARGUMENTS];
  Described described[ADJ_MAX_ARGUMENTS];
  guint n_items[ADJ_MAX_ARGUMENTS]; /* of an argument that is a list */
  AdjTensorMeta form;               /* of a gradient */
} NodeCall;

static gboolean
fail (const NodeCall *call, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list list;

  va_start (list, format);
  text = g_strdup_vprintf (format, list);
  va_end (list);
  adj_context_fail (call->cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED, "%s: %s", call->self->name, text);
  return FALSE;
}

/* -- attributes -- */

static gboolean
set_sizes (NodeCall *call, AdjTensorMeta *meta, const AdjValue *list)
{
  AdjSize sizes[ADJ_MAX_RANK];

  if (!adj_value_is_container (list) || list->n > ADJ_MAX_RANK)
    return fail (call, "sizes must be a list");
  for (guint i = 0; i < list->n; i++)
    if (!adj_value_get_size (&list->items[i], &sizes[i]))
      return fail (call, "a size must be an integer");
  adj_shape_init (&meta->shape, adj_context_get_symbols (call->cx), list->n, sizes);
  return TRUE;
}

static gboolean
set_dtype (NodeCall *call, AdjTensorMeta *meta, const AdjValue *value)
{
  AdjDType dtype = value->kind == ADJ_VALUE_DTYPE ? value->dtype : ADJ_DTYPE_NONE;

  if (value->kind == ADJ_VALUE_INT)
    dtype = adj_dtype_from_scalar_type (value->integer);
  if (dtype >= ADJ_N_DTYPES)
    return fail (call, "a dtype is the number of none that is known");
  meta->dtype = dtype;
  return TRUE;
}

static gboolean
take_sizes (NodeCall *call, guint arg, const AdjValue *value)
{
  Described *described = &call->described[arg];

  if (value->kind == ADJ_VALUE_NONE)
    return TRUE;
  described->has_any = TRUE;
  return set_sizes (call, &described->meta, value);
}

/* The first one alone: what else a rule asked for would be out of range. */
static gboolean
take_first_size (NodeCall *call, guint arg, const AdjValue *value)
{
  const AdjValue list = { .kind = ADJ_VALUE_LIST, .n = 1, .items = (AdjValue *) value };

  return take_sizes (call, arg, &list);
}

static gboolean
take_dtype (NodeCall *call, guint arg, const AdjValue *value)
{
  call->described[arg].has_any = TRUE;
  return set_dtype (call, &call->described[arg].meta, value);
}

/* An empty list where the tensor needs none. */
static gboolean
take_strides (NodeCall *call, guint arg, const AdjValue *value)
{
  AdjShape *shape = &call->described[arg].meta.shape;

  if (!adj_value_is_container (value) || value->n != shape->rank)
    return TRUE;
  for (guint i = 0; i < value->n; i++)
    if (!adj_value_get_size (&value->items[i], &shape->stride[i]))
      return fail (call, "a stride must be an integer");
  return TRUE;
}

/* (requires_grad, memory format, device, dtype, layout, pinned). */
static gboolean
take_options (NodeCall *call, guint arg, const AdjValue *value)
{
  Described *described = &call->described[arg];

  if (!adj_value_is_container (value) || value->n != 6)
    return fail (call, "options of a tensor are a tuple of 6");
  described->has_any = TRUE;
  if (value->items[2].kind == ADJ_VALUE_DEVICE)
    described->meta.device = value->items[2].device;
  return set_dtype (call, &described->meta, &value->items[3]);
}

/* (sizes, options). */
static gboolean
take_info (NodeCall *call, guint arg, const AdjValue *value)
{
  if (!adj_value_is_container (value) || value->n != 2)
    return fail (call, "what a zero gradient looks like is a tuple of 2");
  return take_sizes (call, arg, &value->items[0]) && take_options (call, arg, &value->items[1]);
}

/* (sizes, strides, offset). */
static gboolean
take_geometry (NodeCall *call, guint arg, const AdjValue *value)
{
  if (!adj_value_is_container (value) || value->n != 3)
    return fail (call, "how a tensor lies in memory is a tuple of 3");
  if (!take_sizes (call, arg, &value->items[0]) || !take_strides (call, arg, &value->items[1]))
    return FALSE;
  return adj_value_get_size (&value->items[2], &call->described[arg].meta.shape.offset) ||
         fail (call, "an offset must be an integer");
}

static gboolean
take_length (NodeCall *call, guint arg, const AdjValue *value)
{
  if (value->kind != ADJ_VALUE_INT || value->integer < 0 || value->integer > G_MAXUINT16)
    return fail (call, "the length of a list must be an integer");
  call->n_items[arg] = (guint) value->integer;
  return TRUE;
}

/* The metadata of the tensors of a list, made with the first attribute that speaks of them. */
static gboolean
describe_items (NodeCall *call, guint arg, const AdjValue *list)
{
  AdjValue *value = &call->args[arg];

  if (!adj_value_is_container (list))
    return fail (call, "what describes a list of tensors must be a list");
  if (value->kind == ADJ_VALUE_LIST)
    return value->n == list->n || fail (call, "a list of tensors is described with two lengths");
  *value = (AdjValue){ .kind = ADJ_VALUE_LIST, .n = list->n };
  value->items = adj_arena_new0 (call->arena, AdjValue, MAX (list->n, 1));
  for (guint i = 0; i < list->n; i++)
    {
      AdjTensorMeta *meta = adj_arena_new0 (call->arena, AdjTensorMeta, 1);

      *meta = call->form;
      value->items[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = meta };
    }
  return TRUE;
}

static gboolean
take_item_sizes (NodeCall *call, guint arg, const AdjValue *value)
{
  gboolean done = describe_items (call, arg, value);

  for (guint i = 0; done && i < value->n; i++)
    done = set_sizes (call, (AdjTensorMeta *) call->args[arg].items[i].meta, &value->items[i]);
  return done;
}

static gboolean
take_item_dtypes (NodeCall *call, guint arg, const AdjValue *value)
{
  gboolean done = describe_items (call, arg, value);

  for (guint i = 0; done && i < value->n; i++)
    done = set_dtype (call, (AdjTensorMeta *) call->args[arg].items[i].meta, &value->items[i]);
  return done;
}

/* What our rules have no use for: they ask sizes instead. */
static gboolean
take_nothing (NodeCall *call, guint arg, const AdjValue *value)
{
  return TRUE;
}

typedef struct
{
  const char *suffix;
  AdjKept what;
  gboolean (*take) (NodeCall *call, guint arg, const AdjValue *value);
} Aspect;

/* Behind the name of an argument and "_". */
static const Aspect aspects[] = {
  { "scalar_type", ADJ_KEPT_DTYPE, take_dtype },
  { "sym_sizes", ADJ_KEPT_SIZES, take_sizes },
  { "sizes", ADJ_KEPT_SIZES, take_sizes },
  { "sym_sizes_opt", ADJ_KEPT_SIZES, take_sizes },
  { "sym_argsize_0", ADJ_KEPT_FIRST_SIZE, take_first_size },
  { "sym_strides", ADJ_KEPT_STRIDES, take_strides },
  { "options", ADJ_KEPT_OPTIONS, take_options },
  { "info", ADJ_KEPT_INFO, take_info },
  { "geometry", ADJ_KEPT_GEOMETRY, take_geometry },
  { "size", ADJ_KEPT_LENGTH, take_length },
  { "args_sizes_symint", ADJ_KEPT_ITEM_SIZES, take_item_sizes },
  { "args_sizes", ADJ_KEPT_ITEM_SIZES, take_item_sizes },
  { "args_scalartypes", ADJ_KEPT_ITEM_DTYPES, take_item_dtypes },
  { "layout", ADJ_KEPT_LAYOUT, take_nothing },
  { "sym_numel", ADJ_KEPT_NUMEL, take_nothing },
  { "dim", ADJ_KEPT_RANK, take_nothing },
};

/* What an attribute is of: an argument, an aspect of one, or a result. */
typedef struct
{
  gint arg, result;     /* -1: of none */
  const Aspect *aspect; /* (nullable): %NULL: the argument itself */
} Attribute;

static gint
find_result (const AdjSchema *schema, const char *name)
{
  char *end;

  for (guint i = 0; i < schema->n_returns; i++)
    if (schema->returns[i].name != NULL && g_str_equal (schema->returns[i].name, name))
      return (gint) i;
  if (!g_str_has_prefix (name, "result"))
    return -1;
  if (name[6] == '\0')
    return 0;
  return (gint) (g_ascii_isdigit (name[6]) ? strtol (name + 6, &end, 10) : -1);
}

static const Aspect *
find_aspect (const char *suffix)
{
  for (guint i = 0; i < G_N_ELEMENTS (aspects); i++)
    if (g_str_equal (aspects[i].suffix, suffix))
      return &aspects[i];
  return NULL;
}

/* %FALSE: nothing here is called so. */
static gboolean
find_attribute (const AdjSchema *schema, const char *name, Attribute *out)
{
  *out = (Attribute){ -1, -1, NULL };
  for (guint i = 0; i < schema->n_arguments; i++)
    if (g_str_equal (schema->arguments[i].name, name))
      {
        out->arg = (gint) i;
        return TRUE;
      }
  for (guint i = 0; i < schema->n_arguments && out->arg < 0; i++)
    {
      const char *argument = schema->arguments[i].name;
      gsize length = strlen (argument);

      if (strncmp (argument, name, length) != 0 || name[length] != '_')
        continue;
      out->aspect = find_aspect (name + length + 1);
      out->arg = out->aspect != NULL ? (gint) i : -1;
    }
  if (out->arg < 0)
    out->result = find_result (schema, name);
  return out->arg >= 0 || (out->result >= 0 && out->result < ADJ_MAX_ARGUMENTS);
}

static gboolean
take_attribute (NodeCall *call, const char *name, const AdjValue *value)
{
  Attribute attribute;

  if (g_str_equal (name, "retain_variables"))
    return TRUE;
  if (!find_attribute (call->schema, name, &attribute))
    return fail (call, "keeps '%s', which is not understood", name);
  if (attribute.aspect != NULL)
    return attribute.aspect->take (call, (guint) attribute.arg, value);
  if (attribute.result >= 0)
    call->results[attribute.result] = *value;
  else
    {
      call->args[attribute.arg] = *value;
      call->kept_args |= (guint64) 1 << attribute.arg;
    }
  return TRUE;
}

/* -- the call -- */

/* Arguments that are not kept, since PyTorch's formula takes them to be as large as others. */
static const struct
{
  const char *op, *arg, *as;
} alike[] = {
  { "scatter.src", "src", "index" },
  { "scatter_add", "src", "index" },
};

/* %TRUE: argument @arg is taken to be as large as argument @index (out). */
static gboolean
find_alike (const AdjNodeOp *self, const AdjSchema *schema, guint arg, guint *index)
{
  for (guint i = 0; i < G_N_ELEMENTS (alike); i++)
    if (g_str_equal (alike[i].op, self->op) &&
        g_str_equal (alike[i].arg, schema->arguments[arg].name))
      for (*index = 0; *index < schema->n_arguments; (*index)++)
        if (g_str_equal (schema->arguments[*index].name, alike[i].as))
          return TRUE;
  return FALSE;
}

/* Operators without a record, and the record that has the same gradient. */
static const struct
{
  const char *op, *same;
} counterparts[] = {
  { "native_batch_norm", "_native_batch_norm_legit" },
};

/* (nullable) */
static const AdjOp *
find_op (const AdjNodeOp *self)
{
  const char *name = self->op;
  g_autofree char *target = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (counterparts); i++)
    if (g_str_equal (counterparts[i].op, name))
      name = counterparts[i].same;
  target =
      g_strdup_printf ("torch.ops.aten.%s%s", name, strchr (name, '.') != NULL ? "" : ".default");
  return adj_op_find (target);
}

static gboolean
set_up (NodeCall *call)
{
  const AdjOp *op = find_op (call->self);

  call->rule =
      op != NULL ? adj_rule_find (op, ADJ_RULE_GRAD, adj_context_get_release (call->cx)) : NULL;
  if (call->rule == NULL)
    return FALSE;
  call->schema = adj_op_get_schema (op);
  return TRUE;
}

/* Entry of the rule for the argument called @name. */
static guint
find_entry (const NodeCall *call, const char *name)
{
  guint i = 0;

  while (i < call->rule->n_entries &&
         !g_str_equal (call->rule->schema->arguments[call->rule->entries[i].arg].name, name))
    i++;
  return i;
}

static const AdjTensorMeta *
find_form (const AdjValue *grads)
{
  for (guint i = 0; i < grads->n; i++)
    if (grads->items[i].kind == ADJ_VALUE_TENSOR)
      return adj_tensor_get_meta (grads->items[i].tensor);
  return NULL;
}

static gboolean
take_attributes (NodeCall *call, const AdjValue *values, guint n)
{
  g_auto (GStrv) names = g_strsplit (call->self->kept, " ", -1);
  guint n_names = *call->self->kept != '\0' ? g_strv_length (names) : 0;

  if (n_names != n)
    return fail (call, "is given %u attributes, and keeps %u in PyTorch 2.15: %s", n, n_names,
                 call->self->kept);
  for (guint i = 0; i < call->schema->n_arguments; i++)
    call->described[i].meta = call->form;
  for (guint i = 0; i < n; i++)
    if (!take_attribute (call, names[i], &values[i]))
      return FALSE;
  return TRUE;
}

static gboolean
refuse_argument (NodeCall *call, guint i)
{
  return fail (call, "its formula here reads '%s', which it does not keep",
               call->schema->arguments[i].name);
}

/* Arguments that are not kept have their defaults, tensors what was told of them. */
static gboolean
complete_arg (NodeCall *call, guint i, const AdjRuleUse *use)
{
  const AdjArgument *argument = &call->schema->arguments[i];
  const gboolean reads = (((use->args | use->described_args) >> MIN (i, 63)) & 1) != 0;
  guint other;

  if (call->args[i].kind != ADJ_VALUE_NONE)
    return TRUE;
  if (find_alike (call->self, call->schema, i, &other) &&
      call->args[other].kind == ADJ_VALUE_TENSOR)
    call->described[i] = (Described){ TRUE, *adj_tensor_get_meta (call->args[other].tensor) };
  if (call->described[i].has_any)
    call->args[i] = (AdjValue){ .kind = ADJ_VALUE_META, .meta = &call->described[i].meta };
  else if (((call->kept_args >> i) & 1) == 0 && argument->has_default)
    call->args[i] = argument->default_value;
  else if (((call->kept_args >> i) & 1) == 0 && reads)
    return refuse_argument (call, i);
  return TRUE;
}

static AdjRuleUse
use_of (const AdjRule *rule, const gboolean *needed)
{
  AdjRuleUse use = { 0 };

  for (guint i = 0; i < rule->n_entries; i++)
    if (needed[i])
      {
        use.args |= rule->entries[i].use.args;
        use.described_args |= rule->entries[i].use.described_args;
      }
  return use;
}

/* Which entries are needed, by the flags, which go by the node's inputs. */
static gboolean
find_needed (const NodeCall *call, const AdjValue *flags, guint *entries, gboolean *needed)
{
  g_auto (GStrv) inputs = g_strsplit (call->self->inputs, " ", -1);
  guint n = g_strv_length (inputs);

  if (!adj_value_is_container (flags) || flags->n != n)
    return fail (call, "takes %u flags, one for each of: %s", n, call->self->inputs);
  for (guint i = 0; i < n; i++)
    {
      const gboolean is_needed = flags->items[i].kind == ADJ_VALUE_BOOL && flags->items[i].boolean;

      entries[i] = find_entry (call, inputs[i]);
      if (is_needed && entries[i] == call->rule->n_entries)
        return fail (call, "'%s' has no gradient here", inputs[i]);
      if (entries[i] < call->rule->n_entries)
        needed[entries[i]] = is_needed;
    }
  return TRUE;
}

static void
append (const NodeCall *call, GArray *items, guint entry, const AdjValue *values)
{
  guint arg = call->rule->entries[entry].arg;
  guint n = call->schema->arguments[arg].type.is_list ? call->n_items[arg] : 1;
  const AdjValue *value = &values[entry];

  for (guint i = 0; i < n; i++)
    {
      const AdjValue *item = value;
      AdjValue copy;

      if (adj_value_is_container (value))
        item = i < value->n ? &value->items[i] : &ADJ_NONE;
      copy = adj_value_copy (item);
      g_array_append_val (items, copy);
    }
}

/* (nullable) */
static const AdjValue *
find_arg (const NodeCall *call, const char *name, AdjValueKind kind)
{
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (g_str_equal (call->schema->arguments[i].name, name) && call->args[i].kind == kind)
      return &call->args[i];
  return NULL;
}

/* What a gradient looks like that is not there: of consecutive parts, each is as large as the part;
 * elsewhere all are alike. */
static void
describe_grad (const NodeCall *call, guint index, AdjTensorMeta *out)
{
  AdjSymbols *symbols = adj_context_get_symbols (call->cx);
  const AdjValue *self = find_arg (call, "self", ADJ_VALUE_META);
  const AdjValue *dim = find_arg (call, "dim", ADJ_VALUE_INT);
  const AdjValue *size = find_arg (call, "split_size", ADJ_VALUE_INT);
  const AdjValue *sizes = find_arg (call, "split_sizes", ADJ_VALUE_LIST);
  AdjSize part = ADJ_SIZE (0), all[ADJ_MAX_RANK];
  guint axis;

  *out = call->form;
  if (self == NULL || dim == NULL || (size == NULL && sizes == NULL))
    return;
  axis = (guint) (dim->integer < 0 ? dim->integer + self->meta->shape.rank : dim->integer);
  if (axis >= self->meta->shape.rank)
    return;
  *out = *self->meta;
  if (size != NULL && adj_size_is_int (out->shape.size[axis]))
    part = ADJ_SIZE (MIN (size->integer, out->shape.size[axis].word - index * size->integer));
  else if (sizes == NULL || index >= sizes->n || !adj_value_get_size (&sizes->items[index], &part))
    return;
  memcpy (all, self->meta->shape.size, sizeof all);
  all[axis] = part;
  adj_shape_init (&out->shape, symbols, out->shape.rank, all);
}

static gboolean
evaluate (NodeCall *call,
          const AdjValue *grads,
          const guint *entries,
          guint n,
          const gboolean *needed,
          AdjValue *out)
{
  g_autofree AdjTensor **tensors = g_new0 (AdjTensor *, grads->n + 1);
  g_autofree AdjTensorMeta *forms = g_new0 (AdjTensorMeta, grads->n + 1);
  const AdjRuleGrads of_call = { call->results, forms, tensors, grads->n, needed };
  AdjRuleCall rule_call = {
    .cx = call->cx, .rule = call->rule, .args = call->args, .grads = &of_call
  };
  AdjValue values[ADJ_MAX_ARGUMENTS];
  gboolean done;

  for (guint i = 0; i < grads->n; i++)
    {
      tensors[i] = grads->items[i].kind == ADJ_VALUE_TENSOR ? grads->items[i].tensor : NULL;
      if (tensors[i] != NULL)
        forms[i] = *adj_tensor_get_meta (tensors[i]);
      else
        describe_grad (call, i, &forms[i]);
    }
  adj_rule_call_init (&rule_call);
  done = adj_rule_call_eval_needed (&rule_call, values);
  if (done)
    {
      GArray *items = adj_value_array_new ();

      for (guint i = 0; i < n; i++)
        if (entries[i] < call->rule->n_entries)
          append (call, items, entries[i], values);
        else
          g_array_append_val (items, ADJ_NONE);
      *out = adj_value_array_end (items, ADJ_VALUE_TUPLE);
      g_array_unref (items);
    }
  adj_rule_call_clear (&rule_call);
  return done;
}

static gboolean
call_rule (NodeCall *call, const AdjValue *args, guint n_args, AdjValue *out)
{
  guint entries[ADJ_MAX_ARGUMENTS];
  gboolean needed[ADJ_MAX_ARGUMENTS] = { FALSE };
  const AdjTensorMeta *form = find_form (&args[0]);
  AdjRuleUse use;

  if (form != NULL)
    call->form = *form;
  if (!find_needed (call, &args[1], entries, needed) ||
      !take_attributes (call, args + 2, n_args - 2))
    return FALSE;
  if (form == NULL)
    memset (needed, 0, sizeof needed);
  use = use_of (call->rule, needed);
  for (guint i = 0; i < call->schema->n_arguments; i++)
    if (!complete_arg (call, i, &use))
      return FALSE;
  return evaluate (call, &args[0], entries, args[1].n, needed, out);
}

gboolean
adj_node_op_call (
    AdjContext *cx, const AdjNodeOp *self, const AdjValue *args, guint n_args, AdjValue *out)
{
  NodeCall *call = g_new0 (NodeCall, 1);
  gboolean done;

  *out = ADJ_NONE;
  call->cx = cx;
  call->self = self;
  call->arena = adj_arena_new ();
  if (!set_up (call))
    done = fail (call, "the gradient of %s is not known here", self->op);
  else if (n_args < 2 || !adj_value_is_container (&args[0]) || !adj_value_is_container (&args[1]))
    done = fail (call, "takes a list of gradients and a list of flags");
  else
    done = call_rule (call, args, n_args, out);
  adj_arena_free (call->arena);
  g_free (call);
  return done;
}

/* -- forms -- */

/* %FALSE: an attribute is not understood. */
static gboolean
read_attribute (const AdjSchema *schema, const char *name, AdjNodeAttribute *out)
{
  Attribute attribute;

  *out = (AdjNodeAttribute){ name, -1, -1, ADJ_KEPT_RETAIN };
  if (g_str_equal (name, "retain_variables"))
    return TRUE;
  if (!find_attribute (schema, name, &attribute))
    return FALSE;
  out->arg = attribute.arg;
  out->result = attribute.result;
  out->what = attribute.aspect != NULL ? attribute.aspect->what : ADJ_KEPT_ITSELF;
  return TRUE;
}

static gboolean
read_input (const AdjSchema *schema, const char *name, guint8 *out)
{
  for (guint i = 0; i < schema->n_arguments; i++)
    if (g_str_equal (schema->arguments[i].name, name))
      {
        *out = (guint8) i;
        return TRUE;
      }
  return FALSE;
}

/* (transfer full) (nullable): never freed, as the table is not. */
static AdjNodeForm *
form_new (const AdjNodeOp *self, const AdjSchema *schema)
{
  AdjNodeForm *form = g_new0 (AdjNodeForm, 1);
  char **inputs = g_strsplit (self->inputs, " ", -1);
  char **kept = *self->kept != '\0' ? g_strsplit (self->kept, " ", -1) : g_new0 (char *, 1);
  gboolean understood = TRUE;
  guint as;

  form->node_op = self;
  form->target = g_strconcat (PREFIX, self->name, NULL);
  form->n_inputs = g_strv_length (inputs);
  form->inputs = g_new0 (guint8, form->n_inputs + 1);
  form->n_attributes = g_strv_length (kept);
  form->alike = -1;
  for (guint i = 0; i < schema->n_arguments; i++)
    if (find_alike (self, schema, i, &as))
      {
        form->alike = (gint) i;
        form->as = as;
      }
  form->attributes = g_new0 (AdjNodeAttribute, form->n_attributes + 1);
  for (guint i = 0; i < form->n_inputs && understood; i++)
    understood = read_input (schema, inputs[i], &form->inputs[i]);
  for (guint i = 0; i < form->n_attributes && understood; i++)
    understood = read_attribute (schema, kept[i], &form->attributes[i]);
  g_strfreev (inputs);
  if (understood)
    {
      g_free (kept); /* the names stay */
      return form;
    }
  g_strfreev (kept);
  g_free ((char *) form->target);
  g_free (form->inputs);
  g_free (form->attributes);
  g_free (form);
  return NULL;
}

static GHashTable *
make_forms (void)
{
  GHashTable *forms = g_hash_table_new (NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (node_ops); i++)
    {
      const AdjOp *op = find_op (&node_ops[i]);
      AdjNodeForm *form = NULL;

      if (op != NULL && !g_hash_table_contains (forms, op))
        form = form_new (&node_ops[i], adj_op_get_schema (op));
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

/* -- the table -- */

static int
compare_names (const void *name, const void *node_op)
{
  return strcmp (name, ((const AdjNodeOp *) node_op)->name);
}

const AdjNodeOp *
adj_node_op_find (const char *target)
{
  if (!g_str_has_prefix (target, PREFIX))
    return NULL;
  return bsearch (target + strlen (PREFIX), node_ops, G_N_ELEMENTS (node_ops), sizeof *node_ops,
                  compare_names);
}

guint
adj_node_ops_get_n (void)
{
  return G_N_ELEMENTS (node_ops);
}

const AdjNodeOp *
adj_node_ops_get (guint index)
{
  g_return_val_if_fail (index < G_N_ELEMENTS (node_ops), NULL);

  return &node_ops[index];
}
