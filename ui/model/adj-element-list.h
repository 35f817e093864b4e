/* SPDX-License-Identifier: MIT */
#pragma once

#include <gio/gio.h>

#include "tensor/adj-tensor-data.h"

G_BEGIN_DECLS

/* An element of a tensor, with the one of another tensor. */
#define ADJ_TYPE_ELEMENT_ITEM (adj_element_item_get_type ())
G_DECLARE_FINAL_TYPE (AdjElementItem, adj_element_item, ADJ, ELEMENT_ITEM, GObject)

char *adj_element_item_get_place (AdjElementItem *self); /* (transfer full): "[1, 6, 43]" */
double adj_element_item_get_value (AdjElementItem *self);
double adj_element_item_get_beside (AdjElementItem *self); /* NaN: there is no other tensor */
double adj_element_item_get_delta (AdjElementItem *self);

/* All elements of a tensor in row-major order, made on demand. */
#define ADJ_TYPE_ELEMENT_LIST (adj_element_list_get_type ())
G_DECLARE_FINAL_TYPE (AdjElementList, adj_element_list, ADJ, ELEMENT_LIST, GObject)

/* @beside: (nullable): of the same sizes */
GListModel *adj_element_list_new (AdjTensorData *data, AdjTensorData *beside);

G_END_DECLS
