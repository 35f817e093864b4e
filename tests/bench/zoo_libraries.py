# SPDX-License-Identifier: MIT
"""Models of public libraries with small configurations and random weights: each builder returns a module and
its inputs (a tuple, or a dictionary of keyword arguments).  Libraries that are not installed are left out."""

import torch


def picture(size=32, batch=2):
    return (torch.randn(batch, 3, size, size),)


def tokens(length=12, batch=2, words=90):
    return torch.randint(3, words, (batch, length))


# -- torchvision --


def vision(name, size=32, **options):
    def build():
        import torchvision

        return torchvision.models.get_model(name, weights=None, num_classes=10, **options), picture(size)

    return build


def vision_class(name, size, **options):
    def build():
        import torchvision.models as models

        return getattr(models, name)(num_classes=10, **options), picture(size)

    return build


def regnet():
    from torchvision.models.regnet import BlockParams, RegNet

    return RegNet(BlockParams.from_init_params(depth=4, w_0=8, w_a=8.0, w_m=2.0, group_width=8), num_classes=10), picture()


def swin():
    from torchvision.models import SwinTransformer

    return SwinTransformer([4, 4], 24, [2, 2], [2, 4], [4, 4], num_classes=10), picture(32)


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    return ConvNeXt([CNBlockConfig(16, 32, 2), CNBlockConfig(32, None, 1)], num_classes=10), picture(32)


def segmentation():
    from torchvision.models import mobilenet_v3_small
    from torchvision.models.segmentation.lraspp import LRASPP
    from torchvision.models._utils import IntermediateLayerGetter

    backbone = IntermediateLayerGetter(mobilenet_v3_small(dilated=True).features, {"3": "low", "12": "high"})
    return LRASPP(backbone, 24, 576, 5), picture(64)


def detection():
    from torchvision.models.detection.retinanet import RetinaNetHead
    from torchvision.ops import FeaturePyramidNetwork

    class Detector(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.levels = torch.nn.ModuleList(torch.nn.Conv2d(3 if i == 0 else 8 * i, 8 * (i + 1), 3, 2, 1) for i in range(3))
            self.pyramid, self.head = FeaturePyramidNetwork([8, 16, 24], 32), RetinaNetHead(32, 2, 4)

        def forward(self, x):
            found = {}
            for i, level in enumerate(self.levels):
                x = found[str(i)] = level(x).relu()
            return self.head(list(self.pyramid(found).values()))

    return Detector(), picture(32)


# -- timm --


def timm_model(name, size=64, **options):
    def build():
        import timm

        return timm.create_model(name, pretrained=False, num_classes=10, **options), picture(size)

    return build


def timm_class(name, **options):
    def build():
        import timm.models

        return getattr(timm.models, name)(num_classes=10, **options), picture(32)

    return build


MIXER = dict(img_size=32, patch_size=8, num_blocks=2, embed_dim=32)


def gated_mlp():
    from timm.layers import GatedMlp
    from timm.models.mlp_mixer import MlpMixer, SpatialGatingBlock

    return MlpMixer(10, mlp_ratio=6, block_layer=SpatialGatingBlock, mlp_layer=GatedMlp, **MIXER), picture(32)


# -- transformers --

SMALL = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, vocab_size=100,
             max_position_embeddings=64)  # fmt: skip
DECODER = dict(SMALL, num_key_value_heads=2, use_cache=False, attention_dropout=0.1, pad_token_id=0)


def hugging(kind, config, inputs=None, **options):
    def build():
        import transformers

        settings = getattr(transformers, config)(**options)
        settings.return_dict = True
        given = inputs() if inputs else {"input_ids": tokens(), "labels": tokens()}
        return getattr(transformers, kind)(settings), given

    return build


def one_label():
    return {"input_ids": tokens(), "attention_mask": torch.ones(2, 12, dtype=torch.int64), "labels": torch.tensor([0, 1])}


def pixels(size=32):
    return lambda: {"pixel_values": torch.randn(2, 3, size, size)}


def speech():
    return {"input_values": torch.randn(2, 1000)}


def whisper():
    return {"input_features": torch.randn(2, 16, 40), "decoder_input_ids": tokens(8), "labels": tokens(8), "use_cache": False}


def clip():
    from transformers import CLIPConfig, CLIPModel

    text = dict(SMALL, projection_dim=16, eos_token_id=99, bos_token_id=98)
    image = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8)
    model = CLIPModel(CLIPConfig(text_config=text, vision_config=image, projection_dim=16))
    return model, {"input_ids": tokens(), "pixel_values": torch.randn(2, 3, 32, 32), "return_loss": True}


def series():
    return {"past_values": torch.randn(2, 32, 3), "future_values": torch.randn(2, 8, 3)}


# -- diffusers, torchaudio, torch_geometric --


