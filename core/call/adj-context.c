/* SPDX-License-Identifier: MIT */
/* AdjContext: the stack of modes, scopes of values, the sticky error and settings. */

#include "call/adj-context.h"

#include <gio/gio.h>
#include <string.h>

#include "call/adj-constant.h"
#include "call/adj-context-internal.h"
#include "call/context-private.h"
#include "ir/adj-graph.h"
#include "ir/adj-opaque.h"

/* Positions at which a scope begins in the arrays that all scopes share. */
typedef struct
{
  guint tensors;
  guint items;
  guint objects;
} Scope;

AdjContext *
adj_context_new_of (const AdjOperators *operators, AdjSymbols *symbols)
{
  AdjContext *cx = g_new0 (AdjContext, 1);

  cx->operators = operators;
  cx->symbols = symbols != NULL ? adj_symbols_ref (symbols) : adj_symbols_new ();
  cx->default_dtype = ADJ_DTYPE_F32;
  cx->drawn_dtype = ADJ_DTYPE_NONE;
  cx->narrow_dtype = ADJ_DTYPE_NONE;
  cx->cpu = ADJ_K_CPU_QUEUE;
  cx->queue = &cx->cpu;
  cx->region.id = -1;
  cx->grad_enabled = TRUE;
  cx->autocast[ADJ_DEVICE_CPU].dtype = ADJ_DTYPE_BF16;
  cx->autocast[ADJ_DEVICE_CUDA].dtype = ADJ_DTYPE_F16;
  cx->sequence = -1;
  g_set_object (&cx->cancellable, g_cancellable_get_current ());
  cx->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_tensor_unref);
  cx->items = g_ptr_array_new_with_free_func (g_free);
  cx->objects = g_ptr_array_new_with_free_func ((GDestroyNotify) adj_opaque_unref);
  cx->scopes = g_array_new (FALSE, FALSE, sizeof (Scope));
  return cx;
}

void
adj_context_free (AdjContext *cx)
{
  g_return_if_fail (cx != NULL);

  while (cx->top != NULL)
    adj_context_pop_mode (cx);
  g_ptr_array_unref (cx->tensors);
  g_ptr_array_unref (cx->items);
  g_ptr_array_unref (cx->objects);
  g_array_unref (cx->scopes);
  adj_symbols_unref (cx->symbols);
  g_clear_pointer (&cx->generator, adj_generator_free);
  g_clear_object (&cx->cancellable);
  g_clear_pointer (&cx->fake_objects, g_hash_table_unref);
  g_clear_pointer (&cx->object_copies, g_hash_table_unref);
  g_clear_pointer (&cx->warnings, g_ptr_array_unref);
  g_clear_error (&cx->error);
  g_free (cx);
}

/* -- modes -- */

void
adj_context_push_mode (AdjContext *cx, AdjMode *mode)
{
  g_return_if_fail (cx != NULL && mode != NULL && mode->below == NULL);

  mode->below = cx->top;
  cx->top = mode;
}

void
adj_context_pop_mode (AdjContext *cx)
{
  AdjMode *mode;

  g_return_if_fail (cx != NULL && cx->top != NULL);

  mode = cx->top;
  cx->top = mode->below;
  if (mode->klass->finalize != NULL)
    mode->klass->finalize (mode);
  g_free (mode);
}

AdjMode *
adj_context_get_mode (AdjContext *cx)
{
  return cx->top;
}

gboolean
adj_mode_is_traced (const AdjMode *mode)
{
  while (mode != NULL && !mode->klass->traces)
    mode = mode->below;
  return mode != NULL;
}

AdjMode *
adj_context_set_entry (AdjContext *cx, AdjMode *mode)
{
  AdjMode *before = cx->entry;

  cx->entry = mode;
  return before;
}

AdjMode *
adj_context_get_entry (AdjContext *cx)
{
  return cx->entry != NULL ? cx->entry : cx->top;
}

