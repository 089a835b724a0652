"""Modules and functions of public packages as targets of `symfix export`: small sizes, random weights, no download.

`PACKAGE__NAME` is a target. The packages are below the corpus. None of them is imported before a target is called. As a
script it prints for each named package whether its targets can be called.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import pkgutil
import sys
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

CORPUS = Path(__file__).resolve().parents[2] / ".corpus" / "packages"

PACKAGES: Mapping[str, str] = {
    "asteroid_filterbanks": "asteroid-filterbanks==0.4.0",
    "auraloss": "auraloss==0.4.0",
    "esm": "fair-esm==2.0.0",
    "flow_matching": "flow-matching==1.0.10",
    "fvcore": "fvcore==0.1.5.post20221221",
    "gpytorch": "gpytorch==1.15.2",
    "julius": "julius==0.2.8",
    "kornia": "kornia==0.9.0",
    "linear_operator": "linear-operator==0.6.1",
    "monai": "monai==1.6.1",
    "nnAudio": "nnaudio==0.3.4",
    "normflows": "normflows==1.7.3",
    "performer_pytorch": "performer-pytorch==1.1.4",
    "point_transformer_pytorch": "point-transformer-pytorch==0.1.5",
    "positional_encodings": "positional-encodings==6.0.3",
    "pytorch_metric_learning": "pytorch-metric-learning==2.9.0",
    "pytorch_tcn": "pytorch-tcn==1.2.3",
    "torch_geometric": "torch-geometric==2.8.1",
    "torch_rechub": "torch-rechub==0.9.0",
    "torchcrf": "pytorch-crf==0.7.2",
    "torchmetrics": "torchmetrics==1.9.0",
    "vector_quantize_pytorch": "vector-quantize-pytorch==1.32.0",
    "whisper": "openai-whisper==20250625",
    "x_transformers": "x-transformers==2.31.10",
}
"""Releases by import name."""

NEEDED: Mapping[str, str] = {
    "axial_positional_embedding": "axial-positional-embedding==0.3.12",
    "einops": "einops==0.8.2",
    "einx": "einx==0.4.3",
    "frozendict": "frozendict==2.5.1",
    "hyper_connections": "hyper-connections==0.4.11",
    "iopath": "iopath==0.1.10",
    "jaxtyping": "jaxtyping==0.3.11",
    "joblib": "joblib==1.6.0",
    "lightning_utilities": "lightning-utilities==0.15.3",
    "local_attention": "local-attention==1.11.2",
    "loguru": "loguru==0.7.3",
    "more_itertools": "more-itertools==11.2.1",
    "portalocker": "portalocker==4.4.2",
    "product_key_memory": "product-key-memory==0.3.0",
    "tabulate": "tabulate==0.10.0",
    "termcolor": "termcolor==3.3.0",
    "threadpoolctl": "threadpoolctl==3.8.0",
    "torch_einops_utils": "torch-einops-utils==0.2.0",
    "torchdiffeq": "torchdiffeq==0.2.5",
    "tqdm": "tqdm==4.70.1",
    "wadler_lindig": "wadler-lindig==0.1.8",
    "yacs": "yacs==0.1.8",
}
"""Releases of the packages' other dependencies than torch, numpy and scipy, by import name."""

STAND_INS: Mapping[str, Sequence[str]] = {
    "kornia": ("kornia_rs",),
    "torch_geometric": ("xxhash", "requests"),
    "torch_rechub": ("sklearn", "sklearn.metrics", "sklearn.preprocessing", "sklearn.model_selection", "pandas"),
    "whisper": ("tiktoken", "numba"),
}
"""Compiled modules that a package imports and that no target uses."""

SECOND = 5
"""Number of packages in group two."""


