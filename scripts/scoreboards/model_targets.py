"""Models of public libraries as targets of ``symfix export``: tiny configurations, random weights, no download.

``KIND_NAME`` is a target: ``causal_llama``, ``encoder_bert``, ``vision_vit``, ``diffusion_UNet2DModel``. As a script it
prints the targets that can be built, one a line, and the reasons for the others.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

os.environ |= {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}

import torch

MOST_PARAMETERS = 5_000_000
_TEXT = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "intermediate_size": 64, "vocab_size": 99, "max_position_embeddings": 64, "head_dim": 8,
    "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 64, "d_model": 32, "n_layers": 2, "n_heads": 4,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
_VISION = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
    "patch_size": 8, "num_channels": 3, "embed_dim": 32, "num_labels": 5,
}  # fmt: skip
_DIFFUSION: dict[str, tuple[dict[str, Any], Callable[[], dict[str, Any]], dict[str, Any]]] = {}
"""Configurations and inputs by class, with the dimensions of the inputs that vary."""


def _image(channels: int, size: int = 16) -> Any:
    return torch.randn(2, channels, size, size)


def _steps() -> Any:
    return torch.tensor([3, 4])


_BATCH = {0: "batch"}
_BLOCKS = {"layers_per_block": 1, "block_out_channels": (32, 64), "norm_num_groups": 8}
_DIFFUSION["UNet2DModel"] = (
    {**_BLOCKS, "sample_size": 16, "in_channels": 3, "out_channels": 3,
     "down_block_types": ("DownBlock2D", "AttnDownBlock2D"), "up_block_types": ("AttnUpBlock2D", "UpBlock2D")},
    lambda: {"sample": _image(3), "timestep": _steps()},
    {"sample": _BATCH, "timestep": _BATCH},
)  # fmt: skip
_DIFFUSION["UNet2DConditionModel"] = (
    {**_BLOCKS, "sample_size": 16, "in_channels": 4, "out_channels": 4, "cross_attention_dim": 32,
     "attention_head_dim": 8, "down_block_types": ("DownBlock2D", "CrossAttnDownBlock2D"),
     "up_block_types": ("CrossAttnUpBlock2D", "UpBlock2D")},
    lambda: {"sample": _image(4), "timestep": _steps(), "encoder_hidden_states": torch.randn(2, 5, 32)},
    {"sample": _BATCH, "timestep": _BATCH, "encoder_hidden_states": {0: "batch", 1: "words"}},
)  # fmt: skip
for _name, _channels in (("AutoencoderKL", 3), ("VQModel", 3)):
    _DIFFUSION[_name] = (
        {**_BLOCKS, "in_channels": 3, "out_channels": 3, "latent_channels": 4,
         "down_block_types": ("DownEncoderBlock2D",) * 2, "up_block_types": ("UpDecoderBlock2D",) * 2},
        lambda: {"sample": _image(3)},
        {"sample": _BATCH},
    )  # fmt: skip
_DIFFUSION["AutoencoderTiny"] = (
    {"in_channels": 3, "out_channels": 3, "encoder_block_out_channels": (32, 32), "num_encoder_blocks": (1, 1),
     "decoder_block_out_channels": (32, 32), "num_decoder_blocks": (1, 1)},
    lambda: {"sample": _image(3)},
    {"sample": _BATCH},
)  # fmt: skip
_DIFFUSION["AsymmetricAutoencoderKL"] = (
    {"in_channels": 3, "out_channels": 3, "down_block_types": ("DownEncoderBlock2D",) * 2, "latent_channels": 4,
     "up_block_types": ("UpDecoderBlock2D",) * 2, "down_block_out_channels": (32, 64), "norm_num_groups": 8,
     "up_block_out_channels": (32, 64), "layers_per_down_block": 1, "layers_per_up_block": 1},
    lambda: {"sample": _image(3)},
    {"sample": _BATCH},
)  # fmt: skip
_DIFFUSION["DiTTransformer2DModel"] = (
    {"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4, "num_layers": 2, "sample_size": 16,
     "patch_size": 4, "norm_num_groups": 4, "num_embeds_ada_norm": 8},
    lambda: {"hidden_states": _image(4), "timestep": _steps(), "class_labels": torch.tensor([1, 2])},
    {"hidden_states": _BATCH, "timestep": _BATCH, "class_labels": _BATCH},
)  # fmt: skip
_DIFFUSION["Transformer2DModel"] = (
    {"num_attention_heads": 2, "attention_head_dim": 16, "in_channels": 32, "num_layers": 1, "norm_num_groups": 8,
     "cross_attention_dim": 32},
    lambda: {"hidden_states": _image(32, 8), "encoder_hidden_states": torch.randn(2, 5, 32)},
    {"hidden_states": _BATCH, "encoder_hidden_states": {0: "batch", 1: "words"}},
)  # fmt: skip
_DIFFUSION["PixArtTransformer2DModel"] = (
    {"num_attention_heads": 2, "attention_head_dim": 8, "in_channels": 4, "out_channels": 8, "num_layers": 2,
     "cross_attention_dim": 16, "caption_channels": 16, "sample_size": 16, "patch_size": 2,
     "use_additional_conditions": False},
    lambda: {"hidden_states": _image(4), "timestep": _steps(), "encoder_hidden_states": torch.randn(2, 5, 16),
             "added_cond_kwargs": {"resolution": None, "aspect_ratio": None}},
    {"hidden_states": _BATCH, "timestep": _BATCH, "encoder_hidden_states": {0: "batch", 1: "words"}},
)  # fmt: skip
_DIFFUSION["SD3Transformer2DModel"] = (
    {"sample_size": 16, "patch_size": 2, "in_channels": 4, "num_layers": 2, "attention_head_dim": 8,
     "num_attention_heads": 2, "joint_attention_dim": 16, "caption_projection_dim": 16, "pooled_projection_dim": 16,
     "out_channels": 4, "pos_embed_max_size": 16},
    lambda: {"hidden_states": _image(4), "timestep": _steps(), "encoder_hidden_states": torch.randn(2, 5, 16),
             "pooled_projections": torch.randn(2, 16)},
    {"hidden_states": _BATCH, "timestep": _BATCH, "encoder_hidden_states": {0: "batch", 1: "words"},
     "pooled_projections": _BATCH},
)  # fmt: skip
_DIFFUSION["FluxTransformer2DModel"] = (
    {"patch_size": 1, "in_channels": 4, "num_layers": 1, "num_single_layers": 1, "attention_head_dim": 16,
     "num_attention_heads": 2, "joint_attention_dim": 16, "pooled_projection_dim": 16, "axes_dims_rope": (4, 4, 8)},
    lambda: {"hidden_states": torch.randn(2, 16, 4), "timestep": torch.tensor([0.1, 0.2]),
             "encoder_hidden_states": torch.randn(2, 5, 16), "pooled_projections": torch.randn(2, 16),
             "img_ids": torch.randn(16, 3), "txt_ids": torch.randn(5, 3)},
    {"hidden_states": {0: "batch", 1: "pixels"}, "timestep": _BATCH, "encoder_hidden_states": {0: "batch", 1: "words"},
     "pooled_projections": _BATCH, "img_ids": {0: "pixels"}, "txt_ids": {0: "words"}},
)  # fmt: skip
_DIFFUSION["PriorTransformer"] = (
    {"num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2, "embedding_dim": 16, "num_embeddings": 5,
     "additional_embeddings": 4},
    lambda: {"hidden_states": torch.randn(2, 16), "timestep": _steps(), "proj_embedding": torch.randn(2, 16),
             "encoder_hidden_states": torch.randn(2, 5, 16)},
    {"hidden_states": _BATCH, "timestep": _BATCH, "proj_embedding": _BATCH, "encoder_hidden_states": _BATCH},
)  # fmt: skip


def _config(name: str, fields: dict[str, Any]) -> Any:
    from transformers import CONFIG_MAPPING

    return CONFIG_MAPPING[name](**fields)


def _text(auto: str, name: str) -> dict[str, Any]:
    import transformers

    config = _config(name, _TEXT)
    model = _model(lambda: getattr(transformers, auto).from_config(config))
    ids = torch.arange(1, 13).reshape(2, 6)
    sizes = {0: "batch", 1: "length"}
    kwargs: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
    if auto == "AutoModelForCausalLM":
        kwargs["use_cache"] = False
    return {"model": model, "kwargs": kwargs, "dynamic": {"input_ids": sizes, "attention_mask": sizes}}


def _vision(name: str) -> dict[str, Any]:
    import transformers

    model = _model(lambda: transformers.AutoModelForImageClassification.from_config(_config(name, _VISION)))
    size = getattr(model.config, "image_size", None)
    side = size if isinstance(size, int) else 32
    return {
        "model": model,
        "kwargs": {"pixel_values": torch.randn(2, 3, side, side)},
        "dynamic": {"pixel_values": {0: "batch"}},
    }


def _diffusion(name: str) -> dict[str, Any]:
    import diffusers

    fields, inputs, dynamic = _DIFFUSION[name]
    model = _model(lambda: getattr(diffusers, name)(**fields))
    return {"model": model, "kwargs": {**inputs(), "return_dict": False}, "dynamic": dynamic}


def _model(make: Callable[[], Any]) -> Any:
    with torch.device("meta"):
        count = sum(parameter.numel() for parameter in make().parameters())
    if count > MOST_PARAMETERS:
        raise ValueError(f"{count} parameters: its configuration does not follow the fields that are set")
    return make().eval()


_KINDS: dict[str, Callable[[str], dict[str, Any]]] = {
    "causal": lambda name: _text("AutoModelForCausalLM", name),
    "encoder": lambda name: _text("AutoModelForMaskedLM", name),
    "vision": _vision,
    "diffusion": _diffusion,
}


def __getattr__(name: str) -> Callable[[], dict[str, Any]]:
    kind, _, model = name.partition("_")
    if kind not in _KINDS:
        raise AttributeError(name)
    return lambda: _KINDS[kind](model)


def names() -> Iterator[str]:
    """Return all models of a kind in the installed libraries."""
    from transformers.models.auto import modeling_auto

    tables: dict[str, Any] = {
        "causal": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        "encoder": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
        "vision": modeling_auto.MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
        "diffusion": _DIFFUSION,
    }
    for kind, table in tables.items():
        yield from (f"{kind}_{name}" for name in sorted(table))


def main() -> None:
    import logging
    import warnings

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    for library in ("timm", "torchvision"):
        if importlib.util.find_spec(library) is None:
            print(json.dumps({"library": library}), flush=True)
    for name in names():
        try:
            made = getattr(sys.modules[__name__], name)()
            with torch.no_grad():
                made["model"](**made["kwargs"])
            said: dict[str, Any] = {"target": name}
        except Exception as error:
            said = {"target": name, "why": f"{type(error).__name__}: {' '.join(str(error).split())[:160]}"}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
