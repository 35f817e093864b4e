/* SPDX-License-Identifier: MIT */
/* Node roles in a picture: forward or backward side, folded views, parameters, gradients,
 * counterparts. */

#include "layout/adj-node-roles.h"

#include <string.h>

#include "analysis/adj-aliases.h"
#include "analysis/adj-counterparts.h"
#include "analysis/adj-node-bytes.h"
#include "analysis/adj-node-call.h"
#include "interpreter/adj-effect-ops.h"
#include "ir/adj-graph.h"
#include "ir/adj-input-role.h"
#include "ir/adj-own-ops-internal.h"
#include "layout/node-roles-private.h"
#include "objects/adj-object-text.h"
#include "ops/adj-op-table.h"
#include "tensor/adj-shape.h"

gboolean
node_roles_packet_is (const char *target, const char *packet)
{
  gsize length = strlen (packet);
  const char *start = target;

  if (g_str_has_prefix (target, "torch.ops."))
    {
      start = strchr (target + strlen ("torch.ops."), '.');
      start = start ? start + 1 : target;
    }
  else if (strrchr (target, '.'))
    start = strrchr (target, '.') + 1;
  return strncmp (start, packet, length) == 0 && (start[length] == '\0' || start[length] == '.');
}

/* Whether the node folds into its input: a view, or an item of several results, with one input. */
static gboolean
is_folded (const AdjNode *node, AdjAliasKind kind)
{
  return node->n_inputs == 1 && (kind == ADJ_ALIAS_VIEW || kind == ADJ_ALIAS_ITEM);
}

static gboolean
is_tangent (const AdjGraph *graph, guint index)
{
  return adj_graph_get_input_role (graph, index) == ADJ_INPUT_TANGENT;
}

/* Whether the node is of backward, or writes in the optimiser's update behind it; such a write need
 * not depend on a gradient. */
static gboolean
is_late (const AdjNodeRoles *self, guint index)
{
  return adj_graph_depends_on_tangent (self->graph, index) ||
         (adj_graph_is_update (self->graph, index) &&
          adj_node_may_write (adj_graph_get_node (self->graph, index)));
}

static gboolean
collect_result (const AdjValue *leaf, gpointer data)
{
  AdjNodeRoles *self = data;
  AdjResultRole result = { G_MAXUINT32, -1, self->results->len };

  if (leaf->kind == ADJ_VALUE_NODE)
    result.node = leaf->node.index;
  g_array_append_val (self->results, result);
  return TRUE;
}

/* A joint graph returns the forward results, then one gradient (or None) for each primal, then the
 * tokens of the backward's effects. */
static void
name_gradients (AdjNodeRoles *self)
{
  g_autoptr (GArray) primals = g_array_new (FALSE, FALSE, sizeof (gint32));
  guint first, n_tokens = 0;

  if (!adj_graph_has_input (self->graph, ADJ_INPUT_TANGENT))
    return;
  for (guint i = 0; i < adj_graph_get_n_inputs (self->graph); i++)
    {
      gint32 input = (gint32) adj_graph_get_input (self->graph, i).index;

      if (is_tangent (self->graph, (guint) input))
        n_tokens += self->entries[input].token;
      else if (!self->entries[input].token)
        g_array_append_val (primals, input);
    }
  if (primals->len + n_tokens > self->results->len)
    return;

  first = self->results->len - primals->len - n_tokens;
  for (guint i = 0; i < primals->len; i++)
    {
      AdjResultRole *r = &g_array_index (self->results, AdjResultRole, first + i);

      if (r->node != G_MAXUINT32 && is_late (self, r->node))
        r->primal = g_array_index (primals, gint32, i);
    }
}

static AdjSide
side_by_tag (const AdjNode *node)
{
  static const AdjSide by_phase[] = {
    [ADJ_PHASE_UNKNOWN] = ADJ_SIDE_NONE,
    [ADJ_PHASE_FORWARD] = ADJ_SIDE_FORWARD,
    [ADJ_PHASE_BACKWARD] = ADJ_SIDE_BACKWARD,
  };

  return by_phase[adj_phase_from_tag (node->meta.partitioner_tag)];
}

