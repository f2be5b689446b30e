"""Every name of torch's quantization system that pyqref offers, and where it comes from.

``GUIDE`` names stand in the quantization guide of the 1.4 era or on the pages of
``DTypeConfig``, ``QConfigMapping``, ``convert_fx`` and ``BackendConfig``; ``TORCH`` names
are those of torch 2.13 beside them.
"""

from __future__ import annotations

from collections.abc import Iterator

GUIDE = {
    "": """
        quint8 qint8 qint32 float16 per_tensor_affine per_channel_affine per_tensor_symmetric
        per_channel_symmetric quantize_per_tensor quantize_per_channel dequantize
        Tensor.dequantize Tensor.int_repr Tensor.q_scale Tensor.q_zero_point
        Tensor.q_per_channel_scales Tensor.q_per_channel_zero_points Tensor.q_per_channel_axis
        Tensor.qscheme Tensor.dtype Tensor.is_quantized Tensor.view Tensor.reshape
        Tensor.as_strided Tensor.expand Tensor.flatten Tensor.permute Tensor.transpose
        Tensor.select Tensor.squeeze Tensor.unsqueeze Tensor.eq Tensor.ne Tensor.lt Tensor.le
        Tensor.gt Tensor.ge Tensor.copy_ Tensor.clone Tensor.equal Tensor.contiguous Tensor.max
        Tensor.min Tensor.mean Tensor.relu Tensor.relu_ Tensor.resize_ Tensor.sort Tensor.topk
        cat Tensor.chunk library.register backends.quantized.engine
        backends.quantized.supported_engines
    """,
    "quantization": """
        quantize quantize_dynamic quantize_qat prepare prepare_qat convert default_eval_fn QConfig
        QConfigDynamic default_qconfig default_qat_qconfig default_dynamic_qconfig
        float16_dynamic_qconfig get_default_qconfig get_default_qat_qconfig fuse_modules
        fuse_known_modules QuantStub DeQuantStub QuantWrapper add_quant_dequant add_observer_
        swap_module propagate_qconfig_ get_observer_dict Observer MinMaxObserver
        MovingAverageMinMaxObserver PerChannelMinMaxObserver
        MovingAveragePerChannelMinMaxObserver HistogramObserver RecordingObserver NoopObserver
        default_observer default_weight_observer FakeQuantize default_fake_quant
        default_weight_fake_quant
    """,
    "nn.intrinsic": "ConvBn2d ConvBnReLU2d ConvReLU2d ConvReLU3d LinearReLU",
    "nn.intrinsic.qat": "ConvBn2d ConvBnReLU2d ConvReLU2d LinearReLU",
    "nn.intrinsic.quantized": "ConvReLU2d ConvReLU3d LinearReLU",
    "nn.qat": "Conv2d Linear",
    "nn.quantized": """
        Quantize DeQuantize Linear Conv2d Conv3d ReLU ReLU6 FloatFunctional QFunctional
    """,
    "nn.quantized.functional": """
        relu linear conv2d conv3d max_pool2d adaptive_avg_pool2d avg_pool2d interpolate upsample
        upsample_bilinear upsample_nearest
    """,
    "nn.quantized.dynamic": "Linear LSTM",
    "quantization.quantize_fx": "convert_fx prepare_fx prepare_qat_fx",
    "quantization.qconfig_mapping": """
        QConfigMapping QConfigMapping.set_global QConfigMapping.set_object_type
        QConfigMapping.set_module_name_regex QConfigMapping.set_module_name
        QConfigMapping.set_module_name_object_type_order QConfigMapping.to_dict
        QConfigMapping.from_dict
    """,
    "quantization.backend_config": """
        BackendConfig BackendConfig.set_name BackendConfig.set_backend_pattern_config
        BackendConfig.set_backend_pattern_configs BackendConfig.configs BackendConfig.to_dict
        BackendConfig.from_dict BackendPatternConfig DTypeConfig DTypeConfig.from_dict
        DTypeConfig.to_dict DTypeWithConstraints ObservationType
    """,
}

