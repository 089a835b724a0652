"""Calls of public packages for tracing: modules and functions, each with small arguments of our own.

As a script it captures targets of one package by the given tracers. It prints a line of JSON for each target:
strangers_targets.py PACKAGE '{"TARGET": ["TRACER", …], …}'
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import signal
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

LIMIT = 90
"""Seconds for one target."""

PACKAGES: Mapping[str, str] = {
    "axial_positional_embedding": "axial-positional-embedding==0.3.12",
    "entmax": "entmax==1.3",
    "fft_conv_pytorch": "fft-conv-pytorch==1.2.0",
    "geomloss": "geomloss==0.3.1",
    "info_nce": "info-nce-pytorch==0.1.4",
    "local_attention": "local-attention==1.11.2",
    "nflows": "nflows==0.14",
    "opacus": "opacus==1.6.0",
    "piq": "piq==0.8.0",
    "pypose": "pypose==0.9.5",
    "pytorch_optimizer": "pytorch-optimizer==4.1.0",
    "pytorch_wavelets": "pytorch-wavelets==1.3.0",
    "roma": "roma==1.8.0",
    "rotary_embedding_torch": "rotary-embedding-torch==0.9.1",
    "rtdl_num_embeddings": "rtdl-num-embeddings==0.0.12",
    "rtdl_revisiting_models": "rtdl-revisiting-models==0.0.2",
    "snntorch": "snntorch==1.0.0",
    "torch_harmonics": "torch-harmonics==0.9.3",
    "torchsde": "torchsde==0.2.6",
    "vector_quantize_pytorch": "vector-quantize-pytorch==1.32.0",
    "vit_pytorch": "vit-pytorch==1.26.11",
    "x_transformers": "x-transformers==2.31.10",
    "zuko": "zuko==1.6.0",
}
"""Releases by import name."""

NEEDED: Mapping[str, str] = {
    "einops": "einops==0.8.2",
    "einx": "einx==0.4.3",
    "frozendict": "frozendict==2.5.1",
    "hyper_connections": "hyper-connections==0.4.11",
    "loguru": "loguru==0.7.3",
    "torch_einops_utils": "torch-einops-utils==0.2.0",
    "trampoline": "trampoline==0.1.2",
}
"""Releases of the packages' other dependencies than torch, numpy and scipy, by import name."""

BARE = ("nflows.distributions", "opacus", "piq", "pytorch_wavelets", "vit_pytorch")
"""Packages whose `__init__` is replaced by an empty module, because it imports packages that are not installed."""

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]


def call(function: Any, *args: Any, **kwargs: Any) -> Call:
    """Return a call as a value, with a module in evaluation mode."""
    return (function.eval() if isinstance(function, torch.nn.Module) else function), args, kwargs


def x(*sizes: int) -> torch.Tensor:
    """Return a Tensor of normal numbers."""
    return torch.randn(sizes)


def u(*sizes: int) -> torch.Tensor:
    """Return a Tensor of numbers from 0 to 1."""
    return torch.rand(sizes)


def i(most: int, *sizes: int) -> torch.Tensor:
    """Return a Tensor of whole numbers below ``most``."""
    return torch.randint(most, sizes)


def _encoder(m: Any) -> Any:
    return m.Encoder(dim=12, depth=1, heads=3, attn_dim_head=4)


def _decoder(m: Any) -> Any:
    return m.Decoder(dim=12, depth=1, heads=3, attn_dim_head=4)


class _Sde:
    """A stochastic differential equation for torchsde."""

    noise_type, sde_type = "diagonal", "ito"

    def f(self, t: Any, y: torch.Tensor) -> torch.Tensor:
        return -y

    def g(self, t: Any, y: torch.Tensor) -> torch.Tensor:
        return y.cos()


