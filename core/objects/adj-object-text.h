/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* A value of a state; of tensors with more than @max_items elements the ends alone. */
ADJ_PUBLIC void adj_object_value_print (const AdjValue *value, guint max_items, GString *out);
/* A line "name: value" for each entry of @state, indented by two blanks; of tensors with more than
 * @max_items elements the ends alone. */
ADJ_PUBLIC void adj_object_state_print (const AdjValue *state, guint max_items, GString *out);
/* Class and state of @object; of a state that cannot be told, why. */
ADJ_PUBLIC void adj_object_print (AdjObject *object, guint max_items, GString *out);

/* A call of a method in a graph, with a token or without. */
typedef struct
{
  AdjNodeId object;       /* the node that gives the object */
  const char *class_name; /* (nullable): qualified; %NULL: it is not said */
  const char *method_name;
  const AdjMethod *method; /* (nullable): where the class is known */
} AdjObjectCallInfo;

/* %FALSE: node @index calls no method. All is borrowed from @graph. */
ADJ_PUBLIC gboolean adj_object_call_find (const AdjGraph *graph,
                                          guint index,
                                          AdjObjectCallInfo *info);
/* (transfer full) (nullable): "_TensorQueue.push"; %NULL: node @index calls no method. */
ADJ_PUBLIC char *adj_object_call_print (const AdjGraph *graph, guint index);

G_END_DECLS
