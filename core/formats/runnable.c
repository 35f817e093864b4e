/* SPDX-License-Identifier: MIT */
/* Reads what load_args() of a script makes, a statement in each line:
 *
 *   buf0 = reader.storage(None, 320, device=device(type='cuda', index=0), dtype_hint=torch.float16)
 *   reader.tensor(buf0, (16, 10), (1, 16), dtype=torch.float16, storage_offset=2)  # arg0_1
 *   reader.symint(8, expr='s77')  # arg1_1
 */

#include <string.h>

#include "base/adj-lexer.h"
#include "formats/runnable-private.h"
#include "tensor/adj-dtype.h"

#define LOADER "\ndef load_args(reader):"
#define HEADER "def forward(self, "
#define MAX_ARGUMENTS 32

typedef struct
{
  char *annotation; /* "f32[16, 10][10, 1]cpu" */
  char *storage;
  gint64 offset;
  gboolean requires_grad;
  char *hint; /* (nullable): of the symbol in @annotation */
} Input;

typedef struct
{
  GHashTable *devices; /* (owned) name of a storage → its device */
  GHashTable *sharers; /* (owned) name of a storage → how many tensors lie in it */
  GHashTable *inputs;  /* (owned) placeholder → Input */
} Inputs;

static void
input_free (Input *input)
{
  g_free (input->annotation);
  g_free (input->storage);
  g_free (input->hint);
  g_free (input);
}

static void
inputs_clear (Inputs *self)
{
  g_hash_table_unref (self->devices);
  g_hash_table_unref (self->sharers);
  g_hash_table_unref (self->inputs);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Inputs, inputs_clear)

/* One argument of a call: "dtype=torch.float16", or without a key. */
typedef struct
{
  char *key, *text; /* @key: (nullable) */
} Argument;

static void
argument_clear (Argument *argument)
{
  g_free (argument->key);
  g_free (argument->text);
}

static void
add_argument (GArray *arguments, const AdjToken *key, const char *start, const char *end)
{
  Argument argument = { NULL, NULL };

  if (start == NULL || end <= start)
    return;
  if (key->kind == ADJ_TOKEN_NAME)
    {
      argument.key = adj_token_dup (key);
      start = strchr (start, '=') + 1;
    }
  argument.text = g_strstrip (g_strndup (start, (gsize) (end - start)));
  g_array_append_val (arguments, argument);
}

static gboolean
is_one_of (const AdjToken *token, const char *brackets)
{
  return token->kind == ADJ_TOKEN_PUNCT && token->length == 1 &&
         strchr (brackets, *token->text) != NULL;
}

/* (transfer full) (nullable): the arguments of the call whose bracket @lexer stands behind. */
static GArray *
take_arguments (AdjLexer *lexer)
{
  g_autoptr (GArray) arguments = g_array_new (FALSE, FALSE, sizeof (Argument));
  AdjToken key = { .kind = ADJ_TOKEN_END }, last = key;
  const char *start = NULL;

  g_array_set_clear_func (arguments, (GDestroyNotify) argument_clear);
  for (guint depth = 1; depth > 0 && arguments->len < MAX_ARGUMENTS;)
    {
      AdjToken token = adj_lexer_next (lexer);

      if (token.kind == ADJ_TOKEN_END || token.kind == ADJ_TOKEN_NEWLINE)
        return NULL;
      depth += is_one_of (&token, "([{");
      depth -= is_one_of (&token, ")]}");
      if (depth == 0 || (depth == 1 && is_one_of (&token, ",")))
        {
          add_argument (arguments, &key, start, token.text);
          start = NULL;
          key.kind = ADJ_TOKEN_END;
          continue;
        }
      if (start == NULL)
        start = token.text;
      else if (depth == 1 && is_one_of (&token, "=") && last.text == start)
        key = last;
      last = token;
    }
  return g_steal_pointer (&arguments);
}

/* (nullable): by @key, or the argument at @position when that has none. */
static const char *
find_argument (const GArray *arguments, const char *key, guint position)
{
  for (guint i = 0; i < arguments->len; i++)
    {
      const Argument *argument = &g_array_index (arguments, Argument, i);

      if (argument->key != NULL ? g_str_equal (argument->key, key) : i == position)
        return argument->text;
    }
  return NULL;
}

/* "device(type='cuda', index=0)" → "cuda:0" */
static char *
read_device (const char *text)
{
  AdjLexer lexer;
  g_autoptr (GArray) arguments = NULL;
  g_autofree char *type = NULL;
  const char *index;

  if (text == NULL || !g_str_has_prefix (text, "device("))
    return g_strdup ("cpu");
  adj_lexer_init (&lexer, text, strlen (text), 1);
  lexer.at += strlen ("device(");
  arguments = take_arguments (&lexer);
  if (arguments == NULL || find_argument (arguments, "type", 0) == NULL)
    return g_strdup ("cpu");
  type = g_strdelimit (g_strdup (find_argument (arguments, "type", 0)), "'\"", ' ');
  index = find_argument (arguments, "index", 1);
  return g_strconcat (g_strstrip (type), index != NULL ? ":" : "", index, NULL);
}

