/* SPDX-License-Identifier: MIT */
/* Makes a joint graph of many equal layers. */

#include "layers.h"

#include "golden.h"

char *
layers_name (const char *stem, guint n)
{
  return n == 0 ? g_strdup (stem) : g_strdup_printf ("%s_%u", stem, n);
}

static void
append_weight_gradient (GString *program,
                        GString *outputs,
                        const char *input,
                        const char *gradient,
                        guint *n_t,
                        guint *n_mm)
{
  g_autofree char *t = layers_name ("t", (*n_t)++);
  g_autofree char *product = layers_name ("mm", (*n_mm)++);

  g_string_append_printf (program, "%s = t.default(%s); %s = mm.default(%s, %s);", t, input,
                          product, t, gradient);
  g_string_prepend (outputs, product);
  g_string_prepend (outputs, ", ");
}

static void
append_input_gradient (
    GString *program, guint layer, const char *back, char grad[32], guint *n_t, guint *n_mm)
{
  g_autofree char *t = layers_name ("t", (*n_t)++);
  g_autofree char *next = layers_name ("mm", (*n_mm)++);

  g_string_append_printf (program, "%s = t.default(p%u); %s = mm.default(%s, %s);", t, layer + 2,
                          next, back, t);
  g_strlcpy (grad, next, 32);
}

AdjGraph *
layers_new (guint n_layers)
{
  g_autoptr (GString) inputs = g_string_new ("p1:1024x512");
  g_autoptr (GString) program = g_string_new (NULL);
  g_autoptr (GString) outputs = g_string_new (NULL);
  guint n_mm = 0, n_t = 0;
  char name[32], grad[32];

  for (guint i = 0; i < n_layers; i++)
    g_string_append_printf (inputs, " p%u:512x512", i + 2);
  g_string_append (inputs, " t1:1024x512");
  for (guint i = 0; i < n_layers; i++)
    {
      g_autofree char *product = layers_name ("mm", n_mm++);
      g_autofree char *before = i == 0 ? g_strdup ("p1") : layers_name ("gelu", i - 1);
      g_autofree char *after = layers_name ("gelu", i);

      g_string_append_printf (program, "%s = mm.default(%s, p%u); %s = gelu.default(%s);", product,
                              before, i + 2, after, product);
    }
  g_strlcpy (grad, "t1", sizeof grad);
  for (guint i = n_layers; i-- > 0;)
    {
      g_autofree char *activation = layers_name ("mm", i);
      g_autofree char *before = i == 0 ? g_strdup ("p1") : layers_name ("gelu", i - 1);
      g_autofree char *back = layers_name ("gelu_backward", n_layers - 1 - i);

      g_string_append_printf (program, "%s = gelu_backward.default(%s, %s);", back, grad,
                              activation);
      append_weight_gradient (program, outputs, before, back, &n_t, &n_mm);
      if (i > 0)
        append_input_gradient (program, i, back, grad, &n_t, &n_mm);
    }
  g_snprintf (name, sizeof name, "gelu_%u", n_layers - 1);
  g_string_append_printf (program, "return [%s, None%s]", name, outputs->str);
  return golden_parse (inputs->str, program->str);
}