TARGETS: Mapping[str, Mapping[str, Callable[[Any], Call]]] = {
    "axial_positional_embedding": {
        "AxialPositionalEmbedding": lambda m: call(m.AxialPositionalEmbedding(8, (4, 6)), x(2, 20, 8)),
        "Continuous": lambda m: call(m.ContinuousAxialPositionalEmbedding(8, 2), (3, 5), flatten=True),
    },
    "entmax": {
        "sparsemax": lambda m: call(m.sparsemax, x(3, 7), dim=-1),
        "entmax15": lambda m: call(m.entmax15, x(3, 7), dim=-1),
        "SparsemaxLoss": lambda m: call(m.SparsemaxLoss(), x(3, 7), i(7, 3)),
        "Entmax15Loss": lambda m: call(m.Entmax15Loss(k=None), x(3, 7), i(7, 3)),
        "EntmaxBisectLoss": lambda m: call(m.EntmaxBisectLoss(n_iter=5), x(3, 7), i(7, 3)),
        "NormmaxBisect": lambda m: call(m.NormmaxBisect(n_iter=5), x(3, 7)),
        "entmax_bisect_loss": lambda m: call(m.entmax_bisect_loss, x(3, 7), i(7, 3), n_iter=5),
    },
    "fft_conv_pytorch": {
        "fft_conv 1d": lambda m: call(m.fft_conv, x(2, 3, 17), x(4, 3, 5), padding=2),
        "fft_conv 2d": lambda m: call(m.fft_conv, x(2, 3, 17, 16), x(4, 3, 5, 3), x(4)),
        "FFTConv1d": lambda m: call(m.FFTConv1d(3, 4, 5), x(2, 3, 17)),
        "FFTConv2d": lambda m: call(m.FFTConv2d(4, 6, 3, padding=1, stride=2, groups=2), x(2, 4, 12, 10)),
    },
    "geomloss": {
        "SamplesLoss sinkhorn": lambda m: call(m.SamplesLoss(diameter=2.0, blur=0.5), x(5, 3), x(7, 3)),
        "SamplesLoss gaussian": lambda m: call(m.SamplesLoss("gaussian", backend="tensorized"), x(2, 5, 3), x(2, 7, 3)),
        "SamplesLoss weights": lambda m: call(
            m.SamplesLoss("laplacian", backend="tensorized"), u(2, 5), x(2, 5, 3), u(2, 7), x(2, 7, 3)
        ),
        "SamplesLoss column": lambda m: call(
            m.SamplesLoss("energy", backend="tensorized"), u(5, 1), x(5, 3), u(7, 1), x(7, 3)
        ),
    },
    "info_nce": {
        "InfoNCE": lambda m: call(m.InfoNCE(), x(4, 8), x(4, 8)),
        "InfoNCE unpaired": lambda m: call(m.InfoNCE(), x(4, 8), x(4, 8), x(5, 8)),
        "InfoNCE paired": lambda m: call(m.InfoNCE(negative_mode="paired"), x(4, 8), x(4, 8), x(4, 5, 8)),
        "info_nce": lambda m: call(m.info_nce, x(4, 8), x(4, 8), x(5, 8), reduction="sum"),
    },
    "local_attention": {
        "LocalAttention": lambda m: call(
            m.LocalAttention(4, causal=True, dim=8), x(2, 12, 8), x(2, 12, 8), x(2, 12, 8)
        ),
        "LocalTransformer": lambda m: call(
            m.LocalTransformer(
                num_tokens=19, max_seq_len=16, dim=12, depth=1, local_attn_window_size=4, heads=3, dim_head=4
            ),
            i(19, 2, 8),
        ),
    },
    "nflows.distributions.normal": {
        "StandardNormal": lambda m: call(m.StandardNormal([4]).log_prob, x(3, 4)),
        "StandardNormal context": lambda m: call(m.StandardNormal([4]).log_prob, x(3, 4), x(3, 5)),
        "ConditionalDiagonalNormal": lambda m: call(m.ConditionalDiagonalNormal([4]).log_prob, x(3, 4), x(3, 8)),
    },
    "nflows.transforms": {
        "RandomPermutation": lambda m: call(m.RandomPermutation(6), x(3, 6)),
        "SqueezeTransform": lambda m: call(m.SqueezeTransform(), x(2, 4, 6, 8)),
        "AffineCouplingTransform": lambda m: call(
            m.AffineCouplingTransform(
                [1, 0, 1, 0], lambda k, n: importlib.import_module("nflows.nn.nets").ResidualNet(k, n, 8)
            ),
            x(3, 4),
        ),
        "RationalQuadraticCDF": lambda m: call(m.PiecewiseRationalQuadraticCDF([4], tails="linear"), x(3, 4)),
        "LULinear": lambda m: call(m.LULinear(4), x(3, 4)),
        "OneByOneConvolution": lambda m: call(m.OneByOneConvolution(4), x(2, 4, 3, 5)),
        "BatchNorm": lambda m: call(m.BatchNorm(4), x(3, 4)),
        "MaskedAffineAutoregressive": lambda m: call(m.MaskedAffineAutoregressiveTransform(4, 8), x(3, 4)),
    },
    "opacus.layers.dp_multihead_attention": {
        "SequenceBias": lambda m: call(m.SequenceBias(6), x(5, 3, 6)),
        "DPMultiheadAttention": lambda m: call(m.DPMultiheadAttention(6, 2), x(5, 3, 6), x(7, 3, 6), x(7, 3, 6)),
        "DPMultiheadAttention mask": lambda m: call(
            m.DPMultiheadAttention(6, 2, batch_first=True),
            x(3, 5, 6),
            x(3, 7, 6),
            x(3, 7, 6),
            key_padding_mask=torch.zeros(3, 7, dtype=torch.bool),
        ),
    },
    "opacus.layers.dp_rnn": {
        "DPLSTM": lambda m: call(m.DPLSTM(4, 6, batch_first=True), x(2, 3, 4)),
        "DPGRUCell": lambda m: call(m.DPGRUCell(4, 6, True), x(3, 4), x(3, 6)),
    },
    "opacus.utils.tensor_utils": {
        "one layer": lambda m: call(m.calc_sample_norms_one_layer, x(3, 4, 5)),
        "unfold2d": lambda m: call(
            m.unfold2d, x(2, 3, 8, 9), kernel_size=(3, 2), padding=(1, 1), stride=(1, 1), dilation=(1, 1)
        ),
        "unfold3d": lambda m: call(m.unfold3d, x(2, 3, 6, 7, 8), kernel_size=2),
    },
    "piq.fsim": {"FSIMLoss": lambda m: call(m.FSIMLoss(), u(2, 3, 32, 40), u(2, 3, 32, 40))},
    "piq.functional": {
        "crop_patches": lambda m: call(m.crop_patches, x(2, 3, 12, 10), size=4, stride=2),
        "imresize": lambda m: call(m.imresize, u(2, 3, 12, 10), scale=0.5),
    },
    "piq.gmsd": {
        "GMSDLoss": lambda m: call(m.GMSDLoss(), u(2, 3, 17, 20), u(2, 3, 17, 20)),
        "multi_scale_gmsd": lambda m: call(m.multi_scale_gmsd, u(2, 3, 33, 40), u(2, 3, 33, 40), chromatic=True),
    },
    "piq.haarpsi": {"HaarPSILoss": lambda m: call(m.HaarPSILoss(), u(2, 3, 32, 40), u(2, 3, 32, 40))},
    "piq.mdsi": {"MDSILoss": lambda m: call(m.MDSILoss(), u(2, 3, 17, 20), u(2, 3, 17, 20))},
    "piq.ms_ssim": {
        "multi_scale_ssim": lambda m: call(m.multi_scale_ssim, u(2, 3, 36, 40), u(2, 3, 36, 40), kernel_size=3),
    },
    "piq.srsim": {"SRSIMLoss": lambda m: call(m.SRSIMLoss(), u(2, 3, 64, 72), u(2, 3, 64, 72))},
    "piq.ssim": {
        "SSIMLoss": lambda m: call(m.SSIMLoss(), u(2, 3, 17, 20), u(2, 3, 17, 20)),
        "ssim complex": lambda m: call(m.ssim, u(2, 3, 17, 20, 2), u(2, 3, 17, 20, 2), kernel_size=5),
    },
    "piq.tv": {"TVLoss": lambda m: call(m.TVLoss(), u(2, 3, 8, 9))},
    "piq.utils.common": {"_validate_input": lambda m: call(m._validate_input, [u(2, 3, 8), u(2, 3, 8)], (3, 3))},
    "piq.vsi": {"VSILoss": lambda m: call(m.VSILoss(), u(2, 3, 32, 40), u(2, 3, 32, 40))},
    "pypose.function": {
        "bmv": lambda m: call(m.linalg.bmv, x(2, 3, 4), x(2, 4)),
        "svdtf": lambda m: call(m.geometry.svdtf, x(2, 5, 3), x(2, 5, 3)),
        "knn": lambda m: call(m.geometry.knn, x(5, 3), x(7, 3), k=2),
        "homo2cart": lambda m: call(m.geometry.homo2cart, x(5, 4)),
        "chspline": lambda m: call(m.spline.chspline, x(2, 5, 3), interval=0.25),
    },
    "pypose.lietensor": {
        "vec2skew": lambda m: call(m.basics.vec2skew, x(4, 3)),
        "euler2SO3": lambda m: call(m.convert.euler2SO3, x(4, 3)),
        "so3_Jl": lambda m: call(m.operation.so3_Jl, x(4, 3)),
        "se3_Jl_inv": lambda m: call(m.operation.se3_Jl_inv, x(4, 6)),
        "broadcast_inputs": lambda m: call(m.operation.broadcast_inputs, x(2, 1, 4), x(3, 3)),
    },
    "pytorch_optimizer.loss": {
        "BinaryBiTemperedLogisticLoss": lambda m: call(
            m.BinaryBiTemperedLogisticLoss(0.8, 1.4), x(3, 1, 5), u(3, 1, 5)
        ),
        "BiTemperedLogisticLoss": lambda m: call(m.BiTemperedLogisticLoss(0.8, 1.4), x(3, 4), u(3, 4)),
        "BiTemperedLogisticLoss 1": lambda m: call(m.BiTemperedLogisticLoss(1.0, 1.0), x(3, 4), u(3, 4)),
        "DiceLoss": lambda m: call(m.DiceLoss("multiclass"), x(2, 4, 5, 6), i(4, 2, 5, 6)),
        "JaccardLoss": lambda m: call(m.JaccardLoss("binary"), x(2, 1, 5, 6), i(2, 2, 1, 5, 6)),
        "LovaszHingeLoss": lambda m: call(m.LovaszHingeLoss(), x(2, 5, 6), u(2, 5, 6)),
        "SoftF1Loss": lambda m: call(m.SoftF1Loss(), u(3, 4), u(3, 4)),
    },
    "pytorch_optimizer.optimizer.flash_adamw": {
        "quantize_state": lambda m: call(m.quantize_state, x(5, 7)),
        "dequantize_state": lambda m: call(m.dequantize_state, i(9, 5, 7).to(torch.int8), u(2)),
    },
    "pytorch_optimizer.optimizer.rotograd": {
        "rotate": lambda m: call(m.rotate, x(3, 7), x(4, 4), 8),
        "rotate_back": lambda m: call(m.rotate_back, x(3, 4), x(4, 4), 4),
    },
    "pytorch_optimizer.optimizer.utils": {
        "normalize_gradient": lambda m: call(m.gradient.normalize_gradient, x(3, 4), use_channels=True),
        "power_iteration": lambda m: call(m.matrix.power_iteration, x(4, 4), num_iters=3),
        "schur_newton": lambda m: call(m.matrix.compute_power_schur_newton, torch.eye(4), 2, max_iters=3),
        "newton_schulz": lambda m: call(m.matrix.zero_power_via_newton_schulz_5, x(4, 6), num_steps=2),
    },
    "pytorch_wavelets.dtcwt.lowlevel": {
        "colfilter": lambda m: call(m.colfilter, x(2, 3, 8, 12), x(1, 1, 5, 1)),
        "coldfilt": lambda m: call(m.coldfilt, x(2, 3, 8, 12), x(1, 1, 6, 1), x(1, 1, 6, 1)),
        "rowdfilt": lambda m: call(m.rowdfilt, x(2, 3, 8, 12), x(1, 1, 6, 1), x(1, 1, 6, 1)),
        "colifilt": lambda m: call(m.colifilt, x(2, 3, 8, 12), x(1, 1, 6, 1), x(1, 1, 6, 1)),
        "rowifilt": lambda m: call(m.rowifilt, x(2, 3, 8, 12), x(1, 1, 6, 1), x(1, 1, 6, 1)),
        "q2c": lambda m: call(m.q2c, x(2, 3, 8, 12)),
    },
    "roma": {
        "procrustes": lambda m: call(m.procrustes, x(4, 5, 5)),
        "special_procrustes": lambda m: call(m.special_procrustes, x(4, 3, 3)),
        "special_procrustes_unitquat": lambda m: call(m.special_procrustes_unitquat, x(4, 3, 3)),
        "procrustes_naive": lambda m: call(m.procrustes_naive, x(4, 3, 3)),
        "special_gramschmidt": lambda m: call(m.special_gramschmidt, x(4, 3, 2)),
        "symmatrix_to_projective_point": lambda m: call(m.symmatrix_to_projective_point, torch.eye(4).expand(3, 4, 4)),
        "rotvec_to_unitquat": lambda m: call(m.rotvec_to_unitquat, x(4, 3)),
        "rotvec_to_rotmat": lambda m: call(m.rotvec_to_rotmat, x(2, 4, 3)),
        "rotmat_to_unitquat": lambda m: call(m.rotmat_to_unitquat, torch.eye(3).expand(4, 3, 3)),
        "is_orthonormal_matrix": lambda m: call(m.is_orthonormal_matrix, torch.eye(5).expand(4, 5, 5)),
        "unitquat_slerp": lambda m: call(m.unitquat_slerp, x(2, 4), x(2, 4), u(5)),
        "rigid_points_registration": lambda m: call(m.rigid_points_registration, x(2, 5, 3), x(2, 5, 3)),
        "registration by unitquat": lambda m: call(m.rigid_vectors_registration_unitquat, x(2, 5, 3), x(2, 5, 3)),
    },
    "rotary_embedding_torch": {
        "apply_rotary_emb": lambda m: call(m.apply_rotary_emb, x(5, 6), x(2, 3, 5, 8)),
        "RotaryEmbedding": lambda m: call(m.RotaryEmbedding(6), u(5)),
        "rotate_queries_or_keys": lambda m: call(m.RotaryEmbedding(6).rotate_queries_or_keys, x(2, 3, 5, 8)),
        "xpos": lambda m: call(
            m.RotaryEmbedding(6, use_xpos=True).rotate_queries_and_keys, x(2, 3, 5, 8), x(2, 3, 5, 8)
        ),
        "apply_learned_rotations": lambda m: call(m.apply_learned_rotations, x(5, 3), x(2, 5, 8)),
    },
    "rtdl_num_embeddings": {
        "LinearEmbeddings": lambda m: call(m.LinearEmbeddings(4, 6), x(3, 4)),
        "LinearReLUEmbeddings": lambda m: call(m.LinearReLUEmbeddings(4, 6), x(3, 4)),
        "PeriodicEmbeddings": lambda m: call(m.PeriodicEmbeddings(4, 6, lite=False, n_frequencies=5), x(3, 4)),
        "PiecewiseLinearEncoding": lambda m: call(m.PiecewiseLinearEncoding([torch.arange(5.0)] * 4), x(3, 4)),
        "PiecewiseLinearEmbeddings": lambda m: call(
            m.PiecewiseLinearEmbeddings([torch.arange(5.0)] * 4, 6, activation=True, version="B"), x(3, 4)
        ),
        "_check_bins": lambda m: call(m._check_bins, [torch.arange(5.0), torch.arange(4.0)]),
    },
    "rtdl_revisiting_models": {
        "CategoricalEmbeddings": lambda m: call(m.CategoricalEmbeddings([3, 5], 6), i(3, 4, 2)),
        "ReGLU": lambda m: call(m._ReGLU(), x(3, 8)),
        "LinearEmbeddings": lambda m: call(m.LinearEmbeddings(4, 6), x(3, 4)),
        "FTTransformer": lambda m: call(
            m.FTTransformer(
                n_cont_features=4,
                cat_cardinalities=[3, 5],
                d_out=2,
                n_blocks=1,
                d_block=8,
                attention_n_heads=2,
                attention_dropout=0.0,
                ffn_d_hidden=6,
                ffn_d_hidden_multiplier=None,
                ffn_dropout=0.0,
                residual_dropout=0.0,
            ),
            x(3, 4),
            i(3, 3, 2),
        ),
        "MultiheadAttention": lambda m: call(
            m.MultiheadAttention(d_embedding=8, n_heads=2, dropout=0.0), x(2, 3, 8), x(2, 5, 8)
        ),
        "ResNet": lambda m: call(
            m.ResNet(
                d_in=4, d_out=2, n_blocks=1, d_block=6, d_hidden=5, d_hidden_multiplier=None, dropout1=0.0, dropout2=0.0
            ),
            x(3, 4),
        ),
    },
    "snntorch": {
        "StateLeaky": lambda m: call(m.StateLeaky(0.9, channels=4), x(5, 3, 4)),
        "Leaky": lambda m: call(m.Leaky(0.9), x(3, 4), x(3, 4)),
    },
    "snntorch.functional": {
        "accuracy_rate": lambda m: call(m.accuracy_rate, u(5, 3, 8), i(4, 3), True, 4),
        "ce_rate_loss": lambda m: call(m.ce_rate_loss(), u(5, 3, 8), i(8, 3)),
        "ce_count_loss": lambda m: call(m.ce_count_loss(True, 4), u(5, 3, 8), i(4, 3)),
        "mse_count_loss": lambda m: call(m.mse_count_loss(0.8, 0.2, True, 4), u(5, 3, 8), i(4, 3)),
    },
    "snntorch.spikegen": {
        "rate": lambda m: call(m.rate, u(3, 4), num_steps=5),
        "to_one_hot": lambda m: call(m.to_one_hot, i(4, 3), 4),
    },
    "torch_harmonics.examples.losses": {
        "DiceLossS2": lambda m: call(m.DiceLossS2(6, 8), x(2, 3, 6, 8), i(3, 2, 6, 8)),
        "CrossEntropyLossS2": lambda m: call(m.CrossEntropyLossS2(6, 8), x(2, 3, 6, 8), i(3, 2, 6, 8)),
        "SquaredL2LossS2": lambda m: call(m.SquaredL2LossS2(6, 8), x(2, 3, 6, 8), x(2, 3, 6, 8)),
        "NormalLossS2": lambda m: call(m.NormalLossS2(6, 8), x(2, 6, 8), x(2, 6, 8)),
    },
    "torch_harmonics": {
        "RealSHT": lambda m: call(m.RealSHT(6, 8), x(2, 6, 8)),
        "InverseRealSHT": lambda m: call(m.InverseRealSHT(6, 8), torch.complex(x(2, 3, 3), x(2, 3, 3))),
        "irfft": lambda m: call(m.fft.irfft, torch.complex(x(2, 6, 5), x(2, 6, 5)), 8),
    },
    "torch_harmonics.distributed.primitives": {
        "_pad_to": lambda m: call(m._pad_to, x(2, 3), {0: 4}),
    },
    "torchsde": {
        "BrownianInterval": lambda m: call(lambda y: y + m.BrownianInterval(0.0, 1.0, size=(3, 2))(0.0, 0.5), x(3, 2)),
        "_is_scalar": lambda m: call(m._brownian.brownian_interval._is_scalar, x(2, 3)),
        "sdeint": lambda m: call(
            lambda y, t: m.sdeint(
                _Sde(),
                y,
                t,
                bm=m.BrownianInterval(0.0, 1.0, size=(3, 2), levy_area_approximation="space-time", entropy=1),
                dt=0.5,
            ),
            x(3, 2),
            torch.tensor([0.0, 1.0]),
        ),
    },
    "vector_quantize_pytorch": {
        "VectorQuantize": lambda m: call(m.VectorQuantize(8, 16), x(2, 5, 8)),
        "FSQ": lambda m: call(m.FSQ([3, 5, 4]), x(2, 5, 3)),
        "FSQ images": lambda m: call(m.FSQ([3, 5, 4]), x(2, 3, 6, 7)),
        "FSP": lambda m: call(m.FSP([3, 5, 4]), x(2, 5, 3)),
        "LFQ": lambda m: call(m.LFQ(codebook_size=16, dim=8), x(2, 5, 8)),
        "LatentQuantize": lambda m: call(m.LatentQuantize([3, 5, 4], 6), x(2, 6, 5)),
        "ResidualFSQ": lambda m: call(m.ResidualFSQ(levels=[3, 5, 4], num_quantizers=2, dim=6), x(2, 5, 6)),
        "ResidualVQ": lambda m: call(m.ResidualVQ(dim=8, codebook_size=16, num_quantizers=2), x(2, 5, 8)),
        "SimVQ": lambda m: call(m.SimVQ(8, 16), x(2, 5, 8)),
        "RandomProjection": lambda m: call(
            m.RandomProjectionQuantizer(dim=8, codebook_size=16, codebook_dim=4), x(2, 5, 8)
        ),
        "codes_to_indices": lambda m: call(m.FSQ([3, 5, 4]).codes_to_indices, x(2, 5, 3)),
    },
    "vit_pytorch.looped_vit": {
        "deep_supervision_loss": lambda m: call(m.deep_supervision_loss, x(3, 2, 5), i(5, 2)),
        "deep_supervision_loss linear": lambda m: call(m.deep_supervision_loss, x(3, 2, 5), i(5, 2), (0.1, 0.2, 0.7)),
        "per_loop_losses": lambda m: call(m.per_loop_losses, x(3, 2, 5), i(5, 2)),
    },
    "vit_pytorch.na_vit": {
        "NaViT": lambda m: call(
            m.NaViT(image_size=16, patch_size=4, num_classes=5, dim=8, depth=1, heads=2, mlp_dim=12, dim_head=4),
            [x(3, 8, 12), x(3, 16, 8)],
        ),
    },
    "vit_pytorch.sep_vit": {
        "DSSA": lambda m: call(m.DSSA(8, heads=2, dim_head=4, window_size=3), x(2, 8, 6, 9)),
    },
    "vit_pytorch.simple_vit": {
        "SimpleViT": lambda m: call(
            m.SimpleViT(image_size=16, patch_size=4, num_classes=5, dim=8, depth=1, heads=2, mlp_dim=12, dim_head=4),
            x(2, 3, 16, 16),
        ),
    },
    "vit_pytorch.vat": {
        "VAT": lambda m: call(
            m.VAT(
                {"image_size": 16, "patch_size": 4, "num_classes": 5, "dim": 8, "depth": 1, "heads": 2, "mlp_dim": 12},
                dim=8,
                depth=1,
                heads=2,
                dim_head=4,
                dim_action=3,
                mlp_dim=12,
                num_views=2,
            ),
            x(3, 2, 3, 16, 16),
        ),
    },
    "x_transformers": {
        "Encoder": lambda m: call(m.Encoder(dim=12, depth=1, heads=3, attn_dim_head=4), x(2, 5, 12)),
        "TransformerWrapper": lambda m: call(
            m.TransformerWrapper(num_tokens=19, max_seq_len=16, attn_layers=_decoder(m)), i(19, 2, 7)
        ),
        "TransformerWrapper memories": lambda m: call(
            m.TransformerWrapper(
                num_tokens=19,
                max_seq_len=16,
                attn_layers=_decoder(m),
                num_memory_tokens=3,
                memory_tokens_interspersed_every=2,
            ),
            i(19, 2, 7),
        ),
        "TransformerWrapper prepended": lambda m: call(
            m.TransformerWrapper(num_tokens=19, max_seq_len=16, attn_layers=_decoder(m)),
            i(19, 2, 7),
            prepend_embeds=x(2, 3, 12),
        ),
        "ViTransformerWrapper": lambda m: call(
            m.ViTransformerWrapper(image_size=16, patch_size=4, num_classes=5, attn_layers=_encoder(m)), x(2, 3, 16, 16)
        ),
        "ContinuousTransformerWrapper": lambda m: call(
            m.ContinuousTransformerWrapper(max_seq_len=16, attn_layers=_encoder(m), dim_in=5, dim_out=6), x(2, 7, 5)
        ),
        "Continuous prepended": lambda m: call(
            m.ContinuousTransformerWrapper(max_seq_len=16, attn_layers=_encoder(m), dim_in=5, dim_out=6),
            x(2, 7, 5),
            prepend_embeds=x(2, 3, 12),
        ),
        "MultiInputTransformerWrapper": lambda m: call(
            m.MultiInputTransformerWrapper(num_tokens={"a": 19, "b": 7}, max_seq_len=16, attn_layers=_decoder(m)),
            {"a": i(19, 2, 7), "b": i(7, 2, 7)},
        ),
        "XValTransformerWrapper": lambda m: call(
            m.XValTransformerWrapper(num_tokens=19, numerical_token_id=3, max_seq_len=16, attn_layers=_decoder(m)),
            i(19, 2, 7),
            x(2, 7),
        ),
        "AutoregressiveWrapper": lambda m: call(
            m.AutoregressiveWrapper(m.TransformerWrapper(num_tokens=19, max_seq_len=16, attn_layers=_decoder(m))),
            i(19, 2, 7),
        ),
    },
    "x_transformers.x_transformers": {
        "AbsolutePositionalEmbedding": lambda m: call(m.AbsolutePositionalEmbedding(8, 16), x(2, 5, 8)),
        "FoldAxially": lambda m: call(m.FoldAxially(3, torch.nn.Linear(8, 6)), x(2, 7, 8)),
        "DynamicLIMe": lambda m: call(m.DynamicLIMe(8, 3), x(2, 5, 8), x(3, 2, 5, 8)),
        "GLU": lambda m: call(m.GLU(8, 6, torch.nn.SiLU()), x(2, 5, 8)),
        "RelativePositionBias": lambda m: call(m.RelativePositionBias(0.5, heads=3), 5, 7),
        "AlibiPositionalBias": lambda m: call(m.AlibiPositionalBias(3), 5, 7),
        "ShiftTokens": lambda m: call(m.ShiftTokens((0, 1), torch.nn.Identity()), x(2, 5, 8)),
    },
    "zuko.flows": {
        "MAF": lambda m: call(m.MAF(3, 4, transforms=1, hidden_features=(8,))(x(2, 4)).log_prob, x(2, 3)),
        "NSF": lambda m: call(m.NSF(3, transforms=1, hidden_features=(8,))().log_prob, x(2, 3)),
        "NICE": lambda m: call(m.NICE(4, transforms=1, hidden_features=(8,))().log_prob, x(2, 4)),
        "MAF built": lambda m: call(lambda y: m.MAF(3, transforms=1, hidden_features=(8,))().log_prob(y), x(2, 3)),
    },
    "zuko.mixtures": {"GMM": lambda m: call(m.GMM(3, components=2)().log_prob, x(5, 3))},
    "zuko.nn": {
        "MLP": lambda m: call(m.MLP(3, 4, (8,)), x(2, 3)),
        "MaskedMLP": lambda m: call(m.MaskedMLP(torch.ones(4, 3, dtype=torch.bool), (8,)), x(2, 3)),
        "Linear stack": lambda m: call(m.Linear(3, 4, stack=2), x(5, 2, 3)),
    },
    "zuko.utils": {"broadcast": lambda m: call(m.broadcast, x(2, 3), x(5, 2, 4), ignore=1)},
}
"""Functions that make the call from a package's module, by module and by name."""