/* Nodes that do not depend on tangents and of which all readers, direct or not, are nodes of
 * backward, never the output. */
static guint8 *
find_read_by_gradients (const AdjNodeRoles *self)
{
  guint8 *read = g_new0 (guint8, MAX (self->n, 1));
  guint32 output = adj_graph_get_output (self->graph).index;

  for (guint i = self->n; i-- > 0;)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);

      read[i] = !is_late (self, i) && node->n_users > 0;
      for (guint k = 0; k < node->n_users && read[i]; k++)
        {
          guint32 user = node->users[k].index;

          read[i] = user != output && (is_late (self, user) || read[user]);
        }
    }
  return read;
}

/* Of find_read_by_gradients(), the nodes after the first gradient and the repeated ones with what
 * depends on them: the graph computes them for backward. */
static guint8 *
find_serving (const AdjNodeRoles *self, const guint32 *repeats)
{
  guint8 *serves = find_read_by_gradients (self);
  guint first = 0;

  while (first < self->n &&
         (!is_late (self, first) ||
          adj_graph_get_node (self->graph, first)->opcode == ADJ_OPCODE_PLACEHOLDER))
    first++;
  for (guint i = 0; i < first; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      gboolean again = repeats[i] != i;

      for (guint k = 0; k < node->n_inputs && serves[i] && !again; k++)
        again = serves[node->inputs[k].index];
      serves[i] = serves[i] && again;
    }
  return serves;
}

/* Sets the side of each node: by its tag, else by its inputs and readers. */
static void
find_sides (AdjNodeRoles *self, const guint32 *repeats)
{
  g_autofree guint8 *serves = find_serving (self, repeats);

  for (guint i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      AdjSide side = side_by_tag (node);

      if (side == ADJ_SIDE_NONE)
        side = is_late (self, i) || (serves[i] && !self->only_backward) ? ADJ_SIDE_BACKWARD
                                                                        : ADJ_SIDE_FORWARD;
      self->entries[i].side = side;
    }
  self->entries[adj_graph_get_output (self->graph).index].side =
      self->only_backward ? ADJ_SIDE_BACKWARD : ADJ_SIDE_FORWARD;
}

static void
find_kind_of_graph (AdjNodeRoles *self)
{
  guint n_early = 0, n_late = 0;

  for (guint i = 0; i < self->results->len; i++)
    {
      guint32 node = g_array_index (self->results, AdjResultRole, i).node;

      if (node != G_MAXUINT32)
        {
          n_late += is_late (self, node);
          n_early += !is_late (self, node) &&
                     adj_graph_get_node (self->graph, node)->opcode != ADJ_OPCODE_PLACEHOLDER;
        }
    }
  self->is_joint = n_late > 0 && n_early > 0;
  self->only_backward = n_late > 0 && n_early == 0;
}

static AdjNodeRoleKind
kind_of (const AdjNodeRoles *self, guint index, const guint8 *chips)
{
  switch ((int) adj_graph_get_node (self->graph, index)->opcode)
    {
    case ADJ_OPCODE_PLACEHOLDER:
      return chips[index] ? ADJ_NODE_ROLE_CHIP : ADJ_NODE_ROLE_PILL;
    case ADJ_OPCODE_GET_ATTR:
      return ADJ_NODE_ROLE_CHIP;
    case ADJ_OPCODE_OUTPUT:
      return ADJ_NODE_ROLE_OUTPUT;
    default:
      return ADJ_NODE_ROLE_CARD;
    }
}

/* Sets the host of an item of a captured backward's lists: of a hook it is the call; given
 * gradients are pills, other items are chips of their readers. */
