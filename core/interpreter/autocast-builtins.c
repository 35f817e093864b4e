/* SPDX-License-Identifier: MIT */

/* Regions of autocast: two nodes that enter and leave one, or a subgraph. */

#include "interpreter/builtins-private.h"

/* Applies torch.amp.autocast (device, dtype, enabled, cache_enabled); the cache of casts has no
 * effect in a trace.  @before (out) (transfer full): for leave(). */
static gboolean
enter (AdjContext *cx, const AdjValue *args, guint n_args, AdjValue *before)
{
  AdjAutocast was, now;
  AdjDevice device;
  AdjValue *items;

  if (n_args < 3 || args[0].kind != ADJ_VALUE_STRING || args[2].kind != ADJ_VALUE_BOOL ||
      (args[1].kind != ADJ_VALUE_DTYPE && args[1].kind != ADJ_VALUE_NONE))
    return adj_builtin_fail (cx, "autocast takes a device, a dtype or None, and a bool");
  if (!adj_device_parse (args[0].text, -1, &device) || device.type >= ADJ_N_AUTOCAST)
    return adj_builtin_fail (cx, "autocast of the device '%s' is not known", args[0].text);
  now = adj_context_get_autocast (cx, device.type);
  if (args[1].kind == ADJ_VALUE_DTYPE)
    now.dtype = args[1].dtype;
  now.on = args[2].boolean && adj_autocast_is_possible (now.dtype);
  was = adj_context_set_autocast (cx, device.type, now);
  items = g_new0 (AdjValue, 3);
  items[0] = adj_value_copy (&args[0]);
  items[1] = ADJ_DTYPE (was.dtype);
  items[2] = ADJ_BOOL (was.on);
  *before = (AdjValue){ .kind = ADJ_VALUE_TUPLE, .n = 3, .items = items };
  return TRUE;
}

static gboolean
leave (AdjContext *cx, const AdjValue *before)
{
  AdjDevice device;

  if (before->kind != ADJ_VALUE_TUPLE || before->n != 3 ||
      before->items[0].kind != ADJ_VALUE_STRING || before->items[1].kind != ADJ_VALUE_DTYPE ||
      before->items[2].kind != ADJ_VALUE_BOOL ||
      !adj_device_parse (before->items[0].text, -1, &device) || device.type >= ADJ_N_AUTOCAST)
    return adj_builtin_fail (cx, "this is not what _enter_autocast gave");
  adj_context_set_autocast (cx, device.type,
                            (AdjAutocast){ before->items[2].boolean, before->items[1].dtype });
  return TRUE;
}

/* torch.amp.autocast_mode._enter_autocast (device, dtype, enabled, cache_enabled) */
gboolean
adj_builtin_enter_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  return enter (cx, args, n_args, out);
}

/* torch.amp.autocast_mode._exit_autocast (result of _enter_autocast) */
gboolean
adj_builtin_exit_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  *out = ADJ_NONE;
  return leave (cx, n_args > 0 ? &args[0] : out);
}

/* wrap_with_autocast (device, dtype, enabled, cache_enabled, body, *args, **kwargs) */
gboolean
adj_builtin_run_with_autocast (
    AdjContext *cx, const AdjValue *args, guint n_args, const AdjValue *kwargs, AdjValue *out)
{
  g_auto (AdjValue) before = ADJ_NONE;
  gboolean done;

  if (n_args < 5)
    return adj_builtin_fail (cx, "the arguments of autocast and a graph are needed");
  if (!enter (cx, args, n_args, &before))
    return FALSE;
  done = adj_builtin_run_region (cx, args + 4, n_args - 4, kwargs, out);
  return leave (cx, &before) && done;
}
