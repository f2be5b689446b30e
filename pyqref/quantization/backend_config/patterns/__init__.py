"""What back ends have in common: lists of pattern configs, by kind of operation.

Each function takes the data types that a back end supports and gives the configs of one
family: :mod:`.conv`, :mod:`.conv_add`, :mod:`.linear`, :mod:`.linear_fused`,
:mod:`.binary`, :mod:`.pointwise`, :mod:`.share`, :mod:`.normalization`,
:mod:`.recurrent`, :mod:`.embedding`.
"""