static void
find_host_of_item (AdjNodeRoles *self, guint32 i)
{
  const AdjNode *node = adj_graph_get_node (self->graph, i);
  const AdjCapturedNode *item = adj_captured_get_node (self->captured, i);
  AdjNodeRole *entry = &self->entries[i];

  if (item->kind == ADJ_CAPTURED_HOOK_ITEM && node->n_users > 0)
    {
      entry->host = node->users[0].index;
      entry->kind = ADJ_NODE_ROLE_CARD;
      return;
    }
  entry->host = i;
  entry->kind =
      item->kind == ADJ_CAPTURED_INPUT && item->item < adj_captured_get_n_inputs (self->captured) &&
              adj_captured_get_input (self->captured, item->item)->from == ADJ_FROM_GRADIENT &&
              node->n_users > 0
          ? ADJ_NODE_ROLE_PILL
          : ADJ_NODE_ROLE_CHIP;
}

static gboolean
is_item (const AdjNodeRoles *self, guint index)
{
  AdjCapturedKind kind = self->captured != NULL
                             ? adj_captured_get_node (self->captured, index)->kind
                             : ADJ_CAPTURED_OTHER;

  return kind == ADJ_CAPTURED_INPUT || kind == ADJ_CAPTURED_SIZE || kind == ADJ_CAPTURED_HOOK_ITEM;
}

static void
find_hosts (AdjNodeRoles *self, gboolean keep_aliases)
{
  const AdjAlias *aliases = adj_graph_get_aliases (self->graph);
  g_autofree guint8 *chips = node_roles_find_chips (self);

  for (guint i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      AdjNodeRole *entry = &self->entries[i];
      gboolean alias = is_folded (node, aliases[i].kind);
      guint32 input = alias ? node->inputs[0].index : i;
      gboolean of_chip = alias && self->entries[input].kind == ADJ_NODE_ROLE_CHIP;

      entry->bytes = adj_graph_get_node_bytes (self->graph, i);
      if (is_item (self, i))
        {
          entry->value = i;
          find_host_of_item (self, i);
          continue;
        }
      /* An item of a tuple is a tensor of its own; a view is not. */
      entry->value =
          alias && !node_roles_packet_is (node->target, "getitem") ? self->entries[input].value : i;
      entry->host = alias && (!keep_aliases || of_chip) ? self->entries[input].host : i;
      entry->kind = entry->host == i ? kind_of (self, i, chips) : self->entries[entry->host].kind;
    }
}

/* Whether it adds up the gradients of several readers of a value; its sequence number is stale,
 * left by an earlier operator. */
static gboolean
is_accumulation (const AdjNodeRoles *self, const AdjNode *node)
{
  if (!node_roles_packet_is (node->target, "add") || node->n_inputs != 2 ||
      node->meta.n_fwd_modules)
    return FALSE;
  for (guint k = 0; k < 2; k++)
    if (self->entries[self->entries[node->inputs[k].index].host].side != ADJ_SIDE_BACKWARD)
      return FALSE;
  return TRUE;
}

static void
set_counterpart (AdjNodeRoles *self, guint32 index, guint32 counterpart)
{
  self->entries[index].counterpart = counterpart;
  if (self->entries[counterpart].counterpart == G_MAXUINT32)
    self->entries[counterpart].counterpart = index;
}

/* Finds the counterpart without sequence numbers, by the structure of the graph. */
static void
guess_counterpart (AdjNodeRoles *self, guint32 index)
{
  guint32 counterpart = adj_graph_get_counterparts (self->graph)[index];

  if (counterpart != G_MAXUINT32 && self->entries[counterpart].side == ADJ_SIDE_FORWARD)
    set_counterpart (self, index, self->entries[counterpart].host);
}

/* Pairs by sequence number: a gradient has that of its forward node; numbers of update nodes mean
 * nothing. */