void
adj_context_note_builtin (
    AdjContext *cx, const char *target, const AdjValue *args, guint n_args, const AdjValue *result)
{
  for (AdjMode *mode = cx->top; mode != NULL; mode = mode->below)
    if (mode->klass->builtin != NULL)
      mode->klass->builtin (mode, target, args, n_args, result);
}

/* -- state -- */

AdjSymbols *
adj_context_get_symbols (AdjContext *cx)
{
  return cx->symbols;
}

AdjDType
adj_context_get_default_dtype (const AdjContext *cx)
{
  return cx->default_dtype;
}

void
adj_context_set_default_dtype (AdjContext *cx, AdjDType dtype)
{
  g_return_if_fail (adj_dtype_is_floating (dtype));

  cx->default_dtype = dtype;
}

const char *
adj_context_get_release (const AdjContext *cx)
{
  return cx->release;
}

void
adj_context_set_release (AdjContext *cx, const char *release)
{
  cx->release = release;
}

#define DEFAULT_SEED 67280421310721

AdjGenerator *
adj_context_get_generator (AdjContext *cx)
{
  if (cx->generator == NULL)
    cx->generator = adj_generator_new (DEFAULT_SEED);
  return cx->generator;
}

AdjDType
adj_context_get_drawn_dtype (const AdjContext *cx)
{
  return cx->drawn_dtype;
}

void
adj_context_set_drawn_dtype (AdjContext *cx, AdjDType dtype)
{
  cx->drawn_dtype = dtype;
}

AdjDType
adj_context_get_narrow_dtype (const AdjContext *cx)
{
  const AdjValue *annotation;

  if (cx->narrow_dtype == ADJ_DTYPE_NONE || cx->place.graph == cx->narrow_graph)
    return cx->narrow_dtype;
  annotation = &adj_graph_get_node (cx->place.graph, cx->place.id.index)->val;
  return annotation->kind == ADJ_VALUE_META ? annotation->meta->dtype : ADJ_DTYPE_NONE;
}

void
adj_context_set_narrow_dtype (AdjContext *cx, AdjDType dtype)
{
  cx->narrow_dtype = dtype;
  cx->narrow_graph = cx->place.graph;
}

const AdjPlaceRounding *
adj_context_get_places (const AdjContext *cx)
{
  return &cx->places;
}

void
adj_context_set_places (AdjContext *cx, const AdjPlaceRounding *places)
{
  cx->places = *places;
}

AdjKQueue *
adj_context_get_queue (const AdjContext *cx)
{
  return cx->queue;
}

void
adj_context_set_queue (AdjContext *cx, AdjKQueue *queue)
{
  cx->queue = queue != NULL ? queue : &cx->cpu;
}

gboolean
adj_context_get_deterministic (const AdjContext *cx)
{
  g_return_val_if_fail (cx != NULL, FALSE);

  return cx->deterministic;
}

void
adj_context_set_deterministic (AdjContext *cx, gboolean deterministic)
{
  g_return_if_fail (cx != NULL);

  cx->deterministic = deterministic;
}

gboolean
adj_context_get_unbacked (const AdjContext *cx)
{
  return cx->unbacked;
}

void
adj_context_set_unbacked (AdjContext *cx, gboolean unbacked)
{
  cx->unbacked = unbacked;
}

void
adj_context_set_cancellable (AdjContext *cx, GCancellable *cancellable)
{
  g_set_object (&cx->cancellable, cancellable);
}

void
adj_context_set_print (AdjContext *cx, AdjPrintFunc print, gpointer data)
{
  g_return_if_fail (cx != NULL);

  cx->print = print;
  cx->print_data = data;
}

void
adj_context_print (AdjContext *cx, const char *text)
{
  if (cx->print != NULL)
    cx->print (text, cx->print_data);
}

