from .portable import fold_rows as fold_rows
from .portable import gradient_of_largest as gradient_of_largest
from .portable import gradients_of_products as gradients_of_products
from .portable import has_products as has_products
from .portable import largest as largest
from .portable import multiply_windows as multiply_windows
from .portable import transpose as transpose
from .portable import unfold_rows as unfold_rows
