/* SPDX-License-Identifier: MIT */
/* TORCH_TRACE logs: regions, sources, damage, several processes. */

#include <gio/gio.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adjoint.h"
#include "support/adj-test.h"

#define PREFIX "V0302 09:15:01.004000 4711 torch/_logging/structured.py:27] "
#define GRAPH                                                                                      \
  "\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, x: \"f32[s0][1]cpu\"):\n\t     " \
  "   return (x,)\n"

static AdjBundle *
load_text (const AdjTestFolder *folder, const char *name, const char *text, GError **error)
{
  g_autofree char *path = g_build_filename (folder->path, name, NULL);

  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  return adj_bundle_load (path, NULL, error);
}

static guint
nodes_of (const AdjBundle *bundle, const char *id)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, id, &error);

  g_assert_no_error (error);
  return adj_graph_get_n_calls (entry->graph);
}

/* Number of statements counted in the payloads with grep; region 0/0 has static, 0/1 dynamic
 * sizes. */
static void
test_capture (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);
  const AdjBundleGraph *dynamic;
  const AdjSymbol *symbol;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 16);
  g_assert_cmpuint (adj_bundle_get_n_regions (bundle), ==, 2);
  g_assert_cmpstr (adj_bundle_get_torch_version (bundle), ==, "2.6.0+cu124");
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
  g_assert_cmpuint (nodes_of (bundle, "0-0-joint"), ==, 100);
  g_assert_cmpuint (nodes_of (bundle, "0-0-forward"), ==, 34);
  g_assert_cmpuint (nodes_of (bundle, "0-0-backward"), ==, 47);
  dynamic = adj_bundle_find_graph (bundle, "0-1-forward", &error);
  symbol = adj_symbols_find (adj_graph_get_symbols (dynamic->graph), "s0");
  g_assert_nonnull (symbol);
  g_assert_cmpint (symbol->hint, ==, 12);
  g_assert_cmpint (symbol->min, ==, 2);
  g_assert_cmpstr (symbol->source, ==, "L['x'].size()[0]");
}

/* Graphs with unknown names are stages too, in file order; other records are kept as facts. */
static void
test_unknown_names (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  const AdjBundleFact *fact;

  bundle = load_text (
      folder, "dedicated_log_torch_trace_abcdefgh.log",
      PREFIX
      "{\"artifact\": {\"name\": \"before Pass.1/x\", \"encoding\": \"string\"}, \"frame_id\": 2, "
      "\"frame_compile_id\": 1, \"has_payload\": \"\"}\n" GRAPH PREFIX
      "{\"artifact\": {\"name\": \"why\", \"encoding\": \"string\"}, \"frame_id\": 2, "
      "\"frame_compile_id\": 1, \"has_payload\": \"\"}\n\tbecause\n" PREFIX
      "{\"new_kind\": {\"ratio\": NaN}}\n",
      &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->role, ==, "before_pass_1_x");
  g_assert_cmpuint (adj_bundle_get_n_facts (bundle), ==, 2);
  fact = adj_bundle_get_fact (bundle, 0);
  g_assert_cmpstr (fact->name, ==, "why");
  g_assert_cmpmem (g_bytes_get_data (fact->text, NULL), g_bytes_get_size (fact->text), "because",
                   7);
  g_assert_true (fact->region == adj_bundle_get_region (bundle, 0));
  fact = adj_bundle_get_fact (bundle, 1);
  g_assert_cmpstr (fact->name, ==, "new_kind");
  g_assert_null (fact->region);
}

/* Names that PyTorch 2.4 to 2.15, or programs around it, give to graphs, and the roles. */
static const struct
{
  const char *name, *role;
} stages[] = {
  { "before_recompile_pre_grad", NULL },
  { "after_recompile_post_grad", NULL },
  { "compiled_autograd_graph_pre_reordering", "compiled_autograd_pre_reordering" },
  { "aot_saved_tensors_hooks_graphs", NULL },
  { "before_pre_grad_graph", "pre_grad" },
  { "after_pre_grad_graph", "after_pre_grad" },
  { "before_joint_graph", "before_joint" },
  { "after_joint_graph", "after_joint" },
  { "before_post_grad_graph", "before_post_grad" },
  { "after_post_grad_graph", "post_grad" },
  { "pre_decomp_comms", NULL },
  { "post_decomp_comms", NULL },
  { "before_activation_quantization_fwd_aten_pass", NULL },
  { "after_activation_quantization_fwd_aten_pass", NULL },
  { "before_activation_quantization_bwd_aten_pass", NULL },
  { "after_activation_quantization_bwd_aten_pass", NULL },
  { "overlap_scheduling_before", NULL },
  { "overlap_scheduling_after", NULL },
  { "aot_inference_graph_after_hop_passes", NULL },
  { "make_fx_fail_partial", NULL },
  { "autoparallel_parallel_graph", NULL },
  { "min_cut_failed_fx_graph", NULL },
};

