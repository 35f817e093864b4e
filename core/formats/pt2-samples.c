/* SPDX-License-Identifier: MIT */
/* What a program of torch.export was called with: its weights and objects by their names, the
 * sample inputs of its archive. */

#include "formats/pt2-private.h"
#include "formats/torch-save-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"

/* The leaves of (args, kwargs), keys left out. */
static void
gather_leaves (const AdjValue *value, GArray *leaves)
{
  gboolean is_dict = value->kind == ADJ_VALUE_DICT;

  if (!adj_value_is_container (value) || value->kind == ADJ_VALUE_COMPLEX)
    {
      AdjValue copy = adj_value_copy (value);

      g_array_append_val (leaves, copy);
      return;
    }
  for (guint i = is_dict; i < value->n; i += 1 + is_dict)
    gather_leaves (&value->items[i], leaves);
}

/* (transfer full): array of values; %NULL when the archive has none. */
static GArray *
read_samples (Pt2Program *program)
{
  Pt2Archive *archive = program->archive;
  g_autofree char *entry = program->model != NULL
                               ? g_strdup_printf ("data/sample_inputs/%s.pt", program->model)
                               : g_strdup ("serialized_example_inputs.pt");
  g_autofree char *name = g_strdup_printf ("%s: %s", archive->path, entry);
  g_autoptr (GError) reason = NULL;
  g_autoptr (AdjFilePart) part = pt2_archive_get_part (archive, entry, &reason);
  g_auto (AdjValue) saved = ADJ_NONE;
  GArray *leaves;

  if (part == NULL || adj_file_part_get_size (part) == 0 ||
      !torch_save_read (part, name, archive->diags, &saved, &reason))
    {
      if (reason != NULL)
        adj_diags_add (archive->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                       "sample inputs are passed over: %s", reason->message);
      return NULL;
    }
  leaves = adj_value_array_new ();
  gather_leaves (&saved, leaves);
  return leaves;
}

/* The text that names what an input is in the model; %NULL: it is one of the caller's. */
static const char *
held_name (const JsonItem *spec)
{
  static const char *const members[] = { "parameter_name", "buffer_name", "tensor_constant_name",
                                         "custom_obj_name" };
  const char *kind, *name = NULL;
  const JsonItem *value = pt2_union (spec, &kind);

  for (guint i = 0; name == NULL && i < G_N_ELEMENTS (members); i++)
    name = json_get_text (value, members[i]);
  return name;
}

/* (transfer none) (nullable): the sample of an input of the caller; tokens of effects are not among
 * those. */
static const AdjValue *
take_sample (const Pt2Held *held, const JsonItem *spec, const char *name, guint *taken)
{
  const char *kind = "";

  pt2_union (spec, &kind);
  return name == NULL && g_strcmp0 (kind, "token") != 0 && held->samples != NULL &&
                 *taken < held->samples->len
             ? &g_array_index (held->samples, AdjValue, (*taken)++)
             : NULL;
}

const AdjTensorData *
pt2_held_find (const Pt2Held *held, const JsonItem *spec, guint *taken)
{
  const char *name = held_name (spec);
  const AdjValue *sample = take_sample (held, spec, name, taken);

  if (name != NULL)
    return g_hash_table_lookup (held->weights.tensors, name);
  return sample != NULL && sample->kind == ADJ_VALUE_DATA ? sample->data : NULL;
}

gboolean
pt2_held_read (Pt2Program *program, GError **error)
{
  program->held.samples = read_samples (program);
  return pt2_weights_read (program->archive, program->model, &program->held.weights, error);
}

void
pt2_held_clear (Pt2Held *held)
{
  pt2_weights_clear (&held->weights);
  g_clear_pointer (&held->samples, g_array_unref);
}

/* (transfer none) (nullable): the object that @node is, by the name that it has in the model; where
 * only its class is known, that. */
