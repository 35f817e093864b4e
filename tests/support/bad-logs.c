/* SPDX-License-Identifier: MIT */
/* Test data: damaged logs. */

#include "bad-files-private.h"

#define NAME "a.log"
#define P "V0302 09:15:01.004000 4711 torch/_logging/structured.py:27] "
#define INFERENCE "{\"aot_inference_graph\": {}, \"frame_id\": 0, \"frame_compile_id\": 0"
#define GRAPH                                                                                      \
  "\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x: \"f32[2][1]cpu\"):\n"            \
  "\t        y: \"f32[2][1]cpu\" = torch.ops.aten.sin.default(x)\n\t        return (y,)\n"

/* Row 1: logs */
static const AdjBadFile files[] = {
  SHOWN ("crlf",
         P INFERENCE "}\r\n\tclass <lambda>(torch.nn.Module):\r\n"
                     "\t    def forward(self, x):\r\n\t        return (x,)\r\n",
         "0-0-inference",
         NULL),
  SHOWN ("no final newline",
         P INFERENCE "}\n\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x):\n"
                     "\t        return (x,)",
         "0-0-inference",
         NULL),
  REFUSED ("empty payload",
           P INFERENCE ", \"has_payload\": \"d41d8cd98f00b204e9800998ecf8427e\"}\n\t\n",
           "a.log:2:1: holds no graph"),
  SHOWN ("blank lines deleted from the payload",
         P INFERENCE ", \"has_payload\": \"0b3be88d6c14b661b15c3f88dfce4270\"}\n"
                     "\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x):\n"
                     "\t        return (x,)\n",
         "0-0-inference",
         "a.log:1:1: warning: inference: the text was changed"),
  SHOWN ("blank lines kept in the payload",
         P INFERENCE ", \"has_payload\": \"0b3be88d6c14b661b15c3f88dfce4270\"}\n"
                     "\tclass <lambda>(torch.nn.Module):\n\t    def forward(self, x):\n\t\n"
                     "\t        return (x,)\n",
         "0-0-inference",
         NULL),
  SHOWN ("empty lines in the payload",
         P INFERENCE "}\n\tclass <lambda>(torch.nn.Module):\n\n\t    def forward(self, x):\n\n"
                     "\t        return (x,)\n",
         "0-0-inference",
         NULL),
  SHOWN ("cut record",
         P INFERENCE "}\n" GRAPH P "{\"aot_forward_graph\": {}, \"fra",
         "0-0-inference",
         "a.log:6:1: warning: this record is passed over"),
  REFUSED ("only a cut record", P "{\"aot_forward_graph\": {}, \"fra", "a.log:1:1: holds no graph"),
  SHOWN ("string index twice",
         P "{\"str\": [\"a.py\", 0]}\n" P "{\"str\": [\"b.py\", 0]}\n" P INFERENCE "}\n" GRAPH,
         "0-0-inference",
         NULL),
  SHOWN ("two ranks",
         P INFERENCE ", \"rank\": 0}\n" GRAPH P INFERENCE ", \"rank\": 1}\n" GRAPH,
         "r1-0-0-inference",
         NULL),
  SHOWN ("no rank, then a rank",
         P INFERENCE "}\n" GRAPH P INFERENCE ", \"rank\": 3}\n" GRAPH,
         "r3-0-0-inference",
         NULL),
  SHOWN ("unknown kind",
         P "{\"telepathy\": {}, \"frame_id\": 0}\n" P INFERENCE "}\n" GRAPH,
         "0-0-inference",
         NULL),
  SHOWN ("NaN",
         P "{\"compilation_metrics\": {\"a\": NaN, \"b\": -Infinity}}\n" P INFERENCE
           ", \"x\": Infinity}\n" GRAPH,
         "0-0-inference",
         NULL),
  SHOWN ("collector's stamp",
         "[rank0]:2026-03-02 host " P INFERENCE "}\n" GRAPH,
         "0-0-inference",
         NULL),
  SHOWN ("path with blanks",
         "V0302 09:15:01.004000 4711 my files#link-tree/x.py:27] " INFERENCE "}\n" GRAPH,
         "0-0-inference",
         NULL),
  SHOWN ("other digest",
         P INFERENCE ", \"has_payload\": \"0\"}\n" GRAPH,
         "0-0-inference",
         "a.log:1:1: warning: inference: the text was changed"),
  SHOWN ("no UTF-8",
         P INFERENCE "}\n\t# \xff\xfe\n" GRAPH,
         "0-0-inference",
         "a.log:1:1: warning: inference: bytes that are no UTF-8"),
  SHOWN ("line of somebody else",
         P INFERENCE "}\n" GRAPH "step 1: loss 0.5\n",
         "0-0-inference",
         "a.log:6:1: warning: passed over: 1 lines are no records"),
  SHOWN ("kind of another type",
         P "{\"aot_forward_graph\": 7, \"str\": {}}\n" P INFERENCE "}\n" GRAPH,
         "0-0-inference",
         "a.log:2:1: warning: forward: "),
};

LIST (adj_bad_logs, "logs");
