from .portable import fold_rows as fold_rows
from .portable import transpose as transpose
from .portable import unfold_rows as unfold_rows
