/* SPDX-License-Identifier: MIT */
/* Reads the dynamic symbol table of an ELF file.  Loading a library runs its code, so whether it is
 * a plugin is checked first. */

#include <elf.h>
#include <link.h>
#include <string.h>

#include "base/adj-error.h"
#include "base/adj-file-internal.h"
#include "session/plugin-symbols-private.h"

#define MAX_BYTES (1 << 30)

typedef struct
{
  const char *path;
  const guint8 *data;
  gsize size;
} Library;

static gboolean
fail (const Library *library, const char *why, GError **error)
{
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_PARSE, "%s: %s", library->path, why);
  return FALSE;
}

/* Whether @n records of @size bytes lie within the file at @at. */
static gboolean
is_inside (const Library *library, guint64 at, guint64 n, gsize size)
{
  return at <= library->size && n <= (library->size - at) / size;
}

/* Checks that it is of this machine's kind, as the dynamic loader does. */
static gboolean
read_header (const Library *library, ElfW (Ehdr) * header)
{
  const guint8 class = sizeof (ElfW (Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
  const guint8 order = G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB;

  if (!is_inside (library, 0, 1, sizeof *header))
    return FALSE;
  memcpy (header, library->data, sizeof *header);
  return memcmp (header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == class &&
         header->e_ident[EI_DATA] == order && header->e_type == ET_DYN &&
         header->e_shentsize == sizeof (ElfW (Shdr)) &&
         is_inside (library, header->e_shoff, header->e_shnum, sizeof (ElfW (Shdr)));
}

static ElfW (Shdr) get_section (const Library *library, const ElfW (Ehdr) * header, guint index)
{
  ElfW (Shdr) section;

  memcpy (&section, library->data + header->e_shoff + index * sizeof section, sizeof section);
  return section;
}

/* Whether the string at @at of the string table is @name and ends within the table. */
static gboolean
is_named (const Library *library, const ElfW (Shdr) * texts, guint64 at, const char *name)
{
  gsize length = strlen (name) + 1;

  return at <= texts->sh_size && length <= texts->sh_size - at &&
         memcmp (library->data + texts->sh_offset + at, name, length) == 0;
}

static gboolean
is_for_others (const ElfW (Sym) * symbol)
{
  guint bind = symbol->st_info >> 4, type = symbol->st_info & 15;

  return symbol->st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK) &&
         (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static gboolean
find_in (const Library *library,
         const ElfW (Shdr) * symbols,
         const ElfW (Shdr) * texts,
         const char *name)
{
  for (guint64 i = 0; i < symbols->sh_size / sizeof (ElfW (Sym)); i++)
    {
      ElfW (Sym) symbol;

      memcpy (&symbol, library->data + symbols->sh_offset + i * sizeof symbol, sizeof symbol);
      if (is_for_others (&symbol) && is_named (library, texts, symbol.st_name, name))
        return TRUE;
    }
  return FALSE;
}

static gboolean
find_function (const Library *library, const char *name, GError **error)
{
  ElfW (Ehdr) header;

  if (!read_header (library, &header))
    return fail (library, "not a shared library for this machine", error);
  for (guint i = 0; i < header.e_shnum; i++)
    {
      ElfW (Shdr) symbols = get_section (library, &header, i), texts;

      if (symbols.sh_type != SHT_DYNSYM || symbols.sh_link >= header.e_shnum)
        continue;
      texts = get_section (library, &header, symbols.sh_link);
      if (!is_inside (library, symbols.sh_offset, symbols.sh_size, 1) ||
          !is_inside (library, texts.sh_offset, texts.sh_size, 1))
        return fail (library, "its table of symbols reaches beyond the file", error);
      if (find_in (library, &symbols, &texts, name))
        return TRUE;
    }
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_NOT_FOUND, "%s: has no function '%s'", library->path,
               name);
  return FALSE;
}

gboolean
plugin_has_function (const char *path, const char *name, GError **error)
{
  g_autoptr (GBytes) bytes = adj_file_read (path, ADJ_FILE_WHOLE, MAX_BYTES, NULL, error);
  Library library = { .path = path };

  if (bytes == NULL)
    return FALSE;
  library.data = g_bytes_get_data (bytes, &library.size);
  return find_function (&library, name, error);
}
