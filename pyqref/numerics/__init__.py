"""The equations, in plain NumPy: what number comes out.

One labelled equation a function, one concept a file. The label in a docstring, such
as ``eq-affine-quantize``, is also the label of the derivation in ``docs/theory``
and part of the name of the test that proves it: search for one and find all three.

Read in this order:

1. :mod:`.rounding`, :mod:`.affine`, :mod:`.noise`: integers that stand for real numbers
2. :mod:`.qparams`, :mod:`.moving_average`, :mod:`.histogram`: choosing scale and zero point
3. :mod:`.accumulator`, :mod:`.linear`, :mod:`.convolution`, :mod:`.winograd`, :mod:`.requantize`:
   exact sums, one rounding
4. :mod:`.fake_quantize`, :mod:`.fused_observe`, :mod:`.folding`: training with the grid in sight
5. :mod:`.elementwise`, :mod:`.scalar`, :mod:`.pooling`, :mod:`.interpolate`: other operations
6. :mod:`.activation`, :mod:`.normalization`, :mod:`.embedding`: other layers
7. :mod:`.exponential`, :mod:`.logarithm`, :mod:`.piecewise`, :mod:`.normal`,
   :mod:`.float_activation`, :mod:`.float_softmax`: functions of float32 with the same bits
   everywhere; :mod:`.fixed_point`, :mod:`.softmax_integers`: functions without real numbers
8. :mod:`.dynamic`, :mod:`.recurrent`: parameters chosen while running

Every function takes NumPy arrays that have been checked by the caller. None of them
reads a setting: where engines or conventions differ, the choice is an argument.
"""