/* Each is a stage under its own name, in file order; long regions leave room for part of it. */
static void
test_names_of_stages (gconstpointer data)
{
  const char *region = data;
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    g_string_append_printf (text,
                            PREFIX "{\"artifact\": {\"name\": \"%s\", \"encoding\": "
                                   "\"string\"}, %s, \"has_payload\": \"\"}\n" GRAPH,
                            stages[i].name, region);
  bundle = load_text (folder, "dedicated_log_torch_trace_abcdefgh.log", text->str, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, G_N_ELEMENTS (stages));
  for (guint i = 0; i < G_N_ELEMENTS (stages); i++)
    g_assert_cmpstr (adj_bundle_get_graph (bundle, i)->role, ==,
                     stages[i].role != NULL ? stages[i].role : stages[i].name);
}

/* A name that is the numbered id of another graph. */
static void
test_names_that_are_numbered (void)
{
  static const char *const names[] = { "foo", "foo", "foo-2", "foo-2" };
  static const char *const ids[] = { "2-1-foo", "2-1-foo-2", "2-1-foo-2-2", "2-1-foo-2-3" };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (text,
                            PREFIX "{\"artifact\": {\"name\": \"%s\", \"encoding\": "
                                   "\"string\"}, \"frame_id\": 2, \"frame_compile_id\": 1, "
                                   "\"has_payload\": \"\"}\n" GRAPH,
                            names[i]);
  bundle = load_text (folder, "dedicated_log_torch_trace_abcdefgh.log", text->str, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, G_N_ELEMENTS (ids));
  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    g_assert_cmpstr (adj_bundle_get_graph (bundle, i)->id, ==, ids[i]);
}

/* What PyTorch says beside graphs, by name and as it stands. */
static void
test_names_of_facts (void)
{
  static const char *const names[] = {
    "min_cut_failed_edge_list",  "min_cut_information",
    "dynamo_side_effects",       "recompile_reasons",
    "dynamo_graph_break_reason", "aot_autograd_runtime_wrappers",
    "inductor_output_code",      "inductor_runtime_and_tensor_meta",
  };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    g_string_append_printf (text,
                            PREFIX "{\"artifact\": {\"name\": \"%s\", \"encoding\": "
                                   "\"string\"}, \"frame_id\": 2, \"frame_compile_id\": 1, "
                                   "\"has_payload\": \"\"}\n\tsource x_in {'capacity': inf}\n",
                            names[i]);
  g_string_append (text, PREFIX "{\"aot_joint_graph\": {}, \"frame_id\": 2, "
                                "\"frame_compile_id\": 1, \"has_payload\": \"\"}\n" GRAPH);
  bundle = load_text (folder, "dedicated_log_torch_trace_abcdefgh.log", text->str, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_facts (bundle), ==, G_N_ELEMENTS (names));
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      const AdjBundleFact *fact = adj_bundle_get_fact (bundle, i);

      g_assert_cmpstr (fact->name, ==, names[i]);
      g_assert_cmpmem (g_bytes_get_data (fact->text, NULL), g_bytes_get_size (fact->text),
                       "source x_in {'capacity': inf}", 29);
      g_assert_true (fact->region == adj_bundle_get_region (bundle, 0));
    }
}

/* A generated source contains a forward without its class.  A text of that name that is not a
 * graph, or a forward quoted in JSON, is a fact. */