static void
find_counterparts (AdjNodeRoles *self)
{
  g_autoptr (GHashTable) last = g_hash_table_new (g_int64_hash, g_int64_equal);

  for (guint32 i = 0; i < self->n; i++)
    self->entries[i].counterpart = G_MAXUINT32;
  for (guint32 i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      AdjNodeRole *entry = &self->entries[i];
      gpointer key = (gpointer) &node->meta.seq_nr, found;

      if (entry->host != i || adj_graph_is_update (self->graph, i))
        continue;
      if (entry->original != G_MAXUINT32)
        {
          entry->role = ADJ_ROLE_RECOMPUTE_COPY;
          entry->counterpart = self->entries[entry->original].host;
        }
      else if (node->meta.seq_nr < 0 && entry->side == ADJ_SIDE_BACKWARD &&
               !is_accumulation (self, node))
        guess_counterpart (self, i);
      else if (node->meta.seq_nr < 0)
        continue;
      else if (entry->side == ADJ_SIDE_FORWARD)
        g_hash_table_insert (last, key, GUINT_TO_POINTER (i));
      else if (!is_accumulation (self, node) &&
               g_hash_table_lookup_extended (last, key, NULL, &found))
        set_counterpart (self, i, GPOINTER_TO_UINT (found));
    }
}

static gboolean
is_hook (const AdjNode *node)
{
  return node->meta.hook != NULL || (node->opcode == ADJ_OPCODE_CALL_FUNCTION &&
                                     (strstr (node->target, "call_hook") != NULL ||
                                      g_str_has_suffix (node->target, ".register_hook")));
}

/* Whether node @index calls a custom operator, kernel or module, whose computation is unknown. */
static gboolean
is_opaque (const AdjGraph *graph, guint index)
{
  const AdjNode *node = adj_graph_get_node (graph, index);
  const char *t = node->target;
  AdjObjectCallInfo call;

  if (adj_object_call_find (graph, index, &call))
    return call.method == NULL;
  if (node->op || node->opcode == ADJ_OPCODE_CALL_METHOD)
    return FALSE;
  if (node_roles_orders_effects (node) && node->args.n > 1 &&
      node->args.items[1].kind == ADJ_VALUE_OP)
    return adj_graph_find_op (graph, node->args.items[1].text) == NULL &&
           adj_effect_op_find (node->args.items[1].text) == NULL;
  if (node->opcode != ADJ_OPCODE_CALL_FUNCTION)
    return TRUE;
  if (adj_effect_op_find (t) != NULL)
    return FALSE;
  if (g_str_has_prefix (t, "torch.ops."))
    return !g_str_has_prefix (t, "torch.ops.aten.") && !g_str_has_prefix (t, "torch.ops.prims.");
  return !g_str_has_prefix (t, "torch.") && !strstr (t, "operator.") &&
         !g_str_has_prefix (t, "builtins.") && !g_str_has_prefix (t, "math.");
}

/* Whether it copies from another device to the CPU, which is how PyTorch offloads. */
static gboolean
is_moved_to_cpu (const AdjGraph *graph, const AdjNode *node)
{
  if (node->val.kind != ADJ_VALUE_META || node->val.meta->device.type != ADJ_DEVICE_CPU)
    return FALSE;
  for (guint i = 0; i < node->n_inputs; i++)
    {
      const AdjValue *from = &adj_graph_get_node (graph, node->inputs[i].index)->val;

      if (from->kind == ADJ_VALUE_META && from->meta->device.type < ADJ_N_DEVICE_TYPES &&
          from->meta->device.type != ADJ_DEVICE_CPU)
        return TRUE;
    }
  return FALSE;
}

static gboolean
is_offloaded (const AdjGraph *graph, const AdjNode *node)
{
  return node->meta.recompute == ADJ_RECOMPUTE_MUST_CPU_OFFLOAD ||
         node->meta.recompute == ADJ_RECOMPUTE_PREFER_CPU_OFFLOAD || is_moved_to_cpu (graph, node);
}

/* In a partitioned pair what backward reads is saved, even if the node's tag prefers to recompute
 * it. */
