"""Table of advice for the names of ``torch`` that pyqref does not have.

One row is an advice and the names that it answers, as they stand below ``torch``. A name answers
for all below it too; one that ends in ``.*`` only for what is below it and missing.
``Tensor.name`` is a method, which falls back on the row of the function ``name``.
"""

from __future__ import annotations

__all__ = ["TABLE"]

_EAGER = "pyqref runs each operation when it is called, and has nothing to compile"
_LINALG = (
    "use numpy.linalg on x.numpy() and torch.from_numpy(...) of its result; "
    "pyqref keeps to the linear algebra of networks"
)
_COMPLEX = (
    "pyqref has no complex numbers: keep real and imaginary parts as two tensors, or compute "
    "with NumPy and take the real part back with torch.from_numpy"
)
_ONE_PROCESS = (
    "pyqref runs in one process, on several threads: torch.distributed.is_available() is False, "
    "so leave out what a script does for more than one process"
)
_DENSE = "pyqref has dense tensors only: keep the zeros, or compute with scipy.sparse"
_PT2E = (
    "use torch.ao.quantization.quantize_fx: prepare_fx, convert_fx and prepare_qat_fx quantize "
    "the same model in graph mode, with a qconfig mapping for what a quantizer would say; torch "
    "2.13 has no quantizers either, torchao has them"
)