static void
test_code_alone (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "dedicated_log_torch_trace_abcdefgh.log",
      PREFIX "{\"dump_file\": {\"name\": \"<eval_with_key>.2\"}, \"frame_id\": 2, "
             "\"frame_compile_id\": 0}\n"
             "\t\n\tdef forward(self, x):\n\t    sin = torch.ops.aten.sin.default(x);  x = None\n"
             "\t    return (sin,)\n" PREFIX
             "{\"dump_file\": {\"name\": \"net.py\"}, \"frame_id\": 2, \"frame_compile_id\": 0}\n"
             "\tdef forward(self, x):\n\t    for part in self.parts:\n\t        x = part(x)\n"
             "\t    return x\n" PREFIX
             "{\"artifact\": {\"name\": \"fx_graph_cache_miss\", \"encoding\": \"json\"}}\n"
             "\t{\"code\": \"def forward(self, x):\\n    return (x,)\"}\n",
      &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "2-0-dump_file");
  g_assert_cmpuint (nodes_of (bundle, "2-0-dump_file"), ==, 1);
  g_assert_cmpuint (adj_bundle_get_n_facts (bundle), ==, 2);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 0);
}

/* Computed sizes are texts in AOTAutograd's metadata of a region. */
static void
test_metadata (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "x.log",
      PREFIX "{\"artifact\": {\"name\": \"aot_forward_graph_fw_metadata\"}, \"frame_id\": 0, "
             "\"frame_compile_id\": 0}\n\tMeta(outer_stride=(8*s27, 8 - f(s0, [1]),\n\t   -1), "
             "kind=<OutputType.alias: 1>, last=s0//2)\n" PREFIX
             "{\"aot_forward_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\n" GRAPH,
      &error);
  g_autoptr (GString) text = g_string_new (NULL);

  g_assert_no_error (error);
  g_assert_nonnull (adj_bundle_get_region (bundle, 0)->metadata);
  adj_value_print (adj_bundle_get_region (bundle, 0)->metadata, NULL, text);
  g_assert_cmpstr (text->str, ==,
                   "{'outer_stride': ['8*s27', '8 - f(s0, [1])', -1], 'kind': 'alias', 'last': "
                   "'s0//2'}");
}

/* A payload with several graphs, such as those of saved-tensor hooks, gives several stages. */
static void
test_several (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "x.log",
      PREFIX
      "{\"artifact\": {\"name\": \"hooks_graphs\"}, \"frame_id\": 0, \"frame_compile_id\": 0}\n"
      "\tpre_hooks:class GraphModule(torch.nn.Module):\n"
      "\t    def forward(self, x):\n\t        return (x,)\n\t    class part(torch.nn.Module):\n"
      "\t        def forward(self, y):\n\t            return (y,)\n"
      "\tmode:donated\n"
      "\tpack x:class <lambda>(torch.nn.Module):\n"
      "\t    def forward(self, a):\n\t        b = ? a\n\t        return b\n"
      "\tclass Plain(torch.nn.Module):\n\t    def forward(self, a):\n\t        return a\n",
      &error);
  const AdjDiags *diags;

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 3);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->role, ==, "pre_hooks");
  g_assert_cmpuint (adj_graph_get_n_subgraphs (adj_bundle_get_graph (bundle, 0)->graph), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->role, ==, "pack_x");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 2)->role, ==, "hooks_graphs");
  diags = adj_bundle_get_diags (bundle);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, 1);
  g_assert_cmpuint (adj_diags_get (diags, 0)->span.line, ==, 11);
}

#define KERNEL_RECORD(name)                                                                        \
  PREFIX "{\"artifact\": {\"name\": \"" name "\", \"encoding\": \"json\"}, \"frame_id\": 0, "      \
         "\"frame_compile_id\": 0}\n"
#define GRAPH_OF(op)                                                                               \
  PREFIX "{\"artifact\": {\"name\": \"after_post_grad_graph\"}, \"frame_id\": 0, "                 \
         "\"frame_compile_id\": 0}\n\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, "  \
         "x):\n"                                                                                   \
         "\t        # File: /u/net.py:7 in f, code: y\n"                                           \
         "\t        " op " = torch.ops.aten." op ".default(x);  x = None\n"                        \
         "\t        mm = torch.ops.aten.mm.default(" op ", " op ")\n"                              \
         "\t        mm_1 = torch.ops.aten.mm.default(mm, " op ")\n\t        return (mm_1,)\n"
#define CODE_RECORD                                                                                \
  PREFIX "{\"inductor_output_code\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\n"

