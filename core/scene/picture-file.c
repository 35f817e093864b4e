/* SPDX-License-Identifier: MIT */

/* Writes pictures to files: vector formats at once, PNG in tiles. */

#include <gio/gio.h>
#include <math.h>
#include <string.h>

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <png.h>

#include "base/adj-error.h"
#include "base/adj-file-writer.h"
#include "scene/paint-cairo-private.h"

#define MAX_PDF_POINTS 14400.0
#define MAX_PNG_SIDE 65535.0 /* most programs cannot show larger images */
#define TILE_WIDTH 8192
#define MAX_BAND_BYTES (64u << 20)
#define MAX_BAND_ROWS 512
/* Scene pixels by which lines and arrows extend beyond their boxes. */
#define TILE_MARGIN 32.0f

/* The destination of the bytes. */
typedef struct
{
  AdjFileWriter *writer; /* (nullable): the file to write */
  GByteArray *bytes;
  GCancellable *cancellable;
  GError *problem; /* (owned) (nullable): the first error of writing */
} Sink;

static cairo_status_t
write_to_sink (gpointer closure, const guint8 *data, guint size)
{
  Sink *sink = closure;

  if (g_cancellable_is_cancelled (sink->cancellable))
    return CAIRO_STATUS_WRITE_ERROR;
  if (sink->problem != NULL)
    return CAIRO_STATUS_WRITE_ERROR;
  if (sink->writer != NULL)
    return adj_file_writer_write (sink->writer, data, size, &sink->problem)
               ? CAIRO_STATUS_SUCCESS
               : CAIRO_STATUS_WRITE_ERROR;
  g_byte_array_append (sink->bytes, data, size);
  return CAIRO_STATUS_SUCCESS;
}

/* The state of writing one file. */
typedef struct
{
  const AdjScene *scene;
  const AdjPaintOptions *options;
  AdjRect part;
  double width, height; /* of the page, in scene pixels */
} Page;

static void
page_init (Page *page, const AdjScene *scene, const AdjPaintOptions *options)
{
  page->scene = scene;
  page->options = options;
  page->part = options->part != NULL ? *options->part : adj_scene_get_bounds (scene);
  page->width = MAX (page->part.width, 1);
  page->height = MAX (page->part.height, 1) + (options->legend ? PAINT_LEGEND_HEIGHT : 0);
}

static void
fail_to_draw (const Page *page, const char *why, GError **error)
{
  if (!g_cancellable_set_error_if_cancelled (page->options->cancellable, error))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "drawing failed: %s", why);
}

/* -- vectors -- */

static gboolean
paint_page (const Page *page, cairo_surface_t *surface, double scale)
{
  cairo_t *cr = cairo_create (surface);
  gboolean done;

  cairo_scale (cr, scale, scale);
  cairo_translate (cr, -page->part.x, -page->part.y);
  done = paint_scene (page->scene, cr, &page->part, page->options, 0);
  if (done && page->options->legend)
    paint_legend (page->scene, cr, &page->part, page->options->scheme);
  cairo_destroy (cr);
  return done;
}

/* Paints the page to @surface (transfer full). */
static gboolean
write_vectors (const Page *page, cairo_surface_t *surface, double scale, GError **error)
{
  gboolean painted = paint_page (page, surface, scale);
  cairo_status_t status;

  cairo_surface_finish (surface);
  status = cairo_surface_status (surface);
  cairo_surface_destroy (surface);
  if (!painted || status != CAIRO_STATUS_SUCCESS)
    fail_to_draw (page, cairo_status_to_string (status), error);
  return painted && status == CAIRO_STATUS_SUCCESS;
}

static gboolean
write_svg (const Page *page, Sink *sink, GError **error)
{
  return write_vectors (
      page, cairo_svg_surface_create_for_stream (write_to_sink, sink, page->width, page->height), 1,
      error);
}

static gboolean
write_pdf (const Page *page, Sink *sink, GError **error)
{
  double scale = MIN (1, MAX_PDF_POINTS / MAX (page->width, page->height));
  cairo_surface_t *surface = cairo_pdf_surface_create_for_stream (
      write_to_sink, sink, page->width * scale, page->height * scale);

  /* PDF 1.4 has all that is painted, and LaTeX includes it without a warning; cairo 1.18 would
   * write 1.7. */
  cairo_pdf_surface_restrict_to_version (surface, CAIRO_PDF_VERSION_1_4);
  return write_vectors (page, surface, scale, error);
}