TABLE: tuple[tuple[str, str], ...] = (
    (f"{_EAGER}: call the model itself, the results are the same", "compiler.*"),
    (f"{_EAGER}: leave the setting out", "_dynamo.* _inductor.* _functorch"),
    (
        (
            "pyqref has no export compiler: torch.fx.symbolic_trace(model) gives a graph to read "
            "and change, torch.save(model.state_dict(), path) keeps the weights"
        ),
        "export _export export.*",
    ),
    (
        _PT2E,
        (
            "ao.quantization.quantize_pt2e ao.quantization.quantizer ao.quantization.pt2e "
            "ao.quantization.move_exported_model_to_eval "
            "ao.quantization.move_exported_model_to_train "
            "ao.quantization.allow_exported_model_train_eval "
            "quantization.quantize_pt2e quantization.quantizer quantization.pt2e"
        ),
    ),
    (
        (
            "prepare_fx and convert_fx of torch.ao.quantization.quantize_fx do that; read or "
            "change the graph that they give, whose observers and layers are modules of it"
        ),
        (
            "ao.quantization.fx.* ao.quantization.quantize_fx.* "
            "ao.quantization.backend_config._qnnpack_pt2e"
        ),
    ),
    (
        (
            "use MinMaxObserver for one range, or PerChannelMinMaxObserver for one of each "
            "channel: pyqref has no ranges of blocks, groups or tokens; torchao has them"
        ),
        (
            "ao.quantization.observer.AffineQuantizedObserverBase "
            "ao.quantization.observer.Granularity ao.quantization.observer.MappingType "
            "ao.quantization.observer.PerAxis ao.quantization.observer.PerBlock "
            "ao.quantization.observer.PerGroup ao.quantization.observer.PerRow "
            "ao.quantization.observer.PerTensor ao.quantization.observer.PerToken "
            "ao.quantization.observer.TorchAODType ao.quantization.observer.ZeroPointDomain "
            "ao.quantization.observer.get_block_size ao.quantization._quantized_conversions"
        ),
    ),
    (
        (
            "use torch.nn.utils.prune: masks by magnitude, structured or not, and your own; or "
            "multiply the weight by a mask in a parametrization"
        ),
        "ao.pruning ao.sparsity ao.nn.sparse",
    ),
    (
        (
            "write it as a loop over model.graph.nodes, or as a subclass of torch.fx.Interpreter "
            "or torch.fx.Transformer; torch.fx.passes has ShapeProp, split_module and PassManager"
        ),
        (
            "fx.passes.* fx.experimental.* fx.annotate fx.config fx.tensor_type fx.traceback "
            "fx._graph_pickler fx._lazy_graph_module fx._pytree fx._utils fx._compatibility"
        ),
    ),
    (
        (
            "torch.fx.symbolic_trace(model) gives a graph of the calls as they are written; pyqref "
            "has no tracer of operators and no symbolic shapes"
        ),
        (
            "fx.experimental.proxy_tensor fx.experimental.symbolic_shapes "
            "fx.experimental.meta_tracer fx.experimental.sym_node "
            "fx.passes.fake_tensor_prop fx.passes.reinplace"
        ),
    ),
    (
        (
            "pyqref quantizes Python modules, not TorchScript: use "
            "torch.ao.quantization.quantize_fx (prepare_fx, convert_fx), or "
            "quantize_dynamic(model) for the dynamic case"
        ),
        (
            "quantization.quantize_jit.* "
            "quantization.prepare_jit quantization.convert_jit quantization.prepare_dynamic_jit "
            "quantization.convert_dynamic_jit quantization.fuse_conv_bn_jit "
            "quantization.script_qconfig quantization.script_qconfig_dict"
        ),
    ),
    (
        (
            "pyqref.measure.layer_sqnr(float_model, quantized_model, batch) compares the two "
            "models layer by layer"
        ),
        ("quantization._numeric_suite_fx.* ao.ns._numeric_suite_fx.* ao.ns.fx.*"),
    ),
    (
        (
            "pyqref has eager modules only: torch.fx.symbolic_trace(model) gives a graph, and "
            "model.code its source"
        ),
        "jit.*",
    ),
    (
        (
            "pyqref.export.onnx(model, example_inputs, path) writes a model to an ONNX file, and "
            "pyqref.interop.from_onnx(path) reads one"
        ),
        "onnx.*",
    ),
    (
        "pyqref downloads nothing: get the file by other means and read it with torch.load(path)",
        "hub.* utils.model_zoo.*",
    ),
    (
        (
            "use numpy.fft on x.numpy(), and torch.from_numpy(...) of the real part or of "
            "numpy.abs(...): pyqref has no complex numbers"
        ),
        "fft fft.* stft istft",
    ),
    (
        _LINALG,
        (
            "linalg linalg.* cholesky cholesky_inverse cholesky_solve eig symeig geqrf inverse det "
            "slogdet logdet lobpcg lstsq lu lu_solve lu_unpack matrix_exp matrix_power matrix_rank "
            "nuclear_norm frobenius_norm orgqr ormqr pca_lowrank pinverse qr solve svd svd_lowrank "
            "triangular_solve chain_matmul kron corrcoef cov"
        ),
    ),
    (
        _COMPLEX,
        (
            "complex dtype.complex32 dtype.complex64 dtype.complex128 polar view_as_complex "
            "view_as_real angle conj conj_physical resolve_conj is_conj imag "
            "Tensor.cfloat Tensor.cdouble Tensor.chalf Tensor.H Tensor.mH"
        ),
    ),
    (
        (
            "pyqref computes in float32 and float64: use float32; a file of bfloat16 weights is "
            "read exactly into float32"
        ),
        ("dtype.bfloat16 Tensor.bfloat16 BFloat16Tensor BFloat16Storage"),
    ),
    (
        (
            "pyqref quantizes to integers: use qint8, quint8, qint32 or quint4x2 with "
            "quantize_per_tensor, or float32"
        ),
        (
            "dtype.float8_e4m3fn dtype.float8_e4m3fnuz dtype.float8_e5m2 dtype.float8_e5m2fnuz "
            "float8_e8m0fnu "
            "float4_e2m1fn_x2 int1 int2 int3 int4 int5 int6 int7 uint1 uint2 uint3 uint4 uint5 "
            "uint6 uint7 dtype.uint16 dtype.uint32 dtype.uint64 bits8 bits16 bits1x8 bits2x4 "
            "bits4x2"
        ),
    ),
    (
        (
            "draw with torch.normal, torch.bernoulli, torch.multinomial, or with numpy.random and "
            "torch.from_numpy; write a log-density by its formula"
        ),
        (
            "distributions.* poisson binomial _sample_dirichlet _standard_gamma "
            "Tensor.cauchy_ Tensor.geometric_ Tensor.log_normal_"
        ),
    ),
    (
        _ONE_PROCESS,
        (
            "distributed.* distributed.rpc distributed.fsdp distributed.tensor "
            "distributed.pipelining nn.parallel.* utils.data.distributed.* "
            "_C._distributed_c10d"
        ),
    ),
    (
        _DENSE,
        (
            "sparse sparse_coo sparse_csr sparse_csc sparse_bsr sparse_bsc sparse_coo_tensor "
            "sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor sparse_bsc_tensor "
            "sparse_compressed_tensor hspmm smm spmm sspaddmm Tensor.to_sparse "
            "Tensor.to_sparse_coo Tensor.to_sparse_csr Tensor.to_sparse_csc Tensor.to_sparse_bsr "
            "Tensor.to_sparse_bsc Tensor.coalesce Tensor.is_coalesced Tensor.sparse_mask "
            "Tensor.sparse_dim Tensor.dense_dim Tensor.crow_indices Tensor.col_indices nested "
            "jagged masked"
        ),
    ),
    (
        "use scipy.special on x.numpy() and torch.from_numpy(...) of its result",
        "special lgamma digamma polygamma mvlgamma igamma igammac i0",
    ),
    (
        (
            "write the window by its formula, as 0.5 - 0.5 * torch.cos(2 * math.pi * n / length), "
            "or take it from numpy: torch.from_numpy(numpy.hanning(length))"
        ),
        "bartlett_window blackman_window hamming_window hann_window kaiser_window signal",
    ),
    (
        (
            "loop over the batch and torch.stack the results, or write the operation for a batch; "
            "torch.autograd.grad gives gradients"
        ),
        "vmap func.* functorch _vmap_internals",
    ),
    (
        (
            "write the operation in NumPy or Cython and register it with "
            "pyqref.library.register('mylib::name')"
        ),
        (
            "utils.cpp_extension classes utils.dlpack.* library.* _library _custom_op "
            "utils._triton _ops ScriptObject Tag"
        ),
    ),
    (
        (
            "take gradients with torch.autograd.grad or torch.autograd.functional.jacobian, and "
            "second derivatives as finite differences of them: pyqref records no backward pass"
        ),
        "autograd.functional.* autograd.forward_ad autograd.gradgradcheck autograd.graph.*",
    ),
    (
        "use an if: pyqref runs each operation when it is called, so a tensor has its value",
        "cond while_loop",
    ),
    (
        "use concurrent.futures of Python: pyqref runs no futures of its own",
        "futures",
    ),
    (
        (
            "write a function of your own that calls torch's: pyqref lets no other class or mode "
            "take its functions over"
        ),
        (
            "overrides.* utils._python_dispatch Tensor.__torch_function__ "
            "Tensor._make_wrapper_subclass"
        ),
    ),
    (
        (
            "leave the setting out, or print what you look for: pyqref keeps no logs and compiles "
            "nothing"
        ),
        "_logging utils.flop_counter.*",
    ),
    (
        (
            "call numpy.testing.assert_allclose or torch.testing.assert_close: torch's own tests "
            "are no part of pyqref"
        ),
        "testing._internal utils.benchmark.*",
    ),
    (
        (
            "save and load whole state dicts with torch.save and torch.load; a file is read only "
            "as far as its tensors are used"
        ),
        "serialization.* utils.serialization utils.swap_tensors __future__ Tensor.module_load",
    ),
    (
        "test with isinstance(result, tuple): results with several values are named tuples",
        "return_types.*",
    ),
    (
        "use quantize for static quantization: a function quantize_static has never been in torch",
        "quantization.quantize_static",
    ),
    (
        (
            "leave the choice out: torch.nn.functional.scaled_dot_product_attention has one "
            "implementation here"
        ),
        "nn.attention.*",
    ),
    (
        "use torch.autocast('cpu')",
        "cpu.amp",
    ),
    (
        "use torch.from_dlpack(x): a tensor carries the protocol itself",
        "to_dlpack",
    ),
    (
        "use torch.arange(start, end + step, step)",
        "range",
    ),
    (
        "install tensorboardX: it writes the same files, and needs no torch",
        "utils.tensorboard",
    ),
    (
        "save the state: torch.save(model.state_dict(), path); pyqref has no mobile format",
        (
            "utils.bundled_inputs utils.mobile_optimizer.* backends._nnapi utils.mkldnn "
            "Tensor.to_mkldnn package"
        ),
    ),
    (
        (
            "pyqref runs on the CPU: leave the device out, or use "
            "device = 'cuda' if torch.cuda.is_available() else 'cpu'"
        ),
        (
            "cuda.* xpu.* mtia accelerator.* mps backends.mps.* backends.cuda.* Tensor.xpu "
            "Tensor.ipu "
            "Tensor.mtia"
        ),
    ),
    (
        "count with the profiler's wall time: torch.profiler.profile(), or pyqref demo's tables",
        "profiler.* autograd.profiler.*",
    ),
    (
        (
            "pyqref has no dispatcher: call the function of the same name, as torch.add for "
            "torch.ops.aten.add"
        ),
        (
            "ops.aten ops.quantized_decomposed.* ops.prim ops.prims _prims _prims_common _refs "
            "_decomp _meta_registrations _C.* _C._jit_pass_inline _higher_order_ops _subclasses"
        ),
    ),
    (
        (
            "a path of one engine: use torch.ops.quantized.linear_prepack_fp16 and "
            "linear_dynamic_fp16, or torch.ao.nn.quantized.dynamic.Linear with dtype torch.float16"
        ),
        (
            "fbgemm_linear_fp16_weight fbgemm_linear_fp16_weight_fp32_activation "
            "fbgemm_pack_gemm_matrix_fp16"
        ),
    ),
    (
        "that belongs to one library's kernels: use torch.nn.functional",
        (
            "cudnn_convolution cudnn_batch_norm mkldnn_convolution miopen_convolution "
            "native_batch_norm convolution conv_tbc"
        ),
    ),
)