void
adj_context_set_place (AdjContext *cx, const AdjPlace *place)
{
  cx->place = place != NULL ? *place : (AdjPlace){ 0 };
  if (cx->place.outer == NULL)
    {
      cx->place.outer = cx->place.graph;
      cx->place.outer_id = cx->place.id;
    }
}

const AdjPlace *
adj_context_get_place (const AdjContext *cx)
{
  return &cx->place;
}

gint64
adj_context_get_sequence (const AdjContext *cx)
{
  return cx->sequence;
}

void
adj_context_set_sequence (AdjContext *cx, gint64 sequence)
{
  cx->sequence = sequence;
}

AdjContext *
adj_context_at (AdjContext *cx, const char *file, guint line, const char *function)
{
  if (cx->place.node == NULL)
    {
      cx->place.file = file;
      cx->place.line = line;
      cx->place.function = function;
    }
  return cx;
}

AdjRegionTag
adj_context_get_region (const AdjContext *cx)
{
  return cx->region;
}

AdjRegionTag
adj_context_set_region (AdjContext *cx, AdjRegionTag region)
{
  AdjRegionTag before = cx->region;

  cx->region = region;
  return before;
}

gint64
adj_context_next_region (AdjContext *cx)
{
  return ++cx->n_regions;
}

/* -- the sticky error -- */

gboolean
adj_context_has_error (const AdjContext *cx)
{
  return cx->error != NULL;
}

GError *
adj_context_get_error (AdjContext *cx)
{
  return cx->error;
}

gboolean
adj_context_take_error (AdjContext *cx, GError **error)
{
  if (cx->error == NULL)
    return FALSE;
  g_propagate_error (error, g_steal_pointer (&cx->error));
  return TRUE;
}

/* Appends " (node 'mm_1' in 'wrap_1', model.py:12)", without parts that are unknown. */
static void
print_place (const AdjPlace *place, GString *out)
{
  if (place->node == NULL && place->file == NULL)
    return;
  g_string_append (out, " (");
  if (place->node != NULL)
    g_string_append_printf (out, "node '%s'", place->node);
  if (place->outer != place->graph)
    g_string_append_printf (out, " in '%s'",
                            adj_graph_get_node (place->outer, place->outer_id.index)->name);
  if (place->file != NULL)
    {
      g_string_append_printf (out, "%s%s", place->node != NULL ? ", " : "", place->file);
      if (place->line > 0)
        g_string_append_printf (out, ":%u", place->line);
    }
  g_string_append_c (out, ')');
}

void
adj_context_fail (AdjContext *cx, GQuark domain, gint code, const char *format, ...)
{
  g_autoptr (GString) message = NULL;
  va_list list;

  if (cx->error != NULL)
    return;

  message = g_string_new (NULL);
  va_start (list, format);
  g_string_append_vprintf (message, format, list);
  va_end (list);
  print_place (&cx->place, message);
  cx->error = g_error_new_literal (domain, code, message->str);
  if (cx->place.outer != NULL)
    adj_error_blame_node (cx->error,
                          adj_graph_get_node (cx->place.outer, cx->place.outer_id.index)->name,
                          cx->place.outer_id.index);
}

gboolean
adj_context_test_size (AdjContext *cx, AdjSizeOp comparison, AdjSize a, AdjSize b)
{
  g_autoptr (GString) text = NULL;
  gboolean holds;

  g_return_val_if_fail (cx != NULL, FALSE);

  if (cx->error != NULL)
    return FALSE;
  if (adj_size_decide (cx->symbols, comparison, a, b, &holds))
    return holds;
  text = g_string_new (NULL);
  adj_size_print (cx->symbols, adj_size_apply (cx->symbols, comparison, a, b), text);
  adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
                    "could not guard on data-dependent expression %s", text->str);
  return FALSE;
}

/* -- scopes -- */