static void
assert_kernel (const AdjKernels *kernels, guint index, const char *name, guint n, guint line)
{
  const AdjKernel *kernel = adj_kernels_get (kernels, index);

  g_assert_cmpstr (kernel->name, ==, name);
  g_assert_cmpuint (kernel->n_nodes, ==, n);
  g_assert_cmpuint (kernel->line, ==, line);
}

/* Forward and backward of a region each have a table and generated code; the node names tell
 * which belong together. */
static void
test_kernels (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "x.log",
      GRAPH_OF ("sin") KERNEL_RECORD (
          "inductor_provenance_tracking_node_mappings") "\t{\"cppCodeToPost\": "
                                                        "{\"fused_before_0:0\": [\"mm\"], "
                                                        "\"fused_sin_0:1\": "
                                                        "[\"sin\", \"gone\"], "
                                                        "\"extern_kernels.mm:2\": [\"mm\"], "
                                                        "\"extern_kernels.mm:13\": "
                                                        "[\"mm_1\"]}}\n" CODE_RECORD
                                                        "\tfused_sin_0 = "
                                                        "compile('fused_sin_0')\n\tdef "
                                                        "fused_sin_0(x):\n"
                                                        "\t# handles "
                                                        "fused_sin_0:1\n\tfused_sin_0.run(x)\n\t# "
                                                        "handles extern_kernels.mm:13\n"
                                                        "\textern_kernels.mm(b)\n\t# handles "
                                                        "extern_kernels.mm:1\n\t# handles "
                                                        "extern_kernels.mm:2\n"
                                                        "\textern_kernels.mm(a)\n" GRAPH_OF ("cos")
                                                            KERNEL_RECORD (
                                                                "inductor_triton_kernel_to_post_"
                                                                "grad_nodes") "\t{\"fused_cos_0\": "
                                                                              "[\"cos\"]}"
                                                                              "\n" CODE_RECORD
                                                                              "\tfused_cos_0(x)\n",
      &error);
  g_autoptr (AdjKernels) forward = NULL, backward = NULL;
  static const guint none = G_MAXUINT;
  const guint of_line[] = { 0, 0, 0, 0, 2, 2, 1, 1, 1, none };

  g_assert_no_error (error);
  forward = adj_kernels_new (bundle, adj_bundle_get_graph (bundle, 0));
  g_assert_cmpuint (adj_kernels_get_n (forward), ==, 3);
  assert_kernel (forward, 0, "fused_sin_0:1", 1, 4);
  assert_kernel (forward, 1, "extern_kernels.mm:2", 1, 9);
  assert_kernel (forward, 2, "extern_kernels.mm:13", 1, 6);
  for (guint line = 1; line <= G_N_ELEMENTS (of_line); line++)
    g_assert_cmpuint (adj_kernels_find_line (forward, line), ==, of_line[line - 1]);
  g_assert_cmpuint (adj_kernels_find_line (forward, 0), ==, G_MAXUINT);
  backward = adj_kernels_new (bundle, adj_bundle_get_graph (bundle, 1));
  g_assert_cmpuint (adj_kernels_get_n (backward), ==, 1);
  assert_kernel (backward, 0, "fused_cos_0", 1, 1);
  g_assert_true (adj_kernels_get_code (forward) != adj_kernels_get_code (backward));
}

/* Source lines of a kernel belong to it; lines between sources and calls belong to none. */
static void
test_lines_of_sources (void)
{
  static const guint of_line[] = { G_MAXUINT, 0, 0,         0, G_MAXUINT, 1,
                                   1,         1, G_MAXUINT, 0, G_MAXUINT, 1 };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "x.log",
      GRAPH_OF ("sin") KERNEL_RECORD (
          "inductor_triton_kernel_to_post_grad_nodes") "\t{\"fused_a_0\": [\"sin\"], "
                                                       "\"fused_a_01\": [\"mm\"]}\n" CODE_RECORD
                                                       "\timport torch\n\tfused_a_0 = "
                                                       "compile('fused_a_0', '''\n\tx = y\n\t''')\n"
                                                       "\tempty = new\n\tfused_a_01 = "
                                                       "compile('''\n\tx = y\n\t''', "
                                                       "device='cuda')\n"
                                                       "\tdef call(x):\n\t    fused_a_0.run(x)\n\t "
                                                       "   del x\n\t    fused_a_01.run(x)\n",
      &error);
  g_autoptr (AdjKernels) kernels = NULL;

  g_assert_no_error (error);
  kernels = adj_kernels_new (bundle, adj_bundle_get_graph (bundle, 0));
  g_assert_cmpuint (adj_kernels_get_n (kernels), ==, 2);
  for (guint line = 1; line <= G_N_ELEMENTS (of_line); line++)
    g_assert_cmpuint (adj_kernels_find_line (kernels, line), ==, of_line[line - 1]);
}