/* -- pixels -- */

/* A PNG being written: a band of whole rows is painted tile by tile. */
typedef struct
{
  const Page *page;
  Sink *sink;
  png_structp png;
  png_infop info;
  float scale;
  guint width, height; /* pixels */
  guint band;          /* rows of a band */
  guint8 *rows;        /* (owned): of the band */
  cairo_surface_t *tile;
  const char *failure; /* (nullable) */
} Bands;

static void
on_png_error (png_structp png, png_const_charp message)
{
  ((Bands *) png_get_error_ptr (png))->failure = "the PNG could not be written";
  png_longjmp (png, 1);
}

static void
on_png_warning (png_structp png, png_const_charp message)
{
}

static void
on_png_write (png_structp png, png_bytep data, png_size_t size)
{
  if (write_to_sink (png_get_io_ptr (png), data, (guint) size) != CAIRO_STATUS_SUCCESS)
    png_error (png, "write");
}

static void
on_png_flush (png_structp png)
{
}

/* Converts cairo's pixels, in native byte order, to bytes of the band. */
static void
take_tile (Bands *self, guint x, guint n_columns, guint n_rows)
{
  const guint8 *pixels = cairo_image_surface_get_data (self->tile);
  int stride = cairo_image_surface_get_stride (self->tile);

  for (guint row = 0; row < n_rows; row++)
    {
      const guint8 *from = pixels + (gsize) row * (gsize) stride;
      guint8 *to = self->rows + ((gsize) row * self->width + x) * 3;

      for (guint column = 0; column < n_columns; column++, from += 4, to += 3)
        {
          guint32 pixel;

          memcpy (&pixel, from, sizeof pixel);
          to[0] = (guint8) (pixel >> 16);
          to[1] = (guint8) (pixel >> 8);
          to[2] = (guint8) pixel;
        }
    }
}

static gboolean
paint_tile (Bands *self, guint x, guint y, guint n_columns, guint n_rows)
{
  const Page *page = self->page;
  AdjPaintOptions quiet = *page->options; /* progress is reported by tile, not by box */
  AdjRect rect = { page->part.x + (float) x / self->scale - TILE_MARGIN,
                   page->part.y + (float) y / self->scale - TILE_MARGIN,
                   (float) n_columns / self->scale + 2 * TILE_MARGIN,
                   (float) n_rows / self->scale + 2 * TILE_MARGIN };
  cairo_t *cr = cairo_create (self->tile);
  gboolean done;

  quiet.progress = NULL;
  cairo_translate (cr, -(double) x, -(double) y);
  cairo_scale (cr, self->scale, self->scale);
  cairo_translate (cr, -page->part.x, -page->part.y);
  done = paint_scene (page->scene, cr, &rect, &quiet, self->scale);
  if (done && page->options->legend)
    paint_legend (page->scene, cr, &page->part, page->options->scheme);
  cairo_destroy (cr);
  cairo_surface_flush (self->tile);
  if (done)
    take_tile (self, x, n_columns, n_rows);
  return done && !g_cancellable_is_cancelled (page->options->cancellable);
}

static gboolean
paint_band (Bands *self, guint y, guint n_rows, guint *tiles)
{
  const AdjPaintOptions *options = self->page->options;
  guint n_across = (self->width + TILE_WIDTH - 1) / TILE_WIDTH;
  guint n_down = (self->height + self->band - 1) / self->band;

  for (guint i = 0; i < n_across; i++)
    {
      guint x = i * TILE_WIDTH;

      if (!paint_tile (self, x, y, MIN (TILE_WIDTH, self->width - x), n_rows))
        return FALSE;
      if (options->progress != NULL)
        options->progress (++*tiles, n_across * n_down, options->data);
    }
  return TRUE;
}

