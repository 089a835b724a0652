"""Must-types of the results of torch's and Python's functions, methods and attributes, by their names.

`library` has the kinds that a call *may* return. A test compares the entries about tensors with the schemas of the
installed torch.
"""

from __future__ import annotations

from .library import SHAPES
from .must_types import Certain, ScalarType, SequenceType

_TRUTHS = ("guard_or_false", "guard_or_true", "statically_known_true", "sym_eq")
OF_FUNCTIONS: dict[str, Certain] = {
    **dict.fromkeys(("builtins.len", "builtins.int", "builtins.ord", "math.ceil", "math.floor"), ScalarType.WHOLE),
    **dict.fromkeys(("math.trunc", "torch.sym_int", "torch.numel"), ScalarType.WHOLE),
    **dict.fromkeys(
        ("builtins.isinstance", "builtins.issubclass", "builtins.bool", "builtins.callable"), ScalarType.TRUTH
    ),
    **dict.fromkeys(("builtins.hasattr", "builtins.any", "builtins.all"), ScalarType.TRUTH),
    **dict.fromkeys(("torch.is_tensor", "torch.sym_not", *(f"{SHAPES}.{name}" for name in _TRUTHS)), ScalarType.TRUTH),
    **dict.fromkeys(("builtins.str", "builtins.repr", "builtins.format"), ScalarType.TEXT),
    **dict.fromkeys(("builtins.float", "torch.sym_float"), ScalarType.FLOAT),
    "torch.Size": SequenceType(False, ScalarType.WHOLE),
}
"""Result types of functions, by dotted name. They hold for all arguments."""
OF_METHODS: dict[str, Certain] = {
    **dict.fromkeys(("dim", "ndimension", "numel", "nelement", "element_size", "storage_offset"), ScalarType.WHOLE),
    **dict.fromkeys(("sym_numel", "sym_storage_offset"), ScalarType.WHOLE),
    "item": ScalarType.NUMBER,
}
"""Result types of tensor methods, by name."""
BY_PLACE = frozenset({"size", "stride", "sym_size", "sym_stride"})
"""Methods that return all sizes or strides, or those of one dimension."""
OF_ATTRIBUTES: dict[str, Certain] = {
    "shape": SequenceType(False, ScalarType.WHOLE),
    "ndim": ScalarType.WHOLE,
    **dict.fromkeys(("dtype", "device", "layout"), ScalarType.PLAIN),
    **dict.fromkeys(("is_cuda", "is_cpu", "is_meta", "is_sparse", "is_quantized", "requires_grad"), ScalarType.TRUTH),
    **dict.fromkeys(("T", "mT", "H", "mH", "data", "real", "imag"), ScalarType.TENSOR),
    "grad": ScalarType.OPTIONAL,
}
"""Types of tensor attributes, by name."""
_SEVERAL = frozenset(
    """adaptive_max_pool1d align_tensors aminmax batch_norm_backward_reduce batch_norm_gather_stats
    batch_norm_gather_stats_with_counts batch_norm_stats batch_norm_update_stats broadcast_tensors
    choose_qparams_optimized chunk cudnn_batch_norm cummax cummin dequantize dsplit eig embedding_bag
    fbgemm_linear_quantize_weight frexp geqrf gradient gru histogram histogramdd hsplit kthvalue lobpcg lstm lstm_cell
    lstsq lu lu_unpack max_pool1d_with_indices meshgrid miopen_batch_norm miopen_ctc_loss miopen_rnn
    mkldnn_linear_backward_weights mkldnn_rnn_layer mode native_batch_norm native_dropout native_group_norm
    native_layer_norm pca_lowrank qr quantize_per_tensor quantized_gru quantized_lstm quantized_lstm_cell rnn_relu
    rnn_tanh slogdet solve sort split split_copy split_with_sizes split_with_sizes_copy std_mean svd svd_lowrank symeig
    tensor_split topk triangular_solve unbind unbind_copy unravel_index unsafe_chunk unsafe_split
    unsafe_split_with_sizes var_mean vsplit""".split()  # noqa: SIM905
)
_BY_ARGUMENTS = {
    "atleast_1d": 1,
    "atleast_2d": 1,
    "atleast_3d": 1,
    "max": 1,
    "median": 1,
    "min": 1,
    "nanmedian": 1,
    "nonzero": 1,
    "unique": 1,
    "unique_consecutive": 1,
    "where": 3,
}
"""Number of positional arguments with which each function returns one tensor. Other calls may return several."""
_NEITHER = frozenset(
    """allclose apply_ as_subclass backward classproperty compile compiled_with_cxx11_abi cond const_data_ptr
    cudnn_is_acceptable data_ptr dense_dim dim dim_order element_size equal fork import_ir_module
    import_ir_module_from_buffer init_num_threads initial_seed item load manual_seed map2_ map_
    merge_type_from_type_comment module_load ndimension nelement numel numpy parse_ir parse_schema parse_type_comment
    prepare_multiprocessing_environment promote_types q_per_channel_axis q_scale q_zero_point qscheme record_stream
    register_hook register_post_accumulate_grad_hook reinforce result_type retain_grad save seed size sparse_dim storage
    storage_offset storage_type stride thread_safe_generator to_dlpack tolist type typename unify_type_list
    untyped_storage use_deterministic_algorithms vmap wait while_loop""".split()  # noqa: SIM905
)
_OF_NEITHER = (
    "_",
    "are_",
    "autocast_",
    "broadcast_shapes",
    "can_cast",
    "clear_",
    "get_",
    "is_",
    "profiler_",
    "set_",
    "sym_",
)


def of_torch(name: str, arguments: int, named: bool) -> ScalarType | None:
    """Return the result type of torch's function or method ``name``: TENSOR, TENSORS, or None if it may be neither.

    ``arguments`` counts the positional ones, including the tensor of a method. ``named``: there are others.
    """
    if name in _NEITHER or name.startswith(_OF_NEITHER):
        return None
    one = name not in _SEVERAL
    if name in _BY_ARGUMENTS:
        one = arguments == _BY_ARGUMENTS[name] and not named
    return ScalarType.TENSOR if one else ScalarType.TENSORS
