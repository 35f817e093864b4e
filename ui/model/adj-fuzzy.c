/* SPDX-License-Identifier: MIT */
/* Fuzzy matching of typed words, with a score and the places of the letters. */

#include "model/adj-fuzzy.h"

#include <string.h>

#define WHOLE 400     /* score of a whole word */
#define BEGINNING 100 /* score of a letter that begins a word of the text */
#define FOLLOWS 20    /* score of a letter that follows the one before */
#define SCATTERED 10  /* score of any other letter */
#define SHORTNESS 60  /* greatest deduction for a long text */

static gboolean
begins_word (const char *text, gsize at)
{
  return at == 0 || !g_ascii_isalnum (text[at - 1]) ||
         (g_ascii_isupper (text[at]) && g_ascii_islower (text[at - 1]));
}

/* The place of @word (@n letters) in @text, at the beginning of a word when there is one. */
static gssize
find_whole (const char *text, const char *word, gsize n)
{
  gssize found = -1;

  for (gsize i = 0; text[i] != '\0'; i++)
    if (g_ascii_strncasecmp (text + i, word, n) == 0)
      {
        if (begins_word (text, i))
          return (gssize) i;
        if (found < 0)
          found = (gssize) i;
      }
  return found;
}

static void
note (GArray *positions, gsize at)
{
  guint position = (guint) at;

  if (positions != NULL)
    g_array_append_val (positions, position);
}

/* Matches letter by letter; a letter is matched at the beginning of a word where the rest still
 * fits behind it, else at its first place. */
static guint
match_scattered (const char *text, const char *word, gsize n, GArray *positions)
{
  guint score = 0;
  gsize at = 0;

  for (gsize k = 0; k < n; k++)
    {
      gsize first = at;

      while (text[first] != '\0' && g_ascii_tolower (text[first]) != g_ascii_tolower (word[k]))
        first++;
      if (text[first] == '\0')
        return 0;
      score += begins_word (text, first) ? BEGINNING : k > 0 && first == at ? FOLLOWS : SCATTERED;
      note (positions, first);
      at = first + 1;
    }
  return score / (guint) n;
}

static guint
match_word (const char *text, const char *word, gsize n, GArray *positions)
{
  gssize whole = find_whole (text, word, n);

  if (whole < 0)
    return match_scattered (text, word, n, positions);
  for (gsize i = 0; i < n; i++)
    note (positions, (gsize) whole + i);
  return WHOLE + (begins_word (text, (gsize) whole) ? BEGINNING : 0) + (whole == 0 ? BEGINNING : 0);
}

guint
adj_fuzzy_match (const char *text, const char *pattern, GArray *positions)
{
  guint score = 0, n_words = 0;
  gsize length = strlen (text);

  for (const char *word = pattern; *word != '\0';)
    {
      gsize n = strcspn (word, " \t");

      if (n > 0)
        {
          guint one = match_word (text, word, n, positions);

          if (one == 0)
            {
              if (positions != NULL)
                g_array_set_size (positions, 0);
              return 0;
            }
          score += one;
          n_words++;
        }
      word += n + (word[n] != '\0');
    }
  if (n_words == 0)
    return 1;
  return score / n_words * 2 + SHORTNESS - (guint) MIN (length, SHORTNESS);
}
