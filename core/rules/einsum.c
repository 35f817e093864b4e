/* SPDX-License-Identifier: MIT */

/* Einstein sums, by PyTorch's steps: every operand gets all dimensions of the equation, those of
 * the result first and the summed ones last; then pairs are multiplied from the left as batched
 * matrices, and dimensions that no later operand has are summed at once. */

#include <string.h>

#include "ops/adj-op-id.h"
#include "rules/adj-apply.h"
#include "rules/composite-private.h"

#define ELLIPSIS '.'

typedef struct
{
  AdjRuleCall *call;
  AdjContext *cx;
  AdjSymbols *symbols;
  const char *left, *right; /* of the arrow; @right (nullable) */
  guint n_operands;
  const AdjValue *tensors;
  char labels[ADJ_MAX_RANK +
              1]; /* labels of the dimensions in order; ELLIPSIS for each that it covers */
  guint n_labels;
  guint n_kept;       /* number of dimensions of the result */
  guint n_elliptical; /* number of dimensions that the ellipsis covers */
} Einsum;

static gboolean
fail (Einsum *e, const char *why)
{
  return rule_call_fail (e->call, ADJ_ERROR_SHAPE, "has an equation that %s", why);
}

static AdjValue
list (Einsum *e, const AdjSize *sizes, guint n)
{
  return adj_rule_list_sizes (e->call->arena, sizes, n);
}

static const AdjShape *
shape_of (const AdjTensor *tensor)
{
  return &adj_tensor_get_meta (tensor)->shape;
}

static gboolean
is_one (Einsum *e, AdjSize size)
{
  return adj_size_test (e->symbols, ADJ_SIZE_EQ, size, ADJ_SIZE (1));
}

/* -- the equation -- */

/* The next label of @text into @label: a letter or ELLIPSIS; advances @text past it.  %FALSE at a
 * comma, an arrow or the end. */
static gboolean
next_label (const char **text, char *label)
{
  while (**text == ' ')
    (*text)++;
  *label = **text;
  if (g_ascii_isalpha (*label))
    *text += 1;
  else if (g_str_has_prefix (*text, "..."))
    *text += 3;
  else
    return FALSE;
  return TRUE;
}

static guint
count_labels (const char *text)
{
  guint n = 0;
  char label;

  while (next_label (&text, &label))
    n += label != ELLIPSIS;
  return n;
}

static gboolean
add_label (Einsum *e, char label)
{
  if (e->n_labels == ADJ_MAX_RANK)
    return fail (e, "has too many dimensions");
  e->labels[e->n_labels++] = label;
  return TRUE;
}

static gboolean
add_once (Einsum *e, char label)
{
  guint n = label == ELLIPSIS ? e->n_elliptical : 1;

  if (memchr (e->labels, label, e->n_labels) != NULL)
    return TRUE;
  for (guint i = 0; i < n; i++)
    if (!add_label (e, label))
      return FALSE;
  return TRUE;
}

/* Checks the operands, and finds the number of dimensions that the ellipsis covers. */
static gboolean
check_operands (Einsum *e)
{
  const char *at = e->left;
  char label;

  for (guint i = 0; i < e->n_operands; i++)
    {
      const AdjValue *operand = &e->tensors[i];
      guint n = count_labels (at), rank;
      gboolean elliptical = FALSE;

      if (operand->kind != ADJ_VALUE_TENSOR)
        return fail (e, "needs tensors");
      rank = adj_tensor_get_rank (operand->tensor);
      while (next_label (&at, &label))
        elliptical |= label == ELLIPSIS;
      if (elliptical ? n > rank : n != rank)
        return fail (e, "names another number of dimensions than an operand has");
      if (elliptical)
        e->n_elliptical = MAX (e->n_elliptical, rank - n);
      if (i + 1 < e->n_operands && *at++ != ',')
        return fail (e, "names too few operands");
    }
  while (*at == ' ')
    at++;
  return *at == '\0' || g_str_has_prefix (at, "->") || fail (e, "names too many operands");
}

static guint
count_in (const char *text, char wanted)
{
  guint n = 0;

  for (; *text != '\0' && !g_str_has_prefix (text, "->"); text++)
    n += *text == wanted;
  return n;
}

