/* SPDX-License-Identifier: MIT */
/* Targets of nodes: from operator names to the symbols, stems and spellings that PyTorch prints. */

#include "ir/adj-target.h"

#include <string.h>

#include "ir/adj-namespace.h"
#include "ir/adj-target-internal.h"

typedef struct
{
  const char *target;
  const char *symbol;
  AdjFixity fixity;
} Symbol;

/* If two targets share a symbol, text is read as the first. */
static const Symbol symbols[] = {
  { "operator.add", "+", ADJ_FIXITY_INFIX },
  { "operator.sub", "-", ADJ_FIXITY_INFIX },
  { "operator.mul", "*", ADJ_FIXITY_INFIX },
  { "operator.floordiv", "//", ADJ_FIXITY_INFIX },
  { "operator.truediv", "/", ADJ_FIXITY_INFIX },
  { "operator.div", "/", ADJ_FIXITY_INFIX },
  { "operator.mod", "%", ADJ_FIXITY_INFIX },
  { "operator.pow", "**", ADJ_FIXITY_INFIX },
  { "operator.lshift", "<<", ADJ_FIXITY_INFIX },
  { "operator.rshift", ">>", ADJ_FIXITY_INFIX },
  { "operator.and_", "&", ADJ_FIXITY_INFIX },
  { "operator.or_", "|", ADJ_FIXITY_INFIX },
  { "operator.xor", "^", ADJ_FIXITY_INFIX },
  { "operator.matmul", "@", ADJ_FIXITY_INFIX },
  { "operator.eq", "==", ADJ_FIXITY_INFIX },
  { "operator.ne", "!=", ADJ_FIXITY_INFIX },
  { "operator.lt", "<", ADJ_FIXITY_INFIX },
  { "operator.gt", ">", ADJ_FIXITY_INFIX },
  { "operator.le", "<=", ADJ_FIXITY_INFIX },
  { "operator.ge", ">=", ADJ_FIXITY_INFIX },
  { "operator.pos", "+", ADJ_FIXITY_PREFIX },
  { "operator.neg", "-", ADJ_FIXITY_PREFIX },
  { "operator.invert", "~", ADJ_FIXITY_PREFIX },
  { "operator.iadd", "+=", ADJ_FIXITY_INPLACE },
  { "operator.isub", "-=", ADJ_FIXITY_INPLACE },
  { "operator.imul", "*=", ADJ_FIXITY_INPLACE },
  { "operator.ifloordiv", "//=", ADJ_FIXITY_INPLACE },
  { "operator.itruediv", "/=", ADJ_FIXITY_INPLACE },
  { "operator.imod", "%=", ADJ_FIXITY_INPLACE },
  { "operator.ipow", "**=", ADJ_FIXITY_INPLACE },
  { "operator.ilshift", "<<=", ADJ_FIXITY_INPLACE },
  { "operator.irshift", ">>=", ADJ_FIXITY_INPLACE },
  { "operator.iand", "&=", ADJ_FIXITY_INPLACE },
  { "operator.ior", "|=", ADJ_FIXITY_INPLACE },
  { "operator.ixor", "^=", ADJ_FIXITY_INPLACE },
  { "operator.imatmul", "@=", ADJ_FIXITY_INPLACE },
};

const char *
adj_target_get_symbol (const char *target, AdjFixity *fixity)
{
  if (!g_str_has_prefix (target, "operator."))
    return NULL;

  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (g_str_equal (symbols[i].target, target))
      {
        *fixity = symbols[i].fixity;
        return symbols[i].symbol;
      }

  return NULL;
}

gboolean
adj_target_names_write (const char *target)
{
  static const char *const others[] = {
    "operator.setitem",
    "torch._dynamo.compiled_autograd.copy_slices_epilogue",
  };
  AdjFixity fixity = ADJ_FIXITY_INFIX;
  const char *end = target + strlen (target);

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (g_str_equal (target, others[i]))
      return TRUE;
  if (adj_target_get_symbol (target, &fixity) != NULL)
    return fixity == ADJ_FIXITY_INPLACE;
  if (g_str_has_prefix (target, "torch.ops."))
    end = strrchr (target, '.');
  return end - target > 1 && end[-1] == '_' && end[-2] != '_';
}