/* Since 2.11 the first record contains the PyTorch version. */
static void
test_torch_version (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = load_text (
      folder, "x.log",
      PREFIX "{\"artifact\": {\"name\": \"torch_version\", \"encoding\": \"json\"}}\n\t{\n"
             "\t\"pytorch_version\": \"2.15.0+cu132\",\n\t\"oss\": true\n\t}\n" GRAPH_OF ("sin"),
      &error);

  g_assert_no_error (error);
  g_assert_cmpstr (adj_bundle_get_torch_version (bundle), ==, "2.15.0+cu132");
}

static void
test_edited_is_a_warning (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  bundle = load_text (
      folder, "dedicated_log_torch_trace_rank_3_abcdefgh.log",
      PREFIX
      "{\"aot_inference_graph\": {}, \"frame_id\": 2, \"frame_compile_id\": 1, \"attempt\": 1, "
      "\"has_payload\": \"00000000000000000000000000000000\"}\n" GRAPH,
      &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "r3-2-1-1-inference");
  g_assert_cmpint (adj_bundle_get_graph (bundle, 0)->rank, ==, 3);
  g_assert_cmpuint (adj_diags_get_n (adj_bundle_get_diags (bundle)), ==, 1);
  g_assert_nonnull (strstr (adj_diags_get (adj_bundle_get_diags (bundle), 0)->message, "changed"));
}

/* A log collector's stamp before the prefix, CRLF, unrelated lines, a truncated record, an
 * unknown kind of record. */
static void
test_damage_is_passed_over (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;

  bundle = load_text (
      folder, "x.log",
      PREFIX "{\"frobnicate\": {}, \"frame_id\": 0}\r\n"
             "noise\r\n\r\n" PREFIX "{\"aot_joint_graph\": {}, \"frame_id\": \n"
             "\tits payload\n"
             "2026-03-02 host: " PREFIX
             "{\"aot_forward_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\r\n" GRAPH,
      &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "0-0-forward");
}

static void
test_no_graph_is_refused (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (load_text (folder, "x.log", PREFIX "{\"str\": [\"a\", 0]}\n", &error));
  g_assert_error (error, ADJ_ERROR, ADJ_ERROR_PARSE);
  g_assert_nonnull (strstr (error->message, "x.log"));
}

/* The gzip-compressed log reads the same. */
static void
test_gzip (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *path = g_build_filename (folder->path, "x.log.gz", NULL);
  g_autoptr (GZlibCompressor) packer = g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, 6);
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  const char *text = PREFIX "{\"compiled_autograd_graph\": {}}\n" GRAPH;

  {
    g_autoptr (GFileOutputStream) raw = g_file_replace (file, NULL, FALSE, 0, NULL, &error);
    g_autoptr (GOutputStream) packed =
        g_converter_output_stream_new (G_OUTPUT_STREAM (raw), G_CONVERTER (packer));

    g_assert_true (g_output_stream_write_all (packed, text, strlen (text), NULL, NULL, &error));
    g_assert_true (g_output_stream_close (packed, NULL, &error));
  }
  bundle = adj_bundle_load (path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "ca0-compiled_autograd");
}

#define DYNAMO                                                                                     \
  PREFIX "{\"dynamo_output_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\n"               \
         "\tclass GraphModule(torch.nn.Module):\n"                                                 \
         "\t    def forward(self, L_self_modules_fc_parameters_weight_ : torch.Tensor, L_x_):\n"   \
         "\t        l_x_ = L_x_\n"                                                                 \
         "\t        return (l_x_,)\n"

static const AdjNode *
node_of (const AdjBundle *bundle, const char *id, const char *name)
{
  g_autoptr (GError) error = NULL;
  const AdjBundleGraph *entry = adj_bundle_find_graph (bundle, id, &error);

  g_assert_no_error (error);
  return adj_graph_get_node (entry->graph, adj_graph_find_node (entry->graph, name).index);
}