/* Dimensions of the result, then those that are summed, by letter. */
static gboolean
order_labels (Einsum *e)
{
  const char *right = e->right;
  char label;

  if (right != NULL)
    {
      while (next_label (&right, &label))
        if (!add_once (e, label))
          return FALSE;
    }
  else
    {
      if (count_in (e->left, '.') > 0 && !add_once (e, ELLIPSIS))
        return FALSE;
      for (label = 'A'; label <= 'z'; label++)
        if (g_ascii_isalpha (label) && count_in (e->left, label) == 1 && !add_once (e, label))
          return FALSE;
    }
  e->n_kept = e->n_labels;
  if (count_in (e->left, '.') > 0 && !add_once (e, ELLIPSIS))
    return FALSE;
  for (label = 'A'; label <= 'z'; label++)
    if (g_ascii_isalpha (label) && count_in (e->left, label) > 0 && !add_once (e, label))
      return FALSE;
  return TRUE;
}

/* -- operands -- */

static guint
find_label (const Einsum *e, char label)
{
  return (guint) ((const char *) memchr (e->labels, label, e->n_labels) - e->labels);
}

/* @tensor with dimension @dim reduced to the diagonal with dimension @first, which has the same
 * label. */
static AdjTensor *
take_diagonal (Einsum *e, AdjTensor *tensor, gint64 first, gint64 dim)
{
  tensor = ADJ_APPLY (e->cx, ADJ_OP_diagonal, ADJ_TENSOR (tensor), ADJ_INT (0), ADJ_INT (first),
                      ADJ_INT (dim));
  if (tensor == NULL)
    return NULL;
  return ADJ_APPLY (e->cx, ADJ_OP_movedim_int, ADJ_TENSOR (tensor), ADJ_INT (-1), ADJ_INT (first));
}

/* Permutes the operand whose labels begin at *@at to all dimensions of the equation, in order. */
static AdjTensor *
align (Einsum *e, AdjTensor *tensor, const char **at)
{
  guint own = adj_tensor_get_rank (tensor) - count_labels (*at);
  gint64 order[ADJ_MAX_RANK], next = 0;
  AdjSize dims[ADJ_MAX_RANK];
  char label;

  for (guint i = 0; i < e->n_labels; i++)
    order[i] = -1;
  while (tensor != NULL && next_label (at, &label))
    {
      guint place;

      if (label == ELLIPSIS && e->n_elliptical == 0)
        continue;
      place = find_label (e, label);
      if (label == ELLIPSIS)
        {
          for (guint k = own; k < e->n_elliptical && tensor != NULL; k++)
            tensor = ADJ_APPLY (e->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor), ADJ_INT (next));
          for (guint k = 0; k < e->n_elliptical; k++)
            order[place + k] = next++;
        }
      else if (order[place] < 0)
        order[place] = next++;
      else
        tensor = take_diagonal (e, tensor, order[place], next);
    }
  for (guint i = 0; i < e->n_labels && tensor != NULL; i++)
    {
      if (order[i] < 0)
        {
          tensor = ADJ_APPLY (e->cx, ADJ_OP_unsqueeze, ADJ_TENSOR (tensor),
                              ADJ_INT (adj_tensor_get_rank (tensor)));
          order[i] = next++;
        }
      dims[i] = ADJ_SIZE (order[i]);
    }
  if (tensor == NULL)
    return NULL;
  return ADJ_APPLY (e->cx, ADJ_OP_permute, ADJ_TENSOR (tensor), list (e, dims, e->n_labels));
}

/* -- products -- */

/* A group of dimensions of a pair, by the operands in which they occur. */
typedef struct
{
  AdjSize dims[ADJ_MAX_RANK];
  guint n;
  AdjSize size; /* their product */
} Group;

typedef enum
{
  BOTH,
  LEFT,
  SUMMED,
  RIGHT,
  N_GROUPS,
} GroupKind;

static void
group_add (Einsum *e, Group *group, guint dim, AdjSize size)
{
  group->dims[group->n++] = ADJ_SIZE (dim);
  group->size = adj_size_mul (e->symbols, group->size, size);
}