static AdjRole
forward_role (const AdjGraph *graph, const AdjNode *node, gboolean saved, gboolean is_pair)
{
  static const AdjRole by_policy[ADJ_N_RECOMPUTE] = {
    [ADJ_RECOMPUTE_MUST_SAVE] = ADJ_ROLE_MUST_SAVE,
    [ADJ_RECOMPUTE_MUST_RECOMPUTE] = ADJ_ROLE_MUST_RECOMPUTE,
    [ADJ_RECOMPUTE_PREFER_RECOMPUTE] = ADJ_ROLE_RECOMPUTED,
  };

  if (saved && is_offloaded (graph, node))
    return ADJ_ROLE_OFFLOADED;
  if (is_pair && saved && node->meta.recompute != ADJ_RECOMPUTE_MUST_SAVE)
    return ADJ_ROLE_SAVED;
  if (node->meta.recompute < ADJ_N_RECOMPUTE && by_policy[node->meta.recompute] != ADJ_ROLE_NONE)
    return by_policy[node->meta.recompute];
  return saved ? ADJ_ROLE_SAVED : ADJ_ROLE_NONE;
}

static AdjRole
captured_role (const AdjNodeRoles *self, guint index)
{
  static const AdjRole by_kind[] = {
    [ADJ_CAPTURED_LIST] = ADJ_ROLE_PLACEHOLDER,
    [ADJ_CAPTURED_SIZE] = ADJ_ROLE_PLACEHOLDER,
    [ADJ_CAPTURED_HOOK_ITEM] = ADJ_ROLE_HOOK,
    [ADJ_CAPTURED_HOOK] = ADJ_ROLE_HOOK,
    [ADJ_CAPTURED_BACKWARD] = ADJ_ROLE_CUSTOM_BACKWARD,
    [ADJ_CAPTURED_ACCUMULATE] = ADJ_ROLE_ACCUMULATE,
    [ADJ_CAPTURED_CALLBACKS] = ADJ_ROLE_CALLBACKS,
  };
  static const AdjRole by_origin[] = {
    [ADJ_FROM_GRADIENT] = ADJ_ROLE_GRADIENT,
    [ADJ_FROM_SAVED] = ADJ_ROLE_SAVED,
    [ADJ_FROM_LEAF] = ADJ_ROLE_PARAMETER,
    [ADJ_FROM_GRAD] = ADJ_ROLE_GRADIENT,
  };
  const AdjCapturedNode *node = adj_captured_get_node (self->captured, index);

  if (node->kind == ADJ_CAPTURED_INPUT && node->item < adj_captured_get_n_inputs (self->captured))
    return by_origin[adj_captured_get_input (self->captured, node->item)->from];
  return node->kind < G_N_ELEMENTS (by_kind) ? by_kind[node->kind] : ADJ_ROLE_NONE;
}

static void
find_roles (AdjNodeRoles *self)
{
  g_autofree guint8 *saved = g_new0 (guint8, self->n);
  g_autofree guint8 *result = g_new0 (guint8, self->n);
  gboolean is_pair = FALSE;

  for (guint i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);

      is_pair |= self->entries[i].original != G_MAXUINT32;
      for (guint k = 0; k < node->n_inputs; k++)
        {
          guint32 host = self->entries[node->inputs[k].index].host;

          if (self->entries[i].side == ADJ_SIDE_BACKWARD && self->entries[i].host != host &&
              self->entries[host].side == ADJ_SIDE_FORWARD)
            saved[host] = TRUE;
        }
    }
  for (guint i = 0; i < self->results->len; i++)
    {
      guint32 node = g_array_index (self->results, AdjResultRole, i).node;

      if (node != G_MAXUINT32)
        result[self->entries[node].host] = TRUE;
    }

  for (guint i = 0; i < self->n; i++)
    {
      const AdjNode *node = adj_graph_get_node (self->graph, i);
      AdjNodeRole *entry = &self->entries[i];

      if (self->captured != NULL && entry->role == ADJ_ROLE_NONE)
        entry->role = captured_role (self, i);
      if (entry->role != ADJ_ROLE_NONE)
        continue;
      if (entry->object && node->val.kind == ADJ_VALUE_OPAQUE_OBJECT)
        entry->role = ADJ_ROLE_OBJECT;
      else if (entry->kind == ADJ_NODE_ROLE_CHIP)
        entry->role =
            self->only_backward && !node->meta.parameter ? ADJ_ROLE_SAVED : ADJ_ROLE_PARAMETER;
      else if (entry->kind == ADJ_NODE_ROLE_PILL)
        entry->role = ADJ_ROLE_PLACEHOLDER;
      else if (entry->kind == ADJ_NODE_ROLE_OUTPUT)
        entry->role = ADJ_ROLE_OUTPUT;
      else if (is_hook (node))
        entry->role = ADJ_ROLE_HOOK;
      else if (is_opaque (self->graph, i))
        entry->role = ADJ_ROLE_OPAQUE;
      else if (adj_graph_is_update (self->graph, i))
        entry->role = ADJ_ROLE_UPDATE;
      else if (entry->side == ADJ_SIDE_BACKWARD)
        entry->role =
            result[i] && !node_roles_orders_effects (node) ? ADJ_ROLE_GRADIENT : ADJ_ROLE_NONE;
      else if (self->only_backward)
        entry->role = ADJ_ROLE_RECOMPUTE_COPY;
      else
        entry->role = forward_role (self->graph, node, saved[i], is_pair);
      if (entry->role == ADJ_ROLE_NONE && entry->object)
        entry->role = ADJ_ROLE_OBJECT;
    }
}

