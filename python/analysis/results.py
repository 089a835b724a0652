"""Whether a function or a method of torch gives a tensor, several or neither: what `Sure` types rest on.

`library` says what a call *may* give. A test compares the names here with the schemas of the installed torch.
"""

from __future__ import annotations

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
"""So many arguments, and none by name, give one tensor; others give several, or may."""
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


def one_tensor(name: str, arguments: int, named: bool) -> bool | None:
    """Whether the function or method ``name`` of torch gives one tensor, else several; None where it may give neither.

    ``arguments`` counts those by place, the tensor whose method it is among them; ``named``: there are others.
    """
    if name in _NEITHER or name.startswith(_OF_NEITHER):
        return None
    if name in _BY_ARGUMENTS:
        return arguments == _BY_ARGUMENTS[name] and not named
    return name not in _SEVERAL
