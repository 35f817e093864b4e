/* SPDX-License-Identifier: MIT */
/* The elements of a difference map as a list model. */

#include "model/adj-element-list.h"

#include <gio/gio.h>
#include <math.h>

#include "model/adj-difference-map.h"

struct _AdjElementItem
{
  GObject parent_instance;

  AdjTensorData *data;   /* (owned) */
  AdjTensorData *beside; /* (owned) (nullable) */
  gint64 index;
};

G_DEFINE_FINAL_TYPE (AdjElementItem, adj_element_item, G_TYPE_OBJECT)

static void
adj_element_item_finalize (GObject *object)
{
  AdjElementItem *self = ADJ_ELEMENT_ITEM (object);

  adj_tensor_data_unref (self->data);
  g_clear_pointer (&self->beside, adj_tensor_data_unref);

  G_OBJECT_CLASS (adj_element_item_parent_class)->finalize (object);
}

static void
adj_element_item_class_init (AdjElementItemClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_element_item_finalize;
}

static void
adj_element_item_init (AdjElementItem *self)
{
}

char *
adj_element_item_get_place (AdjElementItem *self)
{
  const AdjShape *shape = &adj_tensor_data_get_meta (self->data)->shape;
  gint64 at[ADJ_MAX_RANK], rest = self->index;
  GString *text = g_string_new ("[");

  for (guint i = shape->rank; i-- > 0;)
    {
      at[i] = rest % shape->size[i].word;
      rest /= shape->size[i].word;
    }
  for (guint i = 0; i < shape->rank; i++)
    g_string_append_printf (text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", at[i]);
  g_string_append_c (text, ']');
  return g_string_free (text, FALSE);
}

double
adj_element_item_get_value (AdjElementItem *self)
{
  return adj_tensor_data_get_double (self->data, self->index);
}

double
adj_element_item_get_beside (AdjElementItem *self)
{
  return self->beside != NULL ? adj_tensor_data_get_double (self->beside, self->index) : NAN;
}

double
adj_element_item_get_delta (AdjElementItem *self)
{
  return self->beside != NULL ? adj_difference_between (adj_element_item_get_value (self),
                                                        adj_element_item_get_beside (self))
                              : NAN;
}

/* -- all of them -- */

struct _AdjElementList
{
  GObject parent_instance;

  AdjTensorData *data;   /* (owned) */
  AdjTensorData *beside; /* (owned) (nullable) */
};

static GType
get_item_type (GListModel *model)
{
  return ADJ_TYPE_ELEMENT_ITEM;
}

static guint
get_n_items (GListModel *model)
{
  return (guint) MIN (adj_tensor_data_get_numel (ADJ_ELEMENT_LIST (model)->data),
                      (gint64) G_MAXINT32);
}

static gpointer
get_item (GListModel *model, guint position)
{
  AdjElementList *self = ADJ_ELEMENT_LIST (model);
  AdjElementItem *item;

  if (position >= get_n_items (model))
    return NULL;
  item = g_object_new (ADJ_TYPE_ELEMENT_ITEM, NULL);
  item->data = adj_tensor_data_ref (self->data);
  item->beside = self->beside != NULL ? adj_tensor_data_ref (self->beside) : NULL;
  item->index = position;
  return item;
}

static void
list_model_init (GListModelInterface *iface)
{
  iface->get_item_type = get_item_type;
  iface->get_n_items = get_n_items;
  iface->get_item = get_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE (AdjElementList,
                               adj_element_list,
                               G_TYPE_OBJECT,
                               G_IMPLEMENT_INTERFACE (G_TYPE_LIST_MODEL, list_model_init))

static void
adj_element_list_finalize (GObject *object)
{
  AdjElementList *self = ADJ_ELEMENT_LIST (object);

  adj_tensor_data_unref (self->data);
  g_clear_pointer (&self->beside, adj_tensor_data_unref);

  G_OBJECT_CLASS (adj_element_list_parent_class)->finalize (object);
}

static void
adj_element_list_class_init (AdjElementListClass *klass)
{
  G_OBJECT_CLASS (klass)->finalize = adj_element_list_finalize;
}

static void
adj_element_list_init (AdjElementList *self)
{
}

GListModel *
adj_element_list_new (AdjTensorData *data, AdjTensorData *beside)
{
  AdjElementList *self = g_object_new (ADJ_TYPE_ELEMENT_LIST, NULL);

  self->data = adj_tensor_data_ref (data);
  self->beside = beside != NULL ? adj_tensor_data_ref (beside) : NULL;
  return G_LIST_MODEL (self);
}