/* Puts all nodes into one column, on the forward side, with a title for the kind of graph. */
static void
flatten (AdjNodeRoles *self)
{
  self->title = self->is_joint                                  ? "FORWARD AND BACKWARD ↓"
                : self->only_backward || self->captured != NULL ? "BACKWARD ↓"
                                                                : "FORWARD ↓";
  self->one_column = TRUE;
  self->only_backward = FALSE;
  for (guint i = 0; i < self->n; i++)
    self->entries[i].side = ADJ_SIDE_FORWARD;
}

/* Hides the nodes that are not in @only.  Chips stay with their readers; the host of a wanted node
 * is wanted too. */
static void
hide_others (AdjNodeRoles *self, const GArray *only)
{
  g_autofree guint8 *wanted = g_new0 (guint8, MAX (self->n, 1));

  for (guint k = 0; k < only->len; k++)
    if (g_array_index (only, guint32, k) < self->n)
      wanted[self->entries[g_array_index (only, guint32, k)].host] = TRUE;
  for (guint i = 0; i < self->n; i++)
    if (!wanted[self->entries[i].host] && self->entries[i].kind != ADJ_NODE_ROLE_CHIP)
      self->entries[i].kind = ADJ_NODE_ROLE_HIDDEN;
}

AdjNodeRoles *
adj_node_roles_new (AdjGraph *graph, const AdjLayoutOptions *options)
{
  AdjNodeRoles *self = g_new0 (AdjNodeRoles, 1);
  g_autofree guint32 *repeats = node_roles_find_repeats (graph);
  const AdjNode *output = adj_graph_get_node (graph, adj_graph_get_output (graph).index);

  self->graph = graph;
  self->n = adj_graph_get_n_nodes (graph);
  self->entries = g_new0 (AdjNodeRole, self->n);
  self->results = g_array_new (FALSE, FALSE, sizeof (AdjResultRole));
  self->undecided = options->undecided;
  self->captured = options->captured != NULL ? adj_captured_ref (options->captured)
                                             : adj_captured_new (graph, NULL);
  adj_value_foreach (&output->args, collect_result, self);
  node_roles_find_objects (self);
  find_kind_of_graph (self);
  if (self->is_joint)
    name_gradients (self);
  find_sides (self, repeats);
  find_hosts (self, options->keep_aliases);
  node_roles_find_copies (self, repeats);
  find_counterparts (self);
  find_roles (self);
  if (options->view != ADJ_VIEW_MIRROR || self->captured != NULL)
    flatten (self);
  if (options->only != NULL)
    hide_others (self, options->only);
  return self;
}

void
adj_node_roles_free (AdjNodeRoles *roles)
{
  g_clear_pointer (&roles->captured, adj_captured_unref);
  g_array_unref (roles->results);
  g_free (roles->entries);
  g_free (roles);
}