void
adj_scope_begin (AdjContext *cx)
{
  Scope scope = { cx->tensors->len, cx->items->len, cx->objects->len };

  g_array_append_val (cx->scopes, scope);
}

void
adj_scope_end (AdjContext *cx)
{
  Scope scope;

  g_return_if_fail (cx->scopes->len > 0);

  scope = g_array_index (cx->scopes, Scope, cx->scopes->len - 1);
  g_array_set_size (cx->scopes, cx->scopes->len - 1);
  g_ptr_array_set_size (cx->tensors, (gint) scope.tensors);
  g_ptr_array_set_size (cx->items, (gint) scope.items);
  g_ptr_array_set_size (cx->objects, (gint) scope.objects);
}

AdjTensor *
adj_scope_add (AdjContext *cx, AdjTensor *tensor)
{
  if (tensor != NULL)
    g_ptr_array_add (cx->tensors, tensor);
  return tensor;
}

gpointer
adj_scope_alloc (AdjContext *cx, gsize n_bytes)
{
  gpointer bytes = g_malloc0 (MAX (n_bytes, 1));

  g_ptr_array_add (cx->items, bytes);
  return bytes;
}

AdjTensor *
adj_from_array (
    AdjContext *cx, AdjDType dtype, const gint64 *sizes, guint rank, gconstpointer elements)
{
  g_autoptr (AdjTensorData) data = NULL;
  GError *error = NULL;

  g_return_val_if_fail (cx != NULL, NULL);

  if (cx->error != NULL)
    return NULL;
  data = adj_tensor_data_new_from_array (dtype, sizes, rank, elements, &error);
  if (data != NULL)
    return adj_scope_add (cx, adj_tensor_new_from_data (data));
  adj_context_fail (cx, error->domain, error->code, "%s", error->message);
  g_error_free (error);
  return NULL;
}

double
adj_item (AdjContext *cx, AdjTensor *tensor)
{
  AdjValue value;

  if (cx->error != NULL)
    return 0;
  if (tensor == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "aten::item: NULL has no value");
  if (tensor == NULL || !adj_constant_read (cx, tensor, "aten::item", &value))
    return 0;
  if (value.kind == ADJ_VALUE_FLOAT)
    return value.number;
  return value.kind == ADJ_VALUE_INT ? (double) value.integer : value.boolean;
}

AdjSize
adj_item_size (AdjContext *cx, AdjTensor *tensor)
{
  static const char target[] = "torch.ops.aten._local_scalar_dense.default";
  AdjSize size = ADJ_SIZE (0);
  AdjValue value;

  if (cx->error != NULL)
    return size;
  if (tensor == NULL)
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "aten::item: NULL has no value");
  if (tensor == NULL || !adj_unbacked_read (cx, tensor, "aten::item", &value))
    return size;
  if (value.kind == ADJ_VALUE_SIZE)
    adj_context_note_builtin (cx, target, &ADJ_TENSOR (tensor), 1, &value);
  if (!adj_value_get_size (&value, &size))
    adj_context_fail (cx, ADJ_ERROR, ADJ_ERROR_SHAPE, "aten::item: %s is no size",
                      adj_value_kind_name (value.kind));
  return size;
}

AdjTensor *
adj_keep (AdjTensor *tensor)
{
  return tensor != NULL ? adj_tensor_ref (tensor) : NULL;
}

void
adj_context_warn (AdjContext *cx, const char *format, ...)
{
  va_list list;
  char *text;

  va_start (list, format);
  text = g_strdup_vprintf (format, list);
  va_end (list);
  if (cx->warnings == NULL)
    cx->warnings = g_ptr_array_new_with_free_func (g_free);
  if (g_ptr_array_find_with_equal_func (cx->warnings, text, g_str_equal, NULL))
    g_free (text);
  else
    g_ptr_array_add (cx->warnings, text);
}

const GPtrArray *
adj_context_get_warnings (const AdjContext *cx)
{
  return cx->warnings;
}