/* The sources of inputs described in the bundled log. */
static void
test_sources (void)
{
  g_autofree char *path = adj_test_data_path ("graphs/torch-trace");
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = adj_bundle_load (path, NULL, &error);

  g_assert_no_error (error);
  g_assert_cmpstr (node_of (bundle, "0-0-dynamo", "l_x_")->meta.source, ==, "L['x']");
  g_assert_cmpstr (node_of (bundle, "0-0-joint", "primals_3")->meta.source, ==, "L['x']");
  g_assert_cmpstr (node_of (bundle, "0-0-joint", "primals_6")->meta.parameter, ==, "fc3.weight");
  g_assert_cmpstr (node_of (bundle, "0-0-backward", "primals_8")->meta.source, ==, "L['target']");
  g_assert_null (node_of (bundle, "0-0-joint", "primals_3")->meta.parameter);
  /* One output, the loss; the others are saved for backward. */
  g_assert_cmpint (adj_bundle_get_region (bundle, 0)->num_fwd_outputs, ==, 1);
  g_assert_cmpint (adj_bundle_get_region (bundle, 1)->num_fwd_outputs, ==, 1);
}

/* A redefined string table means another process, and so does a restarted frame. */
static void
test_processes (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle =
      load_text (folder, "dedicated_log_torch_trace_abcdefgh.log",
                 PREFIX "{\"str\": [\"/home/u/a.py\", 0]}\n" PREFIX
                        "{\"str\": [\"/home/u/a.py\", 0]}\n" DYNAMO PREFIX
                        "{\"str\": [\"/home/u/b.py\", 0]}\n" DYNAMO PREFIX
                        "{\"dynamo_start\": {}, \"frame_id\": 0, \"frame_compile_id\": 0}\n" DYNAMO,
                 &error);

  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 3);
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 0)->id, ==, "0-0-dynamo");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 1)->id, ==, "p1-0-0-dynamo");
  g_assert_cmpstr (adj_bundle_get_graph (bundle, 2)->id, ==, "p2-0-0-dynamo");
}

static void
test_files_of_one_rank (void)
{
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) first = NULL;
  g_autoptr (AdjBundle) second = NULL;
  g_autoptr (AdjBundle) all = NULL;

  first = load_text (folder, "dedicated_log_torch_trace_rank_1_aaaaaaaa.log", DYNAMO, &error);
  g_assert_no_error (error);
  second = load_text (folder, "dedicated_log_torch_trace_rank_1_bbbbbbbb.log", DYNAMO, &error);
  g_assert_no_error (error);
  all = adj_bundle_load (folder->path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (all), ==, 2);
  g_assert_cmpstr (adj_bundle_get_graph (all, 0)->id, ==, "r1-0-0-dynamo");
  g_assert_cmpstr (adj_bundle_get_graph (all, 1)->id, ==, "r1-p1-0-0-dynamo");
  g_assert_cmpint (adj_bundle_get_region (all, 0)->process, ==, 0);
  g_assert_cmpint (adj_bundle_get_region (all, 1)->process, ==, 1);
}

/* Everything that was skipped or corrected is listed with its line. */
static void
test_lists_damage (void)
{
  static const struct
  {
    guint line;
    const char *message;
  } rows[] = {
    { 3, "this record is passed over" },
    { 5, "bytes that are no UTF-8 were replaced" },
    { 8, "is not defined before this line" },
    { 1, "2 lines are no records" },
  };
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle =
      load_text (folder, "dedicated_log_torch_trace_abcdefgh.log",
                 "hello\nworld\n" PREFIX "{\"dynamo_output_graph\": {}, \"fra\n\tclass A\n" PREFIX
                 "{\"aot_joint_graph\": {}, \"frame_id\": 0}\n"
                 "\tclass GraphModule(torch.nn.Module):\n\t    def forward(self, x):\n"
                 "\t        y = torch.add(x, z)  # \xff\n\t        return (y,)\n",
                 &error);
  const AdjDiags *diags;

  g_assert_no_error (error);
  diags = adj_bundle_get_diags (bundle);
  g_assert_cmpuint (adj_diags_get_n (diags), ==, G_N_ELEMENTS (rows));
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_assert_cmpuint (adj_diags_get (diags, i)->span.line, ==, rows[i].line);
      g_assert_nonnull (strstr (adj_diags_get (diags, i)->message, rows[i].message));
    }
}