static AdjOpaque *
find_object (const Pt2Weights *weights, const AdjNode *node, const char *name)
{
  AdjOpaque *object = name != NULL ? g_hash_table_lookup (weights->objects, name) : NULL;

  return object == NULL && node->val.kind == ADJ_VALUE_OPAQUE_OBJECT ? node->val.object : object;
}

/* Inputs of the graph in order; %FALSE when one is not known, which @missing then names. */
static gboolean
gather_inputs (Pt2Program *program,
               const JsonItem *input_specs,
               GArray *inputs,
               const char **missing)
{
  const Pt2Held *held = &program->held;
  guint taken = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (program->graph); i++)
    {
      const AdjNode *node =
          adj_graph_get_node (program->graph, adj_graph_get_input (program->graph, i).index);
      const char *name = held_name (&input_specs->items[i]);
      AdjTensorData *data = name != NULL ? g_hash_table_lookup (held->weights.tensors, name) : NULL;
      AdjOpaque *object = find_object (&held->weights, node, name);
      const AdjValue *sample = take_sample (held, &input_specs->items[i], name, &taken);
      AdjValue value;

      *missing = node->name;
      if (data == NULL && object == NULL && sample == NULL)
        return FALSE;
      if (data != NULL)
        value = ADJ_DATA (adj_tensor_data_ref (data));
      else if (sample == NULL || (object != NULL && sample->kind != ADJ_VALUE_OPAQUE_OBJECT))
        value = ADJ_OPAQUE (adj_opaque_ref (object));
      else
        value = adj_value_copy (sample);
      g_array_append_val (inputs, value);
      if (node->val.kind == ADJ_VALUE_META && value.kind != ADJ_VALUE_DATA)
        return FALSE;
    }
  *missing = "";
  return held->samples == NULL || taken == held->samples->len;
}

/* Without what the graph was called with: what of its inputs is in the file. */
static gboolean
add_weights (Pt2Program *program, const JsonItem *input_specs, GError **error)
{
  const Pt2Weights *weights = &program->held.weights;
  g_autoptr (GArray) known = adj_value_array_new ();
  guint n_known = 0;

  for (guint i = 0; i < adj_graph_get_n_inputs (program->graph) && i < input_specs->n; i++)
    {
      const char *name = held_name (&input_specs->items[i]);
      const AdjNode *node =
          adj_graph_get_node (program->graph, adj_graph_get_input (program->graph, i).index);
      AdjTensorData *data = name != NULL ? g_hash_table_lookup (weights->tensors, name) : NULL;
      AdjOpaque *object = find_object (weights, node, name);
      AdjValue value = data != NULL     ? ADJ_DATA (adj_tensor_data_ref (data))
                       : object != NULL ? ADJ_OPAQUE (adj_opaque_ref (object))
                                        : ADJ_NONE;

      n_known += value.kind != ADJ_VALUE_NONE;
      g_array_append_val (known, value);
    }
  return n_known == 0 || known->len != adj_graph_get_n_inputs (program->graph) ||
         bundle_builder_add_weights (program->builder, program->id, (gpointer) known->data,
                                     known->len, error);
}

gboolean
pt2_add_call (Pt2Program *program, const JsonItem *signature, GError **error)
{
  g_autoptr (GArray) inputs = adj_value_array_new ();
  const JsonItem *input_specs = json_get (signature, "input_specs");
  AdjRecordedCall call = { 0 };
  const char *missing = NULL;

  if (input_specs == NULL || input_specs->kind != JSON_ARRAY)
    return TRUE;
  if (!gather_inputs (program, input_specs, inputs, &missing))
    {
      if (program->held.samples != NULL)
        adj_diags_add (program->archive->diags, ADJ_SEVERITY_WARNING, (AdjSpan){ 0 },
                       *missing != '\0' ? "the file has no value for input '%s'"
                                        : "the sample inputs are not those of the graph%s",
                       missing);
      return add_weights (program, input_specs, error);
    }
  call.n_inputs = inputs->len;
  call.inputs = (const AdjValue *) (gpointer) inputs->data;
  return adj_bundle_builder_add_call (program->builder, &call, program->id, error);
}