def unet():
    from diffusers import UNet2DConditionModel

    model = UNet2DConditionModel(
        sample_size=16, block_out_channels=(16, 32), layers_per_block=1, norm_num_groups=8, cross_attention_dim=16,
        attention_head_dim=8, down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
    )  # fmt: skip
    given = {"sample": torch.randn(2, 4, 16, 16), "timestep": torch.tensor([3, 500])}
    return model, {**given, "encoder_hidden_states": torch.randn(2, 5, 16)}


def autoencoder():
    from diffusers import AutoencoderKL

    return AutoencoderKL(block_out_channels=(16, 32), norm_num_groups=8, down_block_types=("DownEncoderBlock2D",) * 2,
                         up_block_types=("UpDecoderBlock2D",) * 2), picture(16)  # fmt: skip


def diffusion_transformer():
    from diffusers import DiTTransformer2DModel

    model = DiTTransformer2DModel(num_attention_heads=2, attention_head_dim=16, in_channels=4, num_layers=2, sample_size=8,
                                  num_embeds_ada_norm=20, norm_num_groups=8)  # fmt: skip
    given = {"hidden_states": torch.randn(2, 4, 8, 8), "timestep": torch.tensor([3, 5])}
    return model, {**given, "class_labels": torch.tensor([1, 2])}


def conformer():
    from torchaudio.models import Conformer

    return Conformer(16, 4, 32, 2, 7, dropout=0.1), (torch.randn(2, 20, 16), torch.tensor([20, 16]))


def separator():
    from torchaudio.models import ConvTasNet

    return ConvTasNet(2, 8, 16, 3, 8, 16, 2, 1), (torch.randn(2, 1, 160),)


def wav2vec():
    from torchaudio.models import wav2vec2_model

    return wav2vec2_model(
        extractor_mode="group_norm", extractor_conv_layer_config=[(16, 10, 5), (16, 3, 2)], extractor_conv_bias=False,
        encoder_embed_dim=32, encoder_projection_dropout=0.1, encoder_pos_conv_kernel=8, encoder_pos_conv_groups=4,
        encoder_num_layers=2, encoder_num_heads=4, encoder_attention_dropout=0.1, encoder_ff_interm_features=64,
        encoder_ff_interm_dropout=0.1, encoder_dropout=0.1, encoder_layer_norm_first=False, encoder_layer_drop=0.0,
        aux_num_out=10,
    ), (torch.randn(2, 600),)  # fmt: skip


def wave_rnn():
    from torchaudio.models import WaveRNN

    model = WaveRNN([2, 2], 16, 4, n_res_block=1, n_rnn=16, n_fc=16, kernel_size=3, n_freq=8, n_hidden=8, n_output=8)
    return model, (torch.randn(1, 1, 16), torch.randn(1, 1, 8, 6))


def graph_network(kind, **options):
    def build():
        import torch_geometric.nn as geometric

        edges = torch.randint(0, 12, (2, 40))
        return getattr(geometric, kind)(8, 16, 2, out_channels=4, dropout=0.1, **options), (torch.randn(12, 8), edges)

    return build


