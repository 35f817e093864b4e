/* SPDX-License-Identifier: MIT */
/* Describes the inputs: shapes over the program's own symbols, and which are the same object, views
 * of one another, or leaves. */

#include "aot/aot-private.h"

#include "aot/composite-private.h"
#include "autograd/adj-autograd.h"
#include "ir/adj-graph.h"
#include "rules/adj-operators.h"
#include "trace/adj-examples.h"

typedef struct
{
  AotProgram *program;
  AdjContext *cx;
  AdjExamples *examples;
  GHashTable *objects;  /* AdjTensor of the user → its number, plus one */
  GHashTable *storages; /* AdjStorage in @cx → its number, plus one */
  guint n_objects;
} Description;

static guint
number_object (Description *description, AdjTensor *tensor)
{
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (description->objects, tensor));

  if (number == 0)
    {
      number = ++description->n_objects;
      g_hash_table_insert (description->objects, tensor, GUINT_TO_POINTER (number));
    }
  return number - 1;
}

static gint32
number_storage (Description *description, AdjTensor *fake)
{
  gpointer storage = adj_tensor_get_storage (fake);
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (description->storages, storage));

  if (number == 0)
    {
      number = g_hash_table_size (description->storages) + 1;
      g_hash_table_insert (description->storages, storage, GUINT_TO_POINTER (number));
    }
  return (gint32) number - 1;
}

static void
describe_tensor (Description *description, AdjTensor *tensor, AotArgument *argument)
{
  AdjTensor *base = adj_tensor_get_base (tensor);

  argument->object = number_object (description, tensor);
  argument->is_leaf = adj_tensor_get_grad_node (tensor) == NULL;
  argument->is_freed =
      adj_storage_get_n_bytes (adj_tensor_get_storage (tensor)) == 0 &&
      !adj_size_same (adj_shape_numel (&adj_tensor_get_meta (tensor)->shape, NULL), ADJ_SIZE (0));
  argument->storage_bytes = adj_storage_get_n_bytes (adj_tensor_get_storage (tensor));
  if (base == NULL)
    return;
  argument->base = (gint) number_object (description, base);
  argument->base_meta = *adj_tensor_get_meta (base);
  argument->base_meta.requires_grad = adj_tensor_get_requires_grad (base);
  argument->base_is_leaf = adj_tensor_get_grad_node (base) == NULL;
}

/* Of an input of Dynamo's, which does not say: what no parameter is may come from a graph before,
 * and is no leaf then, so that it may be written. */
static gboolean
may_have_history (const AdjValue *value, const AdjNodeMeta *observed)
{
  return value->kind == ADJ_VALUE_META && observed != NULL && observed->source != NULL &&
         observed->parameter == NULL;
}

static gboolean
describe_leaf (Description *description,
               const AdjValue *value,
               const AdjNodeMeta *observed,
               AotArgument *argument)
{
  AdjValue fake;
  AdjTensorMeta meta;

  *argument = (AotArgument){ .base = -1, .is_leaf = TRUE, .observed = observed };
  argument->is_size = value->kind == ADJ_VALUE_SIZE;
  argument->object = description->n_objects;
  if (!adj_examples_import (description->examples, value, &fake))
    return FALSE;
  if (value->kind == ADJ_VALUE_TENSOR)
    describe_tensor (description, value->tensor, argument);
  else
    {
      argument->is_leaf = !may_have_history (value, observed);
      description->n_objects++;
    }
  if (fake.kind == ADJ_VALUE_TENSOR)
    {
      meta = *adj_tensor_get_meta (fake.tensor);
      meta.storage = number_storage (description, fake.tensor);
      if (value->kind == ADJ_VALUE_TENSOR)
        meta.requires_grad = adj_tensor_get_requires_grad (value->tensor);
      argument->value = adj_value_copy (&(AdjValue){ .kind = ADJ_VALUE_META, .meta = &meta });
      g_ptr_array_add (description->program->fakes, fake.tensor);
    }
  else if (value->kind == ADJ_VALUE_OPAQUE_OBJECT)
    {
      /* Each trace makes its own fake object. */
      argument->value = adj_value_copy (value);
      adj_value_clear (&fake);
    }
  else
    argument->value = fake;
  return TRUE;
}

/* Describes the dense parts of @argument. */
static gboolean
describe_parts (Description *description, const AdjValue *value, AotArgument *argument)
{
  g_autoptr (GArray) dense = g_array_new (FALSE, FALSE, sizeof (AdjValue));
  gboolean done = TRUE;

  argument->composite = aot_composite_describe (value);
  g_ptr_array_add (description->program->composites, argument->composite);
  if (argument->composite->klass == NULL)
    return TRUE;
  argument->leaves = aot_arguments_new ();
  g_ptr_array_add (description->program->leaves, argument->leaves);
  aot_composite_unwrap (value, dense);
  for (guint i = 0; i < dense->len && done; i++)
    {
      AotArgument leaf;

      done = describe_leaf (description, &g_array_index (dense, AdjValue, i), NULL, &leaf);
      leaf.place = argument->place;
      leaf.base = -1;
      leaf.is_leaf = TRUE;
      if (done)
        g_array_append_val (argument->leaves, leaf);
    }
  return done;
}

static gboolean
describe_input (Description *description, const AdjValue *value, const AdjNodeMeta *observed)
{
  AotArgument argument;

  if (!describe_leaf (description, value, observed, &argument))
    return FALSE;
  argument.place = description->program->arguments->len;
  g_array_append_val (description->program->arguments, argument);
  return describe_parts (
      description, value,
      AOT_ARGUMENT (description->program, description->program->arguments->len - 1));
}

static const AdjNodeMeta *
find_node_meta (const AotProgram *program, guint index)
{
  AdjNodeId source = aot_find_source (program->options, index);

  return adj_node_id_is_valid (source)
             ? &adj_graph_get_node (program->options->like, source.index)->meta
             : NULL;
}

gboolean
aot_describe_inputs (AotProgram *program, const AdjValue *inputs, guint n, GError **error)
{
  g_autoptr (AdjContext) cx = adj_context_new_empty (program->symbols);
  g_autoptr (AdjExamples) examples = adj_examples_new (cx, program->options->symbols, FALSE);
  g_autoptr (GHashTable) objects = g_hash_table_new (NULL, NULL);
  g_autoptr (GHashTable) storages = g_hash_table_new (NULL, NULL);
  Description description = {
    .program = program,
    .cx = cx,
    .examples = examples,
    .objects = objects,
    .storages = storages,
  };

  for (guint i = 0; i < n; i++)
    if (!describe_input (&description, &inputs[i], find_node_meta (program, i)))
      {
        adj_context_take_error (cx, error);
        g_prefix_error (error, "input %u: ", i);
        return FALSE;
      }
  return TRUE;
}