def group_of(package: str, packages: Sequence[str] = tuple(PACKAGES)) -> int:
    """Return the group of a package: 2 for the names with the lowest hashes, so that the choice is unbiased."""
    by_hash = sorted(packages, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    return 2 if package in by_hash[:SECOND] else 1


def root_of(pin: str, module: str, corpus: Path = CORPUS) -> Path | None:
    """Return the folder of an unpacked package that belongs on the path, or None if it is missing."""
    folder = corpus / pin
    if not folder.is_dir():
        return None
    for inner in (folder, *sorted(folder.iterdir()), *sorted(folder.glob("*/src"))):
        if (inner / module).is_dir() or (inner / f"{module}.py").is_file():
            return inner
    return None


class _Nothing:
    """Callable stub that accepts every call and returns itself."""

    def __init__(self, *args: Any, **kwargs: Any) -> None: ...

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self


class _StandIn(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing


def _stand_in(package: str) -> None:
    for name in STAND_INS.get(package, ()):
        if name not in sys.modules:
            module = sys.modules[name] = _StandIn(name)
            module.__spec__ = type(types.__spec__)(name, None)
            module.__path__ = []


_BUILDERS: dict[str, Callable[[], dict[str, Any]]] = {}


def names_of(package: str) -> list[str]:
    """Return the targets of a package, in the order of this file."""
    return [name for name in _BUILDERS if name.partition("__")[0] == package]


def __getattr__(name: str) -> Callable[[], dict[str, Any]]:
    builder = _BUILDERS.get(name)
    if builder is None:
        raise AttributeError(name)
    return lambda: _made(name, builder)


def _made(name: str, builder: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    for module, pin in {**NEEDED, **PACKAGES}.items():
        root = str(root_of(pin, module))
        if root not in sys.path:
            sys.path.append(root)
    warnings.simplefilter("ignore")
    _stand_in(name.partition("__")[0])
    torch.manual_seed(0)
    return builder()


def _target(name: str) -> Callable[[Callable[[], dict[str, Any]]], None]:
    def add(builder: Callable[[], dict[str, Any]]) -> None:
        if name in _BUILDERS:
            raise ValueError(f"{name} stands twice")
        _BUILDERS[name] = builder

    return add


def _of(path: str) -> Any:
    return pkgutil.resolve_name(path)


def _call(model: Any, args: Sequence[Any], dims: Sequence[Any], *more: Sequence[Any], **kwargs: Any) -> dict[str, Any]:
    """Build a target. ``dims`` belong to ``args`` one by one, and ``more`` are the arguments of further calls."""
    function = model.forward if isinstance(model, torch.nn.Module) else model
    names = list(inspect.signature(function).parameters)
    dynamic = {name: dim for name, dim in zip(names, dims, strict=False) if dim}
    given = {"model": model, "args": tuple(args), "kwargs": kwargs, "dynamic": dynamic}
    if more:
        given["more"] = [(tuple(one), kwargs) for one in more]
    if isinstance(model, torch.nn.Module):
        model.eval()
    return given


def _x(*sizes: int) -> Tensor:
    return torch.randn(sizes)


def _u(*sizes: int) -> Tensor:
    return torch.rand(sizes)


def _i(most: int, *sizes: int) -> Tensor:
    return torch.randint(most, sizes)


def _labels(number: int) -> Tensor:
    return torch.arange(number) % 3


def _mask(rows: int, length: int) -> Tensor:
    return torch.arange(length) < torch.arange(1, rows + 1)[:, None] + length - rows


_BATCH = {0: "batch"}
_ROWS = {0: "batch", 1: "length"}
_IMAGE = {0: "batch", 2: "height", 3: "width"}
_SOUND = {0: "batch", 2: "samples"}


# Geometry and vision.


@_target("kornia__warp_affine")
def _() -> dict[str, Any]:
    warp = _of("kornia.geometry.transform:warp_affine")

    def model(image: Tensor, matrix: Tensor) -> Any:
        return warp(image, matrix, (6, 5))

    return _call(model, (_x(2, 3, 8, 7), torch.eye(2, 3).repeat(2, 1, 1)), (_IMAGE, _BATCH))


@_target("kornia__match_snn")
def _() -> dict[str, Any]:
    return _call(
        _of("kornia.feature:match_snn"),
        (_x(6, 8), _x(7, 8)),
        ({0: "first"}, {0: "second"}),
        (_x(3, 8), _x(9, 8)),
    )


@_target("kornia__match_mnn")
def _() -> dict[str, Any]:
    return _call(_of("kornia.feature:match_mnn"), (_x(6, 8), _x(7, 8)), ({0: "first"}, {0: "second"}))


@_target("kornia__gaussian_blur2d")
def _() -> dict[str, Any]:
    blur = _of("kornia.filters:gaussian_blur2d")

    def model(image: Tensor) -> Any:
        return blur(image, (3, 3), (1.0, 1.5))

    return _call(model, (_x(2, 3, 8, 7),), (_IMAGE,))


@_target("kornia__ssim_loss")
def _() -> dict[str, Any]:
    loss = _of("kornia.losses:ssim_loss")

    def model(first: Tensor, second: Tensor) -> Any:
        return loss(first, second, 5)

    return _call(model, (_u(2, 3, 8, 9), _u(2, 3, 8, 9)), (_IMAGE, _IMAGE))


@_target("kornia__spatial_soft_argmax2d")
def _() -> dict[str, Any]:
    return _call(_of("kornia.geometry.subpix:spatial_soft_argmax2d"), (_x(2, 3, 6, 7),), (_IMAGE,))


@_target("kornia__nms")
def _() -> dict[str, Any]:
    nms = _of("kornia.geometry.bbox:nms")

    def model(boxes: Tensor, scores: Tensor) -> Any:
        return nms(boxes, scores, 0.5)

    corners = _u(6, 2)
    return _call(model, (torch.cat([corners, corners + _u(6, 2)], 1), _u(6)), ({0: "boxes"}, {0: "boxes"}))


@_target("kornia__extract_tensor_patches")
def _() -> dict[str, Any]:
    extract = _of("kornia.contrib:extract_tensor_patches")

    def model(image: Tensor) -> Any:
        return extract(image, window_size=(3, 3), stride=(2, 2), allow_auto_padding=True)

    return _call(model, (_x(2, 3, 9, 8),), (_IMAGE,))


@_target("kornia__find_homography_dlt")
def _() -> dict[str, Any]:
    points = {0: "batch", 1: "points"}
    return _call(_of("kornia.geometry:find_homography_dlt"), (_u(2, 6, 2), _u(2, 6, 2)), (points, points))


@_target("monai__DiceLoss")
def _() -> dict[str, Any]:
    loss = _of("monai.losses:DiceLoss")(to_onehot_y=True, softmax=True)
    return _call(loss, (_x(2, 3, 6, 5), _i(3, 2, 1, 6, 5)), (_IMAGE, _IMAGE))


@_target("monai__SSIMLoss")
def _() -> dict[str, Any]:
    loss = _of("monai.losses:SSIMLoss")(spatial_dims=2, win_size=5)
    return _call(loss, (_u(2, 1, 9, 8), _u(2, 1, 9, 8)), (_IMAGE, _IMAGE))


@_target("monai__BasicUNet")
def _() -> dict[str, Any]:
    net = _of("monai.networks.nets:BasicUNet")(2, 1, 2, features=(4, 4, 8, 8, 8, 4))
    return _call(net, (_x(2, 1, 36, 40),), (_IMAGE,))


@_target("monai__ViT")
def _() -> dict[str, Any]:
    net = _of("monai.networks.nets:ViT")(1, (16, 16), (8, 8), 16, 32, 1, 2, spatial_dims=2)
    return _call(net, (_x(3, 1, 16, 16),), (_BATCH,))


@_target("monai__SwinUNETR")
def _() -> dict[str, Any]:
    net = _of("monai.networks.nets:SwinUNETR")(
        1, 2, depths=(1, 1, 1, 1), num_heads=(1, 1, 1, 1), feature_size=12, window_size=3, spatial_dims=2
    )
    return _call(net, (_x(2, 1, 64, 64),), (_IMAGE,))


@_target("monai__sliding_window")
def _() -> dict[str, Any]:
    infer, body = _of("monai.inferers:sliding_window_inference"), torch.nn.Conv2d(1, 2, 3, padding=1)

    def model(image: Tensor) -> Any:
        return infer(image, (8, 8), 2, body)

    return _call(model, (_x(2, 1, 11, 8),), (_BATCH,))


@_target("fvcore__giou_loss")
def _() -> dict[str, Any]:
    loss = _of("fvcore.nn:giou_loss")

    def model(first: Tensor, second: Tensor) -> Any:
        return loss(first, second, reduction="mean")

    boxes = torch.cat([_u(5, 2), _u(5, 2) + 1], 1)
    return _call(model, (boxes, boxes + 0.1), ({0: "boxes"}, {0: "boxes"}))


@_target("fvcore__smooth_l1_loss")
def _() -> dict[str, Any]:
    loss = _of("fvcore.nn:smooth_l1_loss")

    def model(first: Tensor, second: Tensor) -> Any:
        return loss(first, second, 0.5, reduction="mean")

    return _call(model, (_x(5, 4), _x(5, 4)), ({0: "boxes"}, {0: "boxes"}))


@_target("fvcore__smooth_l1_loss_of_mask")
def _() -> dict[str, Any]:
    loss = _of("fvcore.nn:smooth_l1_loss")

    def model(first: Tensor, second: Tensor, keep: Tensor) -> Any:
        return loss(first[keep], second[keep], 0.5, reduction="mean")

    boxes = {0: "boxes"}
    keep = torch.tensor([True, False, True, True, False])
    none = torch.zeros(5, dtype=torch.bool)
    return _call(model, (_x(5, 4), _x(5, 4), keep), (boxes, boxes, boxes), (_x(5, 4), _x(5, 4), none))


# Graphs and point clouds.


def _edges() -> Tensor:
    return torch.tensor([[0, 1, 2, 3, 4, 1, 0], [1, 0, 3, 2, 1, 4, 2]])


_NODES, _LINKS = {0: "nodes"}, {1: "edges"}


@_target("torch_geometric__GCNConv")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.nn:GCNConv")(4, 3), (_x(5, 4), _edges()), (_NODES, _LINKS))


@_target("torch_geometric__GATConv")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.nn:GATConv")(4, 3, heads=2), (_x(5, 4), _edges()), (_NODES, _LINKS))


@_target("torch_geometric__SAGEConv")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.nn:SAGEConv")(4, 3), (_x(5, 4), _edges()), (_NODES, _LINKS))


@_target("torch_geometric__global_mean_pool")
def _() -> dict[str, Any]:
    batch = torch.tensor([0, 0, 1, 1, 2])
    one = torch.zeros(4, dtype=torch.int64)
    return _call(_of("torch_geometric.nn:global_mean_pool"), (_x(5, 4), batch), (_NODES, _NODES), (_x(4, 4), one))


@_target("torch_geometric__to_dense_batch")
def _() -> dict[str, Any]:
    batch = torch.tensor([0, 0, 1, 1, 2])
    one = torch.zeros(4, dtype=torch.int64)
    return _call(_of("torch_geometric.utils:to_dense_batch"), (_x(5, 4), batch), (_NODES, _NODES), (_x(4, 4), one))


@_target("torch_geometric__to_dense_batch_sized")
def _() -> dict[str, Any]:
    dense = _of("torch_geometric.utils:to_dense_batch")

    def model(x: Tensor, batch: Tensor) -> Any:
        return dense(x, batch, max_num_nodes=4, batch_size=3)

    return _call(model, (_x(5, 4), torch.tensor([0, 0, 1, 1, 2])), (_NODES, _NODES))


@_target("torch_geometric__softmax")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.utils:softmax"), (_x(5, 2), torch.tensor([0, 0, 1, 1, 2])), (_NODES, _NODES))


@_target("torch_geometric__TopKPooling")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.nn:TopKPooling")(4, ratio=0.5), (_x(5, 4), _edges()), (_NODES, _LINKS))


@_target("torch_geometric__to_undirected")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.utils:to_undirected"), (_edges(),), (_LINKS,))


@_target("torch_geometric__SortAggregation")
def _() -> dict[str, Any]:
    return _call(_of("torch_geometric.nn.aggr:SortAggregation")(3), (_x(5, 4), _labels(5).sort()[0]), (_NODES, _NODES))


@_target("torch_geometric__dense_diff_pool")
def _() -> dict[str, Any]:
    square = {0: "batch", 1: "nodes", 2: "nodes"}
    rows = {0: "batch", 1: "nodes"}
    return _call(
        _of("torch_geometric.nn.dense:dense_diff_pool"),
        (_x(2, 5, 4), _u(2, 5, 5), _x(2, 5, 3), _mask(2, 5)),
        (rows, square, rows, rows),
    )


@_target("point_transformer_pytorch__PointTransformerLayer")
def _() -> dict[str, Any]:
    layer = _of("point_transformer_pytorch:PointTransformerLayer")(
        dim=8, pos_mlp_hidden_dim=8, attn_mlp_hidden_mult=2, num_neighbors=4
    )
    points = {0: "batch", 1: "points"}
    return _call(layer, (_x(2, 7, 8), _x(2, 7, 3), _mask(2, 7)), (points, points, points))


@_target("point_transformer_pytorch__all_neighbours")
def _() -> dict[str, Any]:
    layer = _of("point_transformer_pytorch:PointTransformerLayer")(dim=8, pos_mlp_hidden_dim=8, attn_mlp_hidden_mult=2)
    points = {0: "batch", 1: "points"}
    return _call(layer, (_x(2, 7, 8), _x(2, 7, 3)), (points, points))


# Language.


@_target("esm__ESM2")
def _() -> dict[str, Any]:
    model = _of("esm.model.esm2:ESM2")(num_layers=1, embed_dim=16, attention_heads=2, alphabet="ESM-1b")
    tokens = _i(20, 3, 7) + 4
    padded = tokens.clone()
    padded[0, 5:] = 1
    return _call(model, (padded,), (_ROWS,), (tokens,))


@_target("esm__RowSelfAttention")
def _() -> dict[str, Any]:
    sizes = {0: "rows", 1: "columns", 2: "batch"}
    return _call(_of("esm.axial_attention:RowSelfAttention")(8, 2), (_x(3, 5, 2, 8),), (sizes,))


@_target("esm__LearnedPositionalEmbedding")
def _() -> dict[str, Any]:
    return _call(_of("esm.modules:LearnedPositionalEmbedding")(12, 8, 1), (_i(9, 2, 5),), (_ROWS,))


@_target("esm__SinusoidalPositionalEmbedding")
def _() -> dict[str, Any]:
    return _call(_of("esm.modules:SinusoidalPositionalEmbedding")(8, 1), (_i(9, 2, 5),), (_ROWS,))


def _wrapped(**words: Any) -> Any:
    layers = _of("x_transformers:Decoder")(dim=12, depth=1, heads=3, **{"attn_dim_head": 4, **words})
    return _of("x_transformers:TransformerWrapper")(num_tokens=20, max_seq_len=16, attn_layers=layers)


@_target("x_transformers__TransformerWrapper")
def _() -> dict[str, Any]:
    return _call(_wrapped(), (_i(20, 3, 7),), (_ROWS,))


@_target("x_transformers__rotary")
def _() -> dict[str, Any]:
    return _call(_wrapped(rotary_pos_emb=True, attn_dim_head=32), (_i(20, 3, 7),), (_ROWS,))


@_target("x_transformers__relative_bias")
def _() -> dict[str, Any]:
    encoder = _of("x_transformers:Encoder")(dim=12, depth=1, heads=3, attn_dim_head=4, rel_pos_bias=True)

    def model(x: Tensor, mask: Tensor) -> Any:
        return encoder(x, mask=mask)

    encoder.eval()
    return _call(model, (_x(3, 7, 12), _mask(3, 7)), (_ROWS, _ROWS))


@_target("performer_pytorch__PerformerLM")
def _() -> dict[str, Any]:
    model = _of("performer_pytorch:PerformerLM")(
        num_tokens=20, max_seq_len=16, dim=8, depth=1, heads=2, dim_head=4, nb_features=8, causal=False
    )
    return _call(model, (_i(20, 2, 7),), (_ROWS,))


@_target("performer_pytorch__SelfAttention_local")
def _() -> dict[str, Any]:
    layer = _of("performer_pytorch:SelfAttention")(
        dim=8, heads=2, dim_head=4, local_heads=1, local_window_size=4, nb_features=8
    ).eval()

    def model(x: Tensor) -> Any:
        return layer(x)

    return _call(model, (_x(2, 8, 8),), (_BATCH,))


@_target("torchcrf__CRF")
def _() -> dict[str, Any]:
    mask = _mask(3, 6)
    return _call(
        _of("torchcrf:CRF")(5, batch_first=True),
        (_x(3, 6, 5), _i(5, 3, 6), mask),
        (_ROWS, _ROWS, _ROWS),
        (_x(3, 6, 5), _i(5, 3, 6), torch.ones_like(mask)),
    )


@_target("torchcrf__CRF_without_mask")
def _() -> dict[str, Any]:
    return _call(_of("torchcrf:CRF")(5, batch_first=True), (_x(3, 6, 5), _i(5, 3, 6)), (_BATCH, _BATCH))


# Sound.


@_target("whisper__pad_or_trim")
def _() -> dict[str, Any]:
    pad = _of("whisper.audio:pad_or_trim")

    def model(audio: Tensor) -> Any:
        return pad(audio, 9)

    return _call(model, (_x(2, 7),), ({0: "batch", 1: "samples"},), (_x(3, 12),))


def _whisper() -> Any:
    sizes = _of("whisper.model:ModelDimensions")(
        n_mels=8, n_audio_ctx=6, n_audio_state=8, n_audio_head=2, n_audio_layer=1,
        n_vocab=30, n_text_ctx=12, n_text_state=8, n_text_head=2, n_text_layer=1,
    )  # fmt: skip
    return _of("whisper.model:Whisper")(sizes)


@_target("whisper__Whisper")
def _() -> dict[str, Any]:
    return _call(_whisper(), (_x(3, 8, 12), _i(30, 3, 5)), (_BATCH, {0: "batch", 1: "words"}))


@_target("whisper__TextDecoder")
def _() -> dict[str, Any]:
    return _call(_whisper().decoder, (_i(30, 3, 5), _x(3, 4, 8)), ({0: "batch", 1: "words"}, {0: "batch", 1: "frames"}))


@_target("whisper__log_mel_spectrogram")
def _() -> dict[str, Any]:
    return _call(_of("whisper.audio:log_mel_spectrogram"), (_x(2, 800),), ({0: "batch", 1: "samples"},))


@_target("nnAudio__STFT")
def _() -> dict[str, Any]:
    layer = _of("nnAudio.features:STFT")(n_fft=16, hop_length=4, output_format="Magnitude", verbose=False)
    return _call(layer, (_x(2, 40),), ({0: "batch", 1: "samples"},))


@_target("nnAudio__MelSpectrogram")
def _() -> dict[str, Any]:
    layer = _of("nnAudio.features:MelSpectrogram")(sr=160, n_fft=32, n_mels=4, hop_length=8, verbose=False)
    return _call(layer, (_x(2, 80),), ({0: "batch", 1: "samples"},))


@_target("nnAudio__CQT1992v2")
def _() -> dict[str, Any]:
    layer = _of("nnAudio.features:CQT1992v2")(sr=800, hop_length=16, fmin=50, n_bins=12, verbose=False)
    return _call(layer, (_x(2, 400),), ({0: "batch", 1: "samples"},))


@_target("auraloss__STFTLoss")
def _() -> dict[str, Any]:
    loss = _of("auraloss.freq:STFTLoss")(fft_size=16, hop_size=4, win_length=16)
    return _call(loss, (_x(2, 1, 40), _x(2, 1, 40)), (_SOUND, _SOUND))


@_target("auraloss__MultiResolutionSTFTLoss")
def _() -> dict[str, Any]:
    loss = _of("auraloss.freq:MultiResolutionSTFTLoss")([16, 32], [4, 8], [16, 32])
    return _call(loss, (_x(2, 1, 60), _x(2, 1, 60)), (_SOUND, _SOUND))


@_target("auraloss__SISDRLoss")
def _() -> dict[str, Any]:
    return _call(_of("auraloss.time:SISDRLoss")(), (_x(2, 1, 40), _x(2, 1, 40)), (_SOUND, _SOUND))


@_target("auraloss__FIRFilter")
def _() -> dict[str, Any]:
    return _call(_of("auraloss.perceptual:FIRFilter")(), (_x(2, 1, 200), _x(2, 1, 200)), (_SOUND, _SOUND))


# Sequences over time, positional tables, quantisers.


@_target("pytorch_tcn__TCN")
def _() -> dict[str, Any]:
    return _call(_of("pytorch_tcn:TCN")(4, [6, 6], kernel_size=3, dropout=0.0), (_x(2, 4, 20),), (_SOUND,))


@_target("pytorch_tcn__TCN_lookahead")
def _() -> dict[str, Any]:
    model = _of("pytorch_tcn:TCN")(4, [6, 6], kernel_size=3, dropout=0.0, causal=False, use_skip_connections=True)
    return _call(model, (_x(2, 4, 20),), (_SOUND,))


@_target("pytorch_tcn__TemporalConvTranspose1d")
def _() -> dict[str, Any]:
    return _call(_of("pytorch_tcn:TemporalConvTranspose1d")(4, 4, 4, stride=2), (_x(2, 4, 9),), (_SOUND,))


@_target("positional_encodings__1D")
def _() -> dict[str, Any]:
    return _call(_of("positional_encodings.torch_encodings:PositionalEncoding1D")(8), (_x(2, 5, 8),), (_ROWS,))


@_target("positional_encodings__2D")
def _() -> dict[str, Any]:
    layer = _of("positional_encodings.torch_encodings:PositionalEncoding2D")(8)
    return _call(layer, (_x(2, 5, 6, 8),), ({0: "batch", 1: "height", 2: "width"},))


@_target("positional_encodings__Summer")
def _() -> dict[str, Any]:
    layers = _of("positional_encodings.torch_encodings")
    return _call(layers.Summer(layers.PositionalEncodingPermute1D(8)), (_x(2, 8, 5),), (_SOUND,))


@_target("vector_quantize_pytorch__VectorQuantize")
def _() -> dict[str, Any]:
    layer = _of("vector_quantize_pytorch:VectorQuantize")(dim=8, codebook_size=16)
    return _call(layer, (_x(2, 7, 8),), (_ROWS,))


@_target("vector_quantize_pytorch__masked")
def _() -> dict[str, Any]:
    layer = _of("vector_quantize_pytorch:VectorQuantize")(dim=8, codebook_size=16, use_cosine_sim=True)

    def model(x: Tensor, mask: Tensor) -> Any:
        return layer(x, mask=mask)

    layer.eval()
    return _call(model, (_x(2, 7, 8), _mask(2, 7)), (_ROWS, _ROWS))


@_target("vector_quantize_pytorch__ResidualVQ")
def _() -> dict[str, Any]:
    layer = _of("vector_quantize_pytorch:ResidualVQ")(dim=8, codebook_size=16, num_quantizers=2)
    return _call(layer, (_x(2, 7, 8),), (_ROWS,))


@_target("vector_quantize_pytorch__FSQ")
def _() -> dict[str, Any]:
    return _call(_of("vector_quantize_pytorch:FSQ")([5, 3, 3]), (_x(2, 7, 3),), (_ROWS,))


# Gaussian processes and linear algebra.


@_target("gpytorch__RBFKernel")
def _() -> dict[str, Any]:
    kernel = _of("gpytorch.kernels:ScaleKernel")(_of("gpytorch.kernels:RBFKernel")()).eval()

    def model(first: Tensor, second: Tensor) -> Any:
        return kernel(first, second).to_dense()

    return _call(model, (_x(5, 3), _x(7, 3)), ({0: "first"}, {0: "second"}))


@_target("gpytorch__MaternKernel_same")
def _() -> dict[str, Any]:
    kernel = _of("gpytorch.kernels:MaternKernel")(nu=1.5).eval()

    def model(x: Tensor) -> Any:
        return kernel(x).to_dense()

    return _call(model, (_x(5, 3),), ({0: "points"},))


@_target("gpytorch__log_prob")
def _() -> dict[str, Any]:
    normal = _of("gpytorch.distributions:MultivariateNormal")

    def model(mean: Tensor, factor: Tensor, value: Tensor) -> Any:
        covariance = factor @ factor.mT + torch.eye(factor.shape[0])
        return normal(mean, covariance).log_prob(value)

    points = {0: "points"}
    return _call(model, (_x(5), _x(5, 3), _x(5)), (points, points, points))


@_target("linear_operator__psd_safe_cholesky")
def _() -> dict[str, Any]:
    factor = _x(5, 5)
    square = {0: "rows", 1: "rows"}
    return _call(
        _of("linear_operator.utils.cholesky:psd_safe_cholesky"), (factor @ factor.mT + 5 * torch.eye(5),), (square,)
    )


@_target("linear_operator__Toeplitz_matmul")
def _() -> dict[str, Any]:
    operator = _of("linear_operator.operators:ToeplitzLinearOperator")

    def model(column: Tensor, other: Tensor) -> Any:
        return operator(column) @ other

    return _call(model, (_x(6), _x(6, 3)), ({0: "rows"}, {0: "rows"}))


@_target("linear_operator__Kronecker_dense")
def _() -> dict[str, Any]:
    product = _of("linear_operator.operators:KroneckerProductLinearOperator")
    dense = _of("linear_operator.operators:DenseLinearOperator")

    def model(first: Tensor, second: Tensor, other: Tensor) -> Any:
        return product(dense(first), dense(second)) @ other

    return _call(model, (_x(3, 3), _x(4, 4), _x(12, 2)), ({}, {}, {1: "columns"}))


@_target("linear_operator__diagonal_sum")
def _() -> dict[str, Any]:
    dense = _of("linear_operator.operators:DenseLinearOperator")
    diagonal = _of("linear_operator.operators:DiagLinearOperator")

    def model(matrix: Tensor, entries: Tensor, other: Tensor) -> Any:
        return (dense(matrix) + diagonal(entries)) @ other

    return _call(model, (_x(5, 5), _x(5), _x(5, 2)), ({0: "rows", 1: "rows"}, {0: "rows"}, {0: "rows"}))


# Normalising flows.


@_target("normflows__spline")
def _() -> dict[str, Any]:
    flow = _of("normflows.flows:CoupledRationalQuadraticSpline")(4, 1, 8)
    return _call(flow, (_x(5, 4),), (_BATCH,))


@_target("normflows__autoregressive_spline")
def _() -> dict[str, Any]:
    flow = _of("normflows.flows:AutoregressiveRationalQuadraticSpline")(3, 1, 8)
    return _call(flow, (_x(5, 3),), (_BATCH,))


@_target("normflows__Squeeze")
def _() -> dict[str, Any]:
    return _call(_of("normflows.flows:Squeeze")(), (_x(2, 4, 6, 6),), (_IMAGE,))


@_target("normflows__Invertible1x1Conv")
def _() -> dict[str, Any]:
    return _call(_of("normflows.flows:Invertible1x1Conv")(4), (_x(2, 4, 6, 5),), (_IMAGE,))


# Losses over pairs of a batch.


def _metric_loss(name: str, *, most: int = 4, **words: Any) -> dict[str, Any]:
    loss = _of(f"pytorch_metric_learning.losses:{name}")(**words)

    def model(embeddings: Tensor, labels: Tensor) -> Any:
        return loss(embeddings, labels)

    alone = torch.arange(most)
    return _call(model, (_x(6, 4), _labels(6)), (_BATCH, _BATCH), (_x(most, 4), alone))


@_target("pytorch_metric_learning__ContrastiveLoss")
def _() -> dict[str, Any]:
    return _metric_loss("ContrastiveLoss")


@_target("pytorch_metric_learning__TripletMarginLoss")
def _() -> dict[str, Any]:
    return _metric_loss("TripletMarginLoss")


@_target("pytorch_metric_learning__NTXentLoss")
def _() -> dict[str, Any]:
    return _metric_loss("NTXentLoss")


@_target("pytorch_metric_learning__MultiSimilarityLoss")
def _() -> dict[str, Any]:
    return _metric_loss("MultiSimilarityLoss")


@_target("pytorch_metric_learning__ArcFaceLoss")
def _() -> dict[str, Any]:
    return _metric_loss("ArcFaceLoss", most=3, num_classes=3, embedding_size=4)


@_target("pytorch_metric_learning__BatchHardMiner")
def _() -> dict[str, Any]:
    miner = _of("pytorch_metric_learning.miners:BatchHardMiner")()

    def model(embeddings: Tensor, labels: Tensor) -> Any:
        return miner(embeddings, labels)

    return _call(model, (_x(6, 4), _labels(6)), (_BATCH, _BATCH))


# Group two.


@_target("torchmetrics__pearson")
def _() -> dict[str, Any]:
    return _call(_of("torchmetrics.functional:pearson_corrcoef"), (_x(6), _x(6)), (_BATCH, _BATCH))


@_target("torchmetrics__ssim")
def _() -> dict[str, Any]:
    ssim = _of("torchmetrics.functional.image:structural_similarity_index_measure")

    def model(first: Tensor, second: Tensor) -> Any:
        return ssim(first, second, data_range=1.0, sigma=0.5)

    return _call(model, (_u(2, 3, 14, 13), _u(2, 3, 14, 13)), (_IMAGE, _IMAGE))


@_target("torchmetrics__multiclass_accuracy")
def _() -> dict[str, Any]:
    accuracy = _of("torchmetrics.functional.classification:multiclass_accuracy")

    def model(scores: Tensor, labels: Tensor) -> Any:
        return accuracy(scores, labels, num_classes=4)

    return _call(model, (_x(6, 4), _i(4, 6)), (_BATCH, _BATCH))


@_target("torchmetrics__binary_auroc")
def _() -> dict[str, Any]:
    return _call(
        _of("torchmetrics.functional.classification:binary_auroc"),
        (_u(6), torch.arange(6) % 2),
        (_BATCH, _BATCH),
    )


@_target("torchmetrics__pairwise_cosine")
def _() -> dict[str, Any]:
    pairs = _of("torchmetrics.functional:pairwise_cosine_similarity")

    def model(x: Tensor, y: Tensor) -> Any:
        return pairs(x, y)

    return _call(model, (_x(5, 3), _x(4, 3)), ({0: "first"}, {0: "second"}))


@_target("torchmetrics__reciprocal_rank")
def _() -> dict[str, Any]:
    rank = _of("torchmetrics.functional.retrieval:retrieval_reciprocal_rank")
    none = torch.zeros(6, dtype=torch.bool)
    return _call(rank, (_u(6), torch.arange(6) % 3 == 1), (_BATCH, _BATCH), (_u(6), none))


@_target("torchmetrics__signal_noise_ratio")
def _() -> dict[str, Any]:
    rows = {0: "batch", 1: "samples"}
    ratio = _of("torchmetrics.functional.audio:scale_invariant_signal_distortion_ratio")
    return _call(ratio, (_x(2, 20), _x(2, 20)), (rows, rows))


@_target("julius__ResampleFrac")
def _() -> dict[str, Any]:
    return _call(_of("julius:ResampleFrac")(4, 5, zeros=4), (_x(2, 1, 40),), (_SOUND,))


@_target("julius__fft_conv1d")
def _() -> dict[str, Any]:
    return _call(_of("julius:fft_conv1d"), (_x(2, 3, 60), _x(4, 3, 5)), (_SOUND, {}))


@_target("julius__LowPassFilters")
def _() -> dict[str, Any]:
    return _call(_of("julius.lowpass:LowPassFilters")([0.2, 0.3], zeros=2), (_x(2, 60),), ({0: "batch", 1: "samples"},))


@_target("julius__SplitBands")
def _() -> dict[str, Any]:
    return _call(_of("julius:SplitBands")(1000, 3, zeros=1), (_x(2, 1, 60),), (_SOUND,))


@_target("flow_matching__CondOTProbPath")
def _() -> dict[str, Any]:
    path = _of("flow_matching.path:CondOTProbPath")()

    def model(t: Tensor, start: Tensor, end: Tensor) -> Any:
        sample = path.sample(x_0=start, x_1=end, t=t)
        return sample.x_t, sample.dx_t

    return _call(model, (_u(4), _x(4, 3), _x(4, 3)), (_BATCH, _BATCH, _BATCH))


@_target("flow_matching__GeodesicProbPath")
def _() -> dict[str, Any]:
    scheduler = _of("flow_matching.path.scheduler:CondOTScheduler")()
    path = _of("flow_matching.path:GeodesicProbPath")(scheduler, _of("flow_matching.utils.manifolds:Sphere")())

    def model(t: Tensor, start: Tensor, end: Tensor) -> Any:
        sample = path.sample(x_0=start, x_1=end, t=t)
        return sample.x_t, sample.dx_t

    unit = torch.nn.functional.normalize
    return _call(model, (_u(4), unit(_x(4, 3)), unit(_x(4, 3))), (_BATCH, _BATCH, _BATCH))


@_target("flow_matching__MixturePathGeneralizedKL")
def _() -> dict[str, Any]:
    scheduler = _of("flow_matching.path.scheduler:PolynomialConvexScheduler")(n=2.0)
    loss = _of("flow_matching.loss:MixturePathGeneralizedKL")(
        _of("flow_matching.path:MixtureDiscreteProbPath")(scheduler)
    )
    return _call(loss, (_x(3, 5, 6), _i(6, 3, 5), _i(6, 3, 5), _u(3)), (_ROWS, _ROWS, _ROWS, _BATCH))


@_target("flow_matching__ODESolver")
def _() -> dict[str, Any]:
    class Velocity(torch.nn.Module):
        def forward(self, x: Tensor, t: Tensor) -> Tensor:
            return -x * t

    solver = _of("flow_matching.solver:ODESolver")(Velocity())

    def model(x: Tensor) -> Any:
        return solver.sample(x_init=x, step_size=0.5, method="midpoint")

    return _call(model, (_x(4, 3),), (_BATCH,))


@_target("torch_rechub__HSTULayer")
def _() -> dict[str, Any]:
    layer = _of("torch_rechub.basic.layers:HSTULayer")(d_model=8, n_heads=2, dqk=4, dv=4)
    return _call(layer, (_x(2, 5, 8),), (_ROWS,))


@_target("torch_rechub__AveragePooling")
def _() -> dict[str, Any]:
    layer = _of("torch_rechub.basic.layers:AveragePooling")()
    return _call(layer, (_x(2, 5, 8), _mask(2, 5)[:, None].float()), (_ROWS, {0: "batch", 2: "length"}))


@_target("torch_rechub__InBatchNCELoss")
def _() -> dict[str, Any]:
    return _call(
        _of("torch_rechub.basic.loss_func:InBatchNCELoss")(),
        (_x(4, 6), _x(9, 6), torch.arange(4)),
        (_BATCH, {}, _BATCH),
    )


@_target("torch_rechub__CapsuleNetwork")
def _() -> dict[str, Any]:
    layer = _of("torch_rechub.basic.layers:CapsuleNetwork")(8, 5, bilinear_type=2, interest_num=2)
    return _call(layer, (_x(3, 5, 8), torch.ones(3, 5)), (_BATCH, _BATCH))


@_target("asteroid_filterbanks__Encoder_STFT")
def _() -> dict[str, Any]:
    encoder = _of("asteroid_filterbanks:Encoder")(_of("asteroid_filterbanks:STFTFB")(16, 16, stride=4))
    return _call(encoder, (_x(2, 1, 40),), (_SOUND,))


@_target("asteroid_filterbanks__Encoder_2d")
def _() -> dict[str, Any]:
    encoder = _of("asteroid_filterbanks:Encoder")(_of("asteroid_filterbanks:FreeFB")(8, 16, stride=4))
    return _call(encoder, (_x(2, 40),), ({0: "batch", 1: "samples"},))


@_target("asteroid_filterbanks__Decoder")
def _() -> dict[str, Any]:
    decoder = _of("asteroid_filterbanks:Decoder")(_of("asteroid_filterbanks:FreeFB")(8, 16, stride=4))
    return _call(decoder, (_x(2, 8, 10),), ({0: "batch", 2: "frames"},))


@_target("asteroid_filterbanks__PCEN")
def _() -> dict[str, Any]:
    layer = _of("asteroid_filterbanks.pcen:PCEN")(n_channels=1)
    return _call(layer, (_u(2, 1, 5, 9),), ({0: "batch", 3: "frames"},))


def main() -> None:
    """Print whether the targets of the packages named on the command line can be called."""
    for package in sys.argv[1:]:
        for name in names_of(package):
            said = {"target": name}
            try:
                given = _made(name, _BUILDERS[name])
                for args, kwargs in [(given["args"], given["kwargs"]), *given.get("more", [])]:
                    given["model"](*args, **kwargs)
            except Exception as error:
                said["why"] = f"{type(error).__name__}: {error}".partition("\n")[0]
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
