"""Module paths of ``torch`` and the names that scripts import from there.

Read by :mod:`pyqref._other_paths`. After a path, as below ``torch`` (without its ``ao``), stand the
names that pyqref has elsewhere; ``name=path.of.another`` tells where, if the name is another.
"""

from __future__ import annotations

__all__ = ["TABLE"]

TABLE = """
_custom_ops: custom_op=library.custom_op
ao.ns._numeric_suite: Logger=quantization._numeric_suite.Logger
  OutputLogger=quantization._numeric_suite.OutputLogger Shadow=quantization._numeric_suite.Shadow
  ShadowLogger=quantization._numeric_suite.ShadowLogger
  compare_model_outputs=quantization._numeric_suite.compare_model_outputs
  compare_model_stub=quantization._numeric_suite.compare_model_stub
  compare_weights=quantization._numeric_suite.compare_weights
  get_logger_dict=quantization._numeric_suite.get_logger_dict
  get_matching_activations=quantization._numeric_suite.get_matching_activations
  prepare_model_outputs=quantization._numeric_suite.prepare_model_outputs
  prepare_model_with_stubs=quantization._numeric_suite.prepare_model_with_stubs
ao.ns._numeric_suite_fx: NSTracer OutputComparisonLogger OutputLogger QConfigMultiMapping
  add_loggers add_shadow_loggers convert_n_shadows_model extend_logger_results_with_comparison
  extract_logger_info extract_results_n_shadows_model extract_shadow_logger_info extract_weights
  get_base_name_to_sets_of_related_ops get_matching_subgraph_pairs loggers_set_enabled
  loggers_set_save_activations prepare_n_shadows_model print_comparisons_n_shadows_model
ao.ns.fx.graph_matcher: GraphMatchingException get_matching_subgraph_pairs
ao.ns.fx.mappings: add_op_to_sets_of_related_ops get_base_name_to_sets_of_related_ops
  get_unmatchable_types_map
ao.ns.fx.ns_types: NSSubgraph
ao.ns.fx.qconfig_multi_mapping: QConfigMultiMapping
ao.ns.fx.utils: compute_cosine_similarity compute_normalized_l2_error compute_sqnr
autograd.grad_mode: enable_grad inference_mode no_grad set_grad_enabled
autograd.variable: Variable
fx._symbolic_trace: Graph GraphModule ParameterProxy Proxy Scope ScopeContextManager Tracer
  TracerBase map_aggregate symbolic_trace wrap
fx.interpreter: GraphModule Proxy Tracer Transformer map_aggregate
fx.node: has_side_effect
fx.proxy: Graph Scope ScopeContextManager TracerBase
nn: NLLLoss2d=nn.modules.loss.NLLLoss
nn.init: constant=nn.init.constant_ dirac=nn.init.dirac_ eye=nn.init.eye_
  kaiming_normal=nn.init.kaiming_normal_ kaiming_uniform=nn.init.kaiming_uniform_
  normal=nn.init.normal_ orthogonal=nn.init.orthogonal_ sparse=nn.init.sparse_
  uniform=nn.init.uniform_ xavier_normal=nn.init.xavier_normal_
  xavier_uniform=nn.init.xavier_uniform_
nn.intrinsic.modules.fused: ConvAdd2d ConvAddReLU2d Linear LinearBn1d LinearLeakyReLU LinearReLU
  LinearTanh
nn.intrinsic.qat.modules.conv_fused: ConvBn1d ConvBn2d ConvBn3d ConvBnReLU1d ConvBnReLU2d
  ConvBnReLU3d ConvReLU1d ConvReLU2d ConvReLU3d Parameter
  _ConvBnNd=nn.intrinsic.qat.modules.conv_bn._ConvBnNd _pair _single _triple freeze_bn_stats
  fuse_conv_bn_weights update_bn_stats
nn.intrinsic.qat.modules.linear_fused: LinearBn1d Parameter fuse_linear_bn_weights
nn.intrinsic.quantized.modules.conv_relu: fuse_conv_bn_weights
nn.intrinsic.quantized.modules.linear_relu: LinearLeakyReLU LinearTanh
nn.modules: NLLLoss2d
nn.modules._functions: Function SyncBatchNorm
nn.modules.activation: GLU Hardshrink LogSigmoid LogSoftmax MultiheadAttention PReLU Parameter
  Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanhshrink Tensor
nn.modules.batchnorm: LazyBatchNorm1d LazyBatchNorm2d LazyBatchNorm3d LazyModuleMixin SyncBatchNorm
  Tensor UninitializedBuffer UninitializedParameter _BatchNorm=nn.modules.batchnorm.BatchNormBase
  _NormBase=nn.modules.batchnorm.NormBase
nn.modules.channelshuffle: ChannelShuffle Module Tensor
nn.modules.container: Parameter ParameterDict ParameterList
nn.modules.conv: ConvTranspose1d ConvTranspose2d ConvTranspose3d LazyConv1d LazyConv2d LazyConv3d
  LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d LazyModuleMixin Module Parameter
  Tensor UninitializedParameter _ConvNd=nn.modules.conv_base.ConvBase
  _ConvTransposeNd=nn.modules.conv_transpose._ConvTranspose _pair _reverse_repeat_tuple _single
  _triple
nn.modules.distance: CosineSimilarity Module PairwiseDistance Tensor
nn.modules.dropout: Tensor _DropoutNd=nn.modules.dropout._Dropout
nn.modules.flatten: Flatten Module Tensor Unflatten
nn.modules.fold: Fold Module Tensor Unfold
nn.modules.instancenorm: LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d Tensor
nn.modules.linear: Identity LazyLinear LazyModuleMixin Tensor UninitializedParameter
nn.modules.loss: CosineEmbeddingLoss HingeEmbeddingLoss Linear MarginRankingLoss
  NLLLoss2d=nn.modules.loss.NLLLoss PairwiseDistance SoftMarginLoss Tensor TripletMarginLoss
nn.modules.module: Buffer Parameter RemovableHandle Tensor device dtype
nn.modules.normalization: Size Tensor
nn.modules.padding: Tensor _ntuple _pair _quadruple
nn.modules.pixelshuffle: Module PixelShuffle PixelUnshuffle Tensor
nn.modules.pooling: AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d
  AdaptiveMaxPool2d AdaptiveMaxPool3d Tensor
  _AdaptiveAvgPoolNd=nn.modules.adaptive_pooling._AdaptiveAvgPool
  _AdaptiveMaxPoolNd=nn.modules.adaptive_pooling._AdaptiveMaxPool
  _AvgPoolNd=nn.modules.pooling._AvgPool _MaxPoolNd=nn.modules.pooling._MaxPool _pair _triple
nn.modules.rnn: GRUCell LSTMCell Module Parameter RNNCell RNNCellBase Tensor
nn.modules.sparse: Tensor
nn.modules.transformer: Tensor Transformer TransformerDecoder TransformerDecoderLayer
nn.modules.upsampling: Tensor
nn.qat.modules.conv: _pair _single _triple
nn.qat.modules.embedding_ops: Tensor
nn.quantizable.modules.activation: Tensor
nn.quantizable.modules.rnn: Tensor
nn.quantized.dynamic.modules.conv: Tensor _pair _single _triple
nn.quantized.dynamic.modules.rnn: GRU GRUCell LSTMCell RNNCell
  RNNCellBase=nn.quantized.dynamic.modules.rnn_cell.RNNCellBase Tensor
nn.quantized.functional: Tensor _pair _triple
nn.quantized.modules.activation: ELU Hardswish LeakyReLU MultiheadAttention PReLU Sigmoid Softmax
nn.quantized.modules.conv: ConvTranspose1d ConvTranspose2d ConvTranspose3d
  WeightedQuantizedModule=nn.quantized.modules.weighted.WeightedQuantizedModule
  _ConvNd=nn.quantized.modules.conv_nd._ConvNd
  _ConvTransposeNd=nn.quantized.modules.conv_transpose._ConvTransposeNd _pair _single _triple
  fuse_conv_bn_weights
nn.quantized.modules.embedding_ops: Tensor
nn.quantized.modules.functional_modules: Tensor
nn.quantized.modules.utils:
  WeightedQuantizedModule=nn.quantized.modules.weighted.WeightedQuantizedModule
nn.quantized.reference.modules.rnn: GRUCell LSTMCell
  RNNBase=nn.quantized.reference.modules.rnn._Layers RNNCell
  RNNCellBase=nn.quantized.reference.modules.rnn_cell._Cell Tensor
nn.quantized.reference.modules.sparse: Tensor
nn.utils: clip_grad_norm=nn.utils.clip_grad.clip_grad_norm_
nn.utils.clip_grad: Tensor clip_grad_norm=nn.utils.clip_grad.clip_grad_norm_
nn.utils.parametrizations: Tensor
nn.utils.parametrize: Tensor
nn.utils.rnn: Tensor
nn.utils.spectral_norm: Module
nn.utils.stateless: Tensor functional_call=nn.utils.stateless_call.functional_call
nn.utils.weight_norm: Module UninitializedParameter
optim.adadelta: Tensor
optim.adagrad: Tensor
optim.adam: Tensor
optim.adamax: Tensor
optim.adamw: Adam AdamW Tensor
optim.asgd: Tensor
optim.lbfgs: Tensor
optim.lr_scheduler: Optimizer Tensor _LRScheduler=optim.lr_scheduler.LRScheduler
optim.nadam: Tensor
optim.radam: Tensor
optim.rmsprop: Tensor
optim.rprop: Tensor
optim.sgd: Tensor
optim.swa_utils: Tensor
quantization: Tensor
quantization._numeric_suite_fx: NSTracer OutputComparisonLogger OutputLogger QConfigMultiMapping
  add_loggers add_shadow_loggers convert_n_shadows_model extend_logger_results_with_comparison
  extract_logger_info extract_results_n_shadows_model extract_shadow_logger_info extract_weights
  get_base_name_to_sets_of_related_ops get_matching_subgraph_pairs loggers_set_enabled
  loggers_set_save_activations prepare_n_shadows_model print_comparisons_n_shadows_model
quantization.backend_config._common_operator_config_utils: BackendPatternConfig DTypeConfig
  DTypeWithConstraints ObservationType
  _add_fixed_qparams_to_dtype_configs=quantization.backend_config.patterns.pointwise.fixed_qparams_dtypes
  _get_binary_op_configs=quantization.backend_config.patterns.binary.binary_configs
  _get_bn_configs=quantization.backend_config.patterns.normalization.batch_norm_configs
  _get_cat_config=quantization.backend_config.patterns.share.cat_config
  _get_conv_configs=quantization.backend_config.patterns.conv.conv_configs
  _get_default_op_configs=quantization.backend_config.patterns.pointwise.pointwise_configs
  _get_embedding_op_configs=quantization.backend_config.patterns.embedding.embedding_configs
  _get_fixed_qparams_op_configs=quantization.backend_config.patterns.pointwise.fixed_qparams_configs
  _get_linear_configs=quantization.backend_config.patterns.linear.linear_configs
  _get_ln_configs=quantization.backend_config.patterns.normalization.layer_norm_configs
  _get_rnn_op_configs=quantization.backend_config.patterns.recurrent.recurrent_configs
  _get_share_qparams_op_configs=quantization.backend_config.patterns.share.share_configs
  _get_tensor_info_op_configs=quantization.backend_config.patterns.share.shape_configs fuse_conv_bn
  fuse_conv_bn_relu fuse_convtranspose_bn fuse_linear_bn
quantization.backend_config.executorch: BackendPatternConfig DTypeWithConstraints ObservationType
  fuse_conv_bn fuse_conv_bn_relu
quantization.backend_config.fbgemm: DTypeConfig
quantization.backend_config.native: DTypeConfig
quantization.backend_config.onednn: BackendPatternConfig MatchAllNode ObservationType
quantization.backend_config.qnnpack: DTypeConfig DTypeWithConstraints
quantization.backend_config.tensorrt: BackendPatternConfig ObservationType
quantization.backend_config.utils: BackendPatternConfig
quantization.fake_quantize: FixedQParamsObserver HistogramObserver Module
  MovingAverageMinMaxObserver MovingAveragePerChannelMinMaxObserver
quantization.fuse_modules: fuse_conv_bn fuse_conv_bn_relu
quantization.fuser_method_mappings: MatchAllNode get_combined_dict
quantization.fx.convert: DeQuantStub Graph Node QuantType activation_is_statically_quantized
  get_native_backend_config get_qparam_dict get_swapped_custom_module_class is_per_channel
  qconfig_equals to_underlying_dtype weight_is_quantized
quantization.fx.prepare: DTypeConfig Graph Node ObserverBase PlaceholderObserver
  get_native_backend_config get_qconfig_dtypes get_swapped_custom_module_class propagate_qconfig_
quantization.fx.tracer: Scope ScopeContextManager
quantization.observer: Node _ObserverBase=quantization.observer.UniformQuantizationObserverBase
  calculate_qmin_qmax check_min_max_valid is_per_channel is_per_tensor validate_qmin_qmax
quantization.qconfig: FakeQuantize FakeQuantizeBase FusedMovingAvgObsFakeQuantize HistogramObserver
  MinMaxObserver MovingAverageMinMaxObserver NoopObserver ObserverBase PlaceholderObserver
  ReuseInputObserver default_debug_observer default_placeholder_observer
  default_reuse_input_observer get_default_qat_qconfig_dict get_default_qconfig_dict
quantization.qconfig_mapping: FixedQParamsFakeQuantize QConfig default_placeholder_observer
  get_default_qat_qconfig get_default_qconfig
quantization.quantization_mappings: get_combined_dict
quantization.quantize: DeQuantStub QuantWrapper get_default_dynamic_quant_module_mappings
  get_default_qat_module_mappings get_default_qconfig_propagation_list
  get_default_static_quant_module_mappings get_default_static_quant_reference_module_mappings
  get_qparam_dict has_no_children_ignoring_parametrizations no_observer_set
quantization.quantize_fx: Scope ScopeContextManager get_tensorrt_backend_config
quantization.stubs: QConfig
quantization.utils: Node QuantType
  _assert_and_get_unique_device=quantization.fx.utils.assert_and_get_unique_device
  _parent_name=quantization.fx.paths.split_path
utils.data._utils.collate: default_collate default_convert
utils.data.dataloader: Dataset Sampler
utils.data.dataset: Tensor
"""