static guint
join (const Group *groups, const GroupKind *kinds, guint n_kinds, AdjSize *out)
{
  guint n = 0;

  for (guint k = 0; k < n_kinds; k++)
    for (guint i = 0; i < groups[kinds[k]].n; i++)
      out[n++] = groups[kinds[k]].dims[i];
  return n;
}

/* @tensor with its dimensions in the order of @kinds, reshaped to three. */
static AdjTensor *
flatten (Einsum *e, AdjTensor *tensor, const Group *groups, const GroupKind *kinds)
{
  AdjSize order[ADJ_MAX_RANK], flat[3];
  guint n = join (groups, kinds, N_GROUPS, order);

  for (guint i = 0; i < 3; i++)
    flat[i] = groups[kinds[i]].size;
  tensor = ADJ_APPLY (e->cx, ADJ_OP_permute, ADJ_TENSOR (tensor), list (e, order, n));
  if (tensor == NULL)
    return NULL;
  return ADJ_APPLY (e->cx, ADJ_OP_reshape, ADJ_TENSOR (tensor), list (e, flat, 3));
}

/* Whether all dimensions of the right factor alone stand before those of the left one, so that the
 * product of the two in turn has the dimensions in order. */
static gboolean
is_in_turn (const Group *left, const Group *right)
{
  return left->n > 0 && right->n > 0 && right->dims[right->n - 1].word < left->dims[0].word;
}

static void
swap (Group *groups, AdjTensor **left, AdjTensor **right)
{
  Group group = groups[LEFT];
  AdjTensor *tensor = *left;

  groups[LEFT] = groups[RIGHT];
  groups[RIGHT] = group;
  *left = *right;
  *right = tensor;
}

static AdjTensor *
multiply (Einsum *e, AdjTensor *left, AdjTensor *right, guint32 summed)
{
  static const GroupKind of_left[] = { BOTH, LEFT, SUMMED, RIGHT };
  static const GroupKind of_right[] = { BOTH, SUMMED, RIGHT, LEFT };
  Group groups[N_GROUPS] = { { .size = ADJ_SIZE (1) },
                             { .size = ADJ_SIZE (1) },
                             { .size = ADJ_SIZE (1) },
                             { .size = ADJ_SIZE (1) } };
  AdjSize sizes[ADJ_MAX_RANK], order[ADJ_MAX_RANK], back[ADJ_MAX_RANK];
  guint n;

  if (summed == 0)
    return ADJ_APPLY (e->cx, ADJ_OP_mul_Tensor, ADJ_TENSOR (left), ADJ_TENSOR (right));
  for (guint i = 0; i < e->n_labels; i++)
    {
      AdjSize a = shape_of (left)->size[i], b = shape_of (right)->size[i];
      gboolean in_left = !is_one (e, a), in_right = !is_one (e, b);

      if (((summed >> i) & 1) != 0)
        group_add (e, &groups[SUMMED], i, a);
      else if (in_left)
        group_add (e, &groups[in_right ? BOTH : LEFT], i, a);
      else
        group_add (e, &groups[RIGHT], i, b);
    }
  if (adj_rule_has_formula (e->cx, "einsum_in_turn") && is_in_turn (&groups[LEFT], &groups[RIGHT]))
    swap (groups, &left, &right);
  n = join (groups, of_left, N_GROUPS, order);
  for (guint i = 0; i < n; i++)
    {
      gint64 dim = order[i].word;
      AdjSize a = shape_of (left)->size[dim];

      sizes[i] = ((summed >> dim) & 1) != 0 ? ADJ_SIZE (1)
                 : is_one (e, a)            ? shape_of (right)->size[dim]
                                            : a;
      back[dim] = ADJ_SIZE (i);
    }
  left = flatten (e, left, groups, of_left);
  right = left != NULL ? flatten (e, right, groups, of_right) : NULL;
  if (right == NULL)
    return NULL;
  left = ADJ_APPLY (e->cx, ADJ_OP_bmm, ADJ_TENSOR (left), ADJ_TENSOR (right));
  left =
      left != NULL ? ADJ_APPLY (e->cx, ADJ_OP_view, ADJ_TENSOR (left), list (e, sizes, n)) : NULL;
  return left != NULL ? ADJ_APPLY (e->cx, ADJ_OP_permute, ADJ_TENSOR (left), list (e, back, n))
                      : NULL;
}