static gboolean
write_rows (Bands *self)
{
  guint tiles = 0;

  png_set_write_fn (self->png, self->sink, on_png_write, on_png_flush);
  png_set_user_limits (self->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_IHDR (self->png, self->info, self->width, self->height, 8, PNG_COLOR_TYPE_RGB,
                PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info (self->png, self->info);
  for (guint y = 0; y < self->height; y += self->band)
    {
      guint n_rows = MIN (self->band, self->height - y);

      if (!paint_band (self, y, n_rows, &tiles))
        return FALSE;
      for (guint row = 0; row < n_rows; row++)
        png_write_row (self->png, self->rows + (gsize) row * self->width * 3);
    }
  png_write_end (self->png, self->info);
  return TRUE;
}

/* libpng jumps back here when it cannot write. */
static gboolean
write_bands (Bands *self)
{
  if (setjmp (png_jmpbuf (self->png)))
    return FALSE;
  return write_rows (self);
}

static gboolean
bands_init (Bands *self, const Page *page, Sink *sink, GError **error)
{
  float scale = page->options->scale > 0 ? page->options->scale : 1;
  double width = ceil (page->width * scale), height = ceil (page->height * scale);

  *self = (Bands){ .page = page, .sink = sink, .scale = scale };
  if (width <= MAX_PNG_SIDE && height <= MAX_PNG_SIDE)
    {
      self->width = (guint) width;
      self->height = (guint) height;
      self->band = (guint) CLAMP (MAX_BAND_BYTES / (width * 3), 1, MIN (MAX_BAND_ROWS, height));
      self->rows = g_try_malloc_n ((gsize) self->width * 3, self->band);
    }
  if (self->rows == NULL)
    {
      g_set_error (error, ADJ_ERROR, ADJ_ERROR_LIMIT,
                   "a PNG of %.0f × %.0f pixels is too large, a side has up to %.0f: write SVG or "
                   "PDF, scale it down, or fold modules",
                   width, height, MAX_PNG_SIDE);
      return FALSE;
    }
  self->tile = cairo_image_surface_create (CAIRO_FORMAT_RGB24, (int) MIN (TILE_WIDTH, self->width),
                                           (int) self->band);
  self->png = png_create_write_struct (PNG_LIBPNG_VER_STRING, self, on_png_error, on_png_warning);
  self->info = self->png != NULL ? png_create_info_struct (self->png) : NULL;
  return TRUE;
}

static gboolean
write_png (const Page *page, Sink *sink, GError **error)
{
  Bands bands;
  gboolean done;

  if (!bands_init (&bands, page, sink, error))
    return FALSE;
  done = bands.info != NULL && write_bands (&bands);
  if (!done)
    fail_to_draw (page, bands.failure != NULL ? bands.failure : "out of memory", error);
  png_destroy_write_struct (&bands.png, &bands.info);
  cairo_surface_destroy (bands.tile);
  g_free (bands.rows);
  return done;
}

/* -- files -- */

static const struct
{
  const char *suffix;
  gboolean (*write) (const Page *page, Sink *sink, GError **error);
} kinds[] = {
  { ".svg", write_svg },
  { ".png", write_png },
  { ".pdf", write_pdf },
};

static gboolean
write_page (const Page *page,
            gboolean (*write) (const Page *page, Sink *sink, GError **error),
            const char *path,
            GError **error)
{
  GCancellable *cancellable = page->options->cancellable;
  g_autoptr (AdjFileWriter) writer = adj_file_writer_open (path, cancellable, error);
  Sink sink = { .writer = writer, .cancellable = cancellable };
  g_autoptr (GError) reason = NULL;

  if (writer == NULL)
    return FALSE;
  /* Cairo's surfaces of PDF forget that a write failed. */
  if (write (page, &sink, &reason) && sink.problem == NULL)
    return adj_file_writer_commit (writer, ADJ_FILE_LASTING, cancellable, error);
  g_propagate_error (error, sink.problem != NULL ? sink.problem : g_steal_pointer (&reason));
  return FALSE;
}

static const AdjPaintOptions defaults;

gboolean
adj_scene_render_file (const AdjScene *scene,
                       const char *path,
                       const AdjPaintOptions *options,
                       GError **error)
{
  Page page;

  page_init (&page, scene, options != NULL ? options : &defaults);
  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (g_str_has_suffix (path, kinds[i].suffix))
      return write_page (&page, kinds[i].write, path, error);
  g_set_error (error, ADJ_ERROR, ADJ_ERROR_UNSUPPORTED,
               "%s: the name must end in .svg, .png or .pdf", path);
  return FALSE;
}

GBytes *
adj_scene_render_svg (const AdjScene *scene, const AdjPaintOptions *options, GError **error)
{
  Sink sink = { .bytes = g_byte_array_new (),
                .cancellable = options != NULL ? options->cancellable : NULL };
  Page page;

  page_init (&page, scene, options != NULL ? options : &defaults);
  if (write_svg (&page, &sink, error))
    return g_byte_array_free_to_bytes (sink.bytes);
  g_byte_array_unref (sink.bytes);
  return NULL;
}
