"""Lists of pattern configs that back ends share, by kind of operation.

Each function takes the data types that a back end supports and gives the configs of one
family: :mod:`.conv`, :mod:`.conv_add`, :mod:`.linear`, :mod:`.linear_fused`,
:mod:`.binary`, :mod:`.pointwise`, :mod:`.share`, :mod:`.normalization`,
:mod:`.recurrent`, :mod:`.embedding`.
"""