/* @tensor summed over @dims, which stay as dimensions of size 1. */
static AdjTensor *
sum_alone (Einsum *e, AdjTensor *tensor, guint32 dims)
{
  AdjSize named[ADJ_MAX_RANK];
  guint n = 0;

  for (guint i = 0; i < e->n_labels; i++)
    if (((dims >> i) & 1) != 0)
      named[n++] = ADJ_SIZE (i);
  if (n == 0)
    return tensor;
  return ADJ_APPLY (e->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (tensor), list (e, named, n),
                    ADJ_BOOL (TRUE));
}

/* Multiplies one more operand; @counts: by dimension, how many of the remaining factors have it.
 */
static AdjTensor *
step (Einsum *e, AdjTensor *left, AdjTensor *right, guint *counts)
{
  guint32 together = 0, alone[2] = { 0, 0 };

  for (guint i = e->n_kept; i < e->n_labels; i++)
    {
      gboolean in_left = !is_one (e, shape_of (left)->size[i]);
      gboolean in_right = !is_one (e, shape_of (right)->size[i]);

      if (in_left && in_right && --counts[i] == 1)
        {
          together |= 1u << i;
          counts[i] = 0;
        }
      else if (in_left != in_right && counts[i] == 1)
        {
          alone[in_left ? 0 : 1] |= 1u << i;
          counts[i] = 0;
        }
    }
  left = sum_alone (e, left, alone[0]);
  right = left != NULL ? sum_alone (e, right, alone[1]) : NULL;
  return right != NULL ? multiply (e, left, right, together) : NULL;
}

static AdjTensor *
contract (Einsum *e, AdjTensor **operands)
{
  guint counts[ADJ_MAX_RANK] = { 0 };
  AdjTensor *result = operands[0];

  for (guint k = 0; k < e->n_operands; k++)
    for (guint i = 0; i < e->n_labels; i++)
      counts[i] += !is_one (e, shape_of (operands[k])->size[i]);
  for (guint k = 1; k < e->n_operands && result != NULL; k++)
    result = step (e, result, operands[k], counts);
  if (result == NULL || e->n_kept == e->n_labels)
    return result;
  if (e->n_operands > 1)
    return ADJ_APPLY (e->cx, ADJ_OP_view, ADJ_TENSOR (result),
                      list (e, shape_of (result)->size, e->n_kept));
  {
    AdjSize dims[ADJ_MAX_RANK];
    guint n = 0;

    for (guint i = e->n_kept; i < e->n_labels; i++)
      dims[n++] = ADJ_SIZE (i);
    return ADJ_APPLY (e->cx, ADJ_OP_sum_dim_IntList, ADJ_TENSOR (result), list (e, dims, n));
  }
}

/* args: the equation and the tensors */
gboolean
rule_einsum (AdjRuleCall *call, const AdjValue *args, guint n, AdjValue *out)
{
  const AdjValue *equation = &args[0], *tensors = &args[1];
  Einsum e = { .call = call, .cx = call->cx, .symbols = adj_context_get_symbols (call->cx) };
  AdjTensor **operands;
  const char *at;

  if (equation->kind != ADJ_VALUE_STRING || !adj_value_is_container (tensors) || tensors->n == 0)
    return fail (&e, "has no operands");
  e.left = at = equation->text;
  e.right = strstr (equation->text, "->");
  e.right = e.right != NULL ? e.right + 2 : NULL;
  e.n_operands = tensors->n;
  e.tensors = tensors->items;
  if (!check_operands (&e) || !order_labels (&e))
    return FALSE;

  operands = adj_arena_new0 (call->arena, AdjTensor *, e.n_operands);
  for (guint i = 0; i < e.n_operands; i++)
    {
      operands[i] = align (&e, e.tensors[i].tensor, &at);
      if (operands[i] == NULL)
        return FALSE;
      at += *at == ',';
    }
  *out = ADJ_TENSOR (contract (&e, operands));
  return out->tensor != NULL;
}