TORCH = {
    "": """
        quantize_per_tensor_dynamic fused_moving_avg_obs_fake_quant quint4x2
        per_channel_affine_float_qparams fake_quantize_per_tensor_affine
        fake_quantize_per_channel_affine set_num_threads get_num_threads tensor from_numpy
        as_tensor zeros ones full empty arange linspace rand randn randint zeros_like ones_like
        full_like empty_like rand_like randn_like eye stack manual_seed no_grad enable_grad
        is_grad_enabled save load equal allclose finfo iinfo Size device channels_last
        index_select masked_fill flip narrow split unbind bmm matmul clamp Tensor.stride
        Tensor.is_contiguous Tensor.index_select Tensor.masked_fill Tensor.flip Tensor.narrow
        Tensor.repeat Tensor.split Tensor.unbind Tensor.unflatten Tensor.bmm Tensor.matmul
        Tensor.clamp Tensor.element_size Tensor.numpy Tensor.item Tensor.tolist Tensor.detach
        Tensor.backward channel_shuffle
    """,
    "quantization": """
        default_per_channel_qconfig fuse_modules_qat get_observer_state_dict
        load_observer_state_dict ObserverBase PlaceholderObserver FixedQParamsObserver
        ReuseInputObserver UniformQuantizationObserverBase default_affine_fixed_qparams_observer
        default_debug_observer default_dynamic_quant_observer
        default_fixed_qparams_range_0to1_observer default_fixed_qparams_range_neg1to1_observer
        default_float_qparams_observer default_float_qparams_observer_4bit
        default_histogram_observer default_per_channel_weight_observer
        default_placeholder_observer default_reuse_input_observer
        default_symmetric_fixed_qparams_observer FakeQuantizeBase FixedQParamsFakeQuantize
        FusedMovingAvgObsFakeQuantize default_affine_fixed_qparams_fake_quant
        default_dynamic_fake_quant default_embedding_fake_quant default_embedding_fake_quant_4bit
        default_fixed_qparams_range_0to1_fake_quant default_fixed_qparams_range_neg1to1_fake_quant
        default_fused_act_fake_quant default_fused_per_channel_wt_fake_quant
        default_fused_wt_fake_quant default_histogram_fake_quant
        default_per_channel_weight_fake_quant default_symmetric_fixed_qparams_fake_quant
        fused_per_channel_wt_fake_quant_range_neg_127_to_127
        fused_wt_fake_quant_range_neg_127_to_127 enable_fake_quant disable_fake_quant
        enable_observer disable_observer default_activation_only_qconfig default_debug_qconfig
        default_dynamic_qat_qconfig default_embedding_qat_qconfig
        default_embedding_qat_qconfig_4bit default_per_channel_symmetric_qnnpack_qat_qconfig
        default_per_channel_symmetric_qnnpack_qconfig default_qat_qconfig_v2
        default_quint8_weight_qconfig default_reuse_input_qconfig
        default_symmetric_qnnpack_qat_qconfig default_symmetric_qnnpack_qconfig
        default_weight_only_qconfig float16_static_qconfig float_qparams_weight_only_qconfig
        float_qparams_weight_only_qconfig_4bit get_default_qconfig_dict
        get_default_qat_qconfig_dict per_channel_dynamic_qconfig qconfig_equals
        get_default_static_quant_module_mappings get_default_dynamic_quant_module_mappings
        get_default_qat_module_mappings get_default_qconfig_propagation_list
        get_default_compare_output_module_list get_default_float_to_quantized_operator_mappings
        get_embedding_static_quant_module_mappings get_embedding_qat_module_mappings
        get_static_quant_module_class get_dynamic_quant_module_class get_quantized_operator
        get_fuser_method fuse_conv_bn fuse_conv_bn_relu fuse_linear_bn quant_type.QuantType
    """,
    "nn.intrinsic": """
        ConvBn1d ConvBn3d ConvBnReLU1d ConvBnReLU3d ConvReLU1d BNReLU2d BNReLU3d LinearBn1d
        LinearLeakyReLU LinearTanh ConvAdd2d ConvAddReLU2d
    """,
    "nn.intrinsic.qat": """
        ConvBn1d ConvBn3d ConvBnReLU1d ConvBnReLU3d ConvReLU1d ConvReLU3d LinearBn1d
        freeze_bn_stats update_bn_stats
    """,
    "nn.intrinsic.quantized": """
        ConvReLU1d BNReLU2d BNReLU3d LinearLeakyReLU LinearTanh ConvAdd2d ConvAddReLU2d
    """,
    "nn.intrinsic.quantized.dynamic": "LinearReLU",
    "nn.qat": "Conv1d Conv3d Embedding EmbeddingBag",
    "nn.qat.dynamic": "Linear",
    "nn.quantized": """
        Conv1d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm2d BatchNorm3d LayerNorm
        GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d Hardswish ELU LeakyReLU PReLU
        Sigmoid Softmax Dropout Embedding EmbeddingBag LSTM MultiheadAttention FXFloatFunctional
    """,
    "nn.quantized.functional": """
        conv1d max_pool1d avg_pool3d adaptive_avg_pool3d hardtanh hardswish hardsigmoid elu celu
        leaky_relu threshold clamp
    """,
    "nn.quantized.dynamic": """
        GRU LSTMCell GRUCell RNNCell Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d
        ConvTranspose3d
    """,
    "nn.quantized.reference": """
        Linear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d RNNCell
        LSTMCell GRUCell LSTM GRU Embedding EmbeddingBag
    """,
    "nn.quantizable": "LSTM LSTMCell MultiheadAttention",
    "ops.quantized": """
        add add_relu mul mul_relu cat linear linear_relu linear_dynamic linear_relu_dynamic
        linear_prepack conv1d conv2d conv3d conv1d_relu conv2d_relu conv3d_relu conv1d_prepack
        conv2d_prepack conv3d_prepack conv2d_dynamic conv_transpose1d conv_transpose2d
        conv_transpose3d max_pool2d leaky_relu elu hardswish layer_norm instance_norm group_norm
        batch_norm2d batch_norm3d matmul dropout add_scalar mul_scalar relu6 clamp
    """,
    "nn": """
        Module Sequential ModuleList ModuleDict ParameterList Parameter Identity Linear Conv1d
        Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d BatchNorm1d BatchNorm2d
        BatchNorm3d LayerNorm GroupNorm InstanceNorm1d InstanceNorm2d InstanceNorm3d ReLU ReLU6
        LeakyReLU PReLU ELU CELU GELU SiLU Sigmoid Tanh Hardtanh Hardswish Hardsigmoid Threshold
        Softmax LogSoftmax MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d
        AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d Dropout Embedding EmbeddingBag RNN
        LSTM GRU RNNCell LSTMCell GRUCell MultiheadAttention MSELoss L1Loss SmoothL1Loss
        CrossEntropyLoss NLLLoss BCELoss BCEWithLogitsLoss KLDivLoss Flatten Upsample
        PixelShuffle
    """,
    "nn.functional": "pad channel_shuffle relu linear conv2d max_pool2d interpolate cross_entropy",
    "nn.utils": "fuse_conv_bn_eval fuse_linear_bn_eval",
    "quantization.quantize_fx": "convert_to_reference_fx fuse_fx",
    "quantization.qconfig_mapping": """
        get_default_qconfig_mapping get_default_qat_qconfig_mapping
    """,
    "quantization.fx.custom_config": """
        PrepareCustomConfig PrepareCustomConfig.set_standalone_module_name
        PrepareCustomConfig.set_standalone_module_class
        PrepareCustomConfig.set_float_to_observed_mapping
        PrepareCustomConfig.set_non_traceable_module_names
        PrepareCustomConfig.set_non_traceable_module_classes
        PrepareCustomConfig.set_input_quantized_indexes
        PrepareCustomConfig.set_output_quantized_indexes
        PrepareCustomConfig.set_preserved_attributes PrepareCustomConfig.to_dict
        PrepareCustomConfig.from_dict ConvertCustomConfig
        ConvertCustomConfig.set_observed_to_quantized_mapping
        ConvertCustomConfig.set_preserved_attributes ConvertCustomConfig.to_dict
        ConvertCustomConfig.from_dict FuseCustomConfig FuseCustomConfig.set_preserved_attributes
        FuseCustomConfig.to_dict FuseCustomConfig.from_dict
    """,
    "quantization.backend_config": """
        BackendPatternConfig.set_observation_type BackendPatternConfig.add_dtype_config
        BackendPatternConfig.set_dtype_configs BackendPatternConfig.set_root_module
        BackendPatternConfig.set_qat_module BackendPatternConfig.set_reference_quantized_module
        BackendPatternConfig.set_fused_module BackendPatternConfig.set_fuser_method
        BackendPatternConfig.from_dict BackendPatternConfig.to_dict get_native_backend_config
        get_native_backend_config_dict get_fbgemm_backend_config
        get_qnnpack_backend_config get_onednn_backend_config get_executorch_backend_config
        get_tensorrt_backend_config
    """,
    "fx": """
        symbolic_trace wrap Proxy Tracer Tracer.trace Tracer.is_leaf_module Tracer.path_of_module
        Tracer.create_arg Graph Graph.placeholder Graph.get_attr Graph.call_function
        Graph.call_method Graph.call_module Graph.output Graph.create_node Graph.node_copy
        Graph.graph_copy Graph.find_nodes Graph.inserting_before Graph.inserting_after
        Graph.erase_node Graph.eliminate_dead_code Graph.lint Graph.print_tabular
        Graph.python_code Graph.on_generate_code Graph.nodes Node Node.args Node.kwargs
        Node.all_input_nodes
        Node.replace_all_uses_with Node.replace_input_with Node.prepend Node.append Node.update_arg
        Node.update_kwarg Node.insert_arg Node.next Node.prev Node.format_node Node.is_impure
        Node.normalized_arguments
        GraphModule GraphModule.graph GraphModule.code GraphModule.recompile
        GraphModule.print_readable GraphModule.add_submodule GraphModule.delete_submodule
        GraphModule.delete_all_unused_submodules Interpreter Interpreter.run Interpreter.run_node
        Interpreter.boxed_run
        Transformer Transformer.transform replace_pattern
    """,
    "fx.subgraph_rewriter": "replace_pattern replace_pattern_with_filters",
    "optim": "SGD Adam AdamW",
    "optim.lr_scheduler": "StepLR CosineAnnealingLR",
    "utils.data": "Dataset TensorDataset DataLoader",
}


def names() -> Iterator[tuple[str, str]]:
    """Pairs of a dotted name below the package, and its origin."""
    for origin, groups in (("guide", GUIDE), ("torch 2.13", TORCH)):
        for package, listed in groups.items():
            for name in listed.split():
                yield (f"{package}.{name}" if package else name), origin