const char *
adj_target_from_symbol (const char *symbol, AdjFixity fixity)
{
  for (guint i = 0; i < G_N_ELEMENTS (symbols); i++)
    if (symbols[i].fixity == fixity && g_str_equal (symbols[i].symbol, symbol))
      return symbols[i].target;

  return NULL;
}

/* fooBar → foo_bar: an underscore before each capital that follows a lower-case letter. */
static char *
to_snake_case (const char *text, gsize length)
{
  GString *snake = g_string_sized_new (length + 8);

  for (gsize i = 0; i < length; i++)
    {
      if (i > 0 && g_ascii_isupper (text[i]) && g_ascii_islower (text[i - 1]))
        g_string_append_c (snake, '_');
      g_string_append_c (snake, g_ascii_tolower (text[i]));
    }

  return g_string_free (snake, FALSE);
}

/* The part of @target that names the function: "add" of torch.ops.aten.add.Tensor. */
static const char *
find_base (const char *target, gsize *length)
{
  const char *last = strrchr (target, '.');

  if (g_str_has_prefix (target, "torch.ops."))
    {
      const char *space_end = strchr (target + strlen ("torch.ops."), '.');

      if (space_end)
        {
          const char *end = strchr (space_end + 1, '.');

          *length = end ? (gsize) (end - space_end - 1) : strlen (space_end + 1);
          return space_end + 1;
        }
    }

  last = last ? last + 1 : target;
  *length = strlen (last);

  return last;
}

char *
adj_target_get_stem (const char *target)
{
  gsize length;
  const char *base = find_base (target, &length);

  if (length > 4 && g_str_has_prefix (base, "__") && strncmp (base + length - 2, "__", 2) == 0)
    {
      base += 2;
      length -= 4;
    }

  return to_snake_case (base, length);
}

char *
adj_target_get_path_stem (const char *target)
{
  return to_snake_case (target, strlen (target));
}

char *
adj_target_get_printed (const char *target)
{
  g_autofree char *full = NULL;

  if (g_str_has_prefix (target, "torch.") && !g_str_has_prefix (target, "torch._dynamo.") &&
      !g_str_has_prefix (target, "torch._inductor."))
    return g_strdup (target);

  /* PyTorch calls Python's module "operator" by the name of its C half. */
  if (g_str_has_prefix (target, "operator."))
    full = g_strconcat ("_", target, NULL);

  return adj_name_clean (full ? full : target);
}

/* How long @name is without "_1": PyTorch prints that where a graph calls two functions of one
 * name, as it makes one of call_aot_bwd_prologue for each compiled function. */
static gsize
measure_without_number (const char *name)
{
  const gsize length = strlen (name);
  gsize end = length;

  while (end > 0 && g_ascii_isdigit (name[end - 1]))
    end--;
  return end < length && end > 1 && name[end - 1] == '_' ? end - 1 : length;
}

char *
adj_target_from_printed (const char *printed)
{
  static const char *const modules[] = {
    "torch._dynamo.external_utils.",
    "torch._dynamo.compiled_autograd.ops.",
    "torch._dynamo.compiled_autograd.",
    "torch._dynamo._trace_wrapped_higher_order_op.",
  };

  for (guint i = 0; i < G_N_ELEMENTS (modules); i++)
    {
      g_autofree char *flat = adj_name_clean (modules[i]);

      if (g_str_has_prefix (printed, flat))
        {
          const char *name = printed + strlen (flat);

          return g_strdup_printf ("%s%.*s", modules[i], (int) measure_without_number (name), name);
        }
    }
  return g_strdup (printed);
}
