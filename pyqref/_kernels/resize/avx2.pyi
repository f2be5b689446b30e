from .portable import bilinear as bilinear
from .portable import nearest as nearest