/* Entries beside the logs that are not files or cannot be read do not affect the logs. */
static void
test_no_files (void)
{
  static const char name[] = "dedicated_log_torch_trace_";
  g_autoptr (AdjTestFolder) folder = adj_test_folder_new ();
  g_autofree char *pipe = g_strdup_printf ("%s/%sa.log", folder->path, name);
  g_autofree char *loose = g_strdup_printf ("%s/%sb.log", folder->path, name);
  g_autofree char *inner = g_strdup_printf ("%s/%sc.log", folder->path, name);
  g_autofree char *device = g_strdup_printf ("%s/%sd.log", folder->path, name);
  g_autofree char *path = g_strdup_printf ("%s/%se.log", folder->path, name);
  g_autoptr (GError) error = NULL;
  g_autoptr (AdjBundle) bundle = NULL;
  guint n = 0;

  g_assert_cmpint (mkfifo (pipe, 0600), ==, 0);
  g_assert_cmpint (symlink ("nowhere", loose), ==, 0);
  g_assert_cmpint (g_mkdir (inner, 0700), ==, 0);
  g_assert_cmpint (symlink ("/dev/zero", device), ==, 0);
  g_assert_true (g_file_set_contents (path, DYNAMO, -1, NULL));
  bundle = adj_bundle_load (folder->path, NULL, &error);
  g_assert_no_error (error);
  g_assert_cmpuint (adj_bundle_get_n_graphs (bundle), ==, 1);
  for (guint i = 0; i < adj_diags_get_n (adj_bundle_get_diags (bundle)); i++)
    n += strstr (adj_diags_get (adj_bundle_get_diags (bundle), i)->message, "passed over") != NULL;
  g_assert_cmpuint (n, ==, 3); /* the subfolder is searched, not skipped */

  g_assert_cmpint (g_unlink (path), ==, 0);
  g_assert_null (adj_bundle_load (folder->path, NULL, &error));
  g_assert_nonnull (error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/formats/torch-trace/capture", test_capture);
  g_test_add_func ("/formats/torch-trace/unknown-names", test_unknown_names);
  g_test_add_data_func ("/formats/torch-trace/names-of-stages",
                        "\"frame_id\": 2, \"frame_compile_id\": 1", test_names_of_stages);
  g_test_add_data_func ("/formats/torch-trace/names-of-stages-in-a-long-region",
                        "\"rank\": 1023, \"compiled_autograd_id\": 1234, \"frame_id\": 23456, "
                        "\"frame_compile_id\": 123, \"attempt\": 12",
                        test_names_of_stages);
  g_test_add_func ("/formats/torch-trace/names-that-are-numbered", test_names_that_are_numbered);
  g_test_add_func ("/formats/torch-trace/names-of-facts", test_names_of_facts);
  g_test_add_func ("/formats/torch-trace/code-alone", test_code_alone);
  g_test_add_func ("/formats/torch-trace/metadata", test_metadata);
  g_test_add_func ("/formats/torch-trace/several", test_several);
  g_test_add_func ("/formats/torch-trace/kernels", test_kernels);
  g_test_add_func ("/formats/torch-trace/lines-of-sources", test_lines_of_sources);
  g_test_add_func ("/formats/torch-trace/torch-version", test_torch_version);
  g_test_add_func ("/formats/torch-trace/edited-is-a-warning", test_edited_is_a_warning);
  g_test_add_func ("/formats/torch-trace/damage-is-passed-over", test_damage_is_passed_over);
  g_test_add_func ("/formats/torch-trace/no-graph-is-refused", test_no_graph_is_refused);
  g_test_add_func ("/formats/torch-trace/gzip", test_gzip);
  g_test_add_func ("/formats/torch-trace/sources", test_sources);
  g_test_add_func ("/formats/torch-trace/processes", test_processes);
  g_test_add_func ("/formats/torch-trace/files-of-one-rank", test_files_of_one_rank);
  g_test_add_func ("/formats/torch-trace/lists-damage", test_lists_damage);
  g_test_add_func ("/formats/torch-trace/what-is-no-file", test_no_files);
  return g_test_run ();
}
