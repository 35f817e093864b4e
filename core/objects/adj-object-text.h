/* SPDX-License-Identifier: MIT */
#pragma once

#include "call/adj-object.h"
#include "ir/adj-value.h"

G_BEGIN_DECLS

/* Prints a value of a state; of tensors with more than @max_items elements only both ends. */
ADJ_PUBLIC void adj_object_value_print (const AdjValue *value, guint max_items, GString *out);
/* Prints a line "name: value" for each entry of @state, indented by two blanks; of tensors with
 * more than @max_items elements only both ends. */
ADJ_PUBLIC void adj_object_state_print (const AdjValue *state, guint max_items, GString *out);
/* Prints class and state of @object; if the state is not available, the reason. */
ADJ_PUBLIC void adj_object_print (AdjObject *object, guint max_items, GString *out);

/* A call of a method in a graph, with a token or without. */
typedef struct
{
  AdjNodeId object;       /* the node of the object */
  const char *class_name; /* (nullable): qualified; %NULL: unknown */
  const char *method_name;
  const AdjMethod *method; /* (nullable): if the class is known */
} AdjObjectCallInfo;

/* %FALSE: node @index is no method call. All is borrowed from @graph. */
ADJ_PUBLIC gboolean adj_object_call_find (const AdjGraph *graph,
                                          guint index,
                                          AdjObjectCallInfo *info);
/* (transfer full) (nullable): "_TensorQueue.push"; %NULL: node @index is no method call. */
ADJ_PUBLIC char *adj_object_call_print (const AdjGraph *graph, guint index);

G_END_DECLS
