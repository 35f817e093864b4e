/* SPDX-License-Identifier: MIT */
/* Objects as attributes of a traced graph. */

#include "ir/adj-opaque-internal.h"
#include "trace/tracer-private.h"

void
adj_traced_attribute_clear (gpointer data)
{
  TracedAttribute *attribute = data;

  g_free (attribute->name);
  adj_opaque_unref (attribute->object);
}

const TracedAttribute *
adj_tracer_take_attribute (AdjTracer *tracer, const char *stem, AdjOpaque *object)
{
  TracedAttribute attribute = { .stem = stem };
  guint n = 0;

  for (guint i = 0; i < tracer->attributes->len; i++)
    {
      const TracedAttribute *other = &g_array_index (tracer->attributes, TracedAttribute, i);

      if (adj_opaque_is_same (other->object, object))
        return other;
      n += g_str_equal (other->stem, stem);
    }
  attribute.name = g_strdup_printf ("%s%u", stem, n);
  attribute.object = adj_opaque_ref (object);
  g_array_append_val (tracer->attributes, attribute);
  return &g_array_index (tracer->attributes, TracedAttribute, tracer->attributes->len - 1);
}

AdjNodeId
adj_tracer_add_attribute (AdjTracer *tracer, const char *stem, AdjOpaque *object)
{
  AdjTracedNode node = { .opcode = ADJ_OPCODE_GET_ATTR };

  node.target =
      adj_arena_intern (tracer->arena, adj_tracer_take_attribute (tracer, stem, object)->name);
  return adj_tracer_add (tracer, &node, node.target);
}
