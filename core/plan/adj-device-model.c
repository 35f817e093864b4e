/* SPDX-License-Identifier: MIT */
/* Peak rates of GPUs, from their makers' data sheets, and the least time of a region of a plan. */

#include "plan/adj-device-model.h"

#include "base/adj-error.h"
#include "call/adj-op.h"
#include "ir/adj-graph.h"

static const AdjDeviceModel models[] = {
  { "t4", "NVIDIA T4", 320e9, 8.1e12, 65e12 },
  { "l4", "NVIDIA L4", 300e9, 30.3e12, 121e12 },
  { "rtx4090", "NVIDIA GeForce RTX 4090", 1008e9, 82.6e12, 165e12 },
  { "a100-40", "NVIDIA A100 SXM, 40 GB", 1555e9, 19.5e12, 312e12 },
  { "a100-80", "NVIDIA A100 SXM, 80 GB", 2039e9, 19.5e12, 312e12 },
  { "h100", "NVIDIA H100 SXM", 3350e9, 67e12, 989e12 },
  { "h200", "NVIDIA H200 SXM", 4800e9, 67e12, 989e12 },
};

const AdjDeviceModel *
adj_device_model_find (const char *name, GError **error)
{
  g_autoptr (GString) names = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (models); i++)
    {
      if (g_ascii_strcasecmp (models[i].name, name) == 0)
        return &models[i];
      g_string_append_printf (names, "%s%s", i > 0 ? ", " : "", models[i].name);
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "no GPU '%s' is known; there are %s", name,
               names->str);
  return NULL;
}

/* Whether tensor cores can compute it. */
static gboolean
is_narrow_product (const AdjNode *node)
{
  const AdjValue *val = &node->val;

  while (adj_value_is_container (val) && val->n > 0)
    val = &val->items[0];
  return node->op != NULL && node->op->band == ADJ_BAND_PRODUCT && val->kind == ADJ_VALUE_META &&
         (val->meta->dtype == ADJ_DTYPE_F16 || val->meta->dtype == ADJ_DTYPE_BF16);
}

AdjDeviceBound
adj_device_model_bound (const AdjDeviceModel *model, const AdjPlan *plan, guint index)
{
  AdjPlanRegion region;
  gboolean narrow;

  g_return_val_if_fail (model != NULL, (AdjDeviceBound){ 0 });

  adj_plan_get_region (plan, index, &region);
  narrow = region.n_nodes > 0 && is_narrow_product (adj_graph_get_node (adj_plan_get_graph (plan),
                                                                        region.nodes[0].index));
  return (AdjDeviceBound){ (double) region.bytes / model->bandwidth,
                           region.flops / (narrow ? model->tensor_flops : model->flops) };
}