/* "(16, 10)" → "16, 10", "(16,)" → "16" */
static char *
read_sizes (const char *text)
{
  gsize length = strlen (text);
  char *sizes;

  if (length < 2 || *text != '(' || text[length - 1] != ')')
    return NULL;
  sizes = g_strstrip (g_strndup (text + 1, length - 2));
  length = strlen (sizes);
  if (length > 0 && sizes[length - 1] == ',')
    sizes[length - 1] = '\0';
  return sizes;
}

/* Of a contiguous tensor: "10, 1"; %NULL where a size is not known. */
static char *
strides_of (const char *sizes)
{
  g_auto (GStrv) parts = g_strsplit (sizes, ",", -1);
  guint rank = *sizes != '\0' ? g_strv_length (parts) : 0;
  g_autoptr (GString) strides = g_string_new (NULL);
  gint64 stride = 1;

  for (guint i = rank; i-- > 0;)
    {
      g_autofree char *text =
          g_strdup_printf ("%" G_GINT64_FORMAT "%s", stride, i + 1 < rank ? ", " : "");
      gint64 size;

      g_string_prepend (strides, text);
      if (!g_ascii_string_to_signed (g_strstrip (parts[i]), 10, 0, G_MAXINT64, &size, NULL) ||
          __builtin_mul_overflow (stride, MAX (size, 1), &stride))
        return NULL;
    }
  return g_string_free (g_steal_pointer (&strides), FALSE);
}

static Input *
tensor_new (const Inputs *self, const GArray *arguments)
{
  const char *storage = find_argument (arguments, "storage", 0);
  const char *shape = find_argument (arguments, "shape", 1);
  const char *stride = find_argument (arguments, "stride", 2);
  const char *name = find_argument (arguments, "dtype", G_MAXUINT);
  const char *offset = find_argument (arguments, "storage_offset", G_MAXUINT);
  const char *requires_grad = find_argument (arguments, "requires_grad", G_MAXUINT);
  g_autofree char *sizes = shape != NULL ? read_sizes (shape) : NULL;
  g_autofree char *strides = NULL;
  const char *device = storage != NULL ? g_hash_table_lookup (self->devices, storage) : NULL;
  AdjDType dtype = name == NULL ? ADJ_DTYPE_F32
                   : g_str_has_prefix (name, "torch.")
                       ? adj_dtype_from_torch_name (name + strlen ("torch."))
                       : ADJ_N_DTYPES;
  Input *input;

  if (sizes == NULL || dtype >= ADJ_N_DTYPES)
    return NULL;
  strides = stride != NULL ? read_sizes (stride) : strides_of (sizes);
  input = g_new0 (Input, 1);
  input->annotation = strides != NULL
                          ? g_strdup_printf ("%s[%s][%s]%s", adj_dtype_info (dtype)->code, sizes,
                                             strides, device != NULL ? device : "cpu")
                          : g_strdup_printf ("%s[%s]", adj_dtype_info (dtype)->code, sizes);
  input->storage = g_strdup (storage);
  input->offset = offset != NULL ? g_ascii_strtoll (offset, NULL, 10) : 0;
  input->requires_grad = g_strcmp0 (requires_grad, "True") == 0;
  return input;
}

/* symint(8, expr='s77'); without the expression the number is all that is known. */
static Input *
size_new (const GArray *arguments)
{
  const char *number = find_argument (arguments, "val", 0);
  const char *quoted = find_argument (arguments, "expr", G_MAXUINT);
  gsize length = quoted != NULL ? strlen (quoted) : 0;
  Input *input;

  if (number == NULL || length < 3)
    return NULL;
  input = g_new0 (Input, 1);
  input->annotation = g_strdup_printf ("Sym(%.*s)", (int) length - 2, quoted + 1);
  if (strspn (number, "0123456789") == strlen (number))
    input->hint = g_strdup (number);
  return input;
}

/* Takes over @input. (nullable) */
static void
add_input (Inputs *self, const char *name, Input *input)
{
  gpointer n;

  if (input == NULL)
    return;
  if (input->storage != NULL)
    {
      n = g_hash_table_lookup (self->sharers, input->storage);
      g_hash_table_replace (self->sharers, g_strdup (input->storage),
                            GUINT_TO_POINTER (GPOINTER_TO_UINT (n) + 1));
    }
  g_hash_table_replace (self->inputs, g_strdup (name), input);
}

static void
take_storage (Inputs *self, const GArray *arguments, const char *name)
{
  g_hash_table_replace (self->devices, g_strdup (name),
                        read_device (find_argument (arguments, "device", G_MAXUINT)));
}

static void
take_tensor (Inputs *self, const GArray *arguments, const char *name)
{
  add_input (self, name, tensor_new (self, arguments));
}

static void
take_size (Inputs *self, const GArray *arguments, const char *name)
{
  add_input (self, name, size_new (arguments));
}

static const struct
{
  const char *call;
  void (*take) (Inputs *self, const GArray *arguments, const char *name);
} statements[] = {
  { "reader.storage(", take_storage },
  { "reader.tensor(", take_tensor },
  { "reader.symint(", take_size },
};