BERT = dict(SMALL, type_vocab_size=2)
MODELS = {
    "squeezenet": vision("squeezenet1_1"),
    "mobilenet-v2": vision("mobilenet_v2", width_mult=0.25),
    "mobilenet-v3": vision("mobilenet_v3_small", width_mult=0.25),
    "shufflenet": vision_class("ShuffleNetV2", 64, stages_repeats=[1, 2, 1], stages_out_channels=[8, 16, 32, 64, 64]),
    "mnasnet": vision_class("MNASNet", 32, alpha=0.25),
    "densenet": vision_class("DenseNet", 32, growth_rate=8, block_config=(2, 2), num_init_features=16, drop_rate=0.1),
    "regnet": regnet,
    "swin": swin,
    "vision-transformer": vision_class("VisionTransformer", 32, image_size=32, patch_size=8, num_layers=2, num_heads=4,
                                       hidden_dim=32, mlp_dim=64, dropout=0.1),
    "convnext": convnext,
    "segmentation": segmentation,
    "detection": detection,
    "efficientnet": timm_model("test_efficientnet"),
    "nfnet": timm_model("test_nfnet"),
    "byobnet": timm_model("test_byobnet"),
    "mambaout": timm_model("test_mambaout"),
    "vit-registers": timm_model("test_vit3", img_size=64, drop_path_rate=0.2),
    "evonorm": timm_model("test_efficientnet_evos"),
    "mixer": timm_class("MlpMixer", **MIXER),
    "gated-mlp": gated_mlp,
    "xcit": timm_model("xcit_nano_12_p16_224", 64, img_size=64, depth=2, embed_dim=32, num_heads=4),
    "cait": timm_model("cait_xxs24_224", 64, img_size=64, depth=2, embed_dim=32, num_heads=4),
    "metaformer": timm_class("MetaFormer", depths=(1, 1), dims=(16, 32)),
    "bert": hugging("BertForSequenceClassification", "BertConfig", one_label, **BERT),
    "distilbert": hugging("DistilBertForMaskedLM", "DistilBertConfig", vocab_size=100, dim=32, n_layers=2, n_heads=4,
                          hidden_dim=64),
    "albert": hugging("AlbertForMaskedLM", "AlbertConfig", embedding_size=16, **BERT),
    "electra": hugging("ElectraForTokenClassification", "ElectraConfig",
                       lambda: {"input_ids": tokens(), "labels": tokens(words=4) % 2}, embedding_size=16, **BERT),
    "deberta": hugging("DebertaV2ForMaskedLM", "DebertaV2Config", relative_attention=True, pos_att_type=["p2c", "c2p"], **SMALL),
    "fnet": hugging("FNetForMaskedLM", "FNetConfig", **{k: v for k, v in BERT.items() if k != "num_attention_heads"}),
    "t5": hugging("T5ForConditionalGeneration", "T5Config", vocab_size=100, d_model=32, d_kv=8, d_ff=64, num_layers=2,
                  num_heads=4, decoder_start_token_id=0, use_cache=False),
    "bart": hugging("BartForConditionalGeneration", "BartConfig", vocab_size=100, d_model=32, encoder_layers=1,
                    decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                    decoder_ffn_dim=64, max_position_embeddings=64, use_cache=False),
    "mistral": hugging("MistralForCausalLM", "MistralConfig", sliding_window=6, **DECODER),
    "qwen2": hugging("Qwen2ForCausalLM", "Qwen2Config", **DECODER),
    "gemma2": hugging("Gemma2ForCausalLM", "Gemma2Config", head_dim=8, sliding_window=6, **DECODER),
    "phi": hugging("PhiForCausalLM", "PhiConfig", **DECODER),
    "falcon": hugging("FalconForCausalLM", "FalconConfig", use_cache=False, alibi=True, new_decoder_architecture=False,
                      **{k: v for k, v in SMALL.items() if k != "intermediate_size"}),
    "gpt-neox": hugging("GPTNeoXForCausalLM", "GPTNeoXConfig", use_cache=False, **SMALL),
    "opt": hugging("OPTForCausalLM", "OPTConfig", vocab_size=100, hidden_size=32, num_hidden_layers=2, ffn_dim=64,
                   num_attention_heads=4, word_embed_proj_dim=16, max_position_embeddings=64, use_cache=False),
    "bloom": hugging("BloomForCausalLM", "BloomConfig", vocab_size=100, hidden_size=32, n_layer=2, n_head=4, use_cache=False,
                     hidden_dropout=0.1),
    "mamba": hugging("MambaForCausalLM", "MambaConfig", vocab_size=100, hidden_size=16, num_hidden_layers=1, state_size=4,
                     use_cache=False),
    "esm": hugging("EsmForMaskedLM", "EsmConfig", mask_token_id=4, pad_token_id=1, position_embedding_type="rotary", **SMALL),
    "clip": clip,
    "segformer": hugging("SegformerForSemanticSegmentation", "SegformerConfig", pixels(64), num_encoder_blocks=2,
                         depths=[1, 1], sr_ratios=[4, 2], hidden_sizes=[16, 32], patch_sizes=[7, 3], strides=[4, 2],
                         num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=32, num_labels=5),
    "beit": hugging("BeitForImageClassification", "BeitConfig", pixels(), image_size=32, patch_size=8, hidden_size=32,
                    num_hidden_layers=2, num_attention_heads=4, intermediate_size=64, use_relative_position_bias=True),
    "hubert": hugging("HubertModel", "HubertConfig", speech, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                      intermediate_size=64, conv_dim=(16, 16), conv_stride=(5, 2), conv_kernel=(10, 3),
                      num_conv_pos_embeddings=8, num_conv_pos_embedding_groups=4, mask_time_prob=0.0, layerdrop=0.0),
    "whisper": hugging("WhisperForConditionalGeneration", "WhisperConfig", whisper, vocab_size=100, d_model=32,
                       encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                       encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=16, max_source_positions=20,
                       max_target_positions=20, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
                       dropout=0.1),
    "patch-series": hugging("PatchTSTForPrediction", "PatchTSTConfig", series, num_input_channels=3, context_length=32,
                            patch_length=8, patch_stride=8, num_hidden_layers=2, d_model=16, num_attention_heads=4,
                            ffn_dim=32, prediction_length=8, attention_dropout=0.1),
    "diffusion-unet": unet,
    "autoencoder-kl": autoencoder,
    "diffusion-transformer": diffusion_transformer,
    "conformer": conformer,
    "separator": separator,
    "wav2vec": wav2vec,
    "wave-rnn": wave_rnn,
    "graph-convolution": graph_network("GCN"),
    "graph-attention": graph_network("GAT", heads=2),
    "graph-isomorphism": graph_network("GIN"),
    "graph-sage": graph_network("GraphSAGE"),
}  # fmt: skip