def names_of(package: str) -> list[str]:
    """Return the names of a package's targets."""
    return [f"{module}:{name}" for module in TARGETS if module.split(".")[0] == package for name in TARGETS[module]]


def _main() -> None:
    package, wanted = sys.argv[1:]
    for bare in BARE:
        if bare.split(".")[0] == package:
            _passed_over(bare)
    for name, tracers in json.loads(wanted).items():
        signal.alarm(LIMIT)  # no handler: the signal ends the process
        print("\n" + json.dumps({"target": name, "captures": _captures(name, tracers)}), flush=True)


def _passed_over(package: str) -> None:
    """Put an empty module in place of a package. Its submodules can still be imported."""
    found = importlib.util.find_spec(package)
    module = types.ModuleType(package)
    module.__path__ = list((found and found.submodule_search_locations) or ())
    sys.modules[package] = module


def _captures(name: str, tracers: Sequence[str]) -> dict[str, Any]:
    from symfix.codemods.harness.children.recorders.captures import Capture, capture, describe

    error = ""
    try:
        function, args, kwargs = _made(name)
        function(*args, **kwargs)
    except Exception as raised:
        error = describe(raised)
    found = {"eager": Capture(error=error, breaks=0, guards=[], specialized=0, deviation="")}
    for tracer in tracers:
        if error:
            found[tracer] = found["eager"]
        else:  # a new call for each tracer: modules keep what they computed
            found |= capture(*_made(name), [tracer])
    return found


def _made(name: str) -> Call:
    module, _, target = name.partition(":")
    torch.manual_seed(0)
    return TARGETS[module][target](importlib.import_module(module))


if __name__ == "__main__":
    _main()