/* (transfer full): what the statement calls its value: "buf0 = …", or the word behind "# ". */
static char *
name_of_value (const char *line, const char *call, AdjLexer *lexer)
{
  const char *equals = g_strstr_len (line, call - line, " =");
  AdjToken comment = adj_lexer_next (lexer);
  g_autofree char *text = comment.kind == ADJ_TOKEN_COMMENT ? adj_token_dup (&comment) : NULL;

  if (equals != NULL)
    return g_strstrip (g_strndup (line, (gsize) (equals - line)));
  if (text == NULL)
    return NULL;
  text[1 + strcspn (text + 1, ",")] = '\0';
  return g_strdup (g_strstrip (text + 1));
}

static void
take_statement (Inputs *self, const char *line)
{
  for (guint i = 0; i < G_N_ELEMENTS (statements); i++)
    {
      const char *at = strstr (line, statements[i].call);
      AdjLexer lexer;
      g_autoptr (GArray) arguments = NULL;
      g_autofree char *name = NULL;

      if (at == NULL)
        continue;
      adj_lexer_init (&lexer, at, strlen (at), 1);
      lexer.at += strlen (statements[i].call);
      lexer.keep_newlines = TRUE;
      arguments = take_arguments (&lexer);
      name = arguments != NULL ? name_of_value (line, at, &lexer) : NULL;
      if (name != NULL)
        statements[i].take (self, arguments, name);
      return;
    }
}

/* The function ends with the first line that is not indented. */
static void
take_loader (Inputs *self, const char *at, const char *end)
{
  while (at < end && (*at == ' ' || *at == '\t'))
    {
      const char *newline = memchr (at, '\n', (gsize) (end - at));
      g_autofree char *line = g_strndup (at, (gsize) ((newline != NULL ? newline : end) - at));

      take_statement (self, line);
      at = newline != NULL ? newline + 1 : end;
    }
}

/* What an annotation has no place for, as comments of the body. */
static void
add_notes (const Inputs *self, const char *name, const Input *input, guint indent, GString *notes)
{
  g_autoptr (GString) facts = g_string_new (NULL);
  gpointer storage, n;

  if (input->storage != NULL &&
      g_hash_table_lookup_extended (self->sharers, input->storage, &storage, &n) &&
      GPOINTER_TO_UINT (n) > 1 && g_str_has_prefix (input->storage, "buf"))
    g_string_append_printf (facts, "alias: %s, ", input->storage + strlen ("buf"));
  if (input->offset != 0)
    g_string_append_printf (facts, "offset: %" G_GINT64_FORMAT ", ", input->offset);
  if (input->requires_grad)
    g_string_append (facts, "requires_grad: True, ");
  if (facts->len > 0)
    {
      g_string_truncate (facts, facts->len - strlen (", "));
      g_string_append_printf (notes, "\n%*s# adj: %s {%s}", indent, "", name, facts->str);
    }
  if (input->hint != NULL)
    g_string_append_printf (notes, "\n%*s# adj: symbol %.*s {hint: %s}", indent, "",
                            (int) strcspn (input->annotation + strlen ("Sym("), ")"),
                            input->annotation + strlen ("Sym("), input->hint);
}

/* "arg0_1, arg1_1" → "arg0_1: \"f32[4][1]cpu\", arg1_1" */
static char *
annotate (const Inputs *self, const char *parameters, guint indent, GString *notes)
{
  g_auto (GStrv) names = g_strsplit (parameters, ", ", -1);
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; names[i] != NULL; i++)
    {
      const Input *input = g_hash_table_lookup (self->inputs, names[i]);

      g_string_append_printf (text, "%s%s", i > 0 ? ", " : "", names[i]);
      if (input == NULL)
        continue;
      g_string_append_printf (text, ": \"%s\"", input->annotation);
      add_notes (self, names[i], input, indent, notes);
    }
  return g_string_free (g_steal_pointer (&text), FALSE);
}

char *
runnable_annotate (const char *text, gsize length)
{
  const char *end = text + length;
  const char *loader = memmem (text, length, LOADER, strlen (LOADER));
  g_autofree char *before = loader != NULL ? g_strndup (text, (gsize) (loader - text)) : NULL;
  char *header = before != NULL ? g_strrstr (before, HEADER) : NULL;
  char *parameters = header != NULL ? header + strlen (HEADER) : NULL;
  char *body = parameters != NULL ? strstr (parameters, "):\n") : NULL;
  g_auto (Inputs) self = {
    .devices = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free),
    .sharers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .inputs = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, (GDestroyNotify) input_free),
  };
  g_autoptr (GString) notes = g_string_new (NULL);
  g_autofree char *annotated = NULL;
  const char *line = header;

  if (body == NULL)
    return NULL;
  while (line > before && line[-1] != '\n')
    line--;
  take_loader (&self, loader + strlen (LOADER "\n"), end);
  *body = '\0';
  annotated = annotate (&self, parameters, (guint) (header - line) + 4, notes);
  *parameters = '\0';
  return g_strconcat (before, annotated, "):", notes->str, body + strlen ("):"), NULL);
}
